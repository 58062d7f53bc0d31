"""A memory service of Google's Agent Development Kit over a store of memorist. Needs ``pip install memorist[google-adk]``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from ._lines import QUERY_BYTES, digest, key, line, plain, write
from ._wire import to_json
from .errors import InvalidInput
from .store import Store
from .types import Hit

__all__ = ["MemoristMemoryService"]

_SOURCE = "google-adk"
#: Keys of the metadata that are not the caller's begin so.
_OWN = "adk_"
#: The key of the app and the user, which is searched for: a name may be too long for that, or be taken for a secret.
_SCOPE = "adk_scope"


class MemoristMemoryService(BaseMemoryService):
    """The turns of the sessions of an app and a user, with hybrid search. Each event with a text is a
    memory: people and other agents see it, too, change it, and delete it.

    An event is saved once. Adding its session again changes nothing: what was edited stays edited, and what was deleted
    stays deleted. Thoughts and partial events are left out. Passwords and keys in events are replaced by ``[redacted: …]``.

    :param store: an open store without a project of its own, or the folder of one.
    :param collection: the project that the memories belong to.
    :param limit: most memories that a search finds, 1 to 10,000.
    """

    def __init__(self, store: Store | str | os.PathLike[str], *, collection: str = _SOURCE, limit: int = 10) -> None:
        self._store = store if isinstance(store, Store) else Store(store)
        self._owns_store = self._store is not store
        self._collection = collection
        self._limit = limit

    def close(self) -> None:
        """Closes the store, if this has opened it."""
        if self._owns_store:
            self._store.close()

    async def add_session_to_memory(self, session: Session) -> None:
        """Adds the events of a session.

        :raises memorist.Refused: as :meth:`add_events_to_memory`.
        """
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Adds events. An event without an id is known by its author, time and text.

        :param custom_metadata: kept with each of them. Values that are no JSON are left out.
        :raises memorist.Refused: if some were refused, by their numbers. The others are saved.
        """
        await asyncio.to_thread(self._add, app_name, user_id, list(events), session_id, custom_metadata)

    def _add(
        self, app: str, user: str, events: Sequence[Event], session: str | None, given: Mapping[str, object] | None
    ) -> None:
        lines = {}
        for number, event in enumerate(events):
            text = _text(event.content)
            if not text or event.partial:
                continue
            id = event.id or key(event.author, repr(event.timestamp), text)
            own = {"adk_session": session, "adk_event": id}
            metadata = {**_metadata(app, user, event.author, event.content, given), **own}
            # The time of the ULID is 0: services round the times of events, and one event must not become two.
            identity = bytes(6) + b"MV" + digest(app, user, session or "", id)[:8]
            lines[number] = line(identity, text, event.timestamp, metadata, _thread(app, user, session or ""))
        write(self._store, self._collection, _SOURCE, lines)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Adds memories. A text that the user has already is saved once, and takes over the metadata.

        :raises memorist.Refused: if some were refused, as those with a password or a key. The others are saved.
        """
        items = []
        for memory in memories:
            if text := _text(memory.content):
                given = {**(custom_metadata or {}), **memory.custom_metadata}
                metadata = _metadata(app_name, user_id, memory.author, memory.content, given)
                metadata["adk_timestamp"] = memory.timestamp
                items.append({"content": text, "metadata": metadata, "session": _thread(app_name, user_id)})
        # As the events, they are every agent's.
        common: dict[str, Any] = {"source": _SOURCE, "project": self._collection, "agent": None}
        await asyncio.to_thread(self._store.add_many, items, **common)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The best memories of an app and a user. Of a long query the first 64 KiB count."""
        found = await asyncio.to_thread(self._search, key(app_name, user_id), plain(query, QUERY_BYTES))
        return SearchMemoryResponse(memories=[_entry(hit) for hit in found])

    def _search(self, scope: str, query: str) -> Sequence[Hit]:
        if not query.strip():
            return ()
        return self._store.search(query, project=self._collection, where={_SCOPE: scope}, limit=self._limit).hits

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Deletes a memory of an app and a user; for 30 days :meth:`memorist.Store.undo` brings it back.

        :param memory_id: the ``id`` of what a search has found. Another one deletes nothing.
        """
        if memory_id is not None:
            await asyncio.to_thread(self._delete, key(app_name, user_id), memory_id)

    def _delete(self, scope: str, memory_id: str) -> None:
        try:
            entry = self._store.get(int(memory_id), project=self._collection)
        except ValueError:  # no number, or none that a memory can have
            return
        if entry is None or entry.project != self._collection or entry.metadata.get(_SCOPE) != scope:
            return
        self._store.delete(entry.id, project=self._collection)


def _text(content: types.Content | None) -> str:
    """The texts of a content, without thoughts."""
    parts = content.parts if content is not None and content.parts else []
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _thread(*names: str) -> str:
    """The session of memories that were said one after the other."""
    return f"{_SOURCE}:{key(*names)}"


def _metadata(
    app: str, user: str, author: str | None, content: types.Content | None, given: Mapping[str, object] | None
) -> dict[str, Any]:
    """The metadata that every memory has, with that of the caller which is JSON."""
    others = {name: value for name, value in (given or {}).items() if not name.startswith(_OWN) and _is_json(value)}
    role = content.role if content is not None else None
    return {**others, _SCOPE: key(app, user), "adk_app": app, "adk_user": user, "adk_author": author, "adk_role": role}


def _is_json(value: object) -> bool:
    try:
        return bool(to_json(value))
    except InvalidInput:
        return False


def _entry(hit: Hit) -> MemoryEntry:
    kept = hit.metadata
    return MemoryEntry(
        id=str(hit.id),
        content=types.Content(role=kept.get("adk_role"), parts=[types.Part(text=hit.content)]),
        author=kept.get("adk_author"),
        timestamp=kept.get("adk_timestamp") or hit.created_at.isoformat(),
        custom_metadata={name: value for name, value in kept.items() if not name.startswith(_OWN)},
    )
