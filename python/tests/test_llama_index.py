"""The adapter of LlamaIndex: by itself, and under its index and retrievers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import memorist
import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from memorist.llama_index import MemoristVectorStore

from helpers import embed


class Trigrams(BaseEmbedding):
    """Texts with common letters are near one another."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(number) for number in embed([text])[0]]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


@pytest.fixture
def vector_store(tmp_path: Path) -> Iterator[MemoristVectorStore]:
    store = MemoristVectorStore(tmp_path / "store")
    yield store
    store.close()


def node(id: str, text: str, ref: str, **metadata: Any) -> TextNode:
    made = TextNode(id_=id, text=text, metadata=metadata, embedding=Trigrams().get_text_embedding(text))
    made.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=ref)
    return made


NODES = [
    node("1", "The ferry leaves from pier nine", "boats", year=1990, tags=["sea"]),
    node("2", "A sail is mended in the loft", "boats", year=2000, tags=["sea", "craft"]),
    node("3", "The code of the gate is ERR-4711", "codes", year=2010, tags=["land"]),
]


def query(text: str, mode: VectorStoreQueryMode = VectorStoreQueryMode.DEFAULT, **more: Any) -> VectorStoreQuery:
    embedding = Trigrams().get_query_embedding(text)
    return VectorStoreQuery(query_str=text, query_embedding=embedding, mode=mode, **{"similarity_top_k": 2, **more})


def test_nodes_are_added_found_changed_and_deleted(vector_store: MemoristVectorStore) -> None:
    assert vector_store.add(NODES) == ["1", "2", "3"]
    result = vector_store.query(query("which pier does the ferry leave from"))
    assert result.ids and result.ids[0] == "1" and result.nodes and result.similarities
    found = result.nodes[0]
    assert found.get_content() == NODES[0].text and found.metadata == NODES[0].metadata and found.ref_doc_id == "boats"
    assert result.similarities[0] >= result.similarities[1]
    vector_store.add([node("1", "The ferry leaves from pier ten", "boats", year=1991)])
    assert [one.get_content() for one in vector_store.get_nodes(["1"])] == ["The ferry leaves from pier ten"]
    vector_store.delete("boats")
    assert [one.node_id for one in vector_store.get_nodes()] == ["3"]
    vector_store.delete_nodes(["3"])
    assert vector_store.get_nodes() == []


@pytest.mark.parametrize("mode", ["hybrid", "sparse", "text_search"])
def test_words_are_searched_too(vector_store: MemoristVectorStore, mode: str) -> None:
    vector_store.add(NODES)
    result = vector_store.query(query("ERR-4711", VectorStoreQueryMode(mode), alpha=0.3, hybrid_top_k=1))
    assert result.ids and result.ids[0] == "3"


def test_filters(vector_store: MemoristVectorStore) -> None:
    vector_store.add(NODES)

    def ids(key: str, value: Any, operator: FilterOperator) -> list[str]:
        filters = MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=operator)])
        by_query = vector_store.query(query("anything", filters=filters, similarity_top_k=5)).ids or []
        assert sorted(by_query) == sorted(one.node_id for one in vector_store.get_nodes(filters=filters))
        return sorted(by_query)

    assert ids("year", 2000, FilterOperator.GTE) == ["2", "3"]
    assert ids("year", [1990, 2010], FilterOperator.IN) == ["1", "3"]
    assert ids("tags", "craft", FilterOperator.CONTAINS) == ["2"]
    assert ids("tags", ["craft", "none"], FilterOperator.ANY) == ["2"]
    assert ids("year", 2000, FilterOperator.NE) == ["1", "3"]
    assert ids("year", list(range(1000, 2001)), FilterOperator.IN) == ["1", "2"]
    assert ids("tags", "sea", FilterOperator.NE) == ["1", "2", "3"], "a list is no text"
    assert ids("tags", ["land"], FilterOperator.EQ) == ["3"]
    either = MetadataFilters(
        filters=[
            MetadataFilter(key="year", value=1990, operator=FilterOperator.EQ),
            MetadataFilter(key="year", value=2005, operator=FilterOperator.GT),
        ],
        condition=FilterCondition.OR,
    )
    assert sorted(node.node_id for node in vector_store.get_nodes(filters=either)) == ["1", "3"]
    assert vector_store.query(query("anything", node_ids=["3"])).ids == ["3"]
    assert sorted(vector_store.query(query("anything", doc_ids=["boats"])).ids or []) == ["1", "2"]
    below = MetadataFilters(filters=[MetadataFilter(key="year", value=2000, operator=FilterOperator.LT)])
    vector_store.delete_nodes(filters=below)
    assert len(vector_store.get_nodes()) == 2
    vector_store.clear()
    assert vector_store.get_nodes() == []
    with pytest.raises(memorist.InvalidInput, match="svm"):
        vector_store.query(query("x", VectorStoreQueryMode.SVM))


async def test_an_index_of_llama_index_lives_in_it(tmp_path: Path) -> None:
    vector_store = MemoristVectorStore(tmp_path / "store", collection="book")
    documents = [Document(text=one.text, id_=f"doc-{one.node_id}", metadata={"n": one.node_id}) for one in NODES]
    context = StorageContext.from_defaults(vector_store=vector_store)
    VectorStoreIndex.from_documents(documents, storage_context=context, embed_model=Trigrams())
    vector_store.close()

    vector_store = MemoristVectorStore(tmp_path / "store", collection="book")
    index = VectorStoreIndex.from_vector_store(vector_store, embed_model=Trigrams())
    found = index.as_retriever(similarity_top_k=1).retrieve("Is a sail mended?")
    assert found[0].metadata["n"] == "2" and found[0].score is not None
    later = await index.as_retriever(similarity_top_k=1, vector_store_query_mode="hybrid").aretrieve("pier nine")
    assert later[0].metadata["n"] == "1"
    index.delete_ref_doc("doc-2")
    index.insert(Document(text="A rope is spliced", id_="doc-4"))
    assert sorted(one.ref_doc_id or "" for one in vector_store.get_nodes()) == ["doc-1", "doc-3", "doc-4"]
    vector_store.close()
