#!/usr/bin/env python3
"""Compares the vector index of memorist with other libraries: recall against queries a second.

    python3 benches/index.py                         those that can be imported here, 100,000 made vectors
    python3 benches/index.py --install               all, each installed in an environment of its own (target/stores/venv)
    python3 benches/index.py --data DIR              vectors of a folder: emb_base*.npy and emb_query*.npy
    python3 benches/index.py --count 20000 --libraries memorist,hnswlib --svg plot.svg

Each library is in a process of its own. A round asks every library the same queries at each effort, one after the other, so
that a slow minute of the machine falls on all. A time is that of the processor for one query on one thread; the figure at a
recall is where the curve crosses it. Compare the ratios: another machine, or hour, has other times.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from measure import data, environments, libraries, plot, tables, timing
from measure.machine import ROOT, load, machine, moment

WORK = ROOT / "target/index"
WORKER = ROOT / "benches/measure/libraries.py"
EFFORTS = (10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
RECALLS = (0.95, 0.99)
REFERENCE = "hnswlib"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="a folder with real embeddings")
    parser.add_argument("--libraries", default=",".join(libraries.LIBRARIES), help="which, with commas between")
    parser.add_argument("--install", action="store_true", help="install them, each in an environment of its own")
    parser.add_argument("--wheel", type=Path, help="of memorist, with --install")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--svg", type=Path, default=WORK / "recall.svg", help="the plot")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    given = parser.parse_args()
    wanted = given.libraries.split(",")
    if unknown := [name for name in wanted if name not in libraries.LIBRARIES]:
        parser.error(f"no library is called {', '.join(unknown)}; there are {', '.join(libraries.LIBRARIES)}")
    if given.rounds < 1 or not 1 <= given.queries <= data.QUERIES or given.count < 1_000:
        parser.error(f"at least one round, 1 to {data.QUERIES} queries and 1,000 vectors")
    pythons = interpreters(wanted, given)
    if not pythons:
        sys.exit("none of them can be imported; pip install some, or give --install")
    corpus = data.load(given.count, given.data, texts=False)
    data.save(corpus, WORK / "data")
    workers, built, failed = {}, {}, {}
    try:
        for name, python in pythons.items():
            try:
                built[name] = build(name, python)
                workers[name] = started(name, python)
                built[name].update(workers[name].ask(do="open"))
                print(f"{name}: built in {built[name]['wall']:.0f} s", file=sys.stderr)
            except timing.WorkerFailed as error:
                failed[name] = str(error)
        curves = measure(workers, corpus, given, failed)
    finally:
        for worker in workers.values():
            worker.close()
        for folder in ("data", *(f"indexes/{name}" for name in pythons)):
            shutil.rmtree(WORK / folder, ignore_errors=True)
    if not curves:
        sys.exit(f"nothing was measured: {failed}")
    figures = summary(curves, built)
    print(shown(figures, list(curves)))
    for name, why in failed.items():
        print(f"{name} was not measured: {why}", file=sys.stderr)
    drawn = {
        name: [(recall, 1 / statistics.median(times)) for recall, times in points] for name, points in curves.items()
    }
    given.svg.parent.mkdir(parents=True, exist_ok=True)
    given.svg.write_text(plot.svg(f"{given.count:,} vectors of {corpus.vectors.shape[1]} numbers", drawn), encoding="utf-8")
    print(f"\nthe plot is in {given.svg}")
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        whole = {**moment(), "machine": machine(), "load": load(), "count": given.count, "figures": figures, "curves": curves}
        given.json.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    return bool(failed)


def interpreters(wanted, given):
    """For each library the Python that can import it."""
    found = {}
    for name in wanted:
        try:
            python = environments.python(name, given.wheel) if given.install else Path(sys.executable)
        except environments.Missing as error:
            print(f"{name} is not measured: {error}", file=sys.stderr)
            continue
        command = [str(python), "-c", f"import {libraries.LIBRARIES[name].imports}"]
        if subprocess.run(command, capture_output=True).returncode:
            print(f"{name} cannot be imported, and is left out", file=sys.stderr)
        else:
            found[name] = python
    return found


def started(name, python):
    folder = WORK / "indexes" / name
    command = [str(python), "-B", str(WORKER), name, str(folder), str(WORK / "data")]
    one = {f"{pool}_NUM_THREADS": "1" for pool in ("OPENBLAS", "MKL")}
    return timing.Worker(command, WORK / "logs" / f"{name}.log", {**os.environ, **one})


def build(name, python):
    """Builds and saves an index in a process of its own, so that nothing of it is in memory when it is opened."""
    folder = WORK / "indexes" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with started(name, python) as worker:
        took = worker.ask(do="build")
    return {**took, "disk": timing.disk_mb(folder)}


def measure(workers, corpus, given, failed):
    """For each library and effort the recall, and the time of a query in each round."""
    curves = {name: [[None, []] for _ in EFFORTS] for name in workers}
    queries = slice(0, given.queries)
    for turn in range(given.rounds):
        for at, effort in enumerate(EFFORTS):
            for name, worker in workers.items():
                if name in failed:
                    continue
                try:
                    answer = worker.ask(do="search", ef=max(effort, data.K), count=given.queries, k=data.K)
                    curves[name][at][1].append(answer["cpu"])
                    if turn == 0:
                        curves[name][at][0] = corpus.recall(answer["rows"], queries)
                except (timing.WorkerFailed, ValueError) as error:
                    failed[name] = str(error)
        print(f"round {turn + 1} of {given.rounds}", file=sys.stderr)
    return {name: curve for name, curve in curves.items() if name not in failed}


def time_at(points, recall):
    """The time at which a curve of recall and time crosses a recall, and whether that is only a bound; None if it does not.

    Between two efforts, the logarithm of the time is linear in that of what the recall lacks.
    """
    before = None
    for found, time in points:
        if found >= recall:
            if before is None or found == before[0]:
                return time, before is None
            share = math.log(plot.missing(recall) / plot.missing(before[0]))
            share /= math.log(plot.missing(found) / plot.missing(before[0]))
            return before[1] * (time / before[1]) ** share, False
        before = (found, time)
    return None


def summary(curves, built):
    """The figures: for each the values of its rounds, and the unit."""
    figures = {}
    for name, curve in curves.items():
        figures[f"{name}.disk"] = ([built[name]["disk"]], "MB")
        for key, value in (("open", "open"), ("build", "wall"), ("build-cpu", "cpu")):
            figures[f"{name}.{key}"] = ([built[name][value]], "s")
        for recall in RECALLS:
            rounds = zip(*(times for _, times in curve))
            at = [time_at([(point[0], time) for point, time in zip(curve, times)], recall) for times in rounds]
            if all(at):
                figures[f"{name}.at-{recall * 100:.0f}"] = ([time for time, _ in at], "s")
                figures[f"{name}.bound-{recall * 100:.0f}"] = ([int(at[0][1])], "count")
    for name in curves:
        for recall in RECALLS:
            key = f"at-{recall * 100:.0f}"
            ours, theirs = figures.get(f"{name}.{key}"), figures.get(f"{REFERENCE}.{key}")
            if ours and theirs:
                ratios = [b / a for a, b in zip(ours[0], theirs[0])]
                figures[f"{name}.times-{recall * 100:.0f}"] = (ratios, "times")
    return figures


def shown(figures, names):
    """The table."""

    def cell(name, key):
        if f"{name}.{key}" not in figures:
            return "-"
        values, unit = figures[f"{name}.{key}"]
        bound = figures.get(f"{name}.{key.replace('at-', 'bound-')}", ([0],))[0][0] if key.startswith("at-") else 0
        return ("≤ " if bound else "") + tables.number(statistics.median(values), unit)

    keys = ("at-95", "times-95", "at-99", "times-99", "disk", "open", "build-cpu")
    header = ["", "at recall 0.95", f"times {REFERENCE}", "at 0.99", f"times {REFERENCE}", "index", "opening", "building, CPU"]
    return tables.table(header, [[name, *(cell(name, key) for key in keys)] for name in names])


if __name__ == "__main__":
    sys.exit(main())
