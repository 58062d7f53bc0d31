"""The stores, each behind the same few calls, and the process that answers for one of them.

Every search returns the rows of ten results, after the texts of them were read. The filters are those of `data.FILTERS`. A
store whose search has an effort to set gets the least of a ladder that finds enough; memorist is as it comes.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import timing  # noqa: E402

LIMIT = 10
#: How many of each side are merged, where it can be said.
POOL = 50
TAG, IMPORTANT = "t7", 6
EFFORTS = (32, 64, 96, 128, 192, 256, 384)


class Memorist:
    """The Python library of this project."""

    efforts = ()

    def __init__(self, folder, _effort):
        import memorist

        self.memorist, self.folder = memorist, folder

    def open(self):
        # What is known of a store beside it: the id of a row is not the row.
        self.store = self.memorist.Store(os.path.join(self.folder, "store"), embed=None)
        self.ids, self.row_of = {}, {}
        known = os.path.join(self.folder, "ids")
        if os.path.exists(known):
            for row, id in enumerate(Path(known).read_text().split()):
                self.ids[row], self.row_of[int(id)] = int(id), row

    def fields(self, item):
        return {"content": item["text"], "tags": [item["tag"]], "importance": item["importance"]}

    def ingest(self, items, vectors):
        self.open()
        added = self.store.add_many([self.fields(item) for item in items], vectors=vectors)
        self.store.flush()
        Path(self.folder, "ids").write_text("\n".join(str(one.id) for one in added))

    def ask(self, query, which, **more):
        given = {None: {}, "1": {"tags": [TAG]}, "50": {"min_importance": IMPORTANT}}[which]
        found = self.store.search(query, limit=LIMIT, **given, **more)
        # What an earlier process has inserted has no row.
        return [self.row_of.get(hit.id, -hit.id) for hit in found]

    def vector(self, vector, which=None):
        return self.ask(None, which, vector=vector)

    def words(self, text):
        return self.ask(text, None, mode="keyword")

    def hybrid(self, vector, text, which=None):
        return self.ask(text, which, vector=vector)

    def insert(self, row, item, vector):
        id = self.store.add(**self.fields(item), vector=vector).id
        self.ids[row], self.row_of[id] = id, row

    def delete(self, row):
        self.store.delete(self.ids[row])

    def close(self):
        self.store.close()


class Zvec:
    """HNSW with 8-bit codes and full-text search."""

    efforts = EFFORTS

    def __init__(self, folder, effort):
        import zvec

        self.z, self.path, self.effort = zvec, os.path.join(folder, "store"), effort
        zvec.init(log_level=zvec.LogLevel.ERROR)
        self.merged = zvec.RrfReRanker(rank_constant=60)

    def document(self, row, item, vector):
        return self.z.Doc(id=str(row), vectors={"vector": vector}, fields=item)

    def ingest(self, items, vectors):
        z = self.z
        words = z.FtsIndexParam(tokenizer_name="standard", filters=["lowercase", "ascii_folding", "stemmer"])
        graph = z.HnswIndexParam(
            metric_type=z.MetricType.COSINE, m=16, ef_construction=200, quantize_type=z.QuantizeType.INT8
        )
        fields = [
            z.FieldSchema("text", z.DataType.STRING, index_param=words),
            z.FieldSchema("tag", z.DataType.STRING, index_param=z.InvertIndexParam()),
            z.FieldSchema("importance", z.DataType.INT64, index_param=z.InvertIndexParam(enable_range_optimization=True)),
        ]
        vector = z.VectorSchema("vector", z.DataType.VECTOR_FP32, vectors.shape[1], index_param=graph)
        self.store = z.create_and_open(self.path, z.CollectionSchema("memories", fields=fields, vectors=vector))
        for first in range(0, len(items), 1_000):
            part = items[first : first + 1_000]
            self.store.insert([self.document(first + at, item, vectors[first + at]) for at, item in enumerate(part)])
        self.store.flush()
        self.store.optimize()
        self.store.flush()

    def open(self):
        self.store = self.z.open(self.path)

    def near(self, vector):
        effort = self.z.HnswQueryParam(ef=self.effort, is_using_refiner=True)
        return self.z.Query("vector", vector=vector, param=effort)

    def matching(self, text):
        return self.z.Query("text", fts=self.z.Fts(match_string=text))

    def ask(self, queries, which=None, **more):
        given = {None: None, "1": f"tag = '{TAG}'", "50": f"importance >= {IMPORTANT}"}[which]
        found = self.store.query(queries, topk=LIMIT, filter=given, output_fields=["text", "tag", "importance"], **more)
        return [int(document.id) for document in found]

    def vector(self, vector, which=None):
        return self.ask(self.near(vector), which)

    def words(self, text):
        return self.ask(self.matching(text))

    def hybrid(self, vector, text, which=None):
        return self.ask([self.near(vector), self.matching(text)], which, reranker=self.merged)

    def insert(self, row, item, vector):
        if not self.store.insert(self.document(row, item, vector)).ok():
            raise RuntimeError("an insert was refused")

    def delete(self, row):
        self.store.delete(str(row))

    def close(self):
        self.store = None


class QdrantEdge:
    """HNSW with 8-bit codes, and BM25 over an index of the payload."""

    efforts = EFFORTS

    def __init__(self, folder, effort):
        import qdrant_edge

        self.q, self.path, self.effort = qdrant_edge, os.path.join(folder, "store"), effort

    def ingest(self, items, vectors):
        q = self.q
        os.makedirs(self.path)
        config = q.EdgeConfig(
            vectors=q.EdgeVectorParams(size=vectors.shape[1], distance=q.Distance.Cosine),
            hnsw_config=q.HnswIndexConfig(m=16, ef_construct=128, full_scan_threshold=1_000),
            quantization_config=q.ScalarQuantizationConfig(q.ScalarType.Int8, quantile=0.99),
            max_search_threads=1,
        )
        self.store = q.EdgeShard.create(self.path, config)
        words = q.TextIndexParams(
            scoring=True, tokenizer=q.TokenizerType.Multilingual, stemmer=q.SnowballParams(q.SnowballLanguage.English)
        )
        kinds = {"tag": q.PayloadSchemaType.Keyword, "importance": q.PayloadSchemaType.Integer, "text": words}
        for field, kind in kinds.items():
            self.store.update(q.UpdateOperation.create_field_index(field, kind))
        for first in range(0, len(items), 1_000):
            part = enumerate(items[first : first + 1_000], first)
            self.put([q.Point(row, vectors[row].tolist(), item) for row, item in part])
        self.store.optimize()
        self.store.flush()

    def put(self, points):
        self.store.update(self.q.UpdateOperation.upsert_points(points))

    def open(self):
        self.store = self.q.EdgeShard.load(self.path)

    def near(self, vector):
        return {
            "query": self.q.Query.Nearest(vector.tolist()),
            "params": self.q.SearchParams(hnsw_ef=self.effort),
        }

    def condition(self, which):
        q = self.q
        if which is None:
            return None
        if which == "1":
            return q.Filter(must=[q.FieldCondition("tag", match=q.MatchValue(TAG))])
        return q.Filter(must=[q.FieldCondition("importance", range=q.RangeFloat(gte=IMPORTANT))])

    def ask(self, **more):
        return [point.id for point in self.store.query(self.q.QueryRequest(limit=LIMIT, with_payload=True, **more))]

    def vector(self, vector, which=None):
        return self.ask(filter=self.condition(which), **self.near(vector))

    def words(self, text):
        return self.ask(query=self.q.TextQuery("text", text))

    def hybrid(self, vector, text, which=None):
        q, given = self.q, self.condition(which)
        sides = [self.near(vector), {"query": q.TextQuery("text", text)}]
        pools = [q.Prefetch(limit=POOL, filter=given, **side) for side in sides]
        return self.ask(query=q.Fusion.Rrf(k=60), prefetches=pools)

    def insert(self, row, item, vector):
        self.put([self.q.Point(row, vector.tolist(), item)])

    def delete(self, row):
        self.store.update(self.q.UpdateOperation.delete_points([row]))

    def close(self):
        self.store.close()


class LanceDb:
    """IVF-HNSW with 8-bit codes and full-text search over a columnar format; optimised every 250 changes."""

    efforts = EFFORTS
    UPKEEP = 250

    def __init__(self, folder, effort):
        import lancedb
        import pyarrow
        from lancedb.query import MatchQuery
        from lancedb.rerankers import RRFReranker

        self.db, self.arrow, self.effort = lancedb.connect(os.path.join(folder, "store")), pyarrow, effort
        self.match, self.merged, self.changes = MatchQuery, RRFReranker(), 0

    def rows(self, first, items, vectors):
        arrow = self.arrow
        return arrow.table(
            {
                "id": arrow.array(range(first, first + len(items)), arrow.int64()),
                "text": [item["text"] for item in items],
                "tag": [item["tag"] for item in items],
                "importance": arrow.array([item["importance"] for item in items], arrow.int64()),
                "vector": arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.reshape(-1)), vectors.shape[1]),
            }
        )

    def ingest(self, items, vectors):
        self.store = None
        for first in range(0, len(items), 10_000):
            part = self.rows(first, items[first : first + 10_000], vectors[first : first + 10_000])
            if self.store is None:
                self.store = self.db.create_table("memories", part)
            else:
                self.store.add(part)
        self.store.create_index(metric="cosine", index_type="IVF_HNSW_SQ", num_partitions=1, m=20, ef_construction=300)
        self.store.create_fts_index("text")
        for column, kind in (("tag", "BITMAP"), ("importance", "BTREE"), ("id", "BTREE")):
            self.store.create_scalar_index(column, index_type=kind)
        self.store.optimize()

    def open(self):
        self.store = self.db.open_table("memories")

    def finish(self, query, which=None):
        if which:
            query = query.where({"1": f"tag = '{TAG}'", "50": f"importance >= {IMPORTANT}"}[which], prefilter=True)
        return [row["id"] for row in query.select(["id", "text", "tag", "importance"]).limit(LIMIT).to_list()]

    def vector(self, vector, which=None):
        return self.finish(self.store.search(vector).distance_type("cosine").ef(self.effort).refine_factor(3), which)

    def words(self, text):
        return self.finish(self.store.search(self.match(text, "text"), query_type="fts"))

    def hybrid(self, vector, text, which=None):
        query = self.store.search(query_type="hybrid").vector(vector).text(self.match(text, "text"))
        return self.finish(query.distance_type("cosine").ef(self.effort).refine_factor(3).rerank(self.merged), which)

    def changed(self):
        self.changes += 1
        if self.changes % self.UPKEEP == 0:
            self.store.optimize()

    def insert(self, row, item, vector):
        self.store.add(self.rows(row, [item], vector[None]))
        self.changed()

    def delete(self, row):
        self.store.delete(f"id = {row}")
        self.changed()

    def close(self):
        pass


class Chroma:
    """HNSW in float32. Its local edition does not rank by words."""

    efforts = EFFORTS
    words = hybrid = None

    def __init__(self, folder, effort):
        import chromadb
        from chromadb.config import Settings

        path = os.path.join(folder, "store")
        self.client = chromadb.PersistentClient(path, settings=Settings(anonymized_telemetry=False))
        self.effort = effort

    def put(self, first, items, vectors):
        self.store.add(
            ids=[str(first + at) for at in range(len(items))],
            embeddings=vectors,
            documents=[item["text"] for item in items],
            metadatas=[{"tag": item["tag"], "importance": item["importance"]} for item in items],
        )

    def ingest(self, items, vectors):
        graph = {"space": "cosine", "ef_construction": 200, "max_neighbors": 16}
        self.store = self.client.create_collection("memories", embedding_function=None, configuration={"hnsw": graph})
        for first in range(0, len(items), 5_000):
            self.put(first, items[first : first + 5_000], vectors[first : first + 5_000])

    def open(self):
        self.store = self.client.get_collection("memories", embedding_function=None)
        if self.effort:
            self.store.modify(configuration={"hnsw": {"ef_search": self.effort}})

    def vector(self, vector, which=None):
        given = {None: None, "1": {"tag": TAG}, "50": {"importance": {"$gte": IMPORTANT}}}[which]
        found = self.store.query(
            query_embeddings=vector[None], n_results=LIMIT, where=given, include=["documents", "metadatas", "distances"]
        )
        return [int(id) for id in found["ids"][0]]

    def insert(self, row, item, vector):
        self.put(row, [item], vector[None])

    def delete(self, row):
        self.store.delete(ids=[str(row)])

    def close(self):
        pass


class SqliteVec:
    """sqlite-vec, an exact scan, and FTS5 in one file, merged by reciprocal rank: what many a project makes by hand."""

    efforts = ()

    def __init__(self, folder, _effort):
        import pysqlite3
        import sqlite_vec

        self.sqlite, self.extension, self.file = pysqlite3, sqlite_vec, os.path.join(folder, "store.db")

    def open(self):
        self.db = self.sqlite.connect(self.file, isolation_level=None)
        self.db.enable_load_extension(True)
        self.extension.load(self.db)
        self.db.execute("pragma journal_mode = wal")
        self.db.execute("pragma synchronous = full")

    def ingest(self, items, vectors):
        self.open()
        self.db.executescript(
            f"""create table memories (id integer primary key, text, tag, importance integer);
            create index tags on memories (tag);
            create index importances on memories (importance);
            create virtual table words using fts5
                (text, content = 'memories', content_rowid = 'id', tokenize = 'porter unicode61');
            create virtual table vectors using vec0
                (id integer primary key, vector float[{vectors.shape[1]}], tag text, importance integer);"""
        )
        self.db.execute("begin")
        for row, item in enumerate(items):
            self.put(row, item, vectors[row])
        self.db.execute("commit")

    def put(self, row, item, vector):
        text, tag, importance = item["text"], item["tag"], item["importance"]
        self.db.execute("insert into memories values (?, ?, ?, ?)", (row, text, tag, importance))
        self.db.execute("insert into words (rowid, text) values (?, ?)", (row, text))
        self.db.execute("insert into vectors values (?, ?, ?, ?)", (row, vector.tobytes(), tag, importance))

    def condition(self, which, table=""):
        return {None: "", "1": f" and {table}tag = '{TAG}'", "50": f" and {table}importance >= {IMPORTANT}"}[which]

    def near(self, vector, count, which=None):
        sql = f"select id from vectors where vector match ? and k = ?{self.condition(which)}"
        return [id for (id,) in self.db.execute(sql, (vector.tobytes(), count))]

    def matching(self, text, count, which=None):
        letters = "".join(letter if letter.isalnum() else " " for letter in text)
        if not (any_word := " OR ".join(f'"{word}"' for word in letters.split())):
            return []
        # With a cross join, words come first; the planner would else ask for them once per row of the tag.
        join = " cross join memories m on m.id = w.rowid" if which else ""
        sql = f"select w.rowid from words w{join} where words match ?{self.condition(which, 'm.')} order by rank limit ?"
        return [id for (id,) in self.db.execute(sql, (any_word, count))]

    def read(self, rows):
        return [self.db.execute("select * from memories where id = ?", (row,)).fetchone()[0] for row in rows]

    def vector(self, vector, which=None):
        return self.read(self.near(vector, LIMIT, which))

    def words(self, text):
        return self.read(self.matching(text, LIMIT))

    def hybrid(self, vector, text, which=None):
        scores = {}
        for side in (self.near(vector, POOL, which), self.matching(text, POOL, which)):
            for rank, row in enumerate(side):
                scores[row] = scores.get(row, 0) + 1 / (61 + rank)
        return self.read(sorted(scores, key=scores.get, reverse=True)[:LIMIT])

    def change(self, work, *arguments):
        self.db.execute("begin")
        work(*arguments)
        self.db.execute("commit")

    def insert(self, row, item, vector):
        self.change(self.put, row, item, vector)

    def remove(self, row):
        (text,) = self.db.execute("select text from memories where id = ?", (row,)).fetchone()
        self.db.execute("insert into words (words, rowid, text) values ('delete', ?, ?)", (row, text))
        for table in ("vectors", "memories"):
            self.db.execute(f"delete from {table} where id = ?", (row,))

    def delete(self, row):
        self.change(self.remove, row)

    def close(self):
        self.db.close()


STORES = {
    "memorist": Memorist,
    "zvec": Zvec,
    "qdrant-edge": QdrantEdge,
    "lancedb": LanceDb,
    "chroma": Chroma,
    "sqlite-vec": SqliteVec,
}
#: What is asked: a name, the side, and a filter.
LANES = {
    "vector": ("vector", None),
    "words": ("words", None),
    "hybrid": ("hybrid", None),
    "hybrid-1": ("hybrid", "1"),
    "hybrid-50": ("hybrid", "50"),
    "vector-1": ("vector", "1"),
    "vector-50": ("vector", "50"),
}


class Answers:
    """Answers for one store: each line of standard input names a method and its arguments."""

    def __init__(self, name, folder, corpus):
        import json

        import numpy as np

        self.kind, self.folder, self.store = STORES[name], folder, None
        self.queries = np.load(os.path.join(corpus, "queries.npy"))
        self.questions = json.loads(Path(corpus, "questions.json").read_text(encoding="utf-8"))
        self.read = lambda: (
            json.loads(Path(corpus, "items.json").read_text(encoding="utf-8")),
            np.load(os.path.join(corpus, "base.npy")),
        )

    def answer(self, command):
        return getattr(self, command.pop("do"))(**command)

    def ingest(self):
        items, vectors = self.read()
        timed = timing.Timed()
        store = self.kind(self.folder, None)
        timed.call(lambda: (store.ingest(items, vectors), store.close()))
        return {"wall": timed.wall[0], "cpu": timed.cpu[0]}

    def open(self, effort=None, core=None):
        if core is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {core})
        before, timed = timing.resident_mib(), timing.Timed()
        store = self.kind(self.folder, effort)
        timed.call(store.open)
        self.store, self.before = store, before
        timed.call(self.ask, "hybrid" if store.hybrid else "vector", 0, None)
        return {"open": timed.wall[0], "first": sum(timed.wall)}

    def ask(self, side, at, which):
        given = {"vector": [self.queries[at]], "words": [self.questions[at]]}
        given["hybrid"] = given["vector"] + given["words"]
        return getattr(self.store, side)(*given[side], *([which] if side != "words" else []))

    def search(self, lane, first, count, seconds):
        """At least 20 queries, then until the time is over."""
        side, which = LANES[lane]
        if getattr(self.store, side) is None:
            return {"rows": None}
        rows, timed = [], timing.Timed()
        for at in range(first, first + count):
            if at - first >= 20 and sum(timed.wall) > seconds:
                break
            rows.append(timed.call(self.ask, side, at, which))
        grown = None if self.before is None else timing.resident_mib() - self.before
        return {"rows": rows, "memory": grown, **timed.percentiles()}

    def change(self, count, seconds):
        """Inserts, a search after each, then deletes of old rows with a search after each."""
        items, vectors = self.read()
        inserts, after, deletes = timing.Timed(), timing.Timed(), timing.Timed()
        find = self.store.hybrid or (lambda vector, _text: self.store.vector(vector))
        found = ghosts = 0
        for at in range(count):
            if at >= 20 and sum(inserts.wall) + sum(after.wall) > seconds:
                break
            item = {"text": f"{self.questions[at]} ({at}, new)", "tag": TAG, "importance": 5}
            inserts.call(self.store.insert, len(items) + at, item, self.queries[at])
            found += len(items) + at in after.call(find, self.queries[at], item["text"])
        for row in range(len(inserts.wall)):
            deletes.call(self.store.delete, row)
            ghosts += row in find(vectors[row], items[row]["text"])
        return {
            "inserts": len(inserts.wall),
            "found": found,
            "ghosts": ghosts,
            **{f"{name}_{key}": value for name, timed in (("insert", inserts), ("after", after), ("delete", deletes))
               for key, value in timed.percentiles().items()},
        }

    def insert(self, count):
        """Inserts alone, for who counts what they do to the disk."""
        items, _ = self.read()
        for at in range(count):
            item = {"text": f"{self.questions[at]} (counted)", "tag": TAG, "importance": 5}
            self.store.insert(2 * len(items) + at, item, self.queries[at])
        return {}

    def end(self):
        self.store.close()
        return {}


if __name__ == "__main__":
    timing.serve(Answers(*sys.argv[1:4]).answer)
