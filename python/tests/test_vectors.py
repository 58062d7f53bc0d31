"""Vectors that the program makes: in without copies, checked, and found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import memorist
import numpy as np
import pytest
from memorist import Store

from helpers import DIMS, vectors


def test_vectors_of_the_program_are_searched_at_once(store: Store) -> None:
    made = vectors(3_000)
    texts = [f"text {at}" for at in range(3_000)]
    assert all(one.embedding == "ready" for one in store.add_many(texts, vectors=made))
    alone = store.add("one by itself", vector=made[5] * 7)
    assert alone.embedding == "ready"
    for row in (0, 5, 2_999):
        best = store.search(vector=made[row], limit=2)
        assert texts[row] in [hit.content for hit in best] and best[0].vector_score == pytest.approx(1, abs=1e-3)
    hybrid = store.search("text 17", vector=made[17], limit=1)[0]
    assert hybrid.content == "text 17" and set(hybrid.matched_by) == {"vector", "keyword"}
    store.flush()
    assert store.search(vector=made[17], limit=1)[0].content == "text 17"
    assert store.stats().indexes == {"vectors": 3_001, "documents": 3_001, "unapplied": 0}


def test_a_changed_text_gets_its_own_vector(store: Store) -> None:
    made = vectors(3)
    id = store.add("before", vector=made[0]).id
    assert store.update(id, content="after", vector=made[1]).embedding == "ready"
    hit = store.search(vector=made[1])[0]
    assert (hit.id, hit.content) == (id, "after") and hit.vector_score == pytest.approx(1, abs=1e-3)


def test_a_list_is_as_good_as_an_array(store: Store) -> None:
    store.add_many(["x", "y"], vectors=[[1.0, 0.0], [0.0, 1.0]])
    assert store.search(vector=[0.1, 1.0])[0].content == "y"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (np.ma.masked_less(np.ones((2, DIMS), dtype=np.float32), 0), "vectors: must be an array without a mask"),
        (np.ones((2, DIMS), dtype=np.complex64), r"vectors: must be numbers, as many in each row \(complex64\)"),
        (np.full((2, DIMS), "1"), "vectors: must be numbers"),
        (np.full((2, DIMS), 1e300), "number 0: embedding"),
        (np.ones(2 * DIMS, dtype=np.float32)[: 2], "2 axes, not 1"),
        (np.ones((3, DIMS), dtype=np.float32), "there are 3 for 2 items"),
        ([[1.0], [1.0, 2.0]], "as many in each row"),
    ],
)
def test_a_wrong_array_is_refused_and_nothing_is_saved(store: Store, wrong, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(memorist.InvalidInput, match=said):
        store.add_many(["one", "two"], vectors=wrong)
    assert store.stats().total_entries == 0


def test_any_array_of_numbers_is_converted(store: Store) -> None:
    made = vectors(4)
    for count, given in enumerate(
        (
            made.astype(np.float64),
            made.astype(np.float16),
            made.astype(">f4"),
            np.asfortranarray(made),
            np.repeat(made, 2, axis=0)[::2],
            np.frombuffer(b"-" + made.tobytes(), dtype=np.uint8)[1:].view(np.float32).reshape(4, DIMS),
            [list(map(float, row)) for row in made],
            [*made],
            np.round(made * 100).astype(np.int8),
        )
    ):
        project = f"p{count}"
        store.add_many([f"{count} {row}" for row in range(4)], vectors=cast(Any, given), project=project)
        found = store.search(vector=np.asarray(given, dtype=np.float64)[2], limit=1, project=project)
        assert found[0].content == f"{count} 2" and (found[0].vector_score or 0) > 0.999, count


@pytest.mark.parametrize("number", [np.nan, np.inf, 0.0])
def test_a_vector_without_a_direction_is_refused_and_the_others_are_saved(store: Store, number: float) -> None:
    made = vectors(3)
    made[1] = number
    with pytest.raises(memorist.Refused, match="number 1: embedding"):
        store.add_many(["one", "two", "three"], vectors=made)
    assert sorted(str(one.content) for one in store.list()) == ["one", "three"]
    with pytest.raises(memorist.InvalidInput, match=f"{DIMS}"):
        store.add("four", vector=np.ones(DIMS - 1, dtype=np.float32))
    with pytest.raises(memorist.InvalidInput, match=f"{DIMS}"):
        store.search(vector=np.ones(DIMS + 1, dtype=np.float32))


def test_vectors_of_two_models_are_never_compared(tmp_path: Path) -> None:
    with Store(tmp_path / "store", embed=None, model="mine-1") as store:
        store.add("x", vector=vectors(1)[0])
    with Store(tmp_path / "store", embed=None, model="mine-2") as store:
        with pytest.raises(memorist.ModelMismatch, match="mine-1"):
            store.add("y", vector=vectors(1)[0])
        for query in (None, "x"):
            with pytest.raises(memorist.ModelMismatch, match="mine-1"):
                store.search(query, vector=vectors(1)[0])
        assert store.stats().total_entries == 1 and len(store.search("x")) == 1
    with Store(tmp_path / "store", embed=None) as store, pytest.raises(memorist.ModelMismatch, match="mine-1"):
        store.search(vector=vectors(1)[0])
    with Store(tmp_path / "store", embed=None, model="mine-1") as store:
        assert store.search(vector=vectors(1)[0])[0].content == "x"


def test_a_search_by_a_vector_has_pages(store: Store) -> None:
    made = vectors(25)
    store.add_many([{"content": f"text {row}"} for row in range(25)], vectors=made)
    first = store.search(vector=made[3])
    second = store.search(vector=made[3], cursor=first.next_cursor)
    assert len(second) == 10 and not {hit.id for hit in first} & {hit.id for hit in second}


def test_types_that_never_occur_in_the_sources_have_no_results(store: Store) -> None:
    store.add("a decision", vector=vectors(1)[0])
    found = store.search(vector=vectors(1)[0], entry_types=["decision"], sources=["sessions"])
    assert not found and "never occur in these sources" in found.warnings[0]


def test_a_text_has_one_vector_and_none_is_dropped_without_a_word(store: Store) -> None:
    made = vectors(5)
    first = store.add("Introduction", vector=made[0], project="a").id
    with pytest.raises(memorist.InvalidInput, match=f"memory {first} has this text with another vector"):
        store.add("Introduction", vector=made[1], project="b")
    with pytest.raises(memorist.Refused, match="1 of 2 were refused; number 0: .*another vector") as refused:
        store.add_many(["Introduction", "more"], vectors=made[1:3], project="b")
    assert refused.value.added[1] is not None and store.stats().total_entries == 2
    # The same but for rounding.
    assert store.add("Introduction", vector=made[0] * 3, project="b").created
    other = store.add("Introduction", context="of chapter 2", vector=made[1], project="c").id
    assert {hit.id for hit in store.search(vector=made[1], limit=1)} == {other}


def test_the_vector_alone_can_be_changed(store: Store) -> None:
    made = vectors(3)
    id = store.add("text", vector=made[0]).id
    for _ in range(2):
        assert store.update(id, vector=made[1]).embedding == "ready"
        hit = store.search(vector=made[1])[0]
        assert hit.id == id and hit.vector_score == pytest.approx(1, abs=1e-3)
        store.flush()
    twin = store.add("text", vector=made[1], project="p").id
    with pytest.raises(memorist.InvalidInput, match="another vector"):
        store.update(twin, importance=10, vector=made[2])
    entry = store.get(twin)
    assert entry is not None and entry.version == 1


def test_a_refused_vector_does_not_say_how_many_dimensions_a_store_has(store: Store) -> None:
    nan, good = np.full(3, np.nan, dtype=np.float32), np.ones(3, dtype=np.float32)
    id = store.add("without a vector").id
    for wrong in (
        lambda: store.add("x", vector=nan),
        lambda: store.add("password: hunter2-4711-abc", vector=good),
        lambda: store.add_many(["x", ""], vectors=np.stack([nan, good])),
        lambda: store.update(id, vector=nan),
        lambda: store.update(4711, vector=good),
        lambda: store.update(id, content="", vector=good),
    ):
        with pytest.raises(memorist.Error):
            wrong()
    made = vectors(2)
    with pytest.raises(memorist.Refused, match="number 0"):
        store.add_many(["", "y", "z"], vectors=np.concatenate([vectors(1), made]))
    assert store.search(vector=made[1])[0].content == "z"


def test_the_vector_of_a_long_text_stands_for_all_of_it(store: Store) -> None:
    text, made = "a long text about boats " * 200, vectors(3)
    assert store.add(text, vector=made[0]).embedding == "ready"
    added = store.add_many([f"another {text}"], vectors=made[1:2])[0]
    assert added.embedding == "ready"
    assert store.update(added.id, content=f"changed {text}", vector=made[2]).embedding == "ready"
