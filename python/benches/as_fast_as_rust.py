"""How fast Python indexes vectors that a program has made, beside Rust: in turns, in one run.

    cargo build --release -p memorist-python --example same_work
    python benches/as_fast_as_rust.py ../target/release/examples/same_work [--count 100000] [--rounds 3]

``index`` puts all vectors into a vector index, and into its graph. ``store`` saves as many texts with their vectors, until
all are on disk and found; indexes follow in the background. The vectors are those of the folder MEMORIST_SHARED_DATA, or made from a seed. The best round of each counts:
others slow the rest down. Ends with 1 where Python has less than 90 % of the speed. Processor time is printed, too: other
programs change it less.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import memorist
import numpy as np
from numpy.typing import NDArray


def vectors(count: int) -> NDArray[np.float32]:
    """Real embeddings, where there are any."""
    file = Path(os.environ.get("MEMORIST_SHARED_DATA") or ".") / "emb_base_100k.f16.npy"
    if file.exists():
        return np.ascontiguousarray(np.load(file)[:count].astype(np.float32))
    random = np.random.default_rng(1)
    centres = random.standard_normal((1000, 384), dtype=np.float32)
    return centres[random.integers(0, 1000, count)] + 0.6 * random.standard_normal((count, 384), dtype=np.float32)


class Took(NamedTuple):
    """Seconds."""

    wall: float
    processor: float


def rust(program: str, what: str, file: Path, dims: int, folder: str) -> Took:
    """What Rust takes, in a process of its own, without its start."""
    done = subprocess.run([program, what, str(file), str(dims), folder], check=True, capture_output=True, text=True)
    return Took(*map(float, done.stdout.split()))


def python(what: str, made: NDArray[np.float32], folder: str) -> Took:
    """What Python takes."""
    began = Took(time.perf_counter(), time.process_time())
    if what == "index":
        with memorist.VectorIndex(folder, made.shape[1]) as index:
            index.add(made)
            index.optimize()
            return Took(time.perf_counter() - began.wall, time.process_time() - began.processor)
    with memorist.Store(folder, embed=None) as store:
        store.add_many((f"text number {at}" for at in range(len(made))), vectors=made)
        return Took(time.perf_counter() - began.wall, time.process_time() - began.processor)


def main() -> int:
    """Compares, and prints a line for each kind of work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--what", choices=["index", "store"], nargs="*", default=["index", "store"])
    given = parser.parse_args()
    made = vectors(given.count)
    worst = 1.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors"
        made.tofile(file)
        for what in given.what:
            took: dict[str, list[Took]] = {"Rust": [], "Python": []}
            for turn in range(given.rounds):
                place = str(Path(folder) / f"{what}-{turn}")
                both = {
                    "Rust": lambda: rust(given.program, what, file, made.shape[1], f"{place}-rust"),
                    "Python": lambda: python(what, made, f"{place}-python"),
                }
                # Each goes first in turn.
                for name in sorted(both, reverse=turn % 2 == 0):
                    took[name].append(both[name]())
            best = {name: Took(*map(min, zip(*rounds))) for name, rounds in took.items()}
            ratio = best["Rust"].wall / best["Python"].wall
            worst = min(worst, ratio)
            print(f"{what}: {len(made)} vectors, Python has {ratio:.0%} of the speed of Rust")
            for name, rounds in took.items():
                walls = ", ".join(f"{one.wall:.2f}" for one in rounds)
                print(f"    {name:6} {best[name].wall:.2f} s, processor {best[name].processor:.2f} s ({walls})", flush=True)
    return 0 if worst >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
