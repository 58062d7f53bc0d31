"""A store of LangGraph over a store of memorist. Needs ``pip install memorist[langgraph]``."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.embed import get_text_at_path

from ._documents import Document, Documents
from .store import Store
from .types import Memory

__all__ = ["MemoristStore"]

#: Keys of the metadata that are not those of a value.
_VALUE, _PLACE, _SEARCHED = "langgraph.value", "langgraph.namespaces", "langgraph.searched"
#: Most items of a value that a filter compares.
_FILTERED = 200
_Place = tuple[tuple[str, ...], str]


class MemoristStore(BaseStore):
    """Items by namespace and key, with hybrid search. Each is a memory: it has versions, and other agents find
    it, too.

    What a search embeds is the text of a value: its strings, or those that ``index=`` names. Unlike in LangGraph's own
    stores, a query leaves out what does not belong to it, so that fewer than ``limit`` may come back.

    :param store: an open store, or the folder of one. Its embedder makes the vectors.
    :param collection: the project that the items belong to.
    """

    __slots__ = ("_documents",)

    def __init__(self, store: Store | str | os.PathLike[str], *, collection: str = "langgraph") -> None:
        opened = store if isinstance(store, Store) else Store(store)
        self._documents = Documents(opened, collection, "langgraph")
        self._documents.owns_store = opened is not store

    def close(self) -> None:
        """Closes the store, if this has opened it."""
        self._documents.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does operations: first what reads, then what writes. Of two that write one item, the last one counts."""
        given = list(ops)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in given]
        last = {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}
        put = [_document(op, op.value) for op in last.values() if op.value is not None]
        if put:
            self._documents.put(put)
        if gone := [_id(op.namespace, op.key) for op in last.values() if op.value is None]:
            self._documents.delete(gone)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As :meth:`batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._documents.entries([_id(op.namespace, op.key)])
            return _item(found[0]) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise TypeError(f"{type(op).__name__} is no operation of a store")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        where: dict[str, Any] = {f"value.{key}": condition for key, condition in (op.filter or {}).items()}
        if op.namespace_prefix:
            where[_PLACE] = _id(op.namespace_prefix)
        end = op.offset + op.limit
        if not op.query:
            entries = self._documents.all_entries(where=where or None)
            return [_search_item(entry, None) for entry in islice(entries, op.offset, end)]
        where[_SEARCHED] = True
        found = self._documents.search(op.query, None, end, mode="hybrid", where=where)
        hits = [hit for _, hit in found[op.offset :]]
        whole = self._documents.store.get([hit.id for hit in hits], project=self._documents.collection)
        return [_search_item(entry, hit.relevance) for entry, hit in zip(whole, hits) if entry is not None]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {namespace for namespace, _ in self._places()}
        match = [one for one in every if all(_matches(condition, one) for condition in op.match_conditions or ())]
        cut = sorted({one[: op.max_depth] for one in match})
        return cut[op.offset : op.offset + op.limit]

    def _places(self) -> Iterator[_Place]:
        for brief in self._documents.briefs():
            yield _place(next(tag[3:] for tag in brief.tags if tag.startswith("id:")))


def _id(namespace: tuple[str, ...], key: str | None = None) -> str:
    """A name that no other namespace and key have."""
    return json.dumps([*namespace] if key is None else [*namespace, key], ensure_ascii=False)


def _place(id: str) -> _Place:
    *namespace, key = json.loads(id)
    return tuple(namespace), key


def _document(op: PutOp, value: Mapping[str, Any]) -> Document:
    if op.index is False or op.index is None:
        texts = list(_texts(value))
    else:
        texts = [text for path in op.index for text in get_text_at_path(value, path)]
    metadata: dict[str, Any] = {
        _VALUE: {"value": value},
        _PLACE: [_id(op.namespace[:depth]) for depth in range(1, len(op.namespace) + 1)],
        _SEARCHED: op.index is not False,
    }
    filtered = ((f"value.{key}", one) for key, one in value.items() if not isinstance(one, dict))
    metadata.update(islice(filtered, _FILTERED))
    text = "\n".join(texts).strip() or repr(value)
    return Document(_id(op.namespace, op.key), text, metadata)


def _texts(value: object) -> Iterator[str]:
    """The strings of a value, wherever they are in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)


def _fields(entry: Memory) -> dict[str, Any]:
    namespace, key = _place(Document.of(entry).id)
    times = {"created_at": entry.created_at, "updated_at": entry.updated_at}
    return {"namespace": namespace, "key": key, "value": entry.metadata[_VALUE]["value"], **times}


def _item(entry: Memory) -> Item:
    return Item(**_fields(entry))


def _search_item(entry: Memory, score: float | None) -> SearchItem:
    return SearchItem(**_fields(entry), score=score)


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(one in ("*", other) for one, other in zip(path, part))
