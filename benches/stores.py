#!/usr/bin/env python3
"""Compares memorist with other stores that pip installs, on the same texts and vectors.

    python3 benches/stores.py                                100,000 made memories, all stores
    python3 benches/stores.py --data DIR                     real ones
    python3 benches/stores.py --count 5000 --stores memorist,zvec --rounds 1

Each store is in a process and a virtual environment of its own (target/stores/). What is put in is put in on all cores; what
is asked is asked on one, in rounds in which the stores take turns. Times are of the clock, memory is that of the process
with the pages of mapped files, less what it had before the store was imported. Recall is that of the side that compares
vectors, on the same queries; stores with an effort to set get the least of a ladder that finds 0.985 on other queries.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from measure import data, environments, pages, stores, timing
from measure.machine import ROOT, load, machine, moment

WORK = ROOT / "target/stores"
WORKER = ROOT / "benches/measure/stores.py"
TARGET = 0.985
#: The queries of the ladder are not those of the rounds.
TUNING, TUNED = 700, 100
SYNCS = "fsync,fdatasync,msync,sync_file_range"
INSERTS = 100


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="a folder with real texts and embeddings")
    parser.add_argument("--stores", default=",".join(stores.STORES), help="which, with commas between (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=10, help="at most, for the queries of a kind in a round")
    parser.add_argument("--wheel", type=Path, help="of memorist")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    given = parser.parse_args()
    names = given.stores.split(",")
    if unknown := [name for name in names if name not in stores.STORES]:
        parser.error(f"no store is called {', '.join(unknown)}; there are {', '.join(stores.STORES)}")
    if given.queries > TUNING or given.rounds < 1 or given.count < 1_000:
        parser.error(f"at most {TUNING} queries, at least one round and 1,000 memories")
    comparison = Comparison(given, names)
    try:
        comparison.run()
    finally:
        comparison.remove()
    if not comparison.figures:
        sys.exit("no store could be measured")
    figures = {f"stores.{name}": summed(*figure) for name, figure in comparison.figures.items()}
    print(pages.fill((pages.FOLDER / "stores.md").read_text(encoding="utf-8").replace(pages.ORIGIN, ""), figures).strip())
    if comparison.failed:
        print(f"\nnot measured: {'; '.join(f'{name}: {why}' for name, why in comparison.failed.items())}")
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        whole = {**moment(), "machine": machine(), "load": load(), "count": given.count, "figures": comparison.figures}
        given.json.write_text(json.dumps(whole, indent=1))
    return bool(comparison.failed)


def summed(values, unit):
    return {**timing.summary(values), "unit": unit}


class Comparison:
    """The stores on the same data, and what was measured: for each figure its rounds and unit."""

    def __init__(self, given, names):
        self.given, self.names = given, names
        self.figures, self.failed, self.efforts = {}, {}, {}
        self.corpus = data.load(given.count, given.data)
        self.data = WORK / "data"
        data.save(self.corpus, self.data)

    def run(self):
        for name in self.names:
            self.step(name, self.ingest)
        for name in self.names:
            self.step(name, self.tune)
        for turn in range(self.given.rounds):
            at = turn % len(self.names)
            for name in self.names[at:] + self.names[:at]:
                self.step(name, self.ask)
        for step in (self.change, self.count_syncs):
            for name in self.names:
                self.step(name, step)

    def step(self, name, step):
        """One step of a store. A store that fails is left out of the rest, and the others go on."""
        if name in self.failed:
            return
        try:
            step(name)
        except (timing.WorkerFailed, environments.Missing, ValueError) as error:
            self.failed[name] = f"{step.__name__}: {error}"
            print(f"{name}: {self.failed[name]}", file=sys.stderr)
        else:
            print(f"{name}: {step.__name__}", file=sys.stderr)

    def keep(self, name, figure, value, unit):
        if value is not None:
            self.figures.setdefault(f"{name}.{figure}", ([], unit))[0].append(value)

    def folder(self, name):
        return WORK / "stores" / name

    def worker(self, name, before=()):
        python = environments.python(name, self.given.wheel)
        command = [*before, str(python), "-B", str(WORKER), name, str(self.folder(name)), str(self.data)]
        environment = {**os.environ, "RUST_LOG": "error", "LANCE_LOG": "error", "PYTHONWARNINGS": "ignore"}
        return timing.Worker(command, WORK / "logs" / f"{name}.log", environment)

    def opened(self, name, before=()):
        worker = self.worker(name, before)
        try:
            core = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
            return worker, worker.ask(do="open", effort=self.efforts.get(name), core=core)
        except timing.WorkerFailed:
            worker.close()
            raise

    def ingest(self, name):
        shutil.rmtree(self.folder(name), ignore_errors=True)
        self.folder(name).mkdir(parents=True)
        with self.worker(name) as worker:
            took = worker.ask(do="ingest")
        self.keep(name, "ingest", took["wall"], "s")
        self.keep(name, "ingest-cpu", took["cpu"], "s")
        self.keep(name, "disk", timing.disk_mb(self.folder(name)), "MB")

    def tune(self, name):
        queries = slice(TUNING, TUNING + TUNED)
        for effort in stores.STORES[name].efforts:
            self.efforts[name] = effort
            worker, _ = self.opened(name)
            with worker:
                rows = worker.ask(do="search", lane="vector", first=TUNING, count=TUNED, seconds=60)["rows"]
            if self.corpus.recall(rows, slice(TUNING, TUNING + len(rows))) >= TARGET:
                break
        self.keep(name, "effort", self.efforts.get(name), "count")

    def ask(self, name):
        worker, took = self.opened(name)
        with worker:
            for figure, value in took.items():
                self.keep(name, figure, value, "s")
            # So that no lane pays for pages that the first ones have read.
            worker.ask(do="search", lane="vector", first=TUNING, count=50, seconds=2)
            for lane, (side, which) in stores.LANES.items():
                answer = worker.ask(
                    do="search", lane=lane, first=0, count=self.given.queries, seconds=self.given.seconds
                )
                if answer["rows"] is None:
                    continue
                self.keep(name, f"{lane}-p50", answer["wall_p50"], "s")
                self.keep(name, f"{lane}-p99", answer["wall_p99"], "s")
                self.keep(name, f"{lane}-results", sum(map(len, answer["rows"])) / len(answer["rows"]), "count")
                if side == "vector":
                    recall = self.corpus.recall(answer["rows"], slice(0, len(answer["rows"])), which)
                    self.keep(name, f"{lane}-recall", recall, "recall")
            self.keep(name, "memory", answer["memory"], "MiB")
            worker.ask(do="end")

    def change(self, name):
        worker, _ = self.opened(name)
        with worker:
            done = worker.ask(do="change", count=200, seconds=2 * self.given.seconds)
            for what in ("insert", "after", "delete"):
                self.keep(name, f"{what}-p50", done[f"{what}_wall_p50"], "s")
                self.keep(name, f"{what}-p99", done[f"{what}_wall_p99"], "s")
            for what in ("inserts", "found", "ghosts"):
                self.keep(name, what, done[what], "count")
            worker.ask(do="end")

    def count_syncs(self, name):
        if not shutil.which("strace"):
            print("syncs are not measured: there is no strace", file=sys.stderr)
            return
        counts = []
        for inserts in (0, INSERTS):
            log = WORK / "logs" / f"{name}.strace"
            trace = ["strace", "-f", "-qq", "-e", f"trace={SYNCS}", "-o", str(log)]
            if subprocess.run([*trace, "true"], capture_output=True).returncode:
                print("syncs are not measured: strace may not trace here", file=sys.stderr)
                return
            worker, _ = self.opened(name, trace)
            with worker:
                worker.ask(do="insert", count=inserts)
                worker.ask(do="end")
            lines = log.read_text(errors="replace").splitlines()
            # A call that another thread interrupts has two lines.
            counts.append(sum("(" in line and "resumed>" not in line for line in lines))
        self.keep(name, "syncs", max(0, counts[1] - counts[0]) / INSERTS, "count")

    def remove(self):
        """The stores and the data are large."""
        for folder in (WORK / "stores", self.data):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
