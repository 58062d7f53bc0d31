"""The vector index alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import memorist
import numpy as np
import pytest
from memorist import IdSet, VectorIndex

from helpers import DIMS, vectors


def nearest(base, query, k: int, allowed=None):  # type: ignore[no-untyped-def]
    """The true neighbors."""
    unit = base / np.linalg.norm(base, axis=1, keepdims=True)
    scores = unit @ (query / np.linalg.norm(query))
    if allowed is not None:
        scores = np.where(allowed, scores, -2)
    return np.argsort(-scores)[:k]


def recall(index: VectorIndex, base, queries, **how) -> float:  # type: ignore[no-untyped-def]
    found = index.search(queries, 10, **how).ids
    allowed = how.get("only")
    return float(np.mean([len(set(row) & set(nearest(base, query, 10, allowed))) / 10 for row, query in zip(found, queries)]))


def test_vectors_are_added_found_changed_and_removed(tmp_path: Path) -> None:
    base, queries = vectors(10_000), vectors(100, seed=1)
    with VectorIndex(tmp_path / "index", DIMS, seed=1) as index:
        assert index.add(base[:9_000]).tolist() == list(range(9_000))
        assert recall(index, base[:9_000], queries) > 0.95
        index.optimize()
        index.add(base[9_000:], ids=range(9_000, 10_000))
        assert len(index) == 10_000 and 9_999 in index and 10_000 not in index
        for how in ({}, {"ef": 200}, {"recall": 0.995}):
            assert recall(index, base, queries, **how) > 0.93, how
        assert recall(index, base, queries, exact=True) > 0.99
        mask = np.random.default_rng(3).random(10_000) < 0.01
        assert recall(index, base, queries, only=mask) > 0.99

        ids, scores = index.search(base[42], 3)
        assert ids[0] == 42 and scores[0] == pytest.approx(1, abs=1e-3) and ids.dtype == np.int64
        assert index.get([42]) == pytest.approx(base[42:43] / np.linalg.norm(base[42]), abs=1e-3)
        index.update([42], base[7:8])
        assert 42 in index.search(base[7], 2).ids
        assert index.remove([42, 43, 999_999]) == 2 and 42 not in index and len(index) == 9_998
        assert index.add(base[:1]).tolist() == [10_000]
        stats = index.stats()
        assert (stats.vectors, stats.dimensions) == (9_999, DIMS) and stats.segments >= 2
        index.optimize()
        assert index.verify() == [] and sorted(index.ids()) == sorted({*range(10_001)} - {42, 43})
        assert "9999 vectors" in repr(index)


def test_a_compact_index_is_a_quarter_as_large(tmp_path: Path) -> None:
    base, queries, sizes = vectors(3_000, dims=384), vectors(100, seed=1, dims=384), {}
    for layout in ("standard", "compact"):
        with VectorIndex(tmp_path / layout, 384, layout=cast(Any, layout)) as index:
            index.add(base)
            index.optimize()
            sizes[layout] = sum(file.stat().st_size for file in (tmp_path / layout).iterdir())
            assert index.layout == layout and recall(index, base, queries, exact=True) > 0.8
    assert sizes["compact"] < sizes["standard"] / 4
    # It is kept, and need not be named.
    with VectorIndex(tmp_path / "compact") as again:
        assert again.layout == "compact"
    with pytest.raises(memorist.InvalidInput, match="has compact, not standard"):
        VectorIndex(tmp_path / "compact", layout="standard")
    with pytest.raises(memorist.InvalidInput, match="not standard or compact"):
        VectorIndex(tmp_path / "new", DIMS, layout=cast(Any, "small"))
    with pytest.raises(memorist.WrongType, match="layout"):
        VectorIndex(tmp_path / "new", DIMS, layout=cast(Any, 8))


def test_a_search_of_one_is_a_row_of_a_search_of_many(tmp_path: Path) -> None:
    with VectorIndex(dimensions=DIMS) as index:
        index.add(vectors(3_000))
        queries = vectors(20, seed=2)
        many = index.search(queries, 5)
        assert many.ids.shape == many.scores.shape == (20, 5)
        for row, query in enumerate(queries):
            one = index.search(query, 5)
            assert one.ids.tolist() == many.ids[row].tolist() and one.scores.tolist() == many.scores[row].tolist()
        few = index.search(queries, 5, only=[1, 2])
        assert set(few.ids[0]) == {1, 2, -1} and np.isnan(few.scores[0, 2:]).all()
        assert index.search(queries[0], 5, only=[1, 2]).ids.shape == (2,)
        everything = IdSet(np.arange(3_000))
        assert len(index.search(queries[0], exclude=everything).ids) == 0
        assert len(everything) == 3_000 and 5 in everything and -1 not in everything
        folder = index.path
    assert not Path(folder).exists()


def test_an_empty_index_finds_nothing() -> None:
    with VectorIndex(dimensions=3) as index:
        assert index.search([1.0, 0, 0]).ids.tolist() == [] and index.search([[1.0, 0, 0]]).ids.tolist() == [[-1] * 10]
        assert index.add(np.empty((0, 3), dtype=np.float32)).tolist() == [] and len(index) == 0


def test_others_follow_and_one_writes(tmp_path: Path) -> None:
    writer = VectorIndex(tmp_path / "index", DIMS)
    reader = VectorIndex(tmp_path / "index", read_only=True)
    writer.add(vectors(10), payload=b"batch 1")
    assert len(reader) == 0 and reader.refresh() and not reader.refresh()
    assert len(reader) == 10 and reader.payload == b"batch 1"
    with pytest.raises(memorist.InvalidInput, match="read only"):
        reader.add(vectors(1))
    with pytest.raises(memorist.Locked, match="read_only=True"):
        VectorIndex(tmp_path / "index")
    writer.checkpoint(b"done")
    assert writer.payload == b"done" and len(writer) == 10
    writer.close()
    with pytest.raises(memorist.Closed):
        writer.add(vectors(1))
    with VectorIndex(tmp_path / "index") as again:
        assert len(again) == 10 and again.payload == b"done" and again.add(vectors(1)).tolist() == [10]


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda index: index.add(np.ones((1, DIMS), dtype=complex)), memorist.WrongType, "vectors: must be numbers"),
        (lambda index: index.add(vectors(1), payload="x"), memorist.WrongType, "payload: must be bytes, not str"),
        (lambda index: index.add(np.ones((1, 3), dtype=np.float32)), memorist.InvalidInput, f"3 dimensions.*{DIMS}"),
        (lambda index: index.add(vectors(2).T), memorist.InvalidInput, f"2 dimensions.*{DIMS}"),
        (lambda index: index.add(vectors(2) * np.float32(np.nan)), memorist.InvalidInput, "key 5.*NaN"),
        (lambda index: index.add(vectors(2) * 0), memorist.InvalidInput, "no direction"),
        (lambda index: index.add(vectors(2), ids=[-1, 2]), memorist.InvalidInput, "-1 is negative"),
        (lambda index: index.add(vectors(2), ids=[1]), memorist.InvalidInput, "2 for 1 ids"),
        (lambda index: index.add(vectors(1), ids=[1.5]), memorist.WrongType, r"ids: must be integers \(float64\)"),
        (lambda index: index.add(vectors(1), ids=np.array([2**63], dtype=np.uint64)), memorist.InvalidInput, "more than"),
        (lambda index: index.update([77], vectors(1)), memorist.NotFound, "77"),
        (lambda index: index.get([77]), memorist.NotFound, "77"),
        (lambda index: index.search(vectors(1)[0][:3]), memorist.InvalidInput, "3 dimensions"),
        (lambda index: index.search(vectors(1)[0] * 0), memorist.InvalidInput, "zero"),
        (lambda index: index.search(vectors(2) * np.float32(np.nan)), memorist.InvalidInput, r"queries\[0\].*NaN"),
        (lambda index: index.search(vectors(1)[0], ef=9, exact=True), memorist.InvalidInput, "one of"),
        (lambda index: index.search(vectors(1)[0], recall=2), memorist.InvalidInput, "recall: 2"),
        (lambda index: index.search(vectors(2), k=0, recall=0), memorist.InvalidInput, "^recall: 0 .* more than 0"),
        (lambda index: index.search(vectors(1)[0], recall=float("nan")), memorist.InvalidInput, "recall: NaN"),
        (lambda index: index.search(vectors(1)[0], only=[1], exclude=[2]), memorist.InvalidInput, "either"),
        (lambda index: index.search(vectors(1)[0], k="3"), memorist.WrongType, "k: must be an integer, not str"),
        (lambda index: index.search(vectors(1)[0], k=None), memorist.WrongType, "k: must be an integer, not NoneType"),
        (lambda index: index.search(vectors(1)[0], k=np.array([2])), memorist.WrongType, "k: must be an integer"),
        (lambda index: index.remove(np.ma.array([0, 1], mask=[False, True])), memorist.WrongType, "ids: must be an array without"),
        (lambda index: IdSet(np.ma.array([True, True], mask=[False, True])), memorist.WrongType, "ids: must be an array without"),
        (lambda index: index.add(np.float32(1)), memorist.InvalidInput, "vectors: must have 2 axes, not 0"),
        (lambda index: index.add(bytearray(4)), memorist.WrongType, "vectors: must be numbers"),
        (lambda index: index.search(vectors(1)[0], ef=1.5), memorist.WrongType, "ef: must be an integer, not float"),
        (lambda index: index.search(vectors(1)[0], recall="x"), memorist.WrongType, "recall: must be a number"),
        (lambda index: index.search(vectors(1)[0], only="abc"), memorist.WrongType, "ids: must be integers"),
        (lambda index: "1" in index, memorist.WrongType, "id: must be an integer, not str"),
        (lambda index: VectorIndex(dimensions=cast(Any, 1.5)), memorist.WrongType, "dimensions: must be an integer, not float"),
        (lambda index: VectorIndex(cast(Any, 5)), memorist.WrongType, "path: must be a path, not int"),
        (lambda index: VectorIndex("/nowhere/at/all"), memorist.NotFound, "dimensions"),
        (lambda index: VectorIndex("/nowhere/at/all", read_only=True), memorist.NotFound, "no vector index"),
        (lambda index: VectorIndex(dimensions=0), memorist.InvalidInput, "dims is 0"),
    ],
)
def test_errors_are_told_apart_and_say_what_to_do(call, kind, said: str) -> None:  # type: ignore[no-untyped-def]
    with VectorIndex(dimensions=DIMS) as index:
        index.add(vectors(5))
        with pytest.raises(kind, match=said):
            call(index)
        assert len(index) == 5


@pytest.mark.parametrize(
    "call",
    [
        lambda index: index.search(vectors(1)[0], k=-1),
        lambda index: index.search(vectors(1)[0], k=2**70),
        lambda index: index.search(vectors(1)[0], ef=-1),
        lambda index: VectorIndex(dimensions=-1),
        lambda index: VectorIndex(dimensions=3, seed=-1),
        lambda index: VectorIndex(__file__ + "/no/folder", dimensions=3),
        lambda index: index.search(np.frombuffer(bytes(4 * DIMS + 1), dtype=np.uint8)[1:].view(np.float32)),
        # There would be no next id.
        lambda index: index.add(vectors(1), ids=[2**63 - 1]),
    ],
)
def test_every_exception_is_an_error_of_the_package(call) -> None:  # type: ignore[no-untyped-def]
    with VectorIndex(dimensions=DIMS) as index:
        index.add(vectors(5))
        with pytest.raises(memorist.Error):
            call(index)
        assert index.add(vectors(1)).tolist() == [5]
        assert 2**63 not in index and -(2**70) not in index and 2**63 not in IdSet([1])


def test_an_index_that_is_closed_does_nothing(tmp_path: Path) -> None:
    writer = VectorIndex(tmp_path / "index", DIMS)
    reader = VectorIndex(tmp_path / "index", read_only=True)
    for index in (writer, reader):
        index.close()
        for call in (lambda: index.search(vectors(1)[0]), index.optimize, index.refresh, index.ids, lambda: len(index)):
            with pytest.raises(memorist.Closed):
                call()
        assert "closed" in repr(index)
        index.close()


def test_a_mask_may_have_any_bytes() -> None:
    mask = np.array([0, 1, 2, 255], dtype=np.uint8).view(np.bool_)
    assert [id in IdSet(mask) for id in range(5)] == [False, True, True, True, False]
