"""Parameters and results between Python's names and those of the tools, and times between both."""

from __future__ import annotations

import enum
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, timezone
from functools import lru_cache
from typing import Any, Final


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


#: Not given, where ``None`` means something: to remove a field, or no project.
UNSET: Final = Unset.UNSET

_NAMES: Final = re.compile(
    r"\b(accessCount|addTags|createdAfter|createdAt|createdBefore|entryTypes?|expiresAt|fromId|happensAfter|happensBefore|includeSuperseded|"
    r"keywordWeight|lastAccessedAt|linkType|linkedId|maxResults|maxTokens|minConfidence|minImportance|minRelevance|"
    r"minScore|minSimilarity|newestFirst|recentMessages|removeTags|toId|updatedAfter|updatedAt|updatedBefore|"
    r"userMessage|validFrom|validTo|vectorWeight)\b"
)


def in_snake_case(message: str) -> str:
    """A message of the engine, with parameters by their names in Python."""
    return _NAMES.sub(lambda name: snake(name[0]), message)


@lru_cache(maxsize=512)
def camel(name: str) -> str:
    """``entry_type`` as ``entryType``."""
    first, *more = name.split("_")
    return first + "".join(word.capitalize() for word in more)


@lru_cache(maxsize=512)
def snake(name: str) -> str:
    """``entryType`` as ``entry_type``."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def _value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        from .errors import InvalidInput

        raise InvalidInput(f"{value} is not a finite number")
    if isinstance(value, Mapping):
        return {str(key): _value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_value(inner) for inner in value]
    return value


def named(given: Mapping[str, object], *, nullable: frozenset[str] = frozenset()) -> dict[str, object]:
    """Parameters by the names of the tools, without those that are not given. ``None`` is one of ``nullable`` only."""
    return {
        camel(name): _value(value)
        for name, value in given.items()
        if value is not UNSET and (value is not None or name in nullable)
    }


def to_json(value: object) -> str:
    """As JSON; what has no form there is refused."""
    try:
        made = json.dumps(value, allow_nan=False, ensure_ascii=False)
        if not made.isascii():
            made.encode()  # half of a surrogate pair has no form
        return made
    except (TypeError, ValueError) as error:
        from .errors import InvalidInput

        raise InvalidInput(str(error)) from None


def to_time(millis: int) -> datetime:
    """A time, in UTC."""
    return datetime.fromtimestamp(millis / 1000, tz=timezone.utc)


_TIMES: Final = frozenset(
    "createdAt updatedAt expiresAt lastAccessedAt since until oldestEntry newestEntry addedAt syncedAt".split()
)


@lru_cache(maxsize=64)
def _names(kind: type) -> tuple[dict[str, str], tuple[str, ...]]:
    """The fields of a class by their names in a result, and those of them that are times."""
    names = {camel(name): name for name in kind.__dataclass_fields__}  # type: ignore[attr-defined]
    return names, tuple(name for wire, name in names.items() if wire in _TIMES)


def fields(raw: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The fields of a class that are in a result, by their names in Python, lists as tuples and times as times."""
    names, times = _names(kind)
    # Others are of a newer version.
    found = {names[name]: tuple(value) if type(value) is list else value for name, value in raw.items() if name in names}
    for name in times:
        if isinstance(millis := found.get(name), int):
            found[name] = to_time(millis)
    return found
