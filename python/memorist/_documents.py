"""Documents of other frameworks in a store: texts with a string as the id, and metadata.

A document is a memory of the project that the collection is named by. Its tag ``id:…`` finds it, the title of its body is
the id, its metadata is the memory's, and it is a session of its own, so that two documents may have the same text. Where they have different
vectors, as texts that are embedded with their metadata have, the later one has its id as the context: a store has one
vector for each text and context. Memories of other sources in the project are none of the documents.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._wire import UNSET, Unset
from .errors import InvalidInput, Refused
from .store import Store, Where
from .types import Hit, Memory, MemorySummary, SearchMode, SearchResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Tags of one lookup.
_TAGS = 60
#: What the engine says of a text that has another vector.
_ANOTHER_VECTOR = "with another vector"
#: Most results of a search.
_MOST = 1000

Passes = Callable[["Document"], bool]


@dataclass(frozen=True, slots=True)
class Document:
    """A document."""

    id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, memory: Memory | Hit) -> Document:
        """Of a memory that one has become."""
        body: Mapping[str, Any] = memory.body or {}
        metadata = memory.metadata if "metadata" in body else json.loads(body["description"])  # as before metadata
        return cls(str(body["title"]), memory.content or "", dict(metadata), memory.tags)

    def body(self, source: str) -> dict[str, Any]:
        """As the body of a memory."""
        try:
            json.dumps(self.metadata)
        except TypeError as error:
            raise InvalidInput(f"metadata of the document {self.id!r}: {error}") from None
        return {"title": self.id, "description": source, "metadata": self.metadata}


class Documents:
    """The documents of a collection."""

    def __init__(
        self, store: Store | str | os.PathLike[str], collection: str, source: str, model: str | None = None
    ) -> None:
        self.owns_store = not isinstance(store, Store)
        self.store = store if isinstance(store, Store) else Store(store, embed=None, model=model)
        self.collection = collection
        self.source = source

    def put(self, documents: Sequence[Document], vectors: NDArray[np.float32] | None = None) -> None:
        """Saves documents, without vectors where the store embeds. One whose id is there is changed; of an id that comes
        twice, the last one counts."""
        last = {document.id: row for row, document in enumerate(documents)}
        known = self._memories(list(last))
        new = []
        for id, row in last.items():
            document = documents[row]
            if id in known:
                self._update(known[id], document, None if vectors is None else vectors[row])
            else:
                new.append(row)
        if new:
            items = [self._item(documents[row]) for row in new]
            everything = len(new) == len(documents)
            try:
                self.store.add_many(items, vectors=vectors if vectors is None or everything else vectors[new])
            except Refused as refused:
                if vectors is None or not all(_ANOTHER_VECTOR in why for why in refused.errors.values()):
                    raise
                for at in refused.errors:
                    self.store.add(
                        **self._item(documents[new[at]]), context=documents[new[at]].id, vector=vectors[new[at]]
                    )

    def _update(self, memory: int, document: Document, vector: NDArray[np.float32] | None) -> None:
        def change(context: str | Unset) -> None:
            # An update of nothing keeps the version.
            self.store.update(
                memory,
                content=document.text,
                context=context,
                body=document.body(self.source),
                tags=self._tags(document),
                vector=vector,
                project=self.collection,
            )

        try:
            change(UNSET)
        except InvalidInput as error:
            if _ANOTHER_VECTOR not in str(error):
                raise
            change(document.id)

    def _is_own(self, memory: MemorySummary | Memory | Hit) -> bool:
        """Whether a memory is a document of this collection, and not one that somebody else has put beside them."""
        return (
            memory.project == self.collection
            and memory.source == self.source
            and any(tag.startswith("id:") for tag in memory.tags)
        )

    def _item(self, document: Document) -> dict[str, Any]:
        return {
            "content": document.text,
            "body": document.body(self.source),
            "tags": self._tags(document),
            "session": f"{self.source}:{document.id}",
            "source": self.source,
            "project": self.collection,
        }

    @staticmethod
    def _tags(document: Document) -> list[str]:
        return [f"id:{document.id}", *document.tags]

    def _memories(self, ids: Sequence[str]) -> dict[str, int]:
        """The memories of documents, by their ids."""
        wanted = set(ids)
        found = {}
        for first in range(0, len(ids), _TAGS):
            tags = [f"id:{id}" for id in ids[first : first + _TAGS]]
            for brief in self.store.list(tags=tags, project=self.collection, detail="snippet"):
                # A tag is found in upper and lower case.
                names = [tag[3:] for tag in brief.tags if tag.startswith("id:") and tag[3:] in wanted]
                if names and self._is_own(brief):
                    found[names[0]] = brief.id
        return found

    def get(self, ids: Sequence[str]) -> list[Document]:
        """Documents, in the order of their ids; those that are not there are left out."""
        return [Document.of(entry) for entry in self.entries(ids)]

    def entries(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of documents, as :meth:`get`."""
        known = self._memories(list(dict.fromkeys(ids)))
        entries = (self.store.get(known[id], project=self.collection) for id in ids if id in known)
        return [entry for entry in entries if entry is not None]

    def briefs(self) -> Iterator[MemorySummary]:
        """Every document, as in a list."""
        return (brief for brief in self.store.list(project=self.collection, detail="snippet") if self._is_own(brief))

    def all(
        self, tags: Sequence[str] | None = None, where: Where | None = None
    ) -> Iterator[tuple[int, Document]]:
        """Every document, or those with one of the tags and such metadata, and its memory."""
        return ((entry.id, Document.of(entry)) for entry in self.all_entries(tags, where))

    def all_entries(self, tags: Sequence[str] | None = None, where: Where | None = None) -> Iterator[Memory]:
        """The memories of :meth:`all`."""
        for brief in list(self.store.list(tags=tags, where=where, project=self.collection, detail="ids")):
            entry = self.store.get(brief.id, project=self.collection)
            if entry is not None and self._is_own(entry):
                yield entry

    def delete(self, ids: Sequence[str]) -> int:
        """Deletes documents. Returns how many there were."""
        memories = self._memories(list(ids)).values()
        return sum(self.store.delete(memory, project=self.collection) for memory in memories)

    def delete_memories(self, memories: Sequence[int]) -> None:
        """Deletes memories."""
        for memory in memories:
            self.store.delete(memory, project=self.collection)

    def search(
        self,
        query: str | None,
        vector: NDArray[np.float32] | None,
        limit: int,
        *,
        mode: SearchMode,
        passes: Passes | None = None,
        where: Where | None = None,
        vector_weight: float | None = None,
    ) -> list[tuple[Document, Hit]]:
        """The best documents with such metadata that pass. Where few pass, more are looked at."""
        if limit < 1:
            return []
        asked = min(limit if passes is None else 4 * limit, _MOST)
        while True:
            result = self._search(query, vector, asked, mode, None, vector_weight, where)
            found = [(Document.of(hit), hit) for hit in result if self._is_own(hit)]
            found = [one for one in found if passes is None or passes(one[0])]
            if len(found) >= limit or len(result) < asked:
                return found[:limit]
            if asked == _MOST:
                break
            asked = min(4 * asked, _MOST)
        # Too few of the best: every document is looked at, and those that pass are searched by their ids.
        passing = {document.id for _, document in self.all(where=where) if passes is None or passes(document)}
        best: dict[int, tuple[Document, Hit]] = {}
        each = sorted(passing)
        for first in range(0, len(each), _TAGS):
            names = [f"id:{id}" for id in each[first : first + _TAGS]]
            for hit in self._search(query, vector, 4 * _TAGS, mode, names, vector_weight):
                if self._is_own(hit) and (document := Document.of(hit)).id in passing:
                    best[hit.id] = document, hit
        # What is comparable between searches.
        by = "vector_score" if mode == "vector" else "relevance"
        return sorted(best.values(), key=lambda one: getattr(one[1], by) or 0.0, reverse=True)[:limit]

    def _search(
        self,
        query: str | None,
        vector: NDArray[np.float32] | None,
        limit: int,
        mode: SearchMode,
        tags: Sequence[str] | None,
        vector_weight: float | None,
        where: Where | None = None,
    ) -> SearchResult:
        return self.store.search(
            query,
            vector=vector,
            mode=mode,
            limit=limit,
            tags=tags,
            where=where,
            project=self.collection,
            vector_weight=vector_weight,
            keyword_weight=None if vector_weight is None else 1 - vector_weight,
        )

    def close(self) -> None:
        """Closes the store, if it was opened for this."""
        if self.owns_store:
            self.store.close()
