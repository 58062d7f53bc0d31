"""The adapter of LangChain, by LangChain's own suite for vector stores, and what that does not try."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import memorist
import numpy as np
import pytest

pytest.importorskip("langchain_tests")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests.vectorstores import VectorStoreIntegrationTests
from memorist._documents import Document as Document_
from memorist._documents import Documents
from memorist.langchain import MemoristVectorStore

from helpers import embed


class Trigrams(Embeddings):
    """Texts with common letters are near one another."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(number) for number in row] for row in embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class TestStandard(VectorStoreIntegrationTests):
    """LangChain's own suite, sync and async."""

    @pytest.fixture()
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:
        store = MemoristVectorStore(tmp_path / "store", self.get_embeddings())
        yield store
        store.close()


class TestStandardHybrid(TestStandard):
    """The same, searched by meaning and by word, beside other memories."""

    @pytest.fixture()
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:
        with memorist.Store(tmp_path / "store", embed=None) as store:
            # It looks like a document, and is global.
            body = {"title": "1", "description": "{}"}
            vector = self.get_embeddings().embed_query("foo")
            store.add("foo", tags=["id:1"], body=body, vector=vector)
            store.add("bar", project="another")
            other = MemoristVectorStore(store, self.get_embeddings(), collection="other")
            other.add_texts(["foo", "bar"], ids=["1", "2"])
            yield MemoristVectorStore(store, self.get_embeddings(), mode="hybrid")
            assert store.stats(project="*").total_entries >= 4


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[MemoristVectorStore]:
    texts = [f"The boat number {at} sails to harbour {at % 7}" for at in range(300)]
    metadatas = [{"at": at, "harbour": at % 7, "more": {"deep": [at]}} for at in range(300)]
    ids = [f"boat-{at}" for at in range(300)]
    store = MemoristVectorStore.from_texts(texts, Trigrams(), metadatas, ids=ids, store=tmp_path / "store")
    yield store
    store.close()


def test_filters_reach_the_few_that_pass(filled: MemoristVectorStore) -> None:
    found = filled.similarity_search("boat", 5, filter={"harbour": 3})
    assert len(found) == 5 and all(document.metadata["harbour"] == 3 for document in found)
    late = filled.similarity_search("boat", 5, filter={"at": {"$gt": 297}, "harbour": {"$in": [3, 4, 5, 6]}})
    assert sorted(document.metadata["at"] for document in late) == [298, 299]
    with pytest.raises(memorist.InvalidInput, match=r"\$near"):
        filled.similarity_search("boat", 5, filter={"at": {"$near": 3}})
    rare = filled.similarity_search("boat", 3, filter=lambda document: document.metadata["at"] == 299)
    assert [document.id for document in rare] == ["boat-299"] and rare[0].metadata["more"] == {"deep": [299]}
    by_vector = filled.similarity_search_by_vector(Trigrams().embed_query(rare[0].page_content), 1)
    assert by_vector == rare


def test_words_find_what_meaning_does_not(filled: MemoristVectorStore) -> None:
    filled.add_documents([Document("The code is ERR-4711-X", id="code")])
    for mode in ("keyword", "hybrid"):
        assert filled.similarity_search("ERR-4711-X", 1, mode=mode)[0].id == "code"
    scored = filled.similarity_search_with_relevance_scores("The code is ERR-4711-X", 3)
    assert scored[0][0].id == "code" and all(0 <= score <= 1 for _, score in scored)


def test_documents_that_are_unlike_one_another(filled: MemoristVectorStore) -> None:
    found = filled.max_marginal_relevance_search("boat", k=4, fetch_k=30, lambda_mult=0.1)
    assert len({document.id for document in found}) == 4
    retriever = filled.as_retriever(search_type="mmr", search_kwargs={"k": 2})
    assert len(retriever.invoke("boat")) == 2


def test_documents_are_kept_and_a_changed_one_has_a_history(tmp_path: Path) -> None:
    first = MemoristVectorStore(tmp_path / "store", Trigrams())
    first.add_texts(["before"], [{"v": 1}], ids=["A"])
    first.add_texts(["of another id, in lower case"], ids=["a"])
    first.add_texts(["after", "twice", "twice again"], [{"v": 2}, {}, {}], ids=["A", "b", "b"])
    first.add_texts(["the same text", "the same text"], ids=["c", "d"])
    assert [document.id for document in first.get_by_ids(["c", "d"])] == ["c", "d"]
    first.close()
    again = MemoristVectorStore(tmp_path / "store", Trigrams())
    assert [document.page_content for document in again.get_by_ids(["A", "a", "b", "none"])] == [
        "after",
        "of another id, in lower case",
        "twice again",
    ]
    assert [version.content for version in again.store.history(1, project="langchain")] == ["after", "before"]
    assert again.delete() and again.similarity_search("after") == []
    with pytest.raises(memorist.InvalidInput, match="2 texts"):
        again.add_texts(["a", "b"], ids=["1"])
    with pytest.raises(memorist.InvalidInput, match="JSON"):
        again.add_texts(["a"], [{"x": object()}])
    again.close()


def test_another_model_is_refused(tmp_path: Path) -> None:
    first = MemoristVectorStore(tmp_path / "store", Trigrams())
    first.add_texts(["x"])
    first.close()
    other = MemoristVectorStore(tmp_path / "store", DeterministicFakeEmbedding(size=6))
    with pytest.raises(memorist.Error, match="256"):
        other.add_texts(["y"])
    other.close()


class Numbered(Embeddings):
    """A direction for each number at the end of a text."""

    model = "numbered"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        angle = int(text.split()[-1]) / 2000
        return [math.cos(angle), math.sin(angle)]


def test_equal_texts_may_have_different_vectors(tmp_path: Path) -> None:
    documents = Documents(tmp_path / "store", "c", "langchain")
    made = np.eye(4, dtype=np.float32)
    documents.put([Document_(f"{at}", "Introduction") for at in range(3)], made[:3])
    documents.put([Document_("1", "Introduction")], made[3:])
    for row, id in ((0, "0"), (2, "2"), (3, "1")):
        found, hit = documents.search(None, made[row], 1, mode="vector")[0]
        assert found.id == id and hit.vector_score == pytest.approx(1, abs=1e-3)
    documents.close()


def test_memories_of_others_are_left_alone(tmp_path: Path) -> None:
    with memorist.Store(tmp_path / "store", embed=None) as store:
        ours = MemoristVectorStore(store, Trigrams())
        ours.add_texts(["foo"], ids=["1"])
        vector = Trigrams().embed_query("foo bar")
        foreign = [
            store.add("foo 2", vector=vector, project="langchain"),
            store.add("foo 3", tags=["id:1"], body={"title": "no", "description": "none"}, project="langchain", source="x"),
        ]
        assert [found.id for found in ours.similarity_search("foo", 5)] == ["1"]
        assert [found.id for found in ours.similarity_search("foo", 5, mode="hybrid")] == ["1"]
        assert len(ours.get_by_ids(["1"])) == 1 and ours.delete(["1"]) and ours.delete()
        assert all(store.get(one.id, project="langchain") for one in foreign)


def test_a_filter_finds_the_one_that_passes_among_many(tmp_path: Path) -> None:
    count = 1_500
    texts = [f"number {at}" for at in range(count)]
    store = MemoristVectorStore(tmp_path / "store", Numbered())
    store.add_texts(texts, [{"at": at} for at in range(count)], ids=[f"n{at}" for at in range(count)])
    for mode in ("vector", "hybrid"):
        found = store.similarity_search("number 0", 2, mode=mode, filter=lambda document: document.metadata["at"] >= count - 2)
        assert {document.id for document in found} == {"n1498", "n1499"}, mode
    store.close()


def test_another_model_of_as_many_dimensions_is_refused(tmp_path: Path) -> None:
    first = MemoristVectorStore(tmp_path / "store", Numbered())
    first.add_texts(["number 1"])
    first.close()
    changed = Numbered()
    changed.model = "another"
    for embedding, model in ((changed, None), (Numbered(), "x")):
        other = MemoristVectorStore(tmp_path / "store", embedding, model=model)
        with pytest.raises(memorist.ModelMismatch, match="numbered"):
            other.add_texts(["number 2"])
        for mode in ("vector", "hybrid"):
            with pytest.raises(memorist.ModelMismatch, match="numbered"):
                other.similarity_search("number 2", mode=mode)
        other.close()


def test_scores_of_a_hybrid_search_are_of_one_kind(filled: MemoristVectorStore) -> None:
    found = filled.similarity_search_with_score("boat number 7", 5, mode="hybrid")
    hits = filled._documents.search("boat number 7", filled._vector(Trigrams().embed_query("boat number 7")), 5, mode="hybrid")
    assert [score for _, score in found] == [hit.relevance for _, hit in hits]
