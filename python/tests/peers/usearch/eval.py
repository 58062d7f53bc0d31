"""As `usearch.eval`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .index import Index


@dataclass
class SearchStats:
    computed_distances: int
    mean_recall: float


def random_vectors(count: int, ndim: int, dtype: Any = np.float32, metric: Any = None) -> Any:
    made = np.random.standard_normal((count, ndim)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(dtype) if isinstance(dtype, type) else made


def self_recall(index: Index, keys: Any = None, sample: float = 1.0, count: int = 1) -> SearchStats:
    keys = index.keys if keys is None else keys
    keys = keys[: max(1, int(sample * len(keys)))]
    found = index.index.search(index.index.get(keys), count)
    recall = float(np.mean([key in row for key, row in zip(keys.tolist(), found.ids)]))
    assert recall > 0.97, recall
    return SearchStats(len(keys) * count, recall)
