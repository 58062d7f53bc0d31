"""What the parts share: the project, its targets, and how programs are run."""

import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "packages"
OUT = WORK / "out"

PACKAGE = tomllib.loads((ROOT / "Cargo.toml").read_text())
VERSION = PACKAGE["workspace"]["package"]["version"]
REPOSITORY = PACKAGE["workspace"]["package"]["repository"]
(AUTHOR,) = PACKAGE["workspace"]["package"]["authors"]
DESCRIPTION = PACKAGE["package"]["description"]
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE"]


class Problem(Exception):
    """What is wrong, and the way out."""


@dataclass
class Target:
    """A platform, and the program that was compiled for it."""

    name: str
    # The names that npm and Debian have for it.
    npm: tuple[str, str]
    deb: str | None
    # The name for people.
    shown: str
    # What its packages say, if it was not tested on such a machine.
    caution: str
    program: Path | None = None
    # Whether it was compiled here, for old glibcs too.
    portable: bool = False

    @staticmethod
    def parse(text):
        name, _, program = text.partition("=")
        if name not in TARGETS:
            raise Problem(f"{name} is no known target; there are {', '.join(TARGETS)}")
        target = Target(name, *TARGETS[name])
        if program:
            target.program = Path(program).resolve()
            if not target.program.is_file():
                raise Problem(f"{program} does not exist; build it first: cargo build --release --features full")
        return target

    @property
    def file(self):
        """The name of the program."""
        return "memorist.exe" if "windows" in self.name else "memorist"

    @property
    def is_linux(self):
        return "linux" in self.name

    @property
    def is_static(self):
        """Whether the program has its C library in it: no shared library, such as a module of Python, can be made."""
        return "musl" in self.name

    @property
    def platform(self):
        """The name that packages and files have."""
        return "-".join([*self.npm, *(["musl"] if self.is_static else [])])

    @property
    def runs_here(self):
        system = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}[platform.system()]
        machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine())
        return system in self.name and self.name.startswith(machine)

    def glibc(self):
        """The oldest glibc that the program runs on, by the versions of the symbols that it names."""
        found = re.findall(rb"\x00GLIBC_(\d+)\.(\d+)", self.program.read_bytes())
        return max((int(major), int(minor)) for major, minor in found)


TARGETS = {
    "x86_64-unknown-linux-gnu": (("linux", "x64"), "amd64", "Linux with glibc, x64", ""),
    "x86_64-unknown-linux-musl": (("linux", "x64"), None, "Linux with musl, x64", "Experimental: tested on a Linux with glibc only."),
    "aarch64-unknown-linux-gnu": (
        ("linux", "arm64"), "arm64", "Linux with glibc, arm64", "Experimental: tested in an emulator only."
    ),
    "aarch64-apple-darwin": (
        ("darwin", "arm64"), None, "macOS, arm64", "Experimental: it compiles, and was not yet tested on macOS."
    ),
    "x86_64-pc-windows-gnu": (
        ("win32", "x64"), None, "Windows, x64", "Experimental: tested with Wine, not yet on Windows."
    ),
}


def run(*command, cwd=ROOT, env=None, **more):
    """Runs a program; a failure ends everything."""
    if shutil.which(str(command[0]), path=(env or os.environ).get("PATH")) is None:
        raise Problem(f"{command[0]} is not installed; install it, or leave its packages out with --only")
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, **more)
    if done.returncode != 0:
        shown = " ".join(str(word) for word in command)
        raise Problem(f"`{shown}` failed ({done.returncode})")
    return done


@cache
def tools(*requirements):
    """The folder of tools of Python's registry: those of `packages/requirements.txt` that are named."""
    folder = WORK / "tools"
    if not (folder / "bin" / "pip").exists():
        run(sys.executable, "-m", "venv", folder)
    pinned = dict(line.split("==") for line in (ROOT / "packages" / "requirements.txt").read_text().split())
    wanted = [f"{name}=={pinned[name]}" for name in requirements]
    run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
    return folder / "bin"


def with_tools(folder):
    """An environment in which the tools of `folder` are found first."""
    return dict(os.environ, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}", VIRTUAL_ENV=str(folder.parent))


def with_zig():
    """An environment in which cargo-zigbuild and maturin compile by zig. Both call the same linker, so that what one has compiled is
    not compiled again by the other: for that maturin must have the same version of cargo-zigbuild in it."""
    folder = tools("cargo-zigbuild", "maturin", "ziglang")
    return with_tools(folder) | {"CARGO_BIN_EXE_cargo-zigbuild": str(folder / "cargo-zigbuild")}


@cache
def source_date():
    """The time that files in packages have: that of the commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if (ROOT / ".git").exists():
        return int(run("git", "log", "-1", "--format=%ct", capture_output=True, text=True).stdout)
    return 1_577_836_800  # 2020: an archive without git


def fresh(folder):
    """`folder`, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def copy(source, to, mode=0o644):
    """Copies a file, with its folders."""
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    to.chmod(mode)
