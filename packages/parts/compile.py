"""The program of a target, compiled for glibcs that are as old as Rust's own: 2.17, of 2012."""

import os

from .common import ROOT, Problem, run, tools, with_tools

GLIBC = "2.17"


def program(target):
    """Compiles it, unless that was done."""
    if not target.is_linux:
        raise Problem(f"{target.name} is compiled on such a machine: build it there, and name it: {target.name}=PROGRAM")
    environment = with_tools(tools("cargo-zigbuild", "ziglang"))
    named = f"{target.name}.{GLIBC}"
    run("cargo", "zigbuild", "--release", "--locked", "--package", "memorist", "--target", named, env=environment)
    folder = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    target.program = ROOT / folder / target.name / "release" / target.file
    target.portable = True
