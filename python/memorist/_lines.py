"""Memories that agent frameworks keep, written as lines of an export: each has a ULID that the adapter chooses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ._wire import to_json
from .errors import Refused
from .store import Store

#: Most bytes of a text, and of a body as JSON. A store keeps 1 MiB; the mark of a secret may be longer than the secret.
MOST_BYTES = 1_000_000
#: Most bytes of a query.
QUERY_BYTES = 64 << 10
#: The first time that a store takes, in milliseconds: it is in March 1973.
_FIRST_TIME = 100_000_000_000
#: Crockford's base 32.
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def digest(*names: str) -> bytes:
    """32 bytes that stand for these names in this order, and for no others."""
    return hashlib.sha256(json.dumps(names).encode()).digest()


def ulid(identity: bytes) -> str:
    """16 bytes as a ULID."""
    number = int.from_bytes(identity, "big")
    return "".join(_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


def key(*names: str) -> str:
    """26 letters and digits that stand for these names. Unlike a name, they are short, and never look like a secret."""
    return ulid(digest(*names)[:16])


def plain(text: str, most: int = MOST_BYTES) -> str:
    """A text as a store takes it: at most so many bytes, without NUL and halves of surrogate pairs."""
    return text.replace("\0", " ").encode(errors="replace")[:most].decode(errors="ignore")


def line(identity: bytes, text: str, at: float, metadata: Mapping[str, Any], session: str) -> dict[str, Any]:
    """A turn of a conversation, without its project and source. Turns may have the same text.

    :param at: when it was said, in seconds since 1970.
    """
    return {
        "type": "record",
        "ulid": ulid(identity),
        "content": plain(text),
        "entryType": "conversation",
        "createdAt": max(round(at * 1000), _FIRST_TIME),
        "session": session,
        "body": {"metadata": metadata},
    }


def write(store: Store, project: str, source: str, lines: Mapping[int, Mapping[str, Any]]) -> None:
    """Merges lines into a store, by the numbers of what they were made of. Secrets are taken out of them. A memory that is
    there, or whose ULID says that it is another system's and that was deleted, stays as it is.

    :raises Refused: if some were refused. The others are saved.
    """
    if not lines:
        return
    each = [to_json({**line, "project": project, "source": source}) for line in lines.values()]
    result = json.loads(store._engine.import_lines("\n".join(each)))
    if result["refused"]:
        numbers = list(lines)
        raise Refused({numbers[one["line"] - 1]: one["error"] for one in result["errors"]}, [None] * len(lines))
