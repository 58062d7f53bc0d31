"""As `usearch.index`."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import memorist
import numpy as np

DEFAULT_CONNECTIVITY = 16

MetricKind = enum.Enum("MetricKind", "Cos L2sq IP Hamming Tanimoto Sorensen")
ScalarKind = enum.Enum("ScalarKind", "F64 F32 BF16 F16 E5M2 E4M3 E3M2 E2M3 I8 U8")
OURS = {MetricKind.Cos: "cosine", MetricKind.L2sq: "l2", MetricKind.IP: "ip"}


class Clustering:
    pass


@dataclass
class Match:
    key: int
    distance: float


@dataclass
class Matches:
    keys: Any
    distances: Any

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at: int) -> Match:
        return Match(int(self.keys[at]), float(self.distances[at]))


@dataclass
class BatchMatches:
    keys: Any
    distances: Any

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, row: int) -> Matches:
        found = self.keys[row] >= 0
        return Matches(self.keys[row][found], self.distances[row][found])

    def __iter__(self) -> Iterator[Matches]:
        return (self[row] for row in range(len(self)))


class Index:
    def __init__(self, ndim: int, metric: Any = MetricKind.Cos, dtype: Any = None, multi: bool = False, connectivity: int = 16) -> None:
        if multi:
            raise NotImplementedError("an id has one vector")
        self.ndim, self.metric = ndim, metric
        self.index = memorist.VectorIndex(dimensions=ndim, metric=OURS[metric], m=connectivity)  # type: ignore[arg-type]
        self.is_new = False
        self.lengths: dict[int, float] = {}

    def add(self, keys: Any, vectors: Any, threads: int = 0, copy: bool = True) -> Any:
        vectors, keys = np.asarray(vectors), np.atleast_1d(np.asarray(keys))
        if vectors.flags.f_contiguous and not vectors.flags.c_contiguous:
            raise ValueError("the order of Fortran")
        if self.contains(keys).any():
            raise RuntimeError("duplicate keys")
        self.is_new = True
        if self.metric == MetricKind.Cos:
            self.lengths |= dict(zip(keys.tolist(), np.linalg.norm(np.atleast_2d(vectors).astype(np.float32), axis=1)))
        return self.index.add(np.atleast_2d(vectors), keys)

    def search(self, vectors: Any, count: int = 10, threads: int = 0, exact: bool = False) -> Any:
        if self.is_new:
            self.index.optimize()
            self.is_new = False
        found = self.index.search(np.atleast_2d(vectors), count, exact=exact)
        distances = found.scores if self.metric == MetricKind.L2sq else 1 - found.scores
        many = BatchMatches(found.ids, distances)
        return many if len(many) > 1 else many[0]

    def get(self, keys: Any, dtype: Any = np.float32) -> Any:
        found = [self._one(key).astype(dtype) if key in self.index else None for key in np.atleast_1d(keys).tolist()]
        return found[0] if np.ndim(keys) == 0 else tuple(found)

    def _one(self, key: int) -> Any:
        return self.index.get([key])[0] * self.lengths.get(key, 1.0)

    def contains(self, keys: Any) -> Any:
        found = np.array([key in self.index for key in np.atleast_1d(keys).tolist()], dtype=bool)
        return found if np.ndim(keys) else bool(found[0])

    def count(self, keys: Any) -> Any:
        return np.asarray(self.contains(keys)).astype(int)

    def remove(self, keys: Any) -> int:
        return self.index.remove(np.atleast_1d(keys))

    def rename(self, old: Any, new: Any) -> Any:
        here = [(one, other) for one, other in zip(np.atleast_1d(old).tolist(), np.atleast_1d(new).tolist()) if one in self.index]
        if here:
            kept = self.index.get([one for one, _ in here])
            self.index.remove([one for one, _ in here])
            self.index.add(kept, [other for _, other in here])
        return np.array([other for _, other in here], dtype=np.int64)

    @property
    def keys(self) -> Any:
        return self.index.ids()

    @property
    def vectors(self) -> Any:
        return np.stack([self._one(key) for key in self.index.ids().tolist()])

    def __delitem__(self, keys: Any) -> None:
        self.remove(keys)

    def __contains__(self, key: Any) -> bool:
        return bool(self.contains(int(key)))

    def __len__(self) -> int:
        return len(self.index)
