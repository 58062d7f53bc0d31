"""Documents of other frameworks in a store: texts with a string as the id, and metadata.

A document is a memory of the project that the collection is named by. Its tag ``id:…`` finds it, its body has the id
and the metadata, and it is a session of its own, so that two documents may have the same text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import InvalidInput
from .store import Store
from .types import Entry, Hit, SearchMode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Tags of one lookup.
_TAGS = 60
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
    def of(cls, memory: Entry | Hit) -> Document:
        """Of a memory that one has become."""
        body: Mapping[str, Any] = memory.body or {}
        return cls(str(body["title"]), memory.content or "", json.loads(body["description"]), memory.tags)

    def body(self) -> dict[str, str]:
        """As the body of a memory."""
        try:
            metadata = json.dumps(self.metadata)
        except TypeError as error:
            raise InvalidInput(f"metadata of the document {self.id!r}: {error}") from None
        return {"title": self.id, "description": metadata}


class Documents:
    """The documents of a collection."""

    def __init__(self, store: Store | str | os.PathLike[str], collection: str, source: str) -> None:
        self.owns_store = not isinstance(store, Store)
        self.store = store if isinstance(store, Store) else Store(store, embed=None)
        self.collection = collection
        self.source = source

    def put(self, documents: Sequence[Document], vectors: NDArray[np.float32]) -> None:
        """Saves documents. One whose id is there is changed; of an id that comes twice, the last one counts."""
        last = {document.id: row for row, document in enumerate(documents)}
        known = self._memories(list(last))
        new = []
        for id, row in last.items():
            document = documents[row]
            if id in known:
                # An update of nothing keeps the version.
                self.store.update(
                    known[id],
                    content=document.text,
                    body=document.body(),
                    tags=self._tags(document),
                    vector=vectors[row],
                    project=self.collection,
                )
            else:
                new.append(row)
        if new:
            items: list[Mapping[str, object]] = [self._item(documents[row]) for row in new]
            everything = len(new) == len(documents)
            self.store.add_many(items, vectors=vectors if everything else vectors[new])

    def _item(self, document: Document) -> Mapping[str, object]:
        return {
            "content": document.text,
            "body": document.body(),
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
            for brief in self.store.entries(tags=tags, project=self.collection, detail="ids"):
                # A tag is found in upper and lower case.
                names = [tag[3:] for tag in brief.tags if tag.startswith("id:") and tag[3:] in wanted]
                if brief.project == self.collection and names:
                    found[names[0]] = brief.id
        return found

    def get(self, ids: Sequence[str]) -> list[Document]:
        """Documents, in the order of their ids; those that are not there are left out."""
        known = self._memories(list(dict.fromkeys(ids)))
        entries = (self.store.get(known[id], project=self.collection) for id in ids if id in known)
        return [Document.of(entry) for entry in entries if entry is not None]

    def all(self, tags: Sequence[str] | None = None) -> Iterator[tuple[int, Document]]:
        """Every document, or those with one of the tags, and its memory."""
        for brief in list(self.store.entries(tags=tags, project=self.collection, detail="ids")):
            entry = self.store.get(brief.id, project=self.collection)
            if entry is not None and entry.project == self.collection and entry.body:
                yield entry.id, Document.of(entry)

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
        tags: Sequence[str] | None = None,
        vector_weight: float | None = None,
    ) -> list[tuple[Document, Hit]]:
        """The best documents that pass. Where few do, more are looked at."""
        if limit < 1:
            return []
        asked = min(limit if passes is None else 4 * limit, _MOST)
        while True:
            result = self.store.search(
                query,
                vector=vector,
                mode=mode,
                limit=asked,
                tags=tags,
                project=self.collection,
                vector_weight=vector_weight,
                keyword_weight=None if vector_weight is None else 1 - vector_weight,
            )
            own = (hit for hit in result if hit.project == self.collection and hit.body)
            found = [(document, hit) for document, hit in ((Document.of(hit), hit) for hit in own)]
            found = [one for one in found if passes is None or passes(one[0])]
            if len(found) >= limit or len(result) < asked or asked == _MOST:
                return found[:limit]
            asked = min(4 * asked, _MOST)

    def close(self) -> None:
        """Closes the store, if it was opened for this."""
        if self.owns_store:
            self.store.close()
