"""The licences of the crates that are compiled into the program, which have to accompany it."""

import json
import re
from collections import defaultdict
from pathlib import Path

from .common import run

NAMES = re.compile(r"(?i)^(licen[cs]e|copying|notice|unlicense|copyright)")


def third_party(target):
    """One text: each licence once, after the crates that have it."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target.name]
    metadata = json.loads(run(*command, capture_output=True, text=True).stdout)
    crates = {crate["id"]: crate for crate in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    reached, waiting = set(), [metadata["resolve"]["root"]]
    while waiting:
        one = waiting.pop()
        if one in reached:
            continue
        reached.add(one)
        deps = nodes[one]["deps"]
        waiting += [dep["pkg"] for dep in deps if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    by_text, names = {}, defaultdict(list)
    others = [crates[one] for one in reached if crates[one]["source"]]
    for crate in sorted(others, key=lambda crate: (crate["name"], crate["version"])):
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
    rule = "\n\n" + "-" * 100 + "\n\n"
    parts = ["\n".join(names[key]) + "\n\n" + text for key, text in by_text.items()]
    head = f"memorist is compiled with {len(others)} crates of others. Their licences:"
    return rule.join([head, *parts]) + "\n"
