# pyright: strict
"""A program of a user, for pyright and mypy: what it does must have types without a cast or an exception."""

import asyncio
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from memorist import (
    AsyncStore,
    Embed,
    Memory,
    Hit,
    IdSet,
    Importance,
    Metric,
    NotFound,
    Refused,
    Store,
    VectorIndex,
    When,
    Where,
)
from numpy.typing import NDArray


def embed(texts: list[str]) -> NDArray[np.float32]:
    return np.array([[len(text), text.count("e") + 1] for text in texts], dtype=np.float32)


FUNCTION: Embed = embed
SINCE: When = date.today() - timedelta(days=30)
RECENT: Where = {"year": {"$gte": 2024}}
HIGH: Importance = "high"


def lines(file: Path) -> Iterator[dict[str, object]]:
    for number, line in enumerate(file.read_text().splitlines()):
        yield {"content": line, "metadata": {"line": number}}


def best(store: Store, question: str) -> Hit | None:
    result = store.search(question, limit=5, entry_types=["fact"], where=RECENT, created_after=SINCE)
    for warning in result.warnings:
        print(warning)
    return next(iter(result), None)


def remember(store: Store, text: str) -> int:
    try:
        added = store.add(text, importance=HIGH, tags=["note"], metadata={"year": 2024}, project=None)
    except Refused as refused:
        print(refused.errors.get(0), len(refused.added))
        raise
    return added.id


def vectors(store: Store, ids: list[int]) -> list[NDArray[np.float32]]:
    entries: list[Memory | None] = store.get(ids, include=["vector"])
    return [entry.vector for entry in entries if entry is not None and entry.vector is not None]


def correct(store: Store, id: int) -> str:
    try:
        version: int = store.update(id, content="corrected", expires_at=None).version
    except NotFound:
        return "gone"
    return f"{version}: {store.history(id)[-1].content}"


async def concurrently(store: Store, questions: list[str]) -> list[int]:
    async with AsyncStore(store) as shared:
        results = await asyncio.gather(*(shared.search(question, limit=1) for question in questions))
        one: Memory | None = await shared.get(1)
        async for brief in shared.list(tags=["note"]):
            print(brief.id, one)
        return [hit.id for result in results for hit in result]


def nearest(folder: Path, metric: Metric, rows: NDArray[np.float64]) -> dict[int, float]:
    with VectorIndex(folder, rows.shape[1], metric=metric) as index:
        ids: NDArray[np.int64] = index.add(rows)
        index.optimize()
        even = IdSet(ids[ids % 2 == 0]) - IdSet({0})
        found = index.search(rows[0], k=3, only=even | IdSet(range(3)))
        many, _ = index.search(rows, k=3, progress=print)
        print(many.shape, index.get([1]).mean(), list(even))
        return dict(zip(found.ids.tolist(), found.scores.tolist()))


def main() -> None:
    with Store("notes", embed=FUNCTION, model="two-numbers") as store:
        store.add_many(lines(Path("notes.txt")), progress=lambda count: print(count))
        print(remember(store, "a note"), best(store, "which note?"), correct(store, 1), len(store))
        print(asyncio.run(concurrently(store, ["a", "b"])))


if __name__ == "__main__":
    main()
