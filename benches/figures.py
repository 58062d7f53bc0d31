#!/usr/bin/env python3
"""Makes the figures of the documents.

    python3 benches/figures.py list              the groups of benches, and how long each takes
    python3 benches/figures.py run [GROUP…]      runs them, and keeps the figures in docs/figures/figures.json
    python3 benches/figures.py write             writes the tables of README.md and docs/ from that file
    python3 benches/figures.py check             fails where a table is not what the file says; runs nothing

`run` goes through all groups in each round, so that a slow minute of the machine does not fall on one of them alone. A
figure is the median of its rounds, kept with the least and the largest. With another `--count` than 100,000 the figures go
to target/figures/, to try the command. What the benches print is in target/figures/logs/.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from measure import groups, pages, timing
from measure.machine import QUIET, ROOT, load, machine, moment

FULL = 100_000
TRIED = ROOT / "target/figures"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    run_parser = commands.add_parser("run")
    run_parser.add_argument("groups", nargs="*", metavar="GROUP", help="default: all but libraries and stores")
    run_parser.add_argument("--rounds", type=int, default=3)
    run_parser.add_argument("--count", type=int, default=FULL, help="memories of the corpus")
    run_parser.add_argument("--data", type=Path, help="a folder of real embeddings; default: MEMORIST_SHARED_DATA")
    run_parser.add_argument("--programs", type=Path, help="a folder with benches and memorist, already built")
    run_parser.add_argument("--wheel", type=Path, help="of memorist, for libraries and stores")
    run_parser.add_argument("--busy", action="store_true", help="run though the machine has other work")
    commands.add_parser("write")
    commands.add_parser("check")
    given = parser.parse_args()
    if given.command == "list":
        return show()
    if given.command == "run":
        return run(given)
    return write() if given.command == "write" else check()


def show():
    for group in groups.GROUPS.values():
        ways = ", ".join(variant.name for variant in group.variants if variant.name)
        named = "; only if it is named" if group.name in groups.SCRIPTS else ""
        each = "in all" if group.name in groups.SCRIPTS else "a round"
        minutes = group.minutes * len(group.variants)
        print(f"{group.name:<10} about {minutes:4.1f} minutes {each}{named}{f' ({ways})' if ways else ''}")
    return 0


def read(file):
    """What is kept, or nothing yet."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"runs": {}, "figures": {}}


def keep(file, kept):
    """Writes the file whole or not at all. Runs that no figure is of are dropped."""
    used = {figure["run"] for figure in kept["figures"].values()}
    whole = {
        "runs": {name: kept["runs"][name] for name in sorted(used)},
        "figures": dict(sorted(kept["figures"].items())),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(file)


def run(given):
    wanted = given.groups or [name for name in groups.GROUPS if name not in groups.SCRIPTS]
    if unknown := [name for name in wanted if name not in groups.GROUPS]:
        sys.exit(f"no group is called {', '.join(unknown)}; `figures.py list` names them")
    if given.rounds < 1 or given.count < 1000:
        sys.exit("at least one round, and 1,000 memories")
    chosen = [groups.GROUPS[name] for name in wanted]
    named = given.data or os.environ.get("MEMORIST_SHARED_DATA")
    data = Path(named).resolve() if named else None
    if data and not data.is_dir():
        sys.exit(f"{data}: there is no such folder")
    benches = [group.bench for group in chosen if group.bench != "levels" and group.name not in groups.SCRIPTS]
    try:
        if given.programs:
            programs = groups.found(given.programs, [*benches, "memorist"])
        else:
            programs = groups.build(benches) if benches or "levels" in wanted else {}
    except groups.CannotRun as error:
        sys.exit(str(error))
    needed = [*benches, *(["memorist"] if "levels" in wanted else [])]
    if missing := [name for name in needed if name not in programs]:
        sys.exit(f"there is no program {', '.join(missing)}{f' in {given.programs}' if given.programs else ''}")
    # Building was work, too.
    busy = load()
    while not given.busy and busy is not None and busy > QUIET:
        print(f"waiting for a quiet machine (load {busy}; --busy does not wait)", file=sys.stderr)
        time.sleep(20)
        busy = load()
    script_options = ["--rounds", str(given.rounds), *(["--wheel", str(given.wheel)] if given.wheel else [])]
    file = pages.FILE if given.count == FULL else TRIED / "figures.json"
    values, units, failed, seconds = {}, {}, {}, {}
    for turn in range(given.rounds):
        for group in chosen:
            for variant in group.variants:
                name = f"{group.name} {variant.name}".strip()
                if name in failed or (group.name in groups.SCRIPTS and turn > 0):
                    continue
                began = time.monotonic()
                log = TRIED / "logs" / f"{name.replace(' ', '-')}-{turn + 1}.log"
                try:
                    made = groups.run(group, variant, programs, data, given.count, script_options, log)
                except groups.CannotRun as error:
                    failed[name] = str(error)
                    print(f"round {turn + 1}, {name}: {error}", file=sys.stderr)
                    continue
                took = time.monotonic() - began
                seconds.setdefault(name, []).append(round(took, 1))
                print(f"round {turn + 1}, {name}: {len(made)} figures in {took:.0f} s", file=sys.stderr)
                for key, (measured, unit) in made.items():
                    values.setdefault(key, []).extend(measured)
                    units[key] = unit
    kept = read(file)
    if values:
        stamp = moment()
        name = "-".join([stamp["date"], stamp["commit"], *sorted({key.split(".")[0] for key in values})])
        kept["runs"][name] = {
            **stamp,
            "machine": machine(),
            "load_before": busy,
            "profile": "release",
            "rounds": given.rounds,
            "count": given.count,
            "vectors": "real" if data else "generated",
            "seconds": seconds,
        }
        for key, measured in values.items():
            kept["figures"][key] = {**timing.summary(measured), "unit": units[key], "run": name}
        keep(file, kept)
        print(f"{len(values)} figures are in {file.relative_to(ROOT)}")
    if failed:
        print(f"failed: {', '.join(failed)}; their figures are kept as they were", file=sys.stderr)
    return bool(failed)


def write():
    kept = read(pages.FILE)
    for page in pages.there():
        text = page.read_text(encoding="utf-8")
        try:
            new = pages.written(text, kept, page.relative_to(ROOT))
        except pages.Wrong as error:
            sys.exit(str(error))
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} is written")
    return 0


def check():
    kept, wrong = read(pages.FILE), []
    for page in pages.there():
        path, text = page.relative_to(ROOT), page.read_text(encoding="utf-8")
        try:
            if pages.written(text, kept, path) != text:
                wrong.append(f"{path}: a table is not what docs/figures/ says; run `python3 benches/figures.py write`")
        except pages.Wrong as error:
            wrong.append(str(error))
        wrong += [
            f"{path}:{line}: a measured number that is not from docs/figures/figures.json; make a template of the table, "
            f"or put {pages.BY_HAND} before it"
            for line in pages.unmarked(text)
        ]
    for template in sorted(pages.FOLDER.glob("*.md")):
        wrong += [
            f"docs/figures/{template.name}:{line}: a measured number that is no figure of the file"
            for line in pages.literal(template.read_text(encoding="utf-8"))
        ]
    print("\n".join(wrong) if wrong else f"{len(kept['figures'])} figures, and every table is what they say")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
