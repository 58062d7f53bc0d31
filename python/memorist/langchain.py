"""A vector store of LangChain over a store of memorist. Needs ``pip install memorist[langchain]``."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import NDArray

from ._documents import Document as _Document
from ._documents import Documents
from .errors import InvalidInput
from .store import Store
from .types import Hit, SearchMode

__all__ = ["MemoristVectorStore"]

#: Metadata that a document must have, or a function of the document.
Filter = dict[str, Any] | Callable[[Document], bool]


class MemoristVectorStore(VectorStore):
    """Documents in a store of memorist, with vector, keyword or hybrid search.

    :param store: a store that is open with ``embed=None``, or the folder of one. Other memories may be in it.
    :param embedding: what embeds documents and queries.
    :param collection: the project that the documents belong to.
    :param model: the name of what embeds, in a store that this opens: vectors of two models are never compared. By
        default the class of ``embedding`` and the name of its model. An open store has a name already.
    :param mode: how ``similarity_search`` searches: ``vector``, ``keyword`` or ``hybrid``. A search may name another.
    """

    def __init__(
        self,
        store: Store | str | os.PathLike[str],
        embedding: Embeddings,
        *,
        collection: str = "langchain",
        mode: SearchMode = "vector",
        model: str | None = None,
    ) -> None:
        self._documents = Documents(store, collection, "langchain", model or _name(embedding))
        self._embedding = embedding
        self._mode = mode

    @property
    def embeddings(self) -> Embeddings:
        """The embeddings that the store uses."""
        return self._embedding

    @property
    def store(self) -> Store:
        """The store."""
        return self._documents.store

    def close(self) -> None:
        """Closes the store, if this has opened it."""
        self._documents.close()

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Adds texts, or changes those whose ids are there. Returns their ids."""
        each = list(texts)
        names = [id or str(uuid.uuid4()) for id in (ids if ids is not None else [None] * len(each))]
        metadata = metadatas if metadatas is not None else [{} for _ in each]
        if not len(each) == len(names) == len(metadata):
            raise InvalidInput(f"there are {len(each)} texts, {len(names)} ids and {len(metadata)} metadatas")
        if each:
            vectors = np.asarray(self._embedding.embed_documents(each), dtype=np.float32)
            documents = [_Document(id, text, dict(more)) for id, text, more in zip(names, each, metadata)]
            self._documents.put(documents, vectors)
        return names

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:
        """Deletes documents; without ids all of the collection."""
        if ids is None:
            self._documents.delete_memories([memory for memory, _ in self._documents.all()])
        else:
            self._documents.delete(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, in this order."""
        return [_of(document) for document in self._documents.get(ids)]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The best ``k`` documents; ``filter`` and ``mode`` as in :meth:`similarity_search_with_score`."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, mode: SearchMode | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The best ``k`` documents, with their cosines; of a search by words, and of a hybrid one, with their relevance,
        0 to 1.

        :param filter: metadata that they must have, as ``where`` of :meth:`memorist.Store.search`, or a function of the
            document, which sees more of them.
        """
        mode = mode or self._mode
        vector = None if mode == "keyword" else self._vector(self._embedding.embed_query(query))
        found = self._documents.search(query, vector, k, mode=mode, **_conditions(filter))
        return [(_of(document), _score(hit, mode)) for document, hit in found]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The documents that are nearest to a vector."""
        found = self._documents.search(None, self._vector(embedding), k, mode="vector", **_conditions(filter))
        return [_of(document) for document, _ in found]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Documents that are near to the query and unlike one another."""
        embedding = self._embedding.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(embedding, k, fetch_k, lambda_mult, **kwargs)

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """The same by a vector. The texts of ``fetch_k`` documents are embedded again."""
        found = self.similarity_search_by_vector(embedding, fetch_k, **kwargs)
        if not found:
            return []
        vectors = self._embedding.embed_documents([document.page_content for document in found])
        query = np.asarray(embedding, dtype=np.float32)
        return [found[at] for at in maximal_marginal_relevance(query, vectors, lambda_mult=lambda_mult, k=k)]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda score: max(0.0, min(1.0, (1 + score) / 2 if self._mode == "vector" else score))

    def _vector(self, embedding: list[float]) -> NDArray[np.float32]:
        return np.asarray(embedding, dtype=np.float32)

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        store: Store | str | os.PathLike[str] | None = None,
        collection: str = "langchain",
        mode: SearchMode = "vector",
        model: str | None = None,
        **kwargs: Any,
    ) -> MemoristVectorStore:
        """A vector store with these texts, in ``store``."""
        if store is None:
            raise InvalidInput("store: name a folder, or give an open Store")
        made = cls(store, embedding, collection=collection, mode=mode, model=model)
        made.add_texts(texts, metadatas, ids=ids)
        return made


def _of(document: _Document) -> Document:
    return Document(id=document.id, page_content=document.text, metadata=document.metadata)


def _name(embedding: Embeddings) -> str:
    """The class of what embeds, and the name of its model where it has one."""
    kind = type(embedding)
    names = (getattr(embedding, name, None) for name in ("model", "model_name", "model_id"))
    model = next((name for name in names if isinstance(name, str)), None)
    return f"{kind.__module__}.{kind.__qualname__}" + ("" if model is None else f" {model}")


def _score(hit: Hit, mode: SearchMode) -> float:
    # Not the cosine of some and the relevance of others, which words alone have found.
    return hit.vector_score or 0.0 if mode == "vector" else hit.relevance


def _conditions(filter: Filter | None) -> dict[str, Any]:
    """A filter as a condition on the metadata, or as a function."""
    if filter is None or not callable(filter):
        return {"where": filter}
    test = filter
    return {"passes": lambda document: test(_of(document))}
