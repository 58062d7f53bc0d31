"""Vectors that are the same in each run, and examples of the documents."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMS = 32
PAGE = Path(__file__).parent.parent.parent / "docs" / "src" / "python.md"


def vectors(count: int, seed: int = 0, dims: int = DIMS) -> NDArray[np.float32]:
    """Vectors in groups, so that each has neighbors."""
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


async def run_example(heading: str, names: dict[str, Any]) -> None:
    """Runs the example below a heading of the page of the Python library, with these names."""
    section = PAGE.read_text().split(f"### {heading}\n")[1].split("\n#")[0]
    (example,) = re.findall(r"^```python\n(.*?)^```", section, re.S | re.M)
    waits = eval(compile(example, str(PAGE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(waits):
        await waits
