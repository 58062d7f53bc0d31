"""The program of a target. That for glibc runs with those that are as old as Rust's own: 2.17, of 2012."""

import os

from .common import ROOT, Problem, run, with_zig

GLIBC = "2.17"


def program(target):
    """Compiles it, unless that was done."""
    build = ["--release", "--locked", "--package", "memorist", "--features", "full", "--target"]
    if target.is_linux:
        named = target.name if target.is_static else f"{target.name}.{GLIBC}"
        run("cargo", "zigbuild", *build, named, env=with_zig())
    elif "windows" in target.name:
        run("cargo", "build", *build, target.name)  # The linker is that of mingw.
    else:
        raise Problem(f"{target.name} is compiled on such a machine: build it there, and name it: {target.name}=PROGRAM")
    folder = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    target.program = ROOT / folder / target.name / "release" / target.file
    target.portable = True
