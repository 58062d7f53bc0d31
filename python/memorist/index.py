"""The vector index by itself."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from . import _memorist
from ._arrays import StrPath, floats, integer, integers
from ._arrays import path as as_path
from .errors import InvalidInput, NotFound, WrongType, not_pickled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._arrays import Ids, Vector, Vectors

    #: Ids, or a mask: for each id from 0 on, whether it passes.
    Allowed: TypeAlias = "IdSet | NDArray[np.bool_] | Ids"

#: Metric: cosine, inner product, or squared Euclidean distance.
Metric: TypeAlias = Literal["cosine", "ip", "l2"]
#: How an index keeps its vectors: in 16 bits per number, or in 8, in a fifth of the space.
Layout: TypeAlias = Literal["standard", "compact"]

#: Queries that are searched before the first report of progress.
_FIRST_CHUNK = 8
#: Seconds between two reports of progress.
_REPORT = 0.1


class Neighbors(NamedTuple):
    """The nearest neighbors, best first. For one query, all hits. For several queries, a row of ``k`` for each, padded
    with the id -1 and the score NaN."""

    ids: NDArray[np.int64]
    #: Cosines, inner products, or squares of distances: of these the smallest is the best.
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Statistics of an index."""

    vectors: int
    dimensions: int
    #: Each segment is searched separately; :meth:`VectorIndex.optimize` merges them.
    segments: int
    #: Grows with each change.
    generation: int


def _count(name: str, given: int) -> int:
    number = integer(name, given)
    if not 0 <= number < 2**63:
        raise InvalidInput(f"{name}: {number} is not from 0 to 2**63 - 1")
    return number


def _count_if_given(name: str, given: int | None) -> int | None:
    return None if given is None else _count(name, given)


def _remove(folder: str, process: int) -> None:
    """Removes a temporary folder, except in a fork, whose parent owns it."""
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


class IdSet:
    """An immutable set of allowed ids, built once for many searches. It can be pickled.

    :param ids: integers from 0 on, or a mask: for each id from 0 on, whether it passes.
    """

    __slots__ = ("_set",)

    def __init__(self, ids: Ids | NDArray[np.bool_]) -> None:
        import numpy as np

        is_mask = isinstance(ids, np.ndarray) and ids.dtype == np.bool_ and not isinstance(ids, np.ma.MaskedArray)
        given = cast("NDArray[Any]", ids) if is_mask else integers("ids", cast("Ids", ids))
        self._set = _memorist.IdSet(given, is_mask)

    def __len__(self) -> int:
        return len(self._set)

    def __contains__(self, id: int) -> bool:
        id = integer("id", id)
        return id in self._set if abs(id) < 2**63 else False

    def __iter__(self) -> Iterator[int]:
        """The ids in ascending order."""
        return iter(self._set.ids().tolist())

    def __eq__(self, other: object) -> bool:
        return self._set.equals(other._set) if isinstance(other, IdSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._set.ids().tobytes())

    def __and__(self, other: IdSet) -> IdSet:
        return self._with(other, "and")

    def __or__(self, other: IdSet) -> IdSet:
        return self._with(other, "or")

    def __sub__(self, other: IdSet) -> IdSet:
        return self._with(other, "without")

    def _with(self, other: IdSet, how: str) -> IdSet:
        if not isinstance(other, IdSet):
            return NotImplemented
        made = IdSet.__new__(IdSet)
        made._set = self._set.combined(other._set, how)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return IdSet, (self._set.ids(),)

    def __repr__(self) -> str:
        return repr(self._set)


class VectorIndex:
    """Vectors by their ids, in a folder: a memory-mapped HNSW graph that can be updated.

    What was added is on disk when the call returns, and the next search finds it. :meth:`optimize` puts new vectors
    into the graph; until then they are compared one by one. Many threads may share an index; one process writes it,
    and any number of others read it.

    :param path: the folder. Default: a temporary folder, removed at the end.
    :param dimensions: of a new index. An existing index must have the same number.
    :param metric: of a new index, by default the cosine. An existing index must have the same one. ``ip`` and
        ``l2`` keep the lengths of vectors, which may be zero. A search takes longer with them.
    :param layout: of a new index, by default ``standard``. An existing index must have the same one. ``compact`` takes
        a fifth of the space: a search takes one and a half to two times as long, and scores are within 0.003.
    :param m: half of the maximum number of links of a vector, 2 to 64.
    :param ef_construction: candidates kept while the links of a new vector are searched for.
    :param seed: random seed; the same seed and input produce the same files.
    :param read_only: open an index that another process writes; see :meth:`refresh`.
    """

    def __init__(
        self,
        path: StrPath | None = None,
        dimensions: int | None = None,
        *,
        metric: Metric | None = None,
        layout: Layout | None = None,
        m: int | None = None,
        ef_construction: int | None = None,
        seed: int | None = None,
        read_only: bool = False,
    ) -> None:
        dimensions, m = _count_if_given("dimensions", dimensions), _count_if_given("m", m)
        ef_construction, seed = _count_if_given("ef_construction", ef_construction), _count_if_given("seed", seed)
        if metric is not None and not isinstance(metric, str):
            raise WrongType("metric", "a string", metric)
        if layout is not None and not isinstance(layout, str):
            raise WrongType("layout", "a string", layout)
        folder = tempfile.mkdtemp(prefix="memorist-") if path is None else as_path("path", path)
        self._temporary = weakref.finalize(self, _remove, folder, os.getpid()) if path is None else None
        is_there = os.path.exists(os.path.join(folder, "manifest"))
        if not is_there and not read_only and dimensions is None:
            raise NotFound(f"there is no index in {folder}; give dimensions to make one")
        create = not is_there and not read_only
        self._index = _memorist.Index(folder, dimensions, metric, layout, create, read_only, m, ef_construction, seed)
        self._lock = threading.Lock()
        self._next: int | None = None

    @property
    def path(self) -> str:
        """The folder."""
        return str(self._index.folder)

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        return self._index.dims

    @property
    def metric(self) -> Metric:
        """The metric."""
        return cast("Metric", self._index.metric)

    @property
    def layout(self) -> Layout:
        """The layout."""
        return cast("Layout", self._index.layout)

    @property
    def payload(self) -> bytes:
        """Bytes of the program that are published with a change, for example its progress."""
        return bytes(self._index.payload)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, id: int) -> bool:
        id = integer("id", id)
        return id in self._index if abs(id) < 2**63 else False

    def __repr__(self) -> str:
        if self._index.closed:
            return f"<VectorIndex {self.path!r}, closed>"
        return f"<VectorIndex {self.path!r}: {len(self)} vectors of {self.dimensions} dimensions>"

    def __reduce__(self) -> tuple[object, ...]:
        raise not_pickled(self, f"VectorIndex({self.path!r}, read_only=True)")

    def __enter__(self) -> VectorIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the index, so that others may write it. Changes are saved already. Removes a temporary index. Does
        nothing in a fork of the process that opened it."""
        self._index.close()
        if self._temporary is not None:
            self._temporary()

    def add(self, vectors: Vectors, ids: Ids | None = None, *, payload: bytes | None = None) -> NDArray[np.int64]:
        """Adds a row for each id atomically, and returns the ids. Replaces the vectors of existing ids.

        :param vectors: of any length; not zero, if the metric is the cosine. ``float32``, contiguous, they are not copied;
            other numbers are converted first.
        :param ids: integers from 0 on. Default: the next after the largest.
        :raises InvalidInput: if a vector has NaN, an infinity or no direction, or an array has the wrong type or shape; with
            ``ip`` and ``l2`` also if a vector is about 1,000 times as long as the mean.
        """
        import numpy as np

        rows = floats("vectors", vectors, 2)
        with self._lock:
            if ids is None:
                first = self._first_free()
                made = np.arange(first, first + len(rows), dtype=np.int64)
            else:
                made = integers("ids", ids)
            self._apply(made, rows, payload=payload)
            if len(made) and self._next is not None:
                self._next = max(self._next, int(made.max()) + 1)
        return made

    def update(self, ids: Ids, vectors: Vectors, *, payload: bytes | None = None) -> None:
        """Replaces the vectors of ids atomically.

        :raises NotFound: if the index does not have one of the ids.
        """
        changed = integers("ids", ids)
        with self._lock:
            missing = next((int(id) for id in changed if int(id) not in self._index), None)
            if missing is not None:
                raise NotFound(f"ids: the index has no vector {missing}; add() puts in new ones")
            self._apply(changed, floats("vectors", vectors, 2), payload=payload)

    def remove(self, ids: Ids, *, payload: bytes | None = None) -> int:
        """Removes the vectors of ids, ignoring unknown ids. Returns the number of removed ones."""
        with self._lock:
            before = len(self)
            self._apply(None, None, removed=integers("ids", ids), payload=payload)
            return before - len(self)

    def checkpoint(self, payload: bytes) -> None:
        """Publishes bytes of the program, without other changes. Vectors are saved already."""
        with self._lock:
            self._apply(None, None, payload=payload)

    def _apply(
        self,
        ids: NDArray[np.int64] | None,
        vectors: NDArray[np.float32] | None,
        *,
        removed: NDArray[np.int64] | None = None,
        payload: bytes | None = None,
    ) -> None:
        import numpy as np

        if payload is not None and not isinstance(payload, bytes):
            raise WrongType("payload", "bytes", payload)
        none = np.empty(0, dtype=np.int64)
        empty = np.empty((0, self.dimensions), dtype=np.float32)
        self._index.apply(
            none if ids is None else ids,
            empty if vectors is None else vectors,
            none if removed is None else removed,
            payload,
        )

    def _first_free(self) -> int:
        if self._next is None:
            ids = self._index.ids()
            self._next = int(ids.max()) + 1 if len(ids) else 0
        return self._next

    def optimize(self) -> None:
        """Adds new vectors to the graph, on all cores, and frees the space of removed ones. Others may search and write
        meanwhile. Ctrl-C stops it and keeps the finished part."""
        self._index.optimize()

    def refresh(self) -> bool:
        """Reloads a read-only index if its writer has published a newer state. Returns whether it did."""
        return self._index.refresh()

    def ids(self) -> NDArray[np.int64]:
        """All ids, unordered."""
        return self._index.ids()

    def get(self, ids: Ids) -> NDArray[np.float32]:
        """Returns the stored vectors of ids, a row for each: 16 bits per number, and of length 1 if the metric is
        the cosine.

        :raises NotFound: if the index does not have one of them.
        """
        import numpy as np

        wanted = integers("ids", ids)
        made = np.empty((len(wanted), self.dimensions), dtype=np.float32)
        for row, (id, vector) in enumerate(zip(wanted, self._index.vectors(wanted))):
            if vector is None:
                raise NotFound(f"ids: the index has no vector {id}")
            made[row] = vector
        return made

    def search(
        self,
        query: Vector | Vectors,
        k: int = 10,
        *,
        ef: int | None = None,
        recall: float | None = None,
        exact: bool = False,
        only: Allowed | None = None,
        exclude: Allowed | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Neighbors:
        """Returns the ``k`` nearest neighbors of a vector, or of several vectors (a row each, on all cores).

        :param recall: the target recall, 0.97 by default. The index calibrates ``ef`` for it when the graph is built,
            with queries near its own vectors. For queries unlike all of them the recall is lower: raise it, or use
            ``exact``.
        :param ef: the number of candidates to keep, instead of ``recall``.
        :param exact: scan all vectors.
        :param only: allowed ids, or a mask. Build an :class:`IdSet` once for many searches.
        :param exclude: excluded ids.
        :param progress: for several vectors, called with the number of searched ones, about ten times a second.
        """
        k, ef = _count("k", k), _count_if_given("ef", ef)
        if recall is not None and (isinstance(recall, bool) or hasattr(recall, "__len__") or not hasattr(recall, "__float__")):
            raise WrongType("recall", "a number", recall)
        rows = floats("query", query, 1)
        if only is not None and exclude is not None:
            raise InvalidInput("give either only or exclude")
        given = exclude if only is None else only
        filter = None if given is None else (given if isinstance(given, IdSet) else IdSet(given))._set
        how = (k, ef, recall, exact, filter, exclude is not None)
        if rows.ndim == 1:
            return Neighbors(*self._index.search(rows, *how))
        return self._in_chunks(rows, how, progress)

    def _in_chunks(self, rows: NDArray[np.float32], how: Any, progress: Callable[[int], object] | None) -> Neighbors:
        """Searches for many vectors in parts; Ctrl-C stops it after a part."""
        import numpy as np

        if progress is not None and not callable(progress):
            raise WrongType("progress", "a function", progress)
        parts: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
        done, size, frozen = 0, _FIRST_CHUNK, self._index.frozen()
        while done < len(rows) or not parts:
            began = time.monotonic()
            parts.append(self._index.search_many(frozen, rows[done : done + size], done, len(rows), *how))
            speed = size / max(time.monotonic() - began, 1e-6)
            done = min(done + size, len(rows))
            if progress is not None:
                progress(done)
            size = max(1, min(int(speed * _REPORT), 4 * size))
        if len(parts) == 1:
            return Neighbors(*parts[0])
        ids, scores = zip(*parts)
        return Neighbors(np.concatenate(ids), np.concatenate(scores))

    def stats(self) -> IndexStats:
        """Returns statistics of the index."""
        return IndexStats(len(self), self.dimensions, self._index.segments, self._index.generation)

    def verify(self) -> list[str]:
        """Checks every byte of the files and returns the problems; an intact index has none."""
        return self._index.verify()
