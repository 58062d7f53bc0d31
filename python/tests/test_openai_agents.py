"""The session of the OpenAI Agents SDK, beside the one that the SDK has over SQLite."""

from __future__ import annotations

import asyncio
import base64
import json
import random
from pathlib import Path
from typing import Any

import memorist
import pytest
from agents import Agent, Runner, RunConfig, SQLiteSession, function_tool
from agents.memory import Session, SessionSettings
from agents.testing import ScriptedModel, assistant_message, function_call
from memorist.openai_agents import MemoristSession

from helpers import run_example

SECRET = "Tr0ub4dor&3"


@pytest.fixture
def session(store: memorist.Store) -> MemoristSession:
    return MemoristSession("talk", store)


def message(text: str) -> Any:
    return {"role": "user", "content": text}


def contents(session: MemoristSession) -> list[str | None]:
    return [brief.content for brief in session._store.list(project="openai-agents")]


ODD: list[Any] = [
    message("hello"),
    message("hello"),
    message(""),
    message("\0"),
    message("a\0b \ud800 \udfff\ud83d \ue000 \ue0000000 \ue000d800 🚢 Größe \u2028\x1b\r\n\\u0000"),
    {"\0\ud800\ue0000000": {"\0": None, "": [], "$ne": {}}, "type": "odd"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAAB" + "x/+=" * 99},
    {"floats": [0.1 + 0.2, 1.0, -0.0, 1e300, 5e-324, 1e22, 2**53 + 1, 2**64 - 1, -(2**63)], "flags": [True, False, None]},
    {"type": "function_call", "name": "look", "arguments": '{"where": "pier"}', "call_id": "call_1"},
    {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "seen"}, {"x": [[[]]]}]},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Aye", "annotations": []}, {"type": "refusal", "refusal": "no"}]},
    {},
]


async def test_it_does_what_the_one_over_sqlite_does(store: memorist.Store, tmp_path: Path) -> None:
    chance = random.Random(11)
    pairs: list[tuple[Any, Any]] = []
    for id, limit in [("one", None), ("two", 3), ("Größe/🚢", None), ("one ", 0)]:
        settings = SessionSettings(limit=limit)
        ours = MemoristSession(id, store, session_settings=settings)
        pairs.append((ours, SQLiteSession(id, tmp_path / "theirs", session_settings=settings)))
    read = 0
    for step in range(400):
        pair, what = chance.choice(pairs), chance.random()
        if what < 0.35:
            items = [chance.choice([*ODD, message(f"step {step}")]) for _ in range(chance.randint(0, 3))]
            done = [await one.add_items(items) for one in pair]
        elif what < 0.55:
            done = [await one.pop_item() for one in pair]
        elif what < 0.58:
            done = [await one.clear_session() for one in pair]
        else:
            limit = chance.choice([None, None, -1, 0, 1, 2, 5, 1_000])
            done = [await one.get_items(limit) for one in pair]
            read += len(done[0])
        # As JSON: 1 is not 1.0, nor is it true.
        assert json.dumps(done[0]) == json.dumps(done[1])
    assert read > 300


async def test_items_come_back_as_they_were_given(session: MemoristSession, tmp_path: Path) -> None:
    assert isinstance(session, Session)
    await session.add_items(ODD)
    session._store.close()
    with memorist.Store(tmp_path / "store", embed=None) as store:
        again = MemoristSession("talk", store)
        assert json.dumps(await again.get_items()) == json.dumps(ODD)
        for item in reversed(ODD):
            assert await again.pop_item() == item
        assert await again.pop_item() is None and await again.get_items() == []


async def test_searches_find_what_was_said(session: MemoristSession) -> None:
    await session.add_items(ODD)
    assert contents(session) == [
        "hello",
        "hello",
        '{"role": "user", "content": ""}',
        '{"role": "user", "content": "\\u0000"}',
        "a b ? ?? \ue000 \ue0000000 \ue000d800 🚢 Größe \u2028\x1b\r\n\\u0000",
        json.dumps(ODD[5], ensure_ascii=False).replace("\ud800", "?"),
        json.dumps(ODD[6]),
        json.dumps(ODD[7]),
        'look\n{"where": "pier"}',
        "seen",
        "Aye",
        "{}",
    ]
    hit = session._store.search("pier", project="openai-agents", where={"openai_session": "talk"})[0]
    assert (hit.source, hit.turn) == ("openai-agents", 9) and hit.metadata["openai_item"] == {"item": ODD[8]}
    other = MemoristSession("other", session._store)
    await other.add_items([message("a lighthouse")])
    (one,) = session._store.search("lighthouse", project="openai-agents")
    assert one.turn == 1 and one.session != hit.session
    session._store.update(hit.id, content="edited", project="openai-agents")
    assert (await session.get_items())[8] == ODD[8]


async def test_secrets_are_taken_out_of_what_is_kept(session: MemoristSession) -> None:
    given: list[Any] = [
        message(f"The harbour password is {SECRET}"),
        {"type": "function_call", "name": "log_in", "arguments": json.dumps({"password": SECRET}), "call_id": "call_2"},
        {"type": "function_call_output", "call_id": "call_2", "output": f"password={SECRET}"},
        {"type": "mcp_call", "output": {"password": SECRET, "note": ["fine"]}},
    ]
    await session.add_items(given)
    items: list[Any] = await session.get_items()
    assert SECRET not in json.dumps([items, contents(session)])
    assert items[0]["content"] == "The harbour password is [redacted: password]"
    assert items[1]["arguments"] == '{"password": "[redacted: password]"}' and items[1]["call_id"] == "call_2"
    assert items[3]["output"] == {"password": "[redacted: password]", "note": ["fine"]}


async def test_random_ids_and_encrypted_texts_stay(session: MemoristSession) -> None:
    chance = random.Random(3)

    def letters(count: int) -> str:
        return "".join(chance.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=count))

    items: list[Any] = []
    for _ in range(400):
        call, number = f"call_{letters(24)}", chance.randbytes(25).hex()
        encrypted = base64.b64encode(chance.randbytes(chance.randint(300, 900))).decode()
        items += [
            {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": encrypted},
            {"type": "function_call", "id": f"fc_{number}", "call_id": call, "name": "x", "arguments": "{}"},
            {"type": "function_call_output", "call_id": call, "output": str(chance.random())},
        ]
    await session.add_items(items)
    assert await session.get_items() == items


async def test_items_that_cannot_be_kept_are_named(session: MemoristSession) -> None:
    deep: list[Any] = [["x"]]
    for _ in range(100_000):
        deep.append([deep[-1]])
    for item, why in [
        ({"x": deep[28]}, "is nested more than 29 deep"),
        ({"x": 2**64}, "has a whole number of more than 64 bits"),
        ({"x": object()}, "is no JSON"),
        ({"x": deep[-1]}, "is no JSON|is nested more than 29 deep"),
        ({"x": float("inf")}, "is no JSON"),
        ("text", "is no object of JSON"),
        (message("x" * 1_000_000), r"has 1,000,\d+ bytes of JSON, and may have 1,000,000"),
    ]:
        with pytest.raises(memorist.InvalidInput, match=f"items: number 1 {why}"):
            await session.add_items([message("first"), item])
    assert await session.get_items() == []
    fits = [message("ü" * 499_900), message("\ud800" * 142_000), {"x": deep[27]}]
    await session.add_items(fits)
    assert await session.get_items() == fits


async def test_any_id_names_a_session_of_its_own(store: memorist.Store) -> None:
    ids = ["4111 1111 1111 1111", "x" * 2_000, "x" * 2_001, "", "a\0b", "a b", "\ud800", "password: " + SECRET, "TALK", "talk"]
    sessions = [MemoristSession(id, store) for id in ids] + [MemoristSession("talk", store, collection="other")]
    for number, session in enumerate(sessions):
        await session.add_items([message(f"{number}")])
    await sessions[-2].clear_session()
    assert await sessions[-2].get_items() == []
    for number, session in enumerate(sessions):
        if number != len(sessions) - 2:
            assert await session.get_items() == [message(f"{number}")]


async def test_concurrent_calls_keep_order_and_share_no_item(session: MemoristSession) -> None:
    other = MemoristSession("other", session._store)

    async def add(one: MemoristSession, by: int) -> None:
        for first in range(0, 20, 2):
            await one.add_items([message(f"{by} {first}"), message(f"{by} {first + 1}")])

    await asyncio.gather(*(add(one, by) for by in range(4) for one in (session, other)))
    for one in (session, other):
        items: list[Any] = await one.get_items()
        said = [item["content"] for item in items]
        assert all([text for text in said if text[0] == f"{by}"] == [f"{by} {n}" for n in range(20)] for by in range(4))
        # What one call adds stays together.
        assert all(int(first[2:]) + 1 == int(next[2:]) for first, next in zip(said[::2], said[1::2]))
    popped: list[Any] = await asyncio.gather(*(session.pop_item() for _ in range(90)))
    taken = [item["content"] for item in popped if item is not None]
    assert len(taken) == len({*taken}) == 80 and len(await other.get_items()) == 80


async def test_an_export_keeps_the_order_of_items(session: MemoristSession, tmp_path: Path) -> None:
    items = [message(f"{number}") for number in range(40)]
    await session.add_items(items[:30])
    await session.add_items(items[30:])
    session._store.export(tmp_path / "all.jsonl")
    with memorist.Store(tmp_path / "copy", embed=None) as copy:
        copy.import_(tmp_path / "all.jsonl")
        assert await MemoristSession("talk", copy).get_items() == items


async def test_items_are_added_also_if_the_task_is_cancelled(session: MemoristSession) -> None:
    adding = asyncio.create_task(session.add_items([message("kept")]))
    await asyncio.sleep(0)
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    while not await session.get_items():
        await asyncio.sleep(0.01)
    assert await session.get_items() == [message("kept")]


async def test_a_run_goes_on_where_the_last_one_ended(session: MemoristSession) -> None:
    @function_tool
    def pier(ship: str) -> str:
        """Where a ship is."""
        return f"The {ship} is at pier nine"

    quiet = RunConfig(tracing_disabled=True)
    call = function_call("pier", {"ship": "ferry"}, call_id="call_3")
    model = ScriptedModel([[call], [assistant_message("Pier nine")], [assistant_message("Yes")]])
    agent = Agent(name="harbour", model=model, tools=[pier])
    first = await Runner.run(agent, "Where is the ferry?", session=session, run_config=quiet)
    assert first.final_output == "Pier nine"
    await Runner.run(agent, "Are you sure?", session=MemoristSession("talk", session._store), run_config=quiet)
    assert model.last_call is not None
    given = json.dumps(model.last_call.input)
    assert all(text in given for text in ("Where is the ferry?", "The ferry is at pier nine", "Pier nine", "Are you sure?"))
    assert len(await session.get_items()) == 6
    await session.clear_session()
    theirs = SQLiteSession("talk")
    for one in (session, theirs):
        again = ScriptedModel([[call], [assistant_message("Pier nine")]])
        await Runner.run(Agent(name="harbour", model=again, tools=[pier]), "Where?", session=one, run_config=quiet)
    assert await session.get_items() == await theirs.get_items()
    theirs.close()


async def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    model = ScriptedModel([[assistant_message("Noted")], [assistant_message("Two cats")]])
    names: dict[str, Any] = {"model": model}
    await run_example("OpenAI Agents SDK", names)
    assert names["result"].final_output == "Two cats"
    names["session"].close()
    with pytest.raises(memorist.Closed):
        await names["session"].get_items()
