"""A store of memories."""

from __future__ import annotations

import atexit
import builtins
import difflib
import inspect
import json
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, overload

from . import _memorist
from ._arrays import Embed, StrPath, Vector, embedder, floats
from ._arrays import path as as_path
from ._names import snake
from ._wire import UNSET, Unset, named, to_json
from .errors import InvalidInput, NotFound, Refused, WrongType, not_pickled
from .types import (
    Added,
    EntryType,
    Exported,
    Imported,
    LinkType,
    Memory,
    MemorySummary,
    Recall,
    SearchMode,
    SearchResult,
    Stats,
    SyncReport,
    Undone,
    Updated,
    Version,
    _of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._arrays import Vectors

#: A time: aware or local, a date, ISO 8601, "30d", "last week", or Unix milliseconds.
When: TypeAlias = datetime | date | str | int
#: 1 to 10, or low, medium, high, critical.
Importance: TypeAlias = int | Literal["low", "medium", "high", "critical"]

#: What :meth:`Store.get` reads besides a memory.
Include: TypeAlias = Literal["vector"]

#: A condition on metadata; see :meth:`Store.search`.
Where: TypeAlias = Mapping[str, Any]

#: Memories of one transaction of :meth:`Store.add_many`.
_BATCH = 2_000
#: Memories of one page of :meth:`Store.list`.
PAGE = 500
_NULLABLE = frozenset({"project", "agent", "agent_id"})
_CLEARED = _NULLABLE | {"context", "expires_at", "valid_from", "valid_to", "due", "body", "metadata"}



def _item(number: int, item: object, columns: Mapping[str, str]) -> dict[str, object]:
    """An item of :meth:`Store.add_many` as parameters of the tool."""
    if isinstance(item, str):
        return {"content": item}
    if not isinstance(item, Mapping):
        raise WrongType(f"items: number {number}", "a text or a mapping", item)
    fields: dict[str, object] = {}
    for key, value in item.items():
        name = snake(columns.get(key, str(key)))
        if name not in _FIELDS:
            near = difflib.get_close_matches(name, sorted(_FIELDS), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(_FIELDS))}"
            raise InvalidInput(f"items: number {number} has the field {key!r}; {hint}")
        if name in fields:
            raise InvalidInput(f"items: number {number} has two fields that are {name!r}")
        fields[name] = value
    try:
        return named(fields, nullable=_NULLABLE, from_table=True)
    except InvalidInput as error:
        error.args = (f"items: number {number}: {error}",)
        raise


def _several(ids: object) -> list[Any] | None:
    """The ids, if they are not one alone. An array of numpy that holds one number is one."""
    if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable):
        return None
    try:
        return list(ids)
    except TypeError:
        return None


def _added(outcomes: list[dict[str, Any]]) -> list[Added | None]:
    return [None if "error" in one else Added(one["id"], one["created"], one["embedding"]) for one in outcomes]


_open: weakref.WeakSet[Store] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # Threads of the engine that call an embedding function need the interpreter.
    for store in list(_open):
        store.close()
    _memorist.join_left()


class Store:
    """A store of memories, in a folder.

    >>> with Store("memories", embed=None) as store:  # doctest: +SKIP
    ...     store.add("User prefers dark mode for all applications", entry_type="preference")
    ...     store.search("dark mode")[0].content

    Any number of threads may share it, and any number of processes may open the same folder, the command line and
    the MCP server among them. :meth:`add` returns after the write is durable, and every later search sees it, in any
    process. Calls release the GIL.

    :param path: the folder; created if missing. Default: the store of the command line.
    :param embed: the embedder. Default: that of the settings, which is the local model, downloaded on first use. Or a
        function from a list of texts to an array with a row for each; it must not use this store, whose methods raise
        :class:`Locked` then. ``None``: no embedder; pass vectors, or use keyword search only.
    :param model: the name of the program's own embedder; change it whenever its vectors change. Vectors of two models
        are never compared.
    :param dimensions: of the function's vectors. Default: detected by one call of the function.
    :param project: scope: new memories get it, and it and global memories are visible. Default: all are visible.
    :param agent: the same for agents.
    :param config: path of a ``memorist.toml``.
    """

    def __init__(
        self,
        path: StrPath | None = None,
        *,
        embed: Embed | Literal["configured"] | None = "configured",
        model: str | None = None,
        dimensions: int | None = None,
        project: str | None = None,
        agent: str | None = None,
        config: StrPath | None = None,
    ) -> None:
        function, count = None, 0
        if callable(embed):
            model = model or f"{getattr(embed, '__module__', '')}.{getattr(embed, '__qualname__', type(embed).__name__)}"
            function, count = embedder(embed, dimensions)
        elif embed is None:
            model = model or "the program's own"
        elif embed != "configured":
            raise InvalidInput(f"embed: must be a function, None, or 'configured', not {embed!r}")
        self._engine = _memorist.Engine(
            None if path is None else as_path("path", path),
            None if config is None else as_path("config", config),
            project,
            agent,
            embed is not None,
            function,
            model,
            count,
        )
        _open.add(self)

    @property
    def path(self) -> str:
        """The folder."""
        return str(self._engine.folder)

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._engine.closed

    def close(self) -> None:
        """Closes the store, once the calls of other threads are over. A second time does nothing.

        :raises Locked: if the function that embeds closes the store that calls it.
        """
        self._engine.close(True)

    def __reduce__(self) -> tuple[object, ...]:
        raise not_pickled(self, f"Store({self.path!r})")

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # After Ctrl-C, nothing waits for a function that embeds.
        self._engine.close(kind is None or not issubclass(kind, KeyboardInterrupt))

    def __repr__(self) -> str:
        return f"<Store {self.path!r}{', closed' if self.closed else ''}>"

    def _call(self, tool: str, given: Mapping[str, object]) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self._engine.call(tool, to_json(named(given, nullable=_NULLABLE))))
        return result

    def _memory_files(self, tool: str, command: Mapping[str, object]) -> str:
        """A command of Claude's memory tool, whose parameters have names of their own."""
        answer: str = json.loads(self._engine.call(tool, to_json(command)))
        return answer

    def add(
        self,
        content: str,
        *,
        entry_type: EntryType | None = None,
        source: str | None = None,
        context: str | None = None,
        confidence: float | None = None,
        importance: Importance | None = None,
        tags: Sequence[str] | None = None,
        expires_at: When | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        status: Literal["open", "done", "dropped"] | None = None,
        due: When | None = None,
        supersedes: Sequence[int] | None = None,
        contradicts: Sequence[int] | None = None,
        related: Sequence[int] | None = None,
        body: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        session: str | None = None,
        turn: int | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
        vector: Vector | None = None,
    ) -> Added:
        """Saves a memory. A text that its scope already has is saved once, and gets the fields that are passed.

        :param metadata: keys of the program's own, each with a text, a number, a truth value or a list of them, to filter by
            with ``where``. Other JSON is kept, and not searched.
        :param vector: the program's vector of the text.
        :raises InvalidInput: if a value is out of bounds, a text contains a secret, or another memory has the text with
            another vector: a ``context`` distinguishes them.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "vector")}
        params = to_json(named(given, nullable=_NULLABLE, from_table=True))
        if vector is None:
            return Added._read(json.loads(self._engine.call("add", params)))
        return Added._read(json.loads(self._engine.add_with(params, floats("vector", vector, 1))))

    def add_many(
        self,
        items: Iterable[str | Mapping[str, object]],
        *,
        vectors: Vectors | None = None,
        columns: Mapping[str, str] | None = None,
        progress: Callable[[int], object] | None = None,
        entry_type: EntryType | None = None,
        source: str | None = None,
        tags: Sequence[str] | None = None,
        importance: Importance | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> builtins.list[Added]:
        """Saves many memories: texts, or mappings with the parameters of :meth:`add`. The other parameters are for
        items that do not have their own.

        A transaction saves 2,000 items; Ctrl-C ends the call after one. Items are embedded in the background, or by
        :meth:`flush`.

        :param items: pass a pandas table as ``frame.to_dict("records")``. NaN, NaT and NA count as absent.
        :param vectors: the program's vectors, a row for each item. Contiguous ``float32`` is not copied; other numbers
            are converted.
        :param columns: the fields of items by other names: ``{"text": "content"}``.
        :param progress: called with the number of processed items, after each transaction.
        :raises Refused: if some were rejected. The others are saved.
        :raises InvalidInput: if an item is invalid. Earlier transactions are saved: the exception has them as ``added``.
        """
        common = {
            "entry_type": entry_type,
            "source": source,
            "tags": tags,
            "importance": importance,
            "project": project,
            "agent": agent,
        }
        shared = named(common, nullable=_NULLABLE)
        if isinstance(items, (str, bytes, Mapping)):
            raise WrongType("items", "a list of texts or mappings", items)
        if hasattr(items, "to_dict"):
            raise WrongType("items", "a list of texts or mappings (a table as table.to_dict('records'))", items)
        if progress is not None and not callable(progress):
            raise WrongType("progress", "a function", progress)
        each: Iterator[dict[str, object]] = (
            {**shared, **_item(number, item, columns or {})} for number, item in enumerate(items)
        )
        rows = None if vectors is None else floats("vectors", vectors, 2)
        if rows is not None:
            listed = list(each)
            if len(rows) != len(listed):
                raise InvalidInput(f"vectors: there are {len(rows)} for {len(listed)} items")
            each = iter(listed)
        outcomes: list[dict[str, Any]] = []
        try:
            while batch := list(islice(each, _BATCH)):
                outcomes += json.loads(self._engine.add_many(to_json(batch), rows, len(outcomes)))
                if progress is not None:
                    progress(len(outcomes))
        except InvalidInput as error:
            error.added = _added(outcomes)
            raise
        added = _added(outcomes)
        errors = {at: outcome["error"] for at, outcome in enumerate(outcomes) if "error" in outcome}
        if errors:
            raise Refused(errors, added)
        return [one for one in added if one is not None]

    def search(
        self,
        query: str | None = None,
        *,
        vector: Vector | None = None,
        mode: SearchMode | None = None,
        limit: int | None = None,
        entry_types: Sequence[EntryType] | None = None,
        min_importance: Importance | None = None,
        min_confidence: float | None = None,
        tags: Sequence[str] | None = None,
        where: Where | None = None,
        sources: Sequence[Literal["notes", "sessions", "memories"]] | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
        created_after: When | None = None,
        created_before: When | None = None,
        updated_after: When | None = None,
        updated_before: When | None = None,
        happens_after: When | None = None,
        happens_before: When | None = None,
        vector_weight: float | None = None,
        keyword_weight: float | None = None,
        min_similarity: float | None = None,
        min_relevance: float | None = None,
        min_score: float | None = None,
        scale: Literal["theoretical", "pool"] | None = None,
        include_superseded: bool | None = None,
        rerank: bool | None = None,
        neighbors: int | None = None,
        neighbours: int | None = None,
        max_tokens: int | None = None,
        cursor: str | None = None,
        detail: Literal["ids", "snippet", "full"] = "full",
        explain: bool | None = None,
    ) -> SearchResult:
        """Searches memories; hybrid by default.

        :param query: the search query. Without it, vector search only.
        :param vector: the program's vector of the query.
        :param mode: ``hybrid`` (the default), ``vector`` or ``keyword``.
        :param tags: only memories with any of these.
        :param where: a condition on the metadata: ``{"year": {"$gte": 2024}, "lang": "de"}``. Operators are ``$eq``,
            ``$ne``, ``$gt``, ``$gte``, ``$lt``, ``$lte``, ``$in``, ``$nin``, ``$exists``, ``$contains``, and around
            conditions ``$and``, ``$or``, ``$nor``, ``$not``. A list passes if one of its items does.
        :param neighbors: turns to add before and after each session hit; ``neighbours`` is its earlier name.
        :param rerank: whether to rerank the first hits, if the reranker is set up (``memorist setup --reranker``).
        :param happens_before: with ``happens_after``, the range of validity or due date; a ``date`` includes that day.
        :raises InvalidInput: if a value is out of bounds. A missing model is a warning in the result.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "vector")}
        if vector is None:
            if query is None:
                raise InvalidInput("query: give a query, or a vector of one")
            return SearchResult._read(self._call("search", given))
        if query is None:
            if mode not in (None, "vector"):
                raise InvalidInput(f"mode: {mode} needs a query beside the vector")
            given.update(query="", mode="vector")
        params = to_json(named(given, nullable=_NULLABLE))
        return SearchResult._read(json.loads(self._engine.search_with(params, floats("vector", vector, 1))))

    def search_many(
        self, /, queries: Sequence[str] | None = None, *, vectors: Vectors | None = None, **options: Any
    ) -> builtins.list[SearchResult]:
        """Searches for several queries at once, on all processors. The results are in the order of the queries.

        :param queries: texts. Without them, vector search only.
        :param vectors: the program's vectors, a row for each query.
        :param options: those of :meth:`search`.
        """
        rows = None if vectors is None else floats("vectors", vectors, 2)
        if queries is not None and (isinstance(queries, (str, bytes)) or not isinstance(queries, Sequence)):
            raise WrongType("queries", "a sequence of strings", queries)
        if queries is None and rows is None:
            raise InvalidInput("queries: give queries, or vectors of them")
        if queries is not None and rows is not None and len(queries) != len(rows):
            raise InvalidInput(f"vectors: there are {len(rows)} for {len(queries)} queries")
        count = len(rows) if queries is None and rows is not None else len(queries or ())

        def search(at: int) -> SearchResult:
            return self.search(
                None if queries is None else queries[at], vector=None if rows is None else rows[at], **options
            )

        with ThreadPoolExecutor(max(1, min(count, os.cpu_count() or 1))) as threads:
            return list(threads.map(search, range(count)))

    @overload
    def get(
        self,
        id: SupportsIndex,
        *,
        include: Sequence[Include] = (),
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> Memory | None: ...
    @overload
    def get(
        self,
        id: Iterable[SupportsIndex],
        *,
        include: Sequence[Include] = (),
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> builtins.list[Memory | None]: ...
    def get(
        self,
        id: SupportsIndex | Iterable[SupportsIndex],
        *,
        include: Sequence[Include] = (),
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> Memory | None | builtins.list[Memory | None]:
        """Returns the memory with this id; ``None`` if it does not exist or is out of scope. Counts as an access.
        Several ids return a list in their order.

        :param include: optional fields: ``["vector"]``.
        """
        if isinstance(include, str) or not isinstance(include, Sequence):
            raise WrongType("include", 'a list, as ["vector"]', include)
        if unknown := [what for what in include if what != "vector"]:
            raise InvalidInput(f"include: {unknown[0]!r} cannot be included; 'vector' can")
        if (several := _several(id)) is not None:
            return [self._get(one, include, project, agent) for one in several]
        return self._get(id, include, project, agent)

    def _get(
        self, id: object, include: Sequence[Include], project: str | Unset | None, agent: str | Unset | None
    ) -> Memory | None:
        given = {"id": id, "project": project, "agent": agent}
        try:
            entry = Memory._read(self._call("get", given)["entry"])
            if not include:
                return entry
            return replace(entry, vector=self._engine.vector(to_json(named(given, nullable=_NULLABLE))))
        except NotFound:
            return None

    def __len__(self) -> int:
        """The number of visible memories."""
        return self.stats().total_entries

    def __bool__(self) -> bool:
        """True: an empty store is a store."""
        return True

    def list(
        self,
        *,
        entry_types: Sequence[EntryType] | None = None,
        tags: Sequence[str] | None = None,
        where: Where | None = None,
        min_importance: Importance | None = None,
        created_after: When | None = None,
        created_before: When | None = None,
        updated_after: When | None = None,
        updated_before: When | None = None,
        happens_after: When | None = None,
        happens_before: When | None = None,
        newest_first: bool = False,
        detail: Literal["ids", "snippet", "full"] = "full",
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> Iterator[MemorySummary]:
        """Iterates over all memories that pass the filters, in the order of saving."""
        given: dict[str, object] = {name: value for name, value in locals().items() if name != "self"}
        given["limit"] = PAGE
        while True:
            page = self._call("list", given)
            yield from (_of(MemorySummary, one) for one in page["results"])
            if (after := page.get("next")) is None:
                return
            given["after"] = after

    #: Earlier name of :meth:`list`.
    entries = list

    def update(
        self,
        id: SupportsIndex,
        *,
        content: str | None = None,
        entry_type: EntryType | None = None,
        source: str | None = None,
        context: str | Unset | None = UNSET,
        confidence: float | None = None,
        importance: Importance | None = None,
        tags: Sequence[str] | None = None,
        add_tags: Sequence[str] | None = None,
        remove_tags: Sequence[str] | None = None,
        expires_at: When | Unset | None = UNSET,
        valid_from: When | Unset | None = UNSET,
        valid_to: When | Unset | None = UNSET,
        status: Literal["open", "done", "dropped"] | None = None,
        due: When | Unset | None = UNSET,
        body: Mapping[str, Any] | Unset | None = UNSET,
        metadata: Mapping[str, Any] | Unset | None = UNSET,
        reason: str | None = None,
        expect: str | int | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
        vector: Vector | None = None,
    ) -> Updated:
        """Changes a memory. Omitted fields stay, ``None`` removes an optional one. The previous version is kept.

        :param metadata: replaces all of it.
        :param expect: words that the memory must have, or its version; otherwise nothing changes.
        :param vector: the program's vector of the text; may be the only change.
        :raises NotFound: if it does not exist or is out of scope.
        :raises Conflict: if another memory has the new text.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "vector")}
        params = to_json(named(given, nullable=_CLEARED, from_table=True))
        if vector is None:
            return _of(Updated, json.loads(self._engine.call("update", params)))
        return _of(Updated, json.loads(self._engine.update_with(params, floats("vector", vector, 1))))

    @overload
    def delete(
        self, id: SupportsIndex, *, project: str | Unset | None = UNSET, agent: str | Unset | None = UNSET
    ) -> bool: ...
    @overload
    def delete(
        self,
        id: Iterable[SupportsIndex] | None = None,
        *,
        where: Where | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> int: ...
    def delete(
        self,
        id: SupportsIndex | Iterable[SupportsIndex] | None = None,
        *,
        where: Where | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> bool | int:
        """Deletes a memory; :meth:`undo` restores it for 30 days. False if it does not exist or is out of scope.
        Several ids, or ``where`` for all memories with such metadata, return the number of deleted memories."""
        if where is not None:
            if id is not None:
                raise InvalidInput("where: give ids or a condition")
            if not where:
                raise InvalidInput("where: an empty condition would delete every memory")
            found = self.list(where=where, detail="ids", project=project, agent=agent)
            id = [brief.id for brief in found]
        if id is None:
            raise InvalidInput("id: give ids, or a condition as where")
        if (several := _several(id)) is not None:
            return sum(self._delete(one, project, agent) for one in several)
        return self._delete(id, project, agent)

    def _delete(self, id: object, project: str | Unset | None, agent: str | Unset | None) -> bool:
        return bool(self._call("delete", {"id": id, "project": project, "agent": agent})["deleted"])

    def undo(self, id: SupportsIndex, *, project: str | Unset | None = UNSET, agent: str | Unset | None = UNSET) -> Undone:
        """Undoes the last update, delete, expiry or link of a memory."""
        return _of(Undone, self._call("undo", {"id": id, "project": project, "agent": agent}))

    def link(
        self,
        from_id: SupportsIndex,
        to_id: SupportsIndex,
        link_type: LinkType = "related",
        *,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> bool:
        """Links two memories. Searches omit superseded memories. False if the link exists already."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return bool(self._call("link", given)["created"])

    def unlink(
        self,
        from_id: SupportsIndex,
        to_id: SupportsIndex,
        link_type: LinkType = "related",
        *,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> bool:
        """Removes a link. False if it does not exist."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return bool(self._call("unlink", given)["removed"])

    def history(
        self,
        id: SupportsIndex,
        *,
        before: int | None = None,
        limit: int | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> builtins.list[Version]:
        """Returns the versions of a memory, newest first.

        :raises NotFound: if it does not exist or is out of scope.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return [_of(Version, version) for version in self._call("history", given)["versions"]]

    def roll_back(
        self,
        id: SupportsIndex,
        version: int,
        *,
        reason: str | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> Updated:
        """Restores an earlier version, as a new version."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return _of(Updated, self._call("rollback", given))

    #: Another name of :meth:`roll_back`.
    rollback = roll_back

    def recall(
        self,
        user_message: str,
        *,
        recent_messages: Sequence[str] | None = None,
        max_results: int | None = None,
        max_tokens: int | None = None,
        min_score: float | None = None,
        session: str | None = None,
        project: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
    ) -> Recall:
        """Automatic recall: returns the memories relevant to a message as a context block, or nothing.

        :param session: memories that it already received are skipped.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "agent")}
        return Recall._read(self._call("recall", {**given, "agent_id": agent}))

    def stats(self, *, project: str | Unset | None = UNSET, agent: str | Unset | None = UNSET) -> Stats:
        """Returns the number of visible memories, and the state of the indexes."""
        return _of(Stats, self._call("stats", {"project": project, "agent": agent}))

    def sync(self, *paths: StrPath, force: bool = False) -> SyncReport:
        """Indexes new and changed notes and transcripts: of these files and folders, which become sources of the store,
        or of all its sources. Servers of the store keep them up to date from then on.

        :param force: index every file again.
        """
        return SyncReport._read(json.loads(self._engine.sync([as_path("paths", path) for path in paths], force)))

    def flush(self) -> int:
        """Embeds pending memories, if there is an embedder, and updates both indexes. Searches see new memories without
        it. Returns the number of embedded texts."""
        return self._engine.flush()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns the vectors of queries by the store's model, a row for each.

        :raises ModelError: without an embedder.
        """
        import numpy as np

        if isinstance(texts, (str, bytes)):
            raise WrongType("texts", "a list of texts", texts)
        each = list(texts)
        return self._engine.embed(each) if each else np.empty((0, 0), dtype=np.float32)

    def export(self, file: StrPath, *, embeddings: bool = False) -> Exported:
        """Writes all visible memories with versions and links as JSONL, for :meth:`import_` and ``memorist import``."""
        return _of(Exported, json.loads(self._engine.export(as_path("file", file), embeddings)))

    def import_(self, file: StrPath) -> Imported:
        """Merges the memories of an export. Importing a file twice changes nothing."""
        return _of(Imported, json.loads(self._engine.import_(as_path("file", file))))


#: Fields of an item of :meth:`Store.add_many`.
_FIELDS = frozenset(inspect.signature(Store.add).parameters) - {"self", "vector"}
