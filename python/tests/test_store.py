"""A store: every method, by what it does."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import memorist
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
    listed = list(store.entries(tags=["meeting"]))
    assert [one.id for one in listed] == list(range(1, 4_501)) and listed[0].content == texts[0]
    newest = next(store.entries(newest_first=True))
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
            assert [one.content for one in boreas.entries()] == ["Everybody knows this"]
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
