"""Texts and vectors, made from a seed or real ones, with filters, exact neighbours and recall."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .machine import ROOT

SEED = 42
DIMS = 384
QUERIES = 1_000
K = 10
#: A result this close to the last of the true neighbours counts as found: their order is chance.
TIE = 1e-5
TAG = "t7"
IMPORTANT = 6
#: The filters of the stores: a tag that one in a hundred has, and an importance that half have.
FILTERS = (None, "1", "50")


@dataclass
class Corpus:
    """What is put in, and what is asked."""

    texts: list
    vectors: np.ndarray
    questions: list
    queries: np.ndarray
    tags: list
    importances: np.ndarray
    real: bool

    def rows(self, which):
        """The rows that a filter passes; all, without one."""
        if which is None:
            return np.arange(len(self.vectors))
        if which == "1":
            return np.array([row for row, tag in enumerate(self.tags) if tag == TAG])
        return np.flatnonzero(self.importances >= IMPORTANT)

    def item(self, row):
        """A text with its fields, as the workers take it."""
        return {"text": self.texts[row], "tag": self.tags[row], "importance": int(self.importances[row])}

    def least(self, rows, queries):
        """For each query the similarity with the last of the true neighbours among these rows."""
        similarities = self.queries[queries] @ self.vectors[rows].T
        rank = min(K, len(rows)) - 1
        return -np.partition(-similarities, rank, axis=1)[:, rank] - TIE

    def recall(self, found, queries, which=None):
        """The share of the true neighbours that were found. Raises an error if a filter excludes a result."""
        rows = self.rows(which)
        allowed = set(rows.tolist())
        least = self.least(rows, queries)
        hits = 0
        for result, query, limit in zip(found, self.queries[queries], least):
            if len(set(result)) < len(result) or not allowed.issuperset(result):
                raise ValueError("a result twice, or one that the filter excludes")
            hits += int((self.vectors[result] @ query >= limit).sum()) if result else 0
        return hits / (len(found) * min(K, len(rows)))


def load(count, folder=None, texts=True):
    """A corpus: from a folder of real data, or made. Without `texts`, only vectors are needed."""
    random = np.random.default_rng(SEED)
    base, queries, lines, questions = (real if folder else made)(Path(folder) if folder else None, count, texts)
    if len(base) < count:
        raise ValueError(f"{folder} has {len(base)} vectors, not {count}")
    tags = [f"t{number}" for number in random.integers(0, 100, count)]
    return Corpus(lines, base, questions, queries, tags, random.integers(1, 11, count), folder is not None)


def real(folder, count, texts):
    """The vectors of `emb_base*.f16.npy` and `emb_query*.f32.npy`, and the texts beside them."""
    base = np.load(_only(folder, "emb_base*.npy"), mmap_mode="r")[:count].astype(np.float32)
    queries = np.load(_only(folder, "emb_query*.npy")).astype(np.float32)
    if not texts:
        return base, queries, [], []
    read = lambda file: [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()]
    return base, queries, read(_only(folder, "texts*.jsonl"))[:count], read(_only(folder, "query_texts*.jsonl"))


def made(_folder, count, texts):
    """Vectors in clusters of clusters, and the memories and questions that bench-data makes."""
    base, queries = made_vectors(count)
    if not texts:
        return base, queries, [], []
    lines = [line["content"] for line in generated("--count", count)]
    questions = [line["text"] for line in generated("--count", count, "--questions", QUERIES)]
    # A store may save the same text once.
    seen = set()
    for at, line in enumerate(lines):
        if line in seen:
            lines[at] = f"{line} ({at})"
        seen.add(lines[at])
    return base, queries, lines, questions


def made_vectors(count, dims=DIMS, queries=QUERIES):
    """Vectors of length 1 that are about as near to one another as embeddings of short texts."""
    random = np.random.default_rng(SEED)
    spectrum = (1 + np.arange(dims)) ** -0.38

    def draw(rows):
        return random.standard_normal((rows, dims), dtype=np.float32) * spectrum.astype(np.float32)

    common = draw(1)
    topics = draw(300)
    subjects = topics[random.integers(0, 300, 3_000)] + draw(3_000)
    all_rows = count + queries
    vectors = 0.55 * common + 0.8 * subjects[random.integers(0, 3_000, all_rows)] + draw(all_rows)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors[:count]), np.ascontiguousarray(vectors[count:])


def generated(*options):
    """Lines of the example `generate` of bench-data."""
    built = ROOT / "target/release/examples/generate"
    run = [str(built)] if built.exists() else None
    if run is None and shutil.which("cargo"):
        run = ["cargo", "run", "--quiet", "--release", "-p", "bench-data", "--example", "generate", "--"]
    if run is None:
        raise ValueError("made texts need cargo; name a folder of real ones with --data")
    command = [*run, "--seed", str(SEED), *map(str, options)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def save(corpus, folder):
    """Writes a corpus for the workers."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "base.npy", corpus.vectors)
    np.save(folder / "queries.npy", corpus.queries)
    items = [corpus.item(row) for row in range(len(corpus.texts))]
    (folder / "items.json").write_text(json.dumps(items), encoding="utf-8")
    (folder / "questions.json").write_text(json.dumps(corpus.questions), encoding="utf-8")


def _only(folder, pattern):
    """The one file of a pattern."""
    there = sorted(folder.glob(pattern))
    if len(there) != 1:
        raise ValueError(f"{folder}: there should be one {pattern}, there are {len(there)}")
    return there[0]
