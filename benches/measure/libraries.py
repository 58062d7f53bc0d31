"""The vector libraries, each behind the same few calls, and the process that answers for one of them.

All graphs have 32 links a vector on the lowest level and are built with a beam of 200; memorist's has those by default. The
measure is the inner product of vectors of length 1. The effort of a search is what each library calls ef, or its like.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402

from measure import timing  # noqa: E402

LINKS, BEAM = 16, 200
WARM_UP = 10


class Memorist:
    """The index of this project."""

    imports = "memorist"

    def __init__(self, folder):
        from memorist import VectorIndex

        self.kind, self.path = VectorIndex, os.path.join(folder, "index")

    def build(self, base):
        with self.kind(self.path, base.shape[1]) as index:
            index.add(base)
            index.optimize()

    def open(self, _dims):
        self.index = self.kind(self.path, read_only=True)

    def effort(self, ef):
        self.ef = ef

    def one(self, query, k):
        return self.index.search(query, k, ef=self.ef).ids


class Hnswlib:
    imports = "hnswlib"

    def __init__(self, folder):
        import hnswlib

        self.library, self.file = hnswlib, os.path.join(folder, "index")

    def build(self, base):
        index = self.library.Index("ip", base.shape[1])
        index.init_index(len(base), M=LINKS, ef_construction=BEAM)
        index.add_items(base)
        index.save_index(self.file)

    def open(self, dims):
        self.index = self.library.Index("ip", dims)
        self.index.load_index(self.file)
        self.index.set_num_threads(1)

    def effort(self, ef):
        self.index.set_ef(ef)

    def one(self, query, k):
        return self.index.knn_query(query, k, num_threads=1)[0][0]


class Usearch:
    imports = "usearch"

    def __init__(self, folder):
        from usearch.index import Index

        self.kind, self.file = Index, os.path.join(folder, "index")

    def empty(self, dims):
        return self.kind(ndim=dims, metric="ip", dtype="f16", connectivity=2 * LINKS, expansion_add=BEAM)

    def build(self, base):
        index = self.empty(base.shape[1])
        index.add(np.arange(len(base)), base)
        index.save(self.file)

    def open(self, dims):
        self.index = self.empty(dims)
        self.index.load(self.file)

    def effort(self, ef):
        self.index.expansion_search = ef

    def one(self, query, k):
        return self.index.search(query, k, threads=1).keys


class Faiss:
    imports = "faiss"

    def __init__(self, folder):
        import faiss

        self.library, self.file = faiss, os.path.join(folder, "index")

    def build(self, base):
        index = self.library.IndexHNSWFlat(base.shape[1], LINKS, self.library.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = BEAM
        index.add(base)
        self.library.write_index(index, self.file)

    def open(self, _dims):
        self.library.omp_set_num_threads(1)
        self.index = self.library.read_index(self.file)

    def effort(self, ef):
        self.options = self.library.SearchParametersHNSW(efSearch=ef)

    def one(self, query, k):
        return self.index.search(query[None], k, params=self.options)[1][0]


class SymphonyQg:
    """RaBitQ's graph, with codes of the neighbours beside each node. It cannot be updated."""

    imports = "rabitqlib"

    def __init__(self, folder):
        import rabitqlib

        self.kind, self.file = rabitqlib.SymqgIndex, os.path.join(folder, "index")

    def build(self, base):
        index = self.kind(base.shape[1], 2 * LINKS, metric="ip", quantization_bits=0)
        index.build(base, BEAM, num_threads=os.cpu_count())
        index.save(self.file)

    def open(self, _dims):
        self.index = self.kind.load(self.file)

    def effort(self, ef):
        self.ef = ef

    def one(self, query, k):
        found = map(np.asarray, self.index.search(query[None], k, self.ef, num_threads=1))
        return next(array for array in found if array.dtype.kind in "iu")[0]


class Svs:
    """Intel's Vamana graph over codes of 4 bits, with 8 bits of what is left."""

    imports = "svs"

    def __init__(self, folder):
        import svs

        self.library, self.folder = svs, folder
        self.parts = [os.path.join(folder, part) for part in ("config", "graph", "data")]

    def build(self, base):
        svs, vectors = self.library, os.path.join(self.folder, "base.fvecs")
        svs.write_vecs(base, vectors)
        loader = svs.VectorDataLoader(vectors, svs.DataType.float32, dims=base.shape[1])
        codes = svs.LVQLoader(loader, primary=4, residual=8)
        how = svs.VamanaBuildParameters(graph_max_degree=2 * LINKS, window_size=BEAM, alpha=0.95)
        svs.Vamana.build(how, codes, svs.DistanceType.MIP, num_threads=os.cpu_count()).save(*self.parts)
        os.remove(vectors)

    def open(self, _dims):
        svs, (config, graph, vectors) = self.library, self.parts
        graph, codes = svs.GraphLoader(graph), svs.LVQLoader(vectors)
        self.index = svs.Vamana(config, graph, codes, svs.DistanceType.MIP, num_threads=1)

    def effort(self, ef):
        self.index.search_window_size = ef

    def one(self, query, k):
        return self.index.search(query[None], k)[0][0]


LIBRARIES = {
    "hnswlib": Hnswlib,
    "usearch": Usearch,
    "faiss": Faiss,
    "symphonyqg": SymphonyQg,
    "svs": Svs,
    "memorist": Memorist,
}


class Answers:
    """Answers for one library: each line of standard input names a method and its arguments."""

    def __init__(self, name, folder, corpus):
        self.library = LIBRARIES[name](folder)
        self.corpus = corpus
        self.queries = np.load(os.path.join(corpus, "queries.npy"))

    def answer(self, command):
        return getattr(self, command.pop("do"))(**command)

    def build(self):
        base, timed = np.load(os.path.join(self.corpus, "base.npy")), timing.Timed()
        timed.call(self.library.build, base)
        return {"wall": timed.wall[0], "cpu": timed.cpu[0]}

    def open(self):
        timed = timing.Timed()
        timed.call(self.library.open, self.queries.shape[1])
        return {"open": timed.wall[0]}

    def search(self, ef, count, k):
        """The mean time of a query, of the processor in all threads: what waits for another process is not counted."""
        self.library.effort(ef)
        for query in self.queries[:WARM_UP]:
            self.library.one(query, k)
        timed, rows = timing.Timed(), []
        for query in self.queries[:count]:
            rows.append(timed.call(self.library.one, query, k))
        rows = [[int(row) for row in found if 0 <= row < 1 << 62] for found in rows]
        return {"cpu": sum(timed.cpu) / len(rows), "rows": rows}


if __name__ == "__main__":
    timing.serve(Answers(*sys.argv[1:4]).answer)
