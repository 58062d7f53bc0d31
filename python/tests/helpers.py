"""Vectors that are the same in each run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DIMS = 32


def vectors(count: int, seed: int = 0, dims: int = DIMS) -> NDArray[np.float32]:
    """Vectors in groups, so that each has neighbours."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(7).standard_normal((64, dims))
    made = centres[random.integers(0, 64, count)] + 0.5 * random.standard_normal((count, dims))
    return made.astype(np.float32)


def embed(texts: list[str]) -> NDArray[np.float32]:
    """Texts with common groups of three letters are near one another."""
    made = np.zeros((len(texts), 256), dtype=np.float32)
    for row, text in enumerate(texts):
        padded = f" {text.lower()} "
        for at in range(len(padded) - 2):
            made[row, sum(ord(letter) * 31**place for place, letter in enumerate(padded[at : at + 3])) % 256] += 1
    return made
