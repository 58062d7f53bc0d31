"""Debian's packages: `memorist`, and `memorist-model`, which it recommends."""

import email.utils
import gzip
import os

from .common import AUTHOR, OUT, REPOSITORY, ROOT, VERSION, WORK, copy, fresh, run, source_date
from .licences import crates_of
from .stage import COMPLETIONS, DOC, THIRD_PARTY

MAINTAINER = f"{AUTHOR} <authors@memorist.example>"

DESCRIPTION = """\
 Agents save what they learn and find it again by meaning and by keyword,
 among 100,000 memories and more, in about a millisecond. It is served over
 MCP, on this machine, without a service or an account, and offline.
"""
MODEL_DESCRIPTION = """\
 all-MiniLM-L6-v2 with int8 weights, which turns texts into vectors. Without
 this package memorist fetches the same files with pip when it first runs.
"""


def make(stages):
    """Builds them."""
    for stage in stages:
        if stage.target.deb:
            program_package(stage)
    model_package(stages[0].model)


def program_package(stage):
    """The package of the program."""
    root = fresh(WORK / "deb" / stage.target.deb)
    copy(stage.program, root / "usr/bin/memorist", 0o755)
    for page in stage.pages():
        compress(page.read_bytes(), root / "usr/share/man/man1" / f"{page.name}.gz")
    for shell, path in COMPLETIONS.items():
        # Debian's zsh has a folder for packages.
        to = path.replace("site-functions", "vendor-completions") if shell == "zsh" else path
        copy(stage.folder / path, root / "usr" / to)
    compress((stage.folder / DOC / THIRD_PARTY).read_bytes(), root / "usr" / DOC / f"{THIRD_PARTY}.gz")
    glibc = ".".join(map(str, stage.target.glibc()))
    fields = {
        "Architecture": stage.target.deb,
        "Depends": f"libc6 (>= {glibc}), libgcc-s1",
        "Recommends": "memorist-model, ca-certificates",
        "Section": "utils",
    }
    crates = "".join(
        f" {crate['name']} {crate['version']} ({crate['license']})\n" for crate in crates_of(stage.target.name, "memorist")
    )
    comment = f"Comment:\n Compiled with these crates of others, and with preact (MIT) in its page. Their licences are in\n /usr/{DOC}/{THIRD_PARTY}.gz.\n{crates}"
    head, rest = (ROOT / "packages/debian/copyright").read_text().split("\n\n", 1)
    copyright = f"{head}\n{comment}\n{rest}"
    package(root, "memorist", VERSION, fields, "memory store and search engine for AI agents", DESCRIPTION, copyright)


def model_package(model):
    """The package of the model."""
    root = fresh(WORK / "deb" / "model")
    for file in [model.weights, model.tokenizer]:
        copy(file, root / "usr/share/memorist" / file.name)
    fields = {"Architecture": "all", "Multi-Arch": "foreign", "Section": "science", "Enhances": "memorist"}
    copyright = (ROOT / "packages/debian/copyright-model").read_text()
    version = model.requirement.split("==")[1]
    package(root, "memorist-model", version, fields, "embedding model of memorist", MODEL_DESCRIPTION, copyright)


def package(root, name, version, fields, summary, description, copyright):
    """Builds one."""
    doc = root / "usr/share/doc" / name
    doc.mkdir(parents=True, exist_ok=True)
    (doc / "copyright").write_text(copyright)
    when = email.utils.formatdate(source_date())
    entry = f"{name} ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the project.\n\n -- {MAINTAINER}  {when}\n"
    compress(entry.encode(), doc / "changelog.gz")
    files = sorted(path for path in root.rglob("*") if path.is_file())
    size = sum(path.stat().st_size for path in files) // 1024 + 1
    control = {"Package": name, "Version": version, "Maintainer": MAINTAINER, "Homepage": REPOSITORY, "Installed-Size": size}
    control |= {"Priority": "optional", **fields}
    text = "".join(f"{key}: {value}\n" for key, value in control.items()) + f"Description: {summary}\n{description}"
    debian = root / "DEBIAN"
    debian.mkdir()
    (debian / "control").write_text(text)
    sums = run("md5sum", *[path.relative_to(root) for path in files], cwd=root, capture_output=True, text=True).stdout
    (debian / "md5sums").write_text(sums)
    for path in [root, *root.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (source_date(), source_date()))
    # Weights do not get smaller by trying harder.
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z1" if name.endswith("model") else "-z6", "--build", root, OUT / f"{name}_{version}_{fields['Architecture']}.deb", capture_output=True)


def compress(content, to):
    """A file as gzip, which says nothing of when it was made."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(gzip.compress(content, mtime=0))
