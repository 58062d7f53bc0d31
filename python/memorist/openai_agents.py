"""A session of the OpenAI Agents SDK over a store of memorist. Needs ``pip install memorist[openai-agents]``."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from agents import TResponseInputItem
from agents.memory import SessionSettings

from ._lines import MOST_BYTES, key, line, write
from ._wire import to_json
from .errors import InvalidInput
from .store import Store

__all__ = ["MemoristSession"]

_SOURCE = "openai-agents"
_ITEM, _SESSION = "openai_item", "openai_session"
#: The key that stands for the session, which is searched for: its id may be too long for that, or be taken for a secret.
_THREAD = "openai_thread"
#: Most lists and objects of an item within one another. A body may have 32, and three are around the item.
_DEPTH = 29
#: Stands before the number of a character that a store does not keep, or that is this one.
_MARK = "\ue000"
_ESCAPES = re.compile(f"[\0{_MARK}\ud800-\udfff]")
_ESCAPED = re.compile(f"{_MARK}([0-9a-f]{{4}})")


class MemoristSession:
    """The items of a conversation, in order. Each is a memory, too: searches find what was said, and other agents see it.

    An item comes back as it was given, except for secrets. **Passwords, keys and tokens in it are replaced by
    ``[redacted: …]``**, in its texts and in the arguments of its calls. The model does not see them in later turns, arguments
    may then be no JSON any more, and the SDK does not take back such an item when it tries a turn again.

    Each item is at most 1,000,000 bytes of JSON: give images and files by their URL or id.

    :param session_id: names the conversation. Objects and processes with the same id and collection share it.
    :param store: an open store without a project of its own, or the folder of one.
    :param collection: the project that the items belong to.
    :param session_settings: ``limit`` is how many of the last items :meth:`get_items` returns by default.
    """

    def __init__(
        self,
        session_id: str,
        store: Store | str | os.PathLike[str],
        *,
        collection: str = _SOURCE,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._store = store if isinstance(store, Store) else Store(store)
        self._owns_store = self._store is not store
        self._collection = collection
        self._thread = key(session_id)

    def close(self) -> None:
        """Closes the store, if this has opened it."""
        if self._owns_store:
            self._store.close()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, the oldest first.

        :param limit: the number of items to return, the last ones. 0 returns none, a negative number returns all.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        most = None if limit is None or limit < 0 else limit
        newest = await asyncio.to_thread(lambda: [item for _, item in islice(self._newest(), most)])
        return newest[::-1]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items, also if the task is cancelled meanwhile.

        :raises memorist.InvalidInput: if one is no JSON, is too large, or is nested more than 29 deep. Then none is added.
        """
        await asyncio.to_thread(self._add, list(items))

    def _add(self, items: list[TResponseInputItem]) -> None:
        # ULIDs in the order of the items, which an export then keeps, too.
        randoms = sorted(os.urandom(8) for _ in items)
        now, lines = time.time(), {}
        for number, item in enumerate(items):
            try:
                given = _object(item)
                metadata = self._metadata(given)
            except InvalidInput as error:
                raise InvalidInput(f"items: number {number} {error}") from None
            identity = int(now * 1000 * 2**16).to_bytes(8, "big") + randoms[number]
            lines[number] = line(identity, _text(given), now, metadata, f"{_SOURCE}:{self._thread}")
        write(self._store, self._collection, _SOURCE, lines)

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the last item, and returns it. No other call gets the same one. For 30 days it can be brought back in the
        store."""
        return await asyncio.to_thread(self._pop)

    def _pop(self) -> TResponseInputItem | None:
        while (last := next(self._newest(), None)) is not None:
            memory, item = last
            if self._store.delete(memory, project=self._collection):
                return item
        return None

    async def clear_session(self) -> None:
        """Removes all items. For 30 days they can be brought back in the store."""
        await asyncio.to_thread(self._store.delete, where={_THREAD: self._thread}, project=self._collection)

    def _newest(self) -> Iterator[tuple[int, TResponseInputItem]]:
        """The memories and their items, the newest first."""
        found = self._store.list(
            where={_THREAD: self._thread}, newest_first=True, detail="ids", project=self._collection
        )
        for brief in found:
            entry = self._store.get(brief.id, project=self._collection)
            if entry is not None and _ITEM in entry.metadata:
                yield entry.id, _mapped(entry.metadata[_ITEM]["item"], _restored)

    def _metadata(self, item: dict[str, Any]) -> dict[str, Any]:
        # Nested, so that it is not searched for.
        kept = {"item": _mapped(item, _escaped)}
        metadata = {_ITEM: kept, _SESSION: _escaped(self.session_id), _THREAD: self._thread}
        if (size := len(to_json(metadata).encode())) > MOST_BYTES:
            raise InvalidInput(f"has {size:,} bytes of JSON, and may have {MOST_BYTES:,}")
        return metadata


def _object(item: object) -> dict[str, Any]:
    """An item as JSON has it: with lists instead of tuples."""
    try:
        given = json.loads(json.dumps(item, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidInput("is no object of JSON")
    return given


def _text(item: dict[str, Any]) -> str:
    """What a person reads of an item: the texts of a message, a call with its arguments, or an output; else its JSON."""
    texts = [item.get("name"), item.get("arguments")]
    for name in ("content", "summary", "output"):
        value = item.get(name)
        texts += [part.get("text") for part in value if isinstance(part, dict)] if isinstance(value, list) else [value]
    read = "\n".join(text for text in texts if isinstance(text, str)).replace("\0", " ").strip()
    return read or json.dumps(item, ensure_ascii=False)


def _mapped(value: Any, change: Callable[[str], str], depth: int = 0) -> Any:
    """A value of JSON with its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise InvalidInput("has a whole number of more than 64 bits")
    if isinstance(value, (dict, list)) and depth == _DEPTH:
        raise InvalidInput(f"is nested more than {_DEPTH} deep")
    if isinstance(value, dict):
        return {change(name): _mapped(one, change, depth + 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_mapped(one, change, depth + 1) for one in value]
    return value


def _escaped(text: str) -> str:
    """A text without what a store does not keep: NUL, and halves of surrogate pairs."""
    return _ESCAPES.sub(lambda one: f"{_MARK}{ord(one[0]):04x}", text)


def _restored(text: str) -> str:
    return _ESCAPED.sub(lambda one: chr(int(one[1], 16)), text)
