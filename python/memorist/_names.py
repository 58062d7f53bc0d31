"""Names, and fields of results, between the tools and Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Final

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


def to_time(millis: int) -> datetime:
    """A time, in UTC."""
    return datetime.fromtimestamp(millis / 1000, tz=timezone.utc)


@lru_cache(maxsize=64)
def _names(kind: type) -> tuple[dict[str, str], tuple[str, ...]]:
    """The fields of a class by their names in a result, and those of them that are times."""
    found: Mapping[str, Field[Any]] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    times = tuple(name for name, field in found.items() if str(field.type).startswith("datetime"))
    return {camel(name): name for name in found}, times


def fields(raw: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The fields of a class that are in a result, by their names in Python, lists as tuples and times as times."""
    names, times = _names(kind)
    # Others are of a newer version.
    found = {names[name]: tuple(value) if type(value) is list else value for name, value in raw.items() if name in names}
    for name in times:
        if isinstance(millis := found.get(name), int):
            found[name] = to_time(millis)
    return found
