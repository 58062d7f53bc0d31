"""The store of LangGraph, beside the one that LangGraph has in memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, TypedDict

import memorist
import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from memorist.langgraph import MemoristStore

from helpers import embed


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with memorist.Store(tmp_path / "store", embed=embed, model="letters") as opened:
        yield MemoristStore(opened)


def said(items: Any) -> list[tuple[Any, ...]]:
    return sorted((item.namespace, item.key, repr(item.value)) for item in items)


def test_it_does_what_the_store_in_memory_does(store: MemoristStore) -> None:
    chance, theirs = random.Random(5), InMemoryStore()
    spaces = [("users", "1"), ("users", "2"), ("users",), ("rules", "a", "b"), ("a/b", "ü"), ('"', ",")]
    values: list[dict[str, Any]] = [
        {"text": "The ferry leaves from pier nine", "year": 2021, "tags": ["sea"]},
        {"text": "The harbour was dredged", "year": 2024.5, "open": True, "nested": {"deep": [1, {"x": None}]}},
        {"year": 2024, "none": None, "list": [1, 2]},
        {},
        {"text": ""},
    ]
    filters: list[dict[str, Any] | None] = [
        None,
        {"year": 2024},
        {"year": {"$ne": 2021}, "text": {"$eq": "The harbour was dredged"}},
        {"open": True},
        {"text": "The harbour was dredged"},
    ]
    for _ in range(300):
        space, key = chance.choice(spaces), chance.choice(["1", "color", "Größe", "{}"])
        what = chance.random()
        if what < 0.4:
            value = chance.choice(values)
            for one in (store, theirs):
                one.put(space, key, value)
        elif what < 0.5:
            for one in (store, theirs):
                one.delete(space, key)
        elif what < 0.7:
            ours, other = store.get(space, key), theirs.get(space, key)
            assert (ours and ours.value) == (other and other.value)
            assert ours is None or (ours.namespace, ours.key) == (space, key)
        elif what < 0.9:
            prefix, filter = space[: chance.randint(0, 2)], chance.choice(filters)
            searched = [one.search(prefix, filter=filter, limit=1_000) for one in (store, theirs)]
            assert said(searched[0]) == said(searched[1])
        else:
            depth = chance.choice([None, 1, 2])
            suffix = chance.choice([None, ("1",), ("*", "b")])
            listed = [one.list_namespaces(suffix=suffix, max_depth=depth, prefix=("users",) if depth else None) for one in (store, theirs)]
            # Theirs names a namespace of which everything was deleted.
            assert {*listed[0]} <= {*listed[1]}


def test_a_query_finds_by_meaning_and_by_word(store: MemoristStore) -> None:
    store.put(("notes", "1"), "a", {"text": "The ferry leaves from pier nine", "kind": "sea"})
    store.put(("notes", "2"), "b", {"text": "Deploys go out on Tuesdays", "kind": "work"})
    store.put(("notes", "2"), "c", {"text": "The ferry was painted"}, index=False)
    store.put(("notes", "3"), "d", {"title": "ferry", "text": "something else"}, index=["text"])
    store._documents.store.flush()
    found = store.search(("notes",), query="which pier does the ferry leave from?")
    assert found[0].key == "a" and found[0].score is not None and "c" not in {item.key for item in found}
    assert store._documents.get(['["notes", "3", "d"]'])[0].text == "something else"
    assert not store.search(("notes", "2"), query="ferry pier nine", filter={"kind": "sea"})
    assert [item.key for item in store.search((), query="ferry", filter={"kind": {"$eq": "sea"}})] == ["a"]
    assert store.search(("notes",), limit=2, offset=1)[0].key == "b"
    first = store.get(("notes", "1"), "a")
    store.put(("notes", "1"), "a", {"text": "The ferry leaves from pier ten"})
    again = store.get(("notes", "1"), "a")
    assert first and again and again.created_at == first.created_at and again.updated_at > first.updated_at
    assert [version.content for version in store._documents.store.history(1, project="langgraph")] == [
        "The ferry leaves from pier ten",
        "The ferry leaves from pier nine\nsea",
    ]
    for key, year in [("x", 2020), ("y", 2024), ("z", 2025)]:
        store.put(("years",), key, {"text": f"Year {key}", "year": year})
    assert [item.key for item in store.search(("years",), filter={"year": {"$gte": 2021, "$lt": 2025}})] == ["y"]


def test_operations_of_a_batch_read_before_they_write(store: MemoristStore) -> None:
    space = ("batch",)
    results = store.batch(
        [PutOp(space, "k", {"n": 1}), GetOp(space, "k"), PutOp(space, "k", {"n": 2}), SearchOp(space), PutOp(space, "gone", None)]
    )
    assert results == [None, None, None, [], None]
    item = store.get(space, "k")
    assert item is not None and item.value == {"n": 2}


class State(TypedDict):
    question: str


async def test_a_graph_remembers(store: MemoristStore) -> None:
    async def node(state: State, *, store: BaseStore) -> State:
        known = await store.asearch(("facts",), query=state["question"], limit=1)
        await store.aput(("facts",), "1", {"text": "Ben feeds two cats"})
        return {"question": known[0].value["text"] if known else "unknown"}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(store=store)
    assert (await graph.ainvoke({"question": "Who feeds the cats?"}))["question"] == "unknown"
    assert (await graph.ainvoke({"question": "Who feeds the cats?"}))["question"] == "Ben feeds two cats"


def test_it_says_what_it_refuses(store: MemoristStore, tmp_path: Path) -> None:
    with pytest.raises(memorist.InvalidInput):
        store.put(("a",), "k" * 2_000, {"text": "x"})
    with pytest.raises(memorist.InvalidInput, match="metadata of the document"):
        store.put(("a",), "k", {"text": object()})
    owner = MemoristStore(tmp_path / "own")
    owner.put(("a",), "k", {"text": "y"})
    owner.close()
    with pytest.raises(memorist.Closed):
        owner.get(("a",), "k")
