"""Metrics, sets of ids, and searches of many."""

from __future__ import annotations

import pickle
import signal
import threading
import time
import zlib
from pathlib import Path

import memorist
import numpy as np
import pytest
from memorist import IdSet, VectorIndex

from helpers import DIMS, vectors


def lengths_vary(count: int, seed: int = 0):  # type: ignore[no-untyped-def]
    return vectors(count, seed) * np.random.default_rng(seed + 9).lognormal(0, 0.5, (count, 1)).astype(np.float32)


def truth(metric: str, base, query):  # type: ignore[no-untyped-def]
    """The score of each vector, and the order."""
    base, query = base.astype(np.float64), query.astype(np.float64)
    if metric == "l2":
        scores = ((base - query) ** 2).sum(axis=1)
        return scores, np.argsort(scores, kind="stable")
    scores = base @ query
    return scores, np.argsort(-scores, kind="stable")


def recall(index: VectorIndex, metric: str, base, queries, **how) -> float:  # type: ignore[no-untyped-def]
    found = index.search(queries, 10, **how).ids
    return float(np.mean([len({*row} & {*truth(metric, base, query)[1][:10]}) / 10 for row, query in zip(found, queries)]))


@pytest.mark.parametrize("metric", ["ip", "l2"])
@pytest.mark.parametrize("make", [vectors, lengths_vary])
def test_a_metric_finds_what_is_nearest_by_it(metric, make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    base, queries = make(10_000), vectors(100, seed=5)
    with VectorIndex(tmp_path / "index", DIMS, metric=metric) as index:
        index.add(base[:9_000])
        assert recall(index, metric, base[:9_000], queries) > 0.98
        index.optimize()
        index.add(base[9_000:])
        assert recall(index, metric, base, queries) > 0.96 and recall(index, metric, base, queries, exact=True) == 1
    with VectorIndex(tmp_path / "index") as index:
        assert (index.metric, index.dimensions, len(index)) == (metric, DIMS, 10_000)
        size = float(np.linalg.norm(base, axis=1).mean())
        assert index.get(range(10_000)) == pytest.approx(base, abs=2e-4 * size)
        for row, query in enumerate(queries[:20]):
            scores, order = truth(metric, base, query)
            found = index.search(query, 5, exact=True)
            assert found.scores == pytest.approx(scores[order[:5]], rel=1e-3)
        assert index.search(base[7], 1, only=[3]).scores == pytest.approx(truth(metric, base[3:4], base[7])[0], rel=1e-3)
        if metric == "l2":
            itself = index.search(base[:50], 1)
            assert itself.ids[:, 0].tolist() == list(range(50)) and itself.scores.max() < 1e-6 * size**2
        index.update([7], 3 * base[7:8])
        assert np.linalg.norm(index.get([7])) == pytest.approx(3 * np.linalg.norm(base[7]), rel=1e-4)
        assert index.remove([7]) == 1 and 7 not in index.search(base[7], 5).ids


@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_zero_is_a_vector_like_others(metric) -> None:  # type: ignore[no-untyped-def]
    with VectorIndex(dimensions=3, metric=metric) as index:
        assert index.search([0, 0, 0]).ids.tolist() == index.search([1, 2, 3]).ids.tolist() == []
        index.add([[0, 0, 0]])
        assert index.search([1, 2, 3], 1).scores.tolist() == pytest.approx([0.0 if metric == "ip" else 14.0], abs=1e-4)
        index.add([[500, 0, 0], [0, -400, 300]])
        assert index.get([0, 1]) == pytest.approx(np.array([[0, 0, 0], [500, 0, 0]]), abs=0.05)
        assert sorted(index.search([0, 0, 0], 5).ids.tolist()) == [0, 1, 2]
        assert index.search([0, 0, 0], 5).scores.tolist() == pytest.approx([0, 0, 0] if metric == "ip" else [0, 25e4, 25e4], rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("metric", ["ip", "l2"])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_first_vectors_may_be_unlike_the_others(metric, one_by_one: bool) -> None:  # type: ignore[no-untyped-def]
    base, queries = 500 * lengths_vary(3_000), vectors(50, seed=5) * 500
    with VectorIndex(dimensions=DIMS, metric=metric) as index:
        index.add(vectors(1) * 1e-3, payload=b"kept")
        many = base[:60] if one_by_one else base
        for row in many if one_by_one else [many]:
            index.add(np.atleast_2d(row))
        whole = np.concatenate([vectors(1) * 1e-3, many])
        assert recall(index, metric, whole, queries) > 0.98 and index.payload == b"kept"
        index.optimize()
        assert recall(index, metric, whole, queries) > 0.96 and index.payload == b"kept" and len(index) == len(whole)


def test_lengths_that_grow_are_followed() -> None:
    with VectorIndex(dimensions=DIMS, metric="ip") as index:
        base = lengths_vary(6_000) * np.linspace(1, 30, 6_000, dtype=np.float32)[:, None]
        for part in range(0, 6_000, 1_000):
            index.add(base[part : part + 1_000])
        index.optimize()
        assert recall(index, "ip", base, vectors(100, seed=5)) > 0.96


def test_what_a_metric_cannot_take_is_refused(tmp_path: Path) -> None:
    with VectorIndex(tmp_path / "l2", DIMS, metric="l2") as index:
        index.add(vectors(100))
        with pytest.raises(memorist.InvalidInput, match="id 100 is more than 1,000 times as long"):
            index.add(vectors(1) * 1e6)
        with pytest.raises(memorist.InvalidInput, match="key 100.*NaN"):
            index.add(vectors(1) * np.nan)
        with pytest.raises(memorist.InvalidInput, match="key 100.*infin"):
            index.add(vectors(1) * np.float32(np.inf))
        with pytest.raises(memorist.InvalidInput, match="NaN"):
            index.search(vectors(1)[0] * np.nan)
        with pytest.raises(memorist.InvalidInput, match="infin"):
            index.search(vectors(1)[0] * np.float32(np.inf))
        with pytest.raises(memorist.InvalidInput, match="the query has 3 dimensions, the index has 32"):
            index.search([1, 2, 3])
        assert len(index) == 100
    for call, said in [
        (lambda: VectorIndex(tmp_path / "l2", metric="ip"), "has l2, not ip"),
        (lambda: VectorIndex(tmp_path / "l2", metric="ip", read_only=True), "has l2, not ip"),
        (lambda: VectorIndex(tmp_path / "l2", DIMS + 1), "has 32, not 33"),
        (lambda: VectorIndex(dimensions=3, metric="dot"), '"dot" is not cosine, ip or l2'),  # type: ignore[arg-type]
    ]:
        with pytest.raises(memorist.InvalidInput, match=said):
            call()  # type: ignore[no-untyped-call]
    VectorIndex(tmp_path / "l2", DIMS, metric="l2").close()


def test_a_payload_may_look_like_the_header_of_a_metric(tmp_path: Path) -> None:
    payload = b"MEMIXMTR\x01\0\0\0\x02\0\0\0" + bytes(60)
    for metric in ("cosine", "l2"):
        with VectorIndex(tmp_path / metric, 3, metric=metric) as index:
            index.add([[1, 2, 3]], payload=payload)
        with VectorIndex(tmp_path / metric) as index:
            assert (index.metric, index.dimensions, index.payload) == (metric, 3, payload)


def test_distances_far_from_the_origin_are_ranked_by_the_vectors() -> None:
    base = np.random.default_rng(1).standard_normal((3_000, 8)).astype(np.float32)
    base[:, 0] += 2_024
    with VectorIndex(dimensions=8, metric="l2") as index:
        index.add(base)
        kept = index.get(range(3_000))
        for query in base[:50]:
            found = index.search(query, 10, exact=True)
            assert found.scores == pytest.approx(truth("l2", kept, query)[0][found.ids], rel=1e-3, abs=1e-3)
            assert len({*found.ids} & {*truth("l2", kept, query)[1][:10]}) >= 9


def test_vectors_that_are_gone_do_not_count() -> None:
    with VectorIndex(dimensions=8, metric="l2") as index:
        index.add(vectors(1_000, dims=8))
        index.remove(range(1_000))
        index.add(vectors(10, dims=8) * 5_000, range(10))
        assert recall(index, "l2", vectors(10, dims=8) * 5_000, vectors(5, seed=5, dims=8) * 5_000) == 1


def test_an_index_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    VectorIndex(tmp_path, 3, metric="l2").close()
    manifest = bytearray((tmp_path / "manifest").read_bytes())
    manifest[64 + 8] = 9
    manifest[12:16] = zlib.crc32(manifest[16:]).to_bytes(4, "little")
    (tmp_path / "manifest").write_bytes(manifest)
    for read_only in (False, True):
        with pytest.raises(memorist.Corrupt, match="newer version"):
            VectorIndex(tmp_path, read_only=read_only)


def test_a_reader_follows_an_index_of_a_metric(tmp_path: Path) -> None:
    with VectorIndex(tmp_path, 2, metric="l2") as writer, VectorIndex(tmp_path, read_only=True) as reader:
        writer.add([[0, 0]])
        writer.add([[300, 0], [0, 400]])
        assert reader.refresh() and reader.metric == "l2"
        assert reader.search([300, 1], 3).scores.tolist() == pytest.approx([1, 90_001, 249_201], abs=5)


def test_sets_of_ids_are_sets() -> None:
    some, others = IdSet([5, 1, 3, 2**62]), IdSet({3, 4})
    assert list(some) == [1, 3, 5, 2**62] and some == IdSet([1, 3, 5, 2**62]) and some != others and some != {1, 3}
    assert list(some & others) == [3] and list(some | others) == [1, 3, 4, 5, 2**62] and list(some - others) == [1, 5, 2**62]
    assert len({some, IdSet(list(some)), others}) == 2
    assert pickle.loads(pickle.dumps(some)) == some and IdSet(range(2, 9, 3)) == IdSet([2, 5, 8])
    with pytest.raises(memorist.InvalidInput, match="more than an id"):
        IdSet(range(2**63, 2**63 + 2))
    assert IdSet(dict.fromkeys([4, 3]).keys()) == others and list(IdSet(np.array([False, True, True]))) == [1, 2]
    with pytest.raises(TypeError):
        some & {1}  # type: ignore[operator]
    with VectorIndex(dimensions=DIMS) as index:
        index.add(vectors(100))
        for only in ({7, 9}, range(7, 10, 2), frozenset([7, 9]), np.arange(100) % 90 == 7, IdSet([7, 9]) - IdSet([0])):
            assert 7 in index.search(vectors(1)[0], 2, only=only).ids


def test_a_search_of_many_has_k_columns_and_tells_its_progress() -> None:
    with VectorIndex(dimensions=DIMS) as index:
        index.add(vectors(3))
        queries = vectors(5_000, seed=2)
        told: list[int] = []
        found = index.search(queries, 5, progress=told.append)
        assert found.ids.shape == found.scores.shape == (5_000, 5) and (found.ids[:, 3:] == -1).all()
        assert np.isnan(found.scores[:, 3:]).all() and {*found.ids[4_999, :3]} == {0, 1, 2}
        assert told[0] > 0 and told[-1] == 5_000 and told == sorted({*told})
        assert index.search(queries[:0], 5, progress=told.append).ids.shape == (0, 5)
        assert index.search(queries, 5).ids.tolist() == found.ids.tolist()
        # All parts see the index as it was at the beginning, and a slow report makes no part smaller.
        told.clear()

        def report(done: int) -> None:
            told.append(done)
            time.sleep(0.11)
            index.add(queries[done - 1 : done], [999])

        assert 999 not in index.search(queries, 5, progress=report).ids and len(told) < 20
        index.remove([999])
        with pytest.raises(memorist.InvalidInput, match="5000 queries with 1000000 results"):
            index.search(queries, 1_000_000)
        queries[4_321] = np.nan
        with pytest.raises(memorist.InvalidInput, match=r"queries\[4321\].*NaN"):
            index.search(queries)
        with pytest.raises(memorist.WrongType, match="progress: must be a function"):
            index.search(queries, progress=5)  # type: ignore[arg-type]


def test_a_signal_stops_a_search_of_many() -> None:
    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with VectorIndex(dimensions=DIMS) as index:
            index.add(vectors(20_000))
            threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGUSR1)).start()
            began = time.monotonic()
            with pytest.raises(Stop):
                index.search(vectors(200_000, seed=3), exact=True)
            assert time.monotonic() - began < 5
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_is_open_cannot_be_pickled_and_says_so(tmp_path: Path) -> None:
    with VectorIndex(tmp_path / "index", 3) as index, memorist.Store(tmp_path / "store", embed=None) as store:
        for given, instead in [(index, r"VectorIndex\(.*index', read_only=True\)"), (store, r"Store\('.*store'\)")]:
            with pytest.raises(memorist.WrongType, match=instead):
                pickle.dumps(given)
        with pytest.raises(memorist.WrongType, match="Store"):
            pickle.dumps(memorist.AsyncStore(store))
