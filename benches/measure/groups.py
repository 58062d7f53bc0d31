"""The benches: which there are, how they are run, and which figures they make."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from . import output
from .machine import ROOT

STORES = ROOT / "target/tmp/bench-stores"


@dataclass(frozen=True)
class Variant:
    """One way of running a bench; its figures are named `GROUP.VARIANT.…`, or `GROUP.…` where it has no name."""

    name: str = ""
    one_core: bool = False
    environment: dict = field(default_factory=dict)


ONE_CORE = Variant(one_core=True)
ALL_CORES = Variant()


@dataclass(frozen=True)
class Group:
    """A bench, and its variants."""

    name: str
    #: The file in benches/ without its ending, or what else is run: see :func:`command`.
    bench: str
    variants: tuple
    #: About how long a round of a variant takes at full size, once the stores of the benches are there; a script, all its rounds.
    minutes: float


GROUPS = {
    group.name: group
    for group in (
        Group("hybrid", "hybrid", (Variant("one-core", True), Variant("all-cores")), 2.5),
        Group("levels", "levels", (ONE_CORE,), 0.2),
        Group("keyword", "keyword", (ONE_CORE,), 0.6),
        Group("graph", "graph", (ONE_CORE,), 1.5),
        Group("kernels", "kernels", (ONE_CORE,), 1.5),
        Group("open", "open", (ALL_CORES,), 0.7),
        Group("ingest", "ingest", (ALL_CORES,), 1.2),
        Group("build", "build", (ALL_CORES,), 2.5),
        Group(
            "embedding",
            "embedding",
            (
                Variant("", True),
                Variant("avx-vnni", True, {"MEMORIST_KERNEL": "avx-vnni"}),
                Variant("avx2", True, {"MEMORIST_KERNEL": "avx2"}),
                Variant("scalar", True, {"MEMORIST_KERNEL": "scalar"}),
            ),
            2.5,
        ),
        Group("serving", "serving", (ALL_CORES,), 2),
        Group("libraries", "libraries", (ALL_CORES,), 14),
        Group("stores", "stores", (ALL_CORES,), 15),
    )
}
#: Scripts that take their rounds themselves, as they build indexes first. They are not run unless they are named: they install
#: packages, and take long.
SCRIPTS = {"libraries": "index.py", "stores": "stores.py"}


class CannotRun(Exception):
    """A bench could not be built or run."""


def build(benches):
    """Builds benches, and the program, which cargo builds along with any of them. Returns the path of each."""
    chosen = [part for bench in benches or ["keyword"] for part in ("--bench", bench)]
    return _built(["cargo", "bench", "--no-run", "--message-format=json-render-diagnostics", *chosen])


def found(folder, names):
    """The newest programs of these names in a folder that cargo has built into."""
    programs = {}
    for name in names:
        places = [Path(folder) / name, *Path(folder).glob(f"deps/{name}-*"), *Path(folder).glob(f"{name}-*")]
        there = [place for place in places if place.is_file() and not place.suffix and os.access(place, os.X_OK)]
        if there:
            programs[name] = max(there, key=lambda place: place.stat().st_mtime)
    return programs


def _built(command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise CannotRun(f"{' '.join(command)} ended with {done.returncode}")
    programs = {}
    for line in done.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("executable"):
            programs[message["target"]["name"]] = Path(message["executable"])
    return programs


def command(group, variant, programs, data, count, script_options, result):
    """The command of a variant, and its environment. `result` is the file that a script of ours writes."""
    environment = {**os.environ, **variant.environment, "MEMORIST_BENCH_COUNT": str(count)}
    environment["MEMORIST_SHARED_DATA"] = str(data or "")
    if group.bench in SCRIPTS:
        line = [sys.executable, "-B", str(ROOT / "benches" / SCRIPTS[group.bench]), "--json", str(result)]
        line += ["--count", str(count), *script_options]
        line += ["--install"] if group.bench == "libraries" else []
        return line + (["--data", str(data)] if data else []), environment
    if group.bench == "levels":
        store = STORES / f"{'real' if data else 'generated'}-{count}"
        if not store.is_dir():
            raise CannotRun(f"there is no {store}: run the group keyword first, which makes it")
        line = [str(programs["memorist"]), "--store", str(store), "bench", "--json"]
    else:
        line = [str(programs[group.bench]), "--bench"]
    if variant.one_core:
        line = ["taskset", "-c", "0", *line]
    return line, environment


def run(group, variant, programs, data, count, script_options, log):
    """Runs a variant once, and returns its figures by their names: values, of a script those of all its rounds, and a unit.
    What it printed is kept in `log`."""
    result = log.with_suffix(".json")
    line, environment = command(group, variant, programs, data, count, script_options, result)
    log.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True)
    printed = done.stdout + "\n" + done.stderr
    log.write_text(printed)
    # A script ends with 1 where a part of it failed, and has the figures of the rest.
    if group.bench in SCRIPTS:
        print("\n".join(line for line in printed.splitlines() if "not measured" in line), file=sys.stderr)
    if done.returncode and not (group.bench in SCRIPTS and done.returncode == 1 and result.exists()):
        raise CannotRun(f"it ended with {done.returncode}; what it printed is in {log.relative_to(ROOT)}")
    if group.bench in SCRIPTS:
        figures = json.loads(result.read_text(encoding="utf-8"))["figures"]
    else:
        once = output.parse_levels(done.stdout) if group.bench == "levels" else output.parse(printed)
        figures = {name: ([value], unit) for name, (value, unit) in once.items()}
    if not figures:
        raise CannotRun(f"{group.name} {variant.name} printed no figure; see {log.relative_to(ROOT)}")
    prefix = ".".join(part for part in (group.name, variant.name) if part)
    return {f"{prefix}.{name}": figure for name, figure in figures.items()}
