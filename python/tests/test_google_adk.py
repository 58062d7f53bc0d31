"""The memory service of the Agent Development Kit, beside the one that it has in memory."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator
from datetime import datetime
from pathlib import Path
from typing import Any

import memorist
import pytest
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService, in_memory_memory_service
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.sessions import Session
from google.genai import types
from memorist.google_adk import MemoristMemoryService

from helpers import run_example

WHO: Any = {"app_name": "harbour", "user_id": "ben"}
#: A time that a float has exactly, with milliseconds.
NOON = 1_760_000_000.25


@pytest.fixture
def service(store: memorist.Store) -> MemoristMemoryService:
    return MemoristMemoryService(store, limit=1_000)


def event(text: str, *, id: str = "", at: float = NOON, author: str = "user", **more: Any) -> Event:
    content = types.Content(role=author, parts=[types.Part(text=text)])
    return Event(**{"id": id, "author": author, "timestamp": at, "content": content, **more})


def session(*events: Event, id: str = "s1", **who: str) -> Session:
    return Session(id=id, events=list(events), **{**WHO, **who})


async def found(service: Any, query: str, **who: str) -> list[MemoryEntry]:
    response = await service.search_memory(query=query, **{**WHO, **who})
    return sorted(response.memories, key=said)


async def texts(service: Any, query: str, **who: str) -> list[str]:
    return [said(entry)[0] for entry in await found(service, query, **who)]


def said(entry: MemoryEntry) -> tuple[str, int, str | None, str | None]:
    parts, at = entry.content.parts or [], datetime.fromisoformat(entry.timestamp or "")
    return " ".join(part.text or "" for part in parts), round(at.timestamp() * 1000), entry.author, entry.content.role


async def test_it_finds_what_the_one_in_memory_finds(service: MemoristMemoryService, monkeypatch: Any) -> None:
    monkeypatch.setattr(in_memory_memory_service, "_MAX_SEARCH_RESULTS", 1_000)
    chance, theirs = random.Random(7), InMemoryMemoryService()
    words = ["ferry", "harbour", "lantern", "Größe", "anchor", "pilot", "buoy", "猫"]
    people = [{"app_name": app, "user_id": user} for app in ("one", "two") for user in ("ann", "ben")]
    sessions = [session(id=id, **who) for who in people for id in ("s1", "s2")]
    owners, deleted, compared = {}, 0, 0
    for step in range(400):
        what, one = chance.random(), chance.choice(sessions)
        who: Any = {"app_name": one.app_name, "user_id": one.user_id}
        if what < 0.4:
            text = " ".join(chance.choices(words, k=chance.randint(1, 2)))
            one.events.append(event(text, at=NOON + step, author=chance.choice(["user", "agent"])))
            owners[round(1000 * (NOON + step))] = who
        elif what < 0.5:
            await service.add_session_to_memory(one)
            await theirs.add_session_to_memory(one)
        elif what < 0.7 and one.events:
            some = chance.sample(one.events, chance.randint(1, min(3, len(one.events))))
            await service.add_events_to_memory(events=some, session_id=one.id, **who)
            await theirs.add_events_to_memory(events=some, session_id=one.id, **who)
        else:
            word = chance.choice(words)
            ours, other = [await found(each, word, **who) for each in (service, theirs)]
            # A turn next to one with the word is found, too.
            assert all(owners[said(entry)[1]] == who for entry in ours)
            ours = [entry for entry in ours if word in said(entry)[0]]
            assert [said(entry) for entry in ours] == [said(entry) for entry in other]
            compared += len(ours)
            if ours and what > 0.9:
                at = chance.randrange(len(ours))
                await service.delete_memory(memory_id=ours[at].id, **who)
                await theirs.delete_memory(memory_id=other[at].id, **who)
                deleted += 1
    assert compared > 200 and deleted > 20


async def test_a_session_that_is_added_again_changes_nothing(service: MemoristMemoryService, tmp_path: Path) -> None:
    gone = [event("The ferry is late", id="1"), event("The ferry is later", id="2", at=4e9)]
    talk = session(*gone, event("The ferry leaves at nine", id="3"), event("The ferry was painted", id="4", at=4e9))
    await service.add_session_to_memory(talk)
    before = await found(service, "ferry")
    for entry in before[:2]:
        await service.delete_memory(memory_id=entry.id, **WHO)
    service._store.update(int(before[2].id or ""), content="The ferry leaves at ten", project="google-adk")
    # A service of sessions rounds times.
    talk.events = [one.model_copy(update={"timestamp": one.timestamp + 0.4}) for one in talk.events]
    talk.events[3] = event("The ferry was sold", id="4")
    await service.add_session_to_memory(talk)
    assert await texts(service, "ferry") == ["The ferry leaves at ten", "The ferry was painted"]
    service._store.close()
    owner = MemoristMemoryService(tmp_path / "store")
    await owner.add_session_to_memory(talk)
    assert await texts(owner, "ferry") == ["The ferry leaves at ten", "The ferry was painted"]
    owner.close()
    with pytest.raises(memorist.Closed):
        await texts(owner, "ferry")


async def test_equal_texts_stay_memories_of_their_own(service: MemoristMemoryService) -> None:
    talk = session(event("call Ann", id="1"), event("call Ann", id="2", at=NOON + 1))
    await service.add_session_to_memory(talk)
    await service.delete_memory(memory_id=(await found(service, "Ann"))[0].id, **WHO)
    talk.events.append(event("call Ann", id="3", at=NOON + 2))
    await service.add_session_to_memory(talk)
    assert [said(entry)[1] for entry in await found(service, "Ann")] == [round(1000 * (NOON + 1)), round(1000 * (NOON + 2))]
    for other in ({"user_id": "ann"}, {"app_name": "other"}):
        assert not await found(service, "Ann", **other)
        await service.add_session_to_memory(session(event("call Ann", id="1"), **other))
        assert len(await found(service, "Ann", **other)) == 1
    await service.add_session_to_memory(session(event("call Ann", id="1"), id="s2"))
    assert len(await found(service, "Ann")) == 3


async def test_events_of_a_session_are_turns_of_one_thread(service: MemoristMemoryService) -> None:
    await service.add_session_to_memory(session(event("Where is the ferry?", id="1"), event("At pier nine", id="2")))
    assert await texts(service, "ferry") == ["At pier nine", "Where is the ferry?"]
    for other in ({"id": "s2"}, {"user_id": "ann"}, {"app_name": "other"}):
        await service.add_session_to_memory(session(event("The buoy is red"), **other))
    places = [(one.session, one.turn) for one in map(service._store.get, range(1, 6)) if one]
    assert [turn for _, turn in places] == [1, 2, 1, 1, 1] and len({thread for thread, _ in places}) == 4


async def test_an_event_without_an_id_is_known_by_what_it_says(service: MemoristMemoryService) -> None:
    events = [event("The buoy is red"), event("The buoy is red", at=NOON + 1), event("The buoy is red", author="agent")]
    for one in events * 2:
        one.id = ""
        await service.add_events_to_memory(events=[one, one], **WHO)
    assert len(await found(service, "buoy")) == 3


async def test_events_without_a_text_are_left_out(service: MemoristMemoryService) -> None:
    call = types.Part(function_call=types.FunctionCall(name="lantern", args={"lantern": 1}))
    mixed = [types.Part(text="lantern thoughts", thought=True), call, types.Part(text="lantern one"), types.Part(text="two")]
    contents = [types.Content(role="model", parts=parts) for parts in ([call], mixed[:2], mixed, [])]
    events = [event("", content=content) for content in [*contents, None]]
    await service.add_session_to_memory(session(event("lantern", partial=True), event(" \n"), *events))
    (entry,) = await found(service, "lantern")
    assert said(entry)[0] == "lantern one\ntwo" and entry.content.role == "model"


async def test_secrets_are_taken_out_of_events(service: MemoristMemoryService) -> None:
    secret = "Tr0ub4dor&3"
    await service.add_session_to_memory(session(event(f"The harbour password is {secret}")))
    assert await texts(service, "harbour") == ["The harbour password is [redacted: password]"]
    memories = [MemoryEntry(content=types.Content(parts=[types.Part(text=text)])) for text in ("fine", f"password: {secret}")]
    with pytest.raises(memorist.Refused, match="password") as refused:
        await service.add_memory(memories=memories, **WHO)
    assert [*refused.value.errors] == [1] and await texts(service, "fine") == ["fine"]


async def test_users_delete_memories_of_their_own_alone(service: MemoristMemoryService) -> None:
    await service.add_session_to_memory(session(event("The pilot boat is blue")))
    (entry,) = await found(service, "pilot")
    scope = service._store.search("pilot", project="google-adk")[0].metadata["adk_scope"]
    other = service._store.add("The pilot boat is of nobody", metadata={"adk_scope": scope}).id
    for id in (None, "", "x", "0", "-1", "9" * 30, str(other), f"{entry.id}.0"):
        await service.delete_memory(memory_id=id, **WHO)
    await service.delete_memory(memory_id=entry.id, app_name="harbour", user_id="ann")
    await service.delete_memory(memory_id=entry.id, app_name="other", user_id="ben")
    elsewhere = MemoristMemoryService(service._store, collection="elsewhere")
    await elsewhere.delete_memory(memory_id=entry.id, **WHO)
    assert service._store.get(int(entry.id or "")) is not None and service._store.get(other) is not None
    await service.delete_memory(memory_id=entry.id, **WHO)
    assert service._store.get(int(entry.id or "")) is None


async def test_memories_keep_what_the_caller_says_of_them(service: MemoristMemoryService) -> None:
    kept, own = {"topic": "sea", "years": [2024, 2025]}, {"adk_scope": "mine", "adk_timestamp": "never"}
    given = {**kept, **own, "at": datetime.now(), "nan": float("nan")}
    await service.add_events_to_memory(events=[event("The anchor holds")], custom_metadata=given, **WHO)
    content, at = types.Content(role="model", parts=[types.Part(text="The anchor is new")]), "2024-05-01T10:00:00+02:00"
    entries = [
        MemoryEntry(content=content, author="agent", timestamp=at, custom_metadata={"topic": "gear"}),
        MemoryEntry(content=types.Content(parts=[types.Part(text="The anchor was sold")])),
        MemoryEntry(content=types.Content(parts=[])),
    ]
    for who in (WHO, {**WHO, "user_id": "ann"}, WHO):
        await service.add_memory(memories=entries, custom_metadata={"topic": "none", "by": "hand"}, **who)
    new, sold = sorted(await found(service, "anchor", user_id="ann"), key=lambda entry: entry.author is None)
    assert said(new) == ("The anchor is new", 1000 * 1714550400, "agent", "model")
    assert new.custom_metadata == {"topic": "gear", "by": "hand"} and new.timestamp == at
    assert sold.custom_metadata["topic"] == "none" and sold.author is None and sold.content.role is None
    assert abs(time.time() * 1000 - said(sold)[1]) < 60_000
    assert await texts(service, "anchor") == ["The anchor holds", "The anchor is new", "The anchor was sold"]
    assert (await found(service, "anchor"))[0].custom_metadata == kept


@pytest.mark.parametrize("user", ["4111 1111 1111 1111", "4111111111111111", "ü" * 2_000, "", '"\\', "password: Tr0ub4dor&3"])
async def test_any_name_of_a_user_has_its_memories(service: MemoristMemoryService, user: str) -> None:
    await service.add_session_to_memory(session(event("The ferry is late"), user_id=user))
    assert await texts(service, "ferry", user_id=user) == ["The ferry is late"]
    assert not await found(service, "ferry")


async def test_texts_of_any_kind_are_kept(service: MemoristMemoryService) -> None:
    events = [event("buoy \0 🚢\u2028\r\nGröße"), event("buoy " + "ü" * 1_000_000, at=NOON + 1), event("buoy of old", at=12.0)]
    await service.add_session_to_memory(session(*events))
    old, odd, long = sorted(await found(service, "buoy"), key=lambda entry: said(entry)[1])
    assert said(odd)[0] == "buoy   🚢\u2028\r\nGröße" and said(old)[1] == 100_000_000_000
    assert 990_000 < len(said(long)[0].encode()) <= 1 << 20 and said(long)[0].endswith("ü")
    assert await texts(service, "buoy " * 20_000 + "\0") and not await found(service, " \n")


async def test_refused_events_are_named_by_their_numbers(service: MemoristMemoryService) -> None:
    events = [event("", id="1"), event("The lantern is lit", id="2")]
    with pytest.raises(memorist.Refused, match=r"1 of 1 were refused; number 1: .*\"long\": is 70000 bytes"):
        await service.add_events_to_memory(events=events, custom_metadata={"long": "x" * 70_000}, **WHO)


async def test_sessions_are_added_at_the_same_time_once(service: MemoristMemoryService) -> None:
    talks = [session(*(event(f"ferry {number}", id=f"{number}") for number in range(20)), id=id) for id in "abc"]
    await asyncio.gather(*(service.add_session_to_memory(talk) for talk in talks * 4))
    assert len(await found(service, "ferry")) == 60


class Model(BaseLlm):
    model: str = "none"

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        given = "\n".join(part.text or "" for content in request.contents for part in content.parts or [])
        answer = "Two cats" if "Ben feeds two cats" in given else "I do not know"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=answer)]))


async def test_an_agent_remembers_earlier_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"model": Model()}
    await run_example("Google's Agent Development Kit", names)
    for user, answer in [("ben", "Two cats"), ("ann", "I do not know")]:
        events = await names["runner"].run_debug("What does Ben feed?", user_id=user, session_id="tuesday", quiet=True)
        assert events[-1].content.parts[0].text == answer
    names["memory"].close()
