"""How fast Python indexes vectors that a program has made, beside Rust: in turns, in one run.

    cargo build --release -p memorist-python --example same_work
    python benches/as_fast_as_rust.py ../target/release/examples/same_work [--count 100000] [--rounds 3]

``index`` puts all vectors into a vector index, and into its graph. ``store`` saves as many texts with their vectors, and
indexes both. The vectors are those of the folder MEMORIST_SHARED_DATA, or made from a seed. Ends with 1 where Python has
less than 90 % of the speed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def python(what: str, made: NDArray[np.float32], folder: str) -> float:
    """Seconds of Python."""
    began = time.perf_counter()
    if what == "index":
        with memorist.VectorIndex(folder, made.shape[1]) as index:
            index.add(made)
            index.optimize()
    else:
        with memorist.Store(folder, embed=None) as store:
            store.add_many((f"text number {at}" for at in range(len(made))), vectors=made)
            store.flush()
    return time.perf_counter() - began


def main() -> int:
    """Compares, and prints a line for each kind of work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    made = vectors(given.count)
    worst = 1.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors"
        made.tofile(file)
        for what in ("index", "store"):
            took: dict[str, list[float]] = {"rust": [], "python": []}
            for turn in range(given.rounds):
                place = str(Path(folder) / f"{what}-{turn}")
                command = [given.program, what, str(file), str(made.shape[1]), f"{place}-rust"]
                rust = subprocess.run(command, check=True, capture_output=True, text=True)
                took["rust"].append(float(rust.stdout))
                took["python"].append(python(what, made, f"{place}-python"))
            rust_median, python_median = (statistics.median(took[name]) for name in ("rust", "python"))
            ratio = rust_median / python_median
            worst = min(worst, ratio)
            rounds = ", ".join(f"{a:.2f} and {b:.2f}" for a, b in zip(took["rust"], took["python"]))
            print(
                f"{what}: {len(made)} vectors, Rust {rust_median:.2f} s, Python {python_median:.2f} s: "
                f"{ratio:.0%} of the speed ({rounds})"
            )
    return 0 if worst >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
