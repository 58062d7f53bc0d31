"""A vector store of LlamaIndex over a store of memorist. Needs ``pip install memorist[llama-index]``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, MetadataMode, TextNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn, metadata_dict_to_node, node_to_metadata_dict

from ._documents import Document, Documents, Passes
from .errors import InvalidInput
from .store import Store
from .types import SearchMode

__all__ = ["MemoristVectorStore"]

_MODES: dict[VectorStoreQueryMode, SearchMode] = {
    VectorStoreQueryMode.DEFAULT: "vector",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.SEMANTIC_HYBRID: "hybrid",
    VectorStoreQueryMode.SPARSE: "keyword",
    VectorStoreQueryMode.TEXT_SEARCH: "keyword",
}


class MemoristVectorStore(BasePydanticVectorStore):
    """Nodes in a store of memorist. The query modes ``default``, ``hybrid``, ``sparse`` and ``text_search`` are known.

    :param store: a store that is open with ``embed=None``, or the folder of one. Other memories may be in it.
    :param collection: the project that the nodes belong to.
    :param model: the name of what embeds, in a store that this opens: vectors of two models are never compared. Nodes
        come with their vectors, and do not say whose they are. An open store has a name already.
    """

    stores_text: bool = True
    flat_metadata: bool = False
    collection: str = "llama-index"

    _documents: Documents = PrivateAttr()

    def __init__(
        self,
        store: Store | str | os.PathLike[str],
        *,
        collection: str = "llama-index",
        model: str | None = None,
        **kwargs: Any,
    ) -> None:
        fields: dict[str, Any] = {**kwargs, "collection": collection}
        super().__init__(**fields)
        self._documents = Documents(store, collection, "llama-index", model)

    @classmethod
    def class_name(cls) -> str:
        """The name of the class."""
        return "MemoristVectorStore"

    @property
    def client(self) -> Store:
        """The store."""
        return self._documents.store

    def close(self) -> None:
        """Closes the store, if this has opened it."""
        self._documents.close()

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Adds nodes, or changes those whose ids are there. Returns their ids."""
        documents = [_document(node) for node in nodes]
        if documents:
            self._documents.put(documents, np.asarray([node.get_embedding() for node in nodes], dtype=np.float32))
        return [document.id for document in documents]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Deletes the nodes of a document."""
        nodes = self._documents.all([f"ref:{ref_doc_id}"])
        self._documents.delete_memories([memory for memory, node in nodes if f"ref:{ref_doc_id}" in node.tags])

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any
    ) -> None:
        """Deletes nodes: those with these ids, those that pass, or those of both."""
        if filters is None:
            self._documents.delete(node_ids or [])
            return
        passes, nodes = _passes(filters, node_ids), self._documents.all(where=_where(filters))
        self._documents.delete_memories([memory for memory, node in nodes if passes(node)])

    def clear(self) -> None:
        """Deletes every node of the collection."""
        self._documents.delete_memories([memory for memory, _ in self._documents.all()])

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Nodes: those with these ids, those that pass, or those of both."""
        if node_ids is not None and filters is None:
            return [_node(document) for document in self._documents.get(node_ids)]
        passes = _passes(filters, node_ids)
        return [_node(document) for _, document in self._documents.all(where=_where(filters)) if passes(document)]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """The best nodes. In ``hybrid`` mode ``alpha`` is the weight of meaning."""
        mode = _MODES.get(query.mode)
        if mode is None:
            raise InvalidInput(f"mode: {query.mode.value} is not known; use default, hybrid, sparse or text_search")
        vector = None if mode == "keyword" or query.query_embedding is None else query.query_embedding
        if mode != "keyword" and vector is None:
            raise InvalidInput(f"query_embedding: the mode {query.mode.value} needs one")
        is_hybrid = mode == "hybrid"
        limit = query.hybrid_top_k or query.similarity_top_k if is_hybrid else query.similarity_top_k
        # Retrievers give empty lists for none.
        node_ids, doc_ids = query.node_ids or None, query.doc_ids or None
        needs_test = query.filters is not None or node_ids is not None or doc_ids is not None
        found = self._documents.search(
            query.query_str,
            None if vector is None else np.asarray(vector, dtype=np.float32),
            limit,
            mode=mode,
            passes=_passes(query.filters, node_ids, doc_ids) if needs_test else None,
            where=_where(query.filters),
            vector_weight=query.alpha if is_hybrid else None,
        )
        scores = {"vector": "vector_score", "keyword": "relevance", "hybrid": "score"}[mode]
        return VectorStoreQueryResult(
            nodes=[_node(document) for document, _ in found],
            similarities=[float(getattr(hit, scores) or 0.0) for _, hit in found],
            ids=[document.id for document, _ in found],
        )


#: Bytes of a text that the store searches metadata for.
_SEARCHED = 1_024


def _document(node: BaseNode) -> Document:
    metadata = node_to_metadata_dict(node, remove_text=True, flat_metadata=False)
    ref = () if node.ref_doc_id is None else (f"ref:{node.ref_doc_id}",)
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    # A memory has a text.
    return Document(node.node_id, text or node.node_id, json.loads(json.dumps(metadata, default=str)), ref)


def _node(document: Document) -> BaseNode:
    node = metadata_dict_to_node(document.metadata)
    if isinstance(node, TextNode):
        node.set_content(document.text)
    return node


def _passes(
    filters: MetadataFilters | None, node_ids: list[str] | None = None, doc_ids: list[str] | None = None
) -> Passes:
    def passes(document: Document) -> bool:
        if node_ids is not None and document.id not in node_ids:
            return False
        if doc_ids is not None and not any(f"ref:{id}" in document.tags for id in doc_ids):
            return False
        return filters is None or build_metadata_filter_fn(lambda _: document.metadata, filters)(document.id)

    return passes


#: Comparisons that the store makes as this framework does. The nodes that they pass are tested once more, with all filters.
_ORDERED = {
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
}
#: Conditions, and values of each, at most: together fewer than the 256 that the store takes.
_CONDITIONS = 10
_VALUES = 12


def _where(filters: MetadataFilters | None) -> dict[str, Any] | None:
    """A condition that all nodes pass which the filters pass, if the store has one."""
    if filters is None or not filters.filters:
        return None
    each = [_condition(one) for one in filters.filters]
    known = [one for one in each if one is not None]
    if filters.condition == FilterCondition.AND and known:
        return {"$and": known[:_CONDITIONS]}
    if filters.condition == FilterCondition.OR and len(known) == len(each) <= _CONDITIONS:
        return {"$or": known}
    return None


def _condition(filter: MetadataFilter | MetadataFilters) -> dict[str, Any] | None:
    if isinstance(filter, MetadataFilters):
        return None
    value = filter.value
    if filter.operator in _ORDERED and isinstance(value, (int, float)) and not isinstance(value, bool):
        return {filter.key: {_ORDERED[filter.operator]: value}}
    values = value if filter.operator == FilterOperator.IN and isinstance(value, list) else [value]
    if filter.operator not in (FilterOperator.EQ, FilterOperator.IN) or len(values) > _VALUES:
        return None
    if not all(isinstance(one, (int, float)) or isinstance(one, str) and len(one.encode()) <= _SEARCHED for one in values):
        return None
    # To Python, 1 is True.
    return {filter.key: {"$in": [*values, *(bool(one) for one in values if one in (0, 1))]}}
