"""A store: every method, by what it does."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import time
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import memorist
import numpy
import pandas  # type: ignore[import-untyped]
import pytest
from memorist import UNSET, Store

from helpers import embed


def test_a_memory_is_saved_found_changed_and_deleted(store: Store) -> None:
    added = store.add(
        "User prefers dark mode for all applications", entry_type="preference", importance=7, tags=["ui", "theme"]
    )
    assert added.created and not added.duplicate and added.embedding == "pending"
    found = store.search("dark mode", mode="keyword", entry_types=["preference"], min_importance=5, limit=3)
    assert [hit.id for hit in found] == [added.id] and found[0].matched_by == ("keyword",)
    assert found[0].tags == ("ui", "theme") and "dark mode" in repr(found)

    entry = store.get(added.id)
    assert entry is not None and entry.entry_type == "preference" and entry.importance == 7
    assert abs(entry.created_at - datetime.now(timezone.utc)) < timedelta(minutes=1)
    assert "dark mode" in repr(entry) and len(entry.content_hash) == 64 and entry.access_count == 1

    updated = store.update(added.id, content="User prefers light mode", add_tags=["day"], reason="asked again")
    assert (updated.id, updated.version) == (added.id, 2)
    newest, first = store.history(added.id)
    assert (newest.version, first.version, first.reason) == (2, 1, "asked again")
    assert newest.until is None and first.until is not None and first.content.endswith("all applications")
    assert store.roll_back(added.id, 1).version == 3
    assert store.undo(added.id).undone == "change"

    assert store.delete(added.id) and not store.delete(added.id)
    assert store.get(added.id) is None and len(store.search("mode", mode="keyword")) == 0
    assert store.undo(added.id).undone == "deletion" and store.get(added.id) is not None


def test_earlier_and_other_names_work(store: Store) -> None:
    texts = ("Where is the amber key?", "Under the third stone", "Tell Bert")
    saved = [store.add(text, session="talk").id for text in texts]
    now = store.search("third stone", mode="keyword", limit=1, neighbors=1)
    earlier = store.search("third stone", mode="keyword", limit=1, neighbours=1)
    assert [[turn.id for turn in hit.neighbors] for hit in (*now, *earlier)] == [[saved[0], saved[2]]] * 2
    assert [one.id for one in store.entries()] == [one.id for one in store.list()] == saved
    store.update(saved[0], content="Where is the key?")
    assert store.rollback(saved[0], 1).version == store.roll_back(saved[0], 2).version - 1 == 3


def test_metadata_is_kept_and_filtered_by(store: Store) -> None:
    each = [
        {"content": f"boat number {at}", "metadata": {"year": 2000 + at, "lang": "de" if at % 2 else "fr", "of": ["boats", at]}}
        for at in range(20)
    ]
    added = store.add_many([*each, {"content": "a boat without any"}])
    assert len(store) == 21 and bool(store)
    ids = [one.id for one in added]

    def years(where: memorist.Where) -> list[int]:
        by_search = sorted(hit.id for hit in store.search("boat", mode="keyword", where=where, limit=50))
        assert by_search == sorted(brief.id for brief in store.list(where=where, detail="ids"))
        return [ids.index(id) for id in by_search]

    assert years({"year": {"$gte": 2018}}) == [18, 19]
    assert years({"$or": [{"of": 3}, {"year": {"$in": [2005.0, 1]}}], "lang": "de"}) == [3, 5]
    assert years({"year": {"$exists": False}}) == [20] and years({"lang": {"$nin": ["de", "fr"]}}) == [20]
    hit = store.search("number 7", mode="keyword", where={"year": 2007})[0]
    assert hit.metadata == {"year": 2007, "lang": "de", "of": ["boats", 7]}
    entries = store.get([ids[7], 999, ids[20]])
    assert entries[0] is not None and entries[0].metadata == hit.metadata and entries[1] is None
    assert entries[2] is not None and entries[2].metadata == {}

    store.update(ids[7], metadata={"year": 1, "at": numpy.float32(0.5), "day": datetime(2024, 1, 2).date()})
    assert years({"at": 0.5, "day": {"$gt": "2024"}}) == [7] and years({"year": 2007}) == []
    store.update(ids[7], metadata=None)
    assert years({"year": {"$exists": False}}) == [7, 20]
    assert store.delete([ids[0], ids[1], 999]) == 2
    assert store.delete(where={"lang": "fr"}) == 9 and len(store) == 10
    for wrong, why in (
        ({"year": {"$near": 1}}, r"\$near"),
        ({"year": [1]}, r"\$in"),
        ({"year": {"$gt": None}}, "a number, or a text"),
    ):
        with pytest.raises(memorist.InvalidInput, match=why):
            store.search("boat", where=wrong)
    with pytest.raises(memorist.WrongType, match="where"):
        store.search("boat", where="year")  # type: ignore[arg-type]
    with pytest.raises(memorist.InvalidInput, match=r"\$x"):
        store.add("a key that an operator has", metadata={"$x": 1})
    with pytest.raises(memorist.InvalidInput, match="every memory"):
        store.delete(where={})
    with pytest.raises(memorist.InvalidInput, match="an empty object"):
        store.delete(where={"$and": [{}]})
    with pytest.raises(memorist.InvalidInput, match="a profile"):
        store.add("all of a profile is free", entry_type="profile", metadata={"year": 1})
    with pytest.raises(memorist.WrongType, match="id"):
        store.get([[1]])  # type: ignore[list-item]


def test_many_searches_at_once(store: Store) -> None:
    store.add_many([f"harbour {at}" for at in range(30)], vectors=embed([f"harbour {at}" for at in range(30)]))
    queries = [f"harbour {at}" for at in range(30)]
    found = store.search_many(queries, mode="keyword", limit=1)
    assert [result[0].content for result in found] == queries
    by_vector = store.search_many(vectors=embed(queries), limit=1)
    assert [result[0].content for result in by_vector] == queries
    assert store.search_many([]) == []
    for wrong in ({"queries": "harbour"}, {}, {"queries": ["one"], "vectors": embed(["one", "two"])}):
        with pytest.raises(memorist.InvalidInput):
            store.search_many(**cast(Any, wrong))


def test_the_same_text_is_saved_once_and_takes_over_what_is_given(store: Store) -> None:
    first = store.add("Ada mends sails")
    again = store.add("Ada mends sails", importance="high")
    assert again.id == first.id and again.duplicate
    entry = store.get(first.id)
    assert entry is not None and entry.importance == 8


def test_none_removes_and_what_is_left_out_stays(store: Store) -> None:
    id = store.add("Deploys are on Thursdays", context="the release", expires_at="30d", valid_from="2026-01-02").id
    store.update(id, importance=9)
    entry = store.get(id)
    assert entry is not None and entry.context == "the release" and entry.expires_at is not None
    store.update(id, context=None, expires_at=None)
    entry = store.get(id)
    assert entry is not None and entry.context is None and entry.expires_at is None
    store.update(id, expires_at=datetime.now(timezone.utc) + timedelta(days=2))
    entry = store.get(id)
    assert entry is not None and entry.expires_at is not None
    assert timedelta(days=1) < entry.expires_at - datetime.now(timezone.utc) < timedelta(days=3)


def test_links_say_what_is_replaced(store: Store) -> None:
    old, new = store.add("Deploys go out on Tuesdays").id, store.add("Deploys go out on Thursdays").id
    assert store.link(new, old, "supersedes") and not store.link(new, old, "supersedes")
    assert [hit.id for hit in store.search("deploys", mode="keyword")] == [new]
    assert len(store.search("deploys", mode="keyword", include_superseded=True)) == 2
    entry = store.get(new)
    assert entry is not None and entry.links == (memorist.Link(old, "supersedes", "forward"),)
    assert store.unlink(new, old, "supersedes") and len(store.search("deploys", mode="keyword")) == 2


def test_many_are_saved_at_once(store: Store) -> None:
    texts = [f"meeting {at} with team {at % 7}" for at in range(4_500)]
    added = store.add_many(texts, source="calendar", tags=["meeting"])
    assert [one.id for one in added] == list(range(1, 4_501)) and all(one.created for one in added)
    assert store.stats().total_entries == 4_500
    items: list[str | Mapping[str, object]] = [{"content": "a decision", "entry_type": "decision", "tags": []}, "a fact"]
    mixed = store.add_many(items, source="x")
    entries = [store.get(one.id) for one in mixed]
    assert [(one.entry_type, one.source) for one in entries if one] == [("decision", "x"), ("fact", "x")]
    listed = list(store.list(tags=["meeting"]))
    assert [one.id for one in listed] == list(range(1, 4_501)) and listed[0].content == texts[0]
    newest = next(store.list(newest_first=True))
    assert newest.content == "a fact"


def test_those_that_are_refused_are_named_and_the_others_saved(store: Store) -> None:
    items: list[Mapping[str, object]] = [
        {"content": "fine"},
        {"content": "bad", "importance": 11},
        {"content": ""},
        {"content": "fine, too"},
    ]
    with pytest.raises(memorist.Refused) as caught:
        store.add_many(items)
    refused = caught.value
    assert set(refused.errors) == {1, 2} and "importance" in refused.errors[1]
    assert [one is None for one in refused.added] == [False, True, True, False]
    assert store.stats().total_entries == 2


def test_projects_and_agents_are_walls(tmp_path: Path) -> None:
    with Store(tmp_path / "store", embed=None, project="atlas") as atlas:
        atlas.add("The harbour office opens at nine")
        atlas.add("Everybody knows this", project=None)
        assert atlas.stats().total_entries == 2
        with Store(tmp_path / "store", embed=None, project="boreas") as boreas:
            assert [one.content for one in boreas.list()] == ["Everybody knows this"]
            assert boreas.stats(project="*").total_entries == 2
            assert boreas.get(1) is None and boreas.get(1, project="atlas") is not None
    assert repr(UNSET) == "UNSET"


def test_a_turn_is_given_what_it_needs_and_mostly_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "store", embed=embed, model="trigrams") as store:
        store.add("The staging database is called heron-staging and runs on port 5433")
        store.flush()
        given = store.recall("which port does the staging database heron-staging use?", session="s")
        assert given and given.context and "5433" in given.context and given.memories[0].id == 1
        assert not store.recall("which port does the staging database heron-staging use?", session="s")
        assert not store.recall("thanks")


def test_an_export_moves_everything_into_another_store(store: Store, tmp_path: Path) -> None:
    ids = [one.id for one in store.add_many(["one", "two", "three"])]
    store.link(ids[0], ids[1], "caused")
    exported = store.export(tmp_path / "all.jsonl", embeddings=True)
    assert (exported.memories, exported.links) == (3, 1)
    assert len([json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]) == 5
    with Store(tmp_path / "other", embed=None) as other:
        imported = other.import_(tmp_path / "all.jsonl")
        assert (imported.created, imported.links, imported.refused) == (3, 1, 0)
        assert other.import_(tmp_path / "all.jsonl").unchanged == 3
        assert other.stats().total_entries == 3


def test_notes_are_read_and_read_again_when_they_change(store: Store, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "boats.md").write_text("# Boats\n\nThe ferry leaves from pier nine.\n")
    report = store.sync(notes)
    assert report.sources[0].read == 1 and report.sources[0].added >= 1
    hit = store.search("ferry pier", mode="keyword")[0]
    assert hit.place is not None and hit.place["path"].endswith("boats.md")
    again = store.sync().sources[0]
    assert (again.added, again.changed, again.removed) == (0, 0, 0)
    (notes / "boats.md").write_text("# Boats\n\nThe ferry leaves from pier eleven, at noon.\n")
    store.sync(force=True)
    assert "eleven" in str(store.search("ferry pier", mode="keyword")[0].content)


def test_a_function_embeds(tmp_path: Path) -> None:
    with Store(tmp_path / "store", embed=embed, model="trigrams") as store:
        store.add_many(["Deployments happen on Thursdays", "The cache is warmed at night"])
        store.flush()
        assert store.stats().pending_embeddings == 0 and "trigrams" in str(store.stats().model)
        hit = store.search("deployment day", mode="vector", limit=1)[0]
        assert hit.content == "Deployments happen on Thursdays" and hit.vector_score is not None
        # Not indexed yet, but searched.
        store.add("A heron stands in the reeds")
        same = store.search("A heron stands in the reeds", mode="vector", limit=1)[0]
        assert same.vector_score == pytest.approx(1, abs=1e-3), "of length 1, whatever the function returns"
        assert store.embed(["a", "b"]).shape == (2, 256)
    with Store(tmp_path / "store", embed=embed, model="another") as store:
        result = store.search("deployments")
        assert result.tier == "keyword" and result.warnings


def test_what_a_function_does_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(memorist.InvalidInput, match=r"shape \(1,\)"):
        Store(tmp_path / "store", embed=lambda texts: [1.0] * len(texts))  # type: ignore[list-item]

    def fails(texts: list[str]) -> list[list[float]]:
        raise RuntimeError("no such device")

    with Store(tmp_path / "store", embed=fails, model="fails", dimensions=3) as store:
        store.add("saved all the same")
        with pytest.raises(memorist.ModelError, match="no such device"):
            store.flush()
        assert store.search("saved").tier == "keyword"


def test_the_default_store_is_that_of_the_command_line(tmp_path: Path) -> None:
    with Store(embed=None) as store:
        assert store.path.startswith(str(tmp_path))
        store.add("x")
        assert store.path in repr(store)
    assert store.closed and "closed" in repr(store)
    with pytest.raises(memorist.Closed):
        store.add("y")
    store.close()


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda store: store.search(""), memorist.InvalidInput, "query"),
        (lambda store: store.search("x", min_similarity=2), memorist.InvalidInput, "min_similarity: 2 is outside"),
        (lambda store: store.search("x", min_score=float("nan")), memorist.InvalidInput, "not a finite number"),
        (lambda store: store.search("x", mode="both"), memorist.InvalidInput, "mode"),
        (lambda store: store.search(), memorist.InvalidInput, "query"),
        (lambda store: store.add("x", entry_type="rumour"), memorist.InvalidInput, "entry_type: unknown variant"),
        (lambda store: store.add("x", body={"a": object()}), memorist.InvalidInput, "not JSON serializable"),
        (lambda store: store.add("password = Tr0ub4" + "dor&3"), memorist.InvalidInput, "password"),
        (lambda store: store.add("\ud800"), memorist.InvalidInput, "surrogate"),
        (lambda store: store.update(99, content="x"), memorist.NotFound, "99"),
        (lambda store: store.update(1), memorist.InvalidInput, "nothing to change"),
        (lambda store: store.update(1, content="two"), memorist.Conflict, "2"),
        (lambda store: store.history(99), memorist.NotFound, "99"),
        (lambda store: store.link(1, 99), memorist.NotFound, "99"),
        (lambda store: store.embed(["x"]), memorist.ModelError, "model"),
        (lambda store: store.import_("/nowhere/at/all"), memorist.StoreError, "nowhere"),
        (lambda store: Store("/dev/null/store", embed=None), memorist.StoreError, "/dev/null"),
        (lambda store: Store("x", embed=cast(Any, "openai")), memorist.InvalidInput, "embed"),
    ],
)
def test_errors_are_told_apart_and_say_what_to_do(store: Store, call, kind, said: str) -> None:  # type: ignore[no-untyped-def]
    store.add_many(["one", "two"])
    with pytest.raises(kind) as caught:
        call(store)
    assert type(caught.value) is kind and said in str(caught.value), caught.value
    assert isinstance(caught.value, memorist.Error)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda store: store.add(5), "content: must be a string, not int"),
        (lambda store: store.add(b"x"), "content: must be a string, not bytes"),
        (lambda store: store.add("x", tags=5), "tags: must be a sequence of strings, not int"),
        (lambda store: store.add("x", confidence="much"), "confidence: must be a number, not str"),
        (lambda store: store.add("x", expires_at=1.5), "expires_at: must be a time, not float"),
        (lambda store: store.add("x", body=[1]), "body: must be a mapping, not list"),
        (lambda store: store.get("x"), "id: must be an integer, not str"),
        (lambda store: store.get(True), "id: must be an integer, not bool"),
        (lambda store: store.search(5), "query: must be a string, not int"),
        (lambda store: store.search("x", limit=1.5), "limit: must be an integer, not float"),
        (lambda store: store.search("x", explain=1), "explain: must be True or False, not int"),
        (lambda store: store.search(vector="abc"), "vector: must be numbers"),
        (lambda store: store.add_many("abc"), "items: must be a list of texts or mappings, not str"),
        (lambda store: store.add_many({"content": "x"}), "items: must be a list of texts or mappings, not dict"),
        (lambda store: store.add_many(["x", 1]), "items: number 1: must be a text or a mapping, not int"),
        (lambda store: store.add_many([{"content": 1}]), "items: number 0: content: must be a string, not int"),
        (lambda store: store.embed("abc"), "texts: must be a list of texts, not str"),
        (lambda store: store.export(5), "file: must be a path, not int"),
        (lambda store: store.sync(5), "paths: must be a path, not int"),
        (lambda store: Store(cast(Any, 5)), "path: must be a path, not int"),
    ],
)
def test_a_wrong_type_is_a_type_error_with_the_name(store: Store, call, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError) as caught:
        call(store)
    assert isinstance(caught.value, memorist.WrongType) and said in str(caught.value)
    assert store.stats().total_entries == 0


def test_scalars_of_numpy_and_pandas_are_what_they_say(store: Store) -> None:
    day = datetime(2031, 5, 1, tzinfo=timezone.utc)
    frame = pandas.DataFrame(
        {
            "content": ["one", "two", "three"],
            "confidence": numpy.array([0.5, numpy.nan, 0.25], dtype=numpy.float32),
            "expires_at": [pandas.Timestamp(day), pandas.NaT, numpy.datetime64("2031-05-01")],
            "turn": pandas.array([1, None, 3], dtype="Int64"),
            "session": ["s", None, "s"],
            "tags": [numpy.array(["a", "b"]), (), {"c"}],
        }
    )
    one, two, three = store.add_many(frame.to_dict("records"))
    got = store.get(numpy.int64(one.id))
    assert got is not None and got.confidence == 0.5 and got.expires_at == day and got.tags == ("a", "b")
    assert got.session == "s" and got.turn == 1
    got = store.get(two.id)
    assert got is not None and got.expires_at is None and got.confidence == 1 and got.turn is None
    got = store.get(numpy.uint8(three.id))
    assert got is not None and got.expires_at is not None and got.tags == ("c",)
    # What is absent stays.
    store.update(numpy.int32(one.id), confidence=numpy.float64("nan"), importance=cast(Any, numpy.int8(9)))
    got = store.get(one.id)
    assert got is not None and got.confidence == 0.5 and got.importance == 9
    assert store.search("one", limit=cast(Any, numpy.int16(1)), min_confidence=cast(Any, numpy.float16(0.5)))[0].id == one.id


def test_gaps_of_a_table_are_absent_and_change_nothing(store: Store) -> None:
    frame = pandas.DataFrame([{"content": "a", "importance": 5, "due": "2031-01-01", "expires_at": "2031-01-02"}, {"content": "b"}])
    frame["due"], frame["expires_at"] = pandas.to_datetime(frame["due"]), pandas.to_datetime(frame["expires_at"])
    one, two = store.add_many(frame.to_dict("records"))
    got = store.get(one.id)
    assert got is not None and got.importance == 5 and got.expires_at is not None
    for absent in (pandas.NaT, numpy.datetime64("NaT"), float("nan"), pandas.NA, numpy.ma.masked):
        store.update(one.id, expires_at=cast(Any, absent), importance=6, reason="none")
        got = store.get(one.id)
        assert got is not None and got.expires_at is not None, absent
        with pytest.raises(memorist.InvalidInput):
            store.search("a", created_after=cast(Any, absent))
    assert len(store.search("a", happens_before=cast(Any, numpy.datetime64("2031-01-01")))) == 1
    for wrong, said in (
        (frame, "to_dict"),
        ([{"content": "x", "text": "y"}], "two fields that are 'content'"),
        ([{"content": "x", "body": {"n": float("nan")}}], "items: number 0: nan"),
    ):
        with pytest.raises(memorist.InvalidInput, match=said):
            store.add_many(cast(Any, wrong), columns={"text": "content"})
    with pytest.raises(memorist.WrongType, match="progress"):
        store.add_many(["x"], progress=cast(Any, 5))
    with pytest.raises(memorist.InvalidInput, match="confidence"):
        store.add("x", confidence=cast(Any, numpy.longdouble(3)))
    assert store.stats().total_entries == 2
    with pytest.raises(memorist.InvalidInput, match="number 2001") as caught:
        store.add_many([*(f"text {at}" for at in range(2_001)), {"contents": "x"}])
    assert len(caught.value.added) == 2_000 and store.stats().total_entries == 2_002


def test_a_misspelt_field_is_said_once(store: Store) -> None:
    with pytest.raises(memorist.InvalidInput, match="number 1 has the field 'contents'; did you mean 'content'") as caught:
        store.add_many(["x", {"contents": "y"}, {"contents": "z"}])
    assert not isinstance(caught.value, memorist.Refused) and store.stats().total_entries == 0
    assert len(store.add_many([{"content": "y", "entryType": "fact"}])) == 1


def test_many_are_taken_as_they_come(store: Store) -> None:
    taken, told = [], []

    def items() -> Any:
        for number in range(4_100):
            taken.append(number)
            yield {"text": f"text {number}", "source": "made"}

    def progress(count: int) -> None:
        told.append((count, len(taken), store.stats().total_entries))

    assert len(store.add_many(items(), columns={"text": "content"}, progress=progress)) == 4_100
    assert told == [(2_000, 2_000, 2_000), (4_000, 4_000, 4_000), (4_100, 4_100, 4_100)]
    assert store.search("text 4099", mode="keyword", limit=1)[0].source == "made"


async def test_a_store_is_awaited(tmp_path: Path) -> None:
    async with memorist.AsyncStore(Store(tmp_path / "store", embed=None)) as store:
        added = await asyncio.gather(*(store.add(f"memory {number} of the harbour") for number in range(8)))
        assert len({one.id for one in added}) == 8
        assert len(await store.search("harbour", limit=20)) == 8
        assert sorted([entry.id async for entry in store.list()]) == sorted(one.id for one in added)
        assert await store.update(added[0].id, content="changed") and await store.delete(added[1].id)
        got = await store.get(added[0].id)
        assert got is not None and got.content == "changed" and (await store.stats()).total_entries == 7
        with pytest.raises(memorist.NotFound):
            await store.history(4711)
    assert store.store.closed
    # Each method of a store, with its parameters.
    for name, method in inspect.getmembers(Store, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(memorist.AsyncStore, name)) == inspect.signature(method), name


async def test_a_store_is_closed_though_its_task_is_cancelled_twice(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", embed=None)

    async def work() -> None:
        async with memorist.AsyncStore(store) as awaited:
            await awaited.add_many(f"text {number}" for number in range(4_000))

    task = asyncio.create_task(work())
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(500):
        if store.closed:
            break
        await asyncio.sleep(0.02)
    assert store.closed


async def test_the_event_loop_goes_on(tmp_path: Path) -> None:
    def slow(texts: list[str]) -> Any:
        time.sleep(0.3)
        return embed(texts)

    async with memorist.AsyncStore(Store(tmp_path / "store", embed=slow, model="slow", dimensions=256)) as store:
        await store.add("one")
        search = asyncio.create_task(store.search("one"))
        turns = 0
        while not search.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert turns >= 5 and len(await search) == 1


def test_a_damaged_store_is_corrupt(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "memory.db").write_bytes(b"no database" * 100)
    with pytest.raises(memorist.Corrupt):
        Store(folder, embed=None)


def test_exceptions_can_be_pickled(store: Store) -> None:
    with pytest.raises(memorist.Refused) as refused:
        store.add_many(["one", ""])
    for error in (refused.value, memorist.Full("no room"), memorist.InvalidInput("entryType: x"), memorist.Closed("shut")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and vars(again) == vars(error)


def test_a_name_may_begin_with_a_hyphen(tmp_path: Path) -> None:
    with Store(tmp_path / "store", embed=None, project="-x", agent="--help") as store:
        entry = store.get(store.add("x").id)
        assert entry is not None and (entry.project, entry.agent) == ("-x", "--help")


def test_a_memory_comes_with_its_vector(tmp_path: Path) -> None:
    rows = numpy.random.default_rng(1).standard_normal((3, 16)).astype(numpy.float32)
    with Store(tmp_path / "own", embed=None, model="m") as store:
        ids = [store.add(f"text {row}", vector=vector).id for row, vector in enumerate(rows)]
        bare = store.add("without a vector").id
        entries = store.get([*ids, bare, 99], include=["vector"])
        for entry, row in zip(entries[:3], rows):
            assert entry is not None and entry.vector is not None and entry.vector.dtype == numpy.float32
            assert entry.vector == pytest.approx(row / numpy.linalg.norm(row), abs=1e-3)
        assert entries[3] is not None and entries[3].vector is None and entries[4] is None
        plain = store.get(ids[0])
        assert plain is not None and plain.vector is None and plain.content == entries[0].content  # type: ignore[union-attr]
        hidden = store.add("of another project", project="a", vector=rows[0]).id
        assert store.get(hidden, project="b", include=["vector"]) is None
        with pytest.raises(memorist.InvalidInput, match="include: 'vectors' cannot be included"):
            store.get(ids[0], include=["vectors"])  # type: ignore[list-item]
        with pytest.raises(memorist.WrongType, match="include: must be a list"):
            store.get(ids[0], include="vector")  # type: ignore[arg-type]


def test_a_search_may_return_thousands(tmp_path: Path) -> None:
    rows = numpy.random.default_rng(1).standard_normal((3_000, 8)).astype(numpy.float32)
    with Store(tmp_path / "many", embed=None, model="m") as store:
        store.add_many([f"lantern number {row}" for row in range(3_000)], vectors=rows)
        assert len({hit.id for hit in store.search("lantern", limit=2_500)}) == 2_500
        best = [hit.id for hit in store.search(vector=rows[5], limit=10_000)]
        assert len(best) == len({*best}) == 3_000 and best[0] == 6
        with pytest.raises(memorist.InvalidInput, match="10001 is outside 1 to 10000"):
            store.search("lantern", limit=10_001)
