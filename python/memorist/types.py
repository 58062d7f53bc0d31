"""Result types of a store. Times are aware, in UTC."""

# Fields between marks, and the enums, are written by .ci/types from server/src/wire/results.json.

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ._names import fields

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Added",
    "EntryType",
    "Exported",
    "Hit",
    "Imported",
    "LinkType",
    "Link",
    "Memory",
    "MemorySummary",
    "NearMiss",
    "Neighbor",
    "Recall",
    "Recalled",
    "SearchMode",
    "SearchResult",
    "SourceReport",
    "Stats",
    "Suggestion",
    "SyncReport",
    "Undone",
    "Updated",
    "Version",
]

#: Kind of a memory.
EntryType = Literal[
    "fact",
    "preference",
    "event",
    "insight",
    "task",
    "relationship",
    "decision",
    "pattern",
    "bugfix",
    "background",
    "contact",
    "project",
    "skill",
    "profile",
    "conversation",
    "chunk",
]
#: Search mode.
SearchMode = Literal["hybrid", "vector", "keyword"]
#: Kind of a link, read from its source to its target.
LinkType = Literal["caused", "related", "supersedes", "implements", "contradicts"]

_T = TypeVar("_T")
_SHOWN = 60


def _of(kind: type[_T], raw: Mapping[str, Any], **nested: object) -> _T:
    return kind(**{**fields(raw, kind), **nested})


def _short(text: str | None) -> str:
    if text is None:
        return "None"
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def _metadata(body: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = (body or {}).get("metadata")
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a memory, seen from it."""

    # fields of Step: by .ci/types
    #: The memory at the other end.
    id: int
    link_type: LinkType
    #: Forward: to the other end; backward: from it.
    direction: Literal["forward", "backward"]
    # end of fields


@dataclass(frozen=True, slots=True, repr=False)
class Memory:
    """A whole memory."""

    # fields of Entry: by .ci/types
    id: int
    content: str
    entry_type: EntryType
    source: str
    confidence: float
    importance: int
    created_at: datetime
    updated_at: datetime
    version: int
    #: The id that survives export and import.
    ulid: str
    #: SHA-256.
    content_hash: str
    access_count: int
    tags: tuple[str, ...] = ()
    context: str | None = None
    expires_at: datetime | None = None
    last_accessed_at: datetime | None = None
    project: str | None = None
    agent: str | None = None
    #: The fields of its type beside the text.
    body: Mapping[str, Any] | None = None
    session: str | None = None
    turn: int | None = None
    #: File and lines that it was read from.
    place: Mapping[str, Any] | None = None
    #: Its links, at most 50.
    links: tuple[Link, ...] = ()
    #: Whether it has more links than these.
    more_links: bool = False
    # end of fields
    #: Unit vector (of a long text: of its beginning), if requested by ``include=["vector"]`` and present.
    vector: NDArray[np.float32] | None = field(default=None, compare=False)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the program."""
        return _metadata(self.body)

    def __repr__(self) -> str:
        return f"Memory(id={self.id}, entry_type={self.entry_type!r}, content={_short(self.content)})"

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> Memory:
        return _of(cls, raw, links=tuple(_of(Link, link) for link in raw.get("links", ())))


@dataclass(frozen=True, slots=True, repr=False)
class MemorySummary:
    """A memory in a list."""

    # fields of Brief: by .ci/types
    id: int
    entry_type: EntryType
    importance: int
    created_at: datetime
    tags: tuple[str, ...] = ()
    content: str | None = None
    source: str | None = None
    project: str | None = None
    agent: str | None = None
    truncated: bool = False
    # end of fields

    def __repr__(self) -> str:
        return f"MemorySummary(id={self.id}, entry_type={self.entry_type!r}, content={_short(self.content)})"


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A turn before or after a hit in its session."""

    # fields of Neighbor: by .ci/types
    id: int
    turn: int | None = None
    content: str | None = None
    # end of fields


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """One result of a search."""

    # fields of SearchHit and body of Entry without logit: by .ci/types
    id: int
    entry_type: EntryType
    #: 0 to 1, relative to the other candidates of this search.
    score: float
    #: Likelihood that it answers the query, 0 to 1; comparable between queries.
    relevance: float
    matched_by: tuple[Literal["vector", "keyword", "part"], ...]
    created_at: datetime
    content: str | None = None
    source: str | None = None
    context: str | None = None
    confidence: float | None = None
    importance: int | None = None
    tags: tuple[str, ...] = ()
    #: Reason why it ranks above a more relevant hit or below a less relevant one, or what it merely resembles.
    why: str | None = None
    #: Cosine similarity, -1 to 1.
    vector_score: float | None = None
    #: BM25.
    keyword_score: float | None = None
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    turn: int | None = None
    #: File and lines that it was read from.
    place: Mapping[str, Any] | None = None
    #: The fields of its type beside the text.
    body: Mapping[str, Any] | None = None
    #: Neighbors in its session, in order.
    neighbors: tuple[Neighbor, ...] = ()
    #: Neighbors in its session whose words counted for it.
    boosted_by: tuple[int, ...] = ()
    #: Memories that contradict it.
    contradicted_by: tuple[int, ...] = ()
    #: Whether content or context is a passage of the whole text.
    truncated: bool = False
    # end of fields

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the program."""
        return _metadata(self.body)

    def __repr__(self) -> str:
        return f"Hit(id={self.id}, relevance={self.relevance:.2f}, content={_short(self.content)})"

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> Hit:
        return _of(cls, raw, neighbors=tuple(_of(Neighbor, one) for one in raw.get("neighbors", ())))


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The best memory that a threshold excluded."""

    # fields of NearMissInfo: by .ci/types
    id: int
    #: Beginning of its text.
    content: str
    threshold: Literal["similarity", "score", "relevance"]
    #: Its value: a search with this as the threshold finds it.
    actual: float
    # end of fields


@dataclass(frozen=True, slots=True, repr=False)
class SearchResult:
    """The answer to a search: a sequence of its hits, the best first."""

    hits: tuple[Hit, ...]
    # fields of SearchResult without results, total: by .ci/types
    #: How it was answered: in full, by keywords alone, or by parts of words (substring).
    tier: Literal["full", "keyword", "substring"]
    #: Whether the store probably has no answer: no hit, or no relevant one.
    no_answer: bool = False
    warnings: tuple[str, ...] = ()
    #: Best hit below a threshold.
    near_miss: NearMiss | None = None
    #: Identifiers, codes and paths of the query that no memory has.
    missing: tuple[str, ...] = ()
    #: Number of further hits below the minimum relevance.
    weaker: int = 0
    #: The ``cursor`` of the next page.
    next_cursor: str | None = None
    #: Times in microseconds and candidate counts.
    explain: Mapping[str, Any] | None = None
    # end of fields

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, at: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[at]

    def __repr__(self) -> str:
        more = f", warnings={list(self.warnings)!r}" if self.warnings else ""
        return f"SearchResult({list(self.hits)!r}, tier={self.tier!r}{more})"

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> SearchResult:
        hits = tuple(Hit._read(hit) for hit in raw["results"])
        missed = raw.get("nearMiss")
        return _of(cls, raw, hits=hits, near_miss=missed and _of(NearMiss, missed))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A memory that resembles a new one, with a suggested link."""

    # fields of Suggestion: by .ci/types
    #: The other memory.
    id: int
    #: The kind of link from the new one.
    link_type: LinkType
    #: 0 to 1.
    similarity: float
    #: Beginning of its text.
    content: str
    # end of fields


@dataclass(frozen=True, slots=True)
class Added:
    """The outcome of a save."""

    # fields of AddResult without duplicate: by .ci/types
    #: The memory; of a text that was saved already, the one that has it.
    id: int
    #: Whether it is new.
    created: bool
    #: ``pending``: keyword search only, until the memory is embedded.
    embedding: Literal["ready", "pending"]
    #: Near duplicates.
    warnings: tuple[str, ...] = ()
    #: Suggested links.
    suggestions: tuple[Suggestion, ...] = ()
    # end of fields

    @property
    def duplicate(self) -> bool:
        """Whether the text existed already."""
        return not self.created

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> Added:
        return _of(cls, raw, suggestions=tuple(_of(Suggestion, one) for one in raw.get("suggestions", ())))


@dataclass(frozen=True, slots=True)
class Updated:
    """A memory that was changed."""

    # fields of UpdateResult without updated, error: by .ci/types
    id: int
    #: Increases with each change.
    version: int
    embedding: Literal["ready", "pending"]
    # end of fields


@dataclass(frozen=True, slots=True)
class Undone:
    """The outcome of an undo."""

    # fields of UndoResult without links: by .ci/types
    id: int
    #: Undone operation: deletion, expiry, change, link or currentAgain.
    undone: str
    #: Its version now.
    version: int | None = None
    #: Its text now.
    content: str | None = None
    # end of fields


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a memory."""

    # fields of VersionEntry: by .ci/types
    version: int
    #: When it became the newest.
    since: datetime
    content: str
    entry_type: EntryType
    source: str
    confidence: float
    importance: int
    tags: tuple[str, ...] = ()
    #: When it was replaced; ``None`` for the newest.
    until: datetime | None = None
    #: Why it was replaced.
    reason: str | None = None
    context: str | None = None
    expires_at: datetime | None = None
    body: Mapping[str, Any] | None = None
    # end of fields


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that automatic recall returns."""

    # fields of RecalledMemory: by .ci/types
    id: int
    entry_type: EntryType
    #: The part of it that is shown.
    content: str
    #: 0 to 1.
    relevance: float
    created_at: datetime
    contradicted_by: tuple[int, ...] = ()
    # end of fields


@dataclass(frozen=True, slots=True)
class Recall:
    """The result of automatic recall, mostly empty."""

    # fields of RecallResult without warnings: by .ci/types
    #: The memories in it, the most relevant first.
    memories: tuple[Recalled, ...]
    #: About how many tokens ``context`` has.
    tokens: int
    #: A text for the context of the model, marked as data; ``None`` if no memory is relevant to the message.
    context: str | None = None
    # end of fields

    def __bool__(self) -> bool:
        return self.context is not None

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> Recall:
        return _of(cls, raw, memories=tuple(_of(Recalled, one) for one in raw["memories"]))


@dataclass(frozen=True, slots=True)
class Stats:
    """Number of visible memories, and the state of the indexes."""

    # fields of StatsResult without unread: by .ci/types
    total_entries: int
    by_type: Mapping[str, int]
    avg_importance: float
    avg_confidence: float
    total_accesses: int
    #: Memories that only keyword search finds until they are embedded.
    pending_embeddings: int
    oldest_entry: datetime | None = None
    newest_entry: datetime | None = None
    #: Embedding model.
    model: str | None = None
    #: Sizes of the indexes: vectors, documents, unapplied.
    indexes: Mapping[str, int] | None = None
    #: The search log: logged, last, noAnswer.
    searches: Mapping[str, int] | None = None
    # end of fields


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The result of a sync for one source."""

    # fields of SyncedSource without globs, project, agent, added_at, synced_at, bytes, gone, kept, forgotten,
    # skipped: by .ci/types
    id: int
    kind: Literal["notes", "sessions"]
    path: str
    files: int
    #: Files that had changed.
    read: int
    added: int
    changed: int
    removed: int
    failed: int
    #: The agent whose transcripts these are.
    format: str | None = None
    problems: tuple[Mapping[str, str], ...] = ()
    # end of fields


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The result of a sync."""

    # fields of SyncResult: by .ci/types
    sources: tuple[SourceReport, ...]
    #: Texts that were embedded afterwards.
    embedded: int
    warnings: tuple[str, ...] = ()
    # end of fields

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> SyncReport:
        return _of(cls, raw, sources=tuple(_of(SourceReport, one) for one in raw["sources"]))


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export."""

    # fields of ExportResult: by .ci/types
    #: Path of the file.
    file: str
    #: Memories.
    memories: int
    #: Links between them.
    links: int
    # end of fields


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    # fields of ImportResult without united, changed_in_both, deleted, circles: by .ci/types
    #: Lines read, without empty ones.
    lines: int
    #: New memories.
    created: int
    #: Memories that replaced an older version.
    replaced: int
    #: Memories whose text is already saved in their scope.
    duplicates: int
    #: Memories that exist in the same or a newer version.
    unchanged: int
    #: Memories that have expired.
    expired: int
    #: New links.
    links: int
    #: Rejected memories and links.
    refused: int
    #: The first rejected lines: line, error.
    errors: tuple[Mapping[str, Any], ...] = ()
    #: Other warnings.
    warnings: tuple[str, ...] = ()
    # end of fields
