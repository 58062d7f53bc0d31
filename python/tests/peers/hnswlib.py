"""The interface of hnswlib over :class:`memorist.VectorIndex`, as far as hnswlib's own tests use it.

Different on purpose:

- Vectors are kept in 16 bits a number. So those that come back equal those that went in but for rounding: ``==`` of
  what :meth:`Index.get_items` returns allows for it.
- Vectors are on disk when the call returns, so there is nothing to save: `save_index` copies the folder.
- An index is opened by its path and cannot be pickled: the pickle of this interface has the vectors.
- There is no limit of elements, and a deleted vector does not come back: this interface keeps those that may.
- Ids are no labels of deleted vectors: a deletion frees its place by itself.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memorist
import numpy as np


class Rounded(np.ndarray):
    """Vectors that are equal to others within 16 bits a number."""

    def __eq__(self, other: Any) -> Any:
        return np.isclose(np.asarray(self), np.asarray(other), rtol=0, atol=1e-4)

    __hash__ = None


class Index:
    """An index, whose graph is built before the first search after a change."""

    def __init__(self, space: str, dim: int) -> None:
        self.space, self.dim, self.num_threads, self.ef = space, dim, 0, 10
        self.lock = threading.RLock()
        self.removed: dict[int, Any] = {}
        self.restored: dict[int, Any] = {}
        self.pending: set[int] = set()
        self.index: memorist.VectorIndex | None = None

    def init_index(
        self, max_elements: int, M: int = 16, ef_construction: int = 200, random_seed: int = 100, allow_replace_deleted: bool = False
    ) -> None:
        self.max_elements, self.M, self.ef_construction = max_elements, M, ef_construction
        self.index = memorist.VectorIndex(
            dimensions=self.dim, metric=self.space, m=M, ef_construction=ef_construction, seed=random_seed  # type: ignore[arg-type]
        )
        self.is_new = True

    def _ready(self) -> memorist.VectorIndex:
        assert self.index is not None, "init_index or load_index comes first"
        if self.pending:
            self.index.remove(self.pending)
            self.pending = set()
        if self.restored:
            self.index.add(np.stack([*self.restored.values()]), list(self.restored))
            self.restored = {}
        return self.index

    def add_items(self, data: Any, ids: Any = None, num_threads: int = -1, replace_deleted: bool = False) -> None:
        with self.lock:
            index = self._ready()
            if ids is None:
                ids = np.arange(len(data)) + self.element_count
            index.add(np.asarray(data), np.asarray(ids))
            for id in np.asarray(ids).tolist() if self.removed else []:
                self.removed.pop(id, None)
            self.is_new = True

    def knn_query(self, data: Any, k: int = 1, num_threads: int = -1, filter: Callable[[int], bool] | None = None) -> Any:
        with self.lock:
            index = self._ready()
            if self.is_new:
                index.optimize()
                self.is_new = False
            only = None if filter is None else [id for id in index.ids().tolist() if filter(id)]
            found = index.search(np.atleast_2d(np.asarray(data)), k, only=only)
            if (found.ids < 0).any():
                raise RuntimeError("there are fewer than k")
            return found.ids, found.scores if self.space == "l2" else 1 - found.scores

    def get_items(self, ids: Any = None, return_type: str = "numpy") -> Any:
        index = self._ready()
        ids = index.ids() if ids is None else np.asarray(ids)
        if ids.ndim == 0:
            raise ValueError("ids are an array")
        items = index.get(ids.reshape(-1)).view(Rounded)
        return items if return_type == "numpy" else items.tolist()

    def mark_deleted(self, label: int) -> None:
        assert self.index is not None and label not in self.removed
        self.removed[int(label)] = self.index.get([label])[0]
        self.pending.add(int(label))

    def unmark_deleted(self, label: int) -> None:
        self.restored[int(label)] = self.removed.pop(int(label))

    def save_index(self, path: str) -> None:
        shutil.copytree(self._ready().path, path + ".index", dirs_exist_ok=True)
        np.save(path, np.array([self.removed], dtype=object), allow_pickle=True)
        Path(path + ".npy").rename(path)

    def load_index(self, path: str, max_elements: int = 0, allow_replace_deleted: bool = False) -> None:
        (self.removed,) = np.load(path, allow_pickle=True)
        self.max_elements, self.M, self.ef_construction = max_elements, 16, 200
        self.index, self.is_new = memorist.VectorIndex(path + ".index", metric=self.space), True  # type: ignore[arg-type]

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("index", "lock")}
        return kept if self.index is None else kept | {"vectors": (self._ready().ids(), self._ready().get(self.index.ids()))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vectors = state.pop("vectors", None)
        self.__dict__.update(state, lock=threading.RLock(), index=None)
        if vectors is not None:
            self.init_index(self.max_elements, self.M, self.ef_construction)
            self._ready().add(vectors[1], vectors[0])

    def set_ef(self, ef: int) -> None:
        self.ef = ef

    def set_num_threads(self, threads: int) -> None:
        self.num_threads = threads

    def resize_index(self, max_elements: int) -> None:
        self.max_elements = max_elements

    def get_max_elements(self) -> int:
        return self.max_elements

    def get_current_count(self) -> int:
        return self.element_count

    def get_ids_list(self) -> list[int]:
        return [*self._ready().ids().tolist(), *self.removed]

    @property
    def element_count(self) -> int:
        return len(self._ready()) + len(self.removed)


class BFIndex(Index):
    """An index that compares every vector."""

    def knn_query(self, data: Any, k: int = 1, num_threads: int = -1, filter: Callable[[int], bool] | None = None) -> Any:
        index = self._ready()
        only = None if filter is None else [id for id in index.ids().tolist() if filter(id)]
        found = index.search(np.atleast_2d(np.asarray(data)), k, exact=True, only=only)
        return found.ids, found.scores if self.space == "l2" else 1 - found.scores
