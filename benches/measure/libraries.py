"""The vector libraries, each behind the same few calls, and the process that answers for one of them.

All graphs have 32 links a vector on the lowest level and are built with a beam of 200; memorist's has those by default. The
measure is the inner product of vectors of length 1. The effort of a search is what each library calls ef, or its like.
ScaNN and LoRANN have no graph: the effort sets how many clusters they search, and how many candidates they compare
again.
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
    layout = None

    def __init__(self, folder):
        from memorist import VectorIndex

        self.kind, self.path = VectorIndex, os.path.join(folder, "index")

    def build(self, base):
        with self.kind(self.path, base.shape[1], layout=self.layout) as index:
            index.add(base)
            index.optimize()

    def open(self, _dims):
        self.index = self.kind(self.path, read_only=True)

    def effort(self, ef):
        self.ef = ef

    def one(self, query, k):
        return self.index.search(query, k, ef=self.ef).ids


class MemoristCompact(Memorist):
    """The layout that takes less space, and more time."""

    layout = "compact"


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
    bits = 0

    def __init__(self, folder):
        import rabitqlib

        self.kind, self.file = rabitqlib.SymqgIndex, os.path.join(folder, "index")

    def build(self, base):
        index = self.kind(base.shape[1], 2 * LINKS, metric="ip", quantization_bits=self.bits)
        index.build(base, BEAM, num_threads=os.cpu_count())
        index.save(self.file)

    def open(self, _dims):
        self.index = self.kind.load(self.file)

    def effort(self, ef):
        self.ef = ef

    def one(self, query, k):
        found = map(np.asarray, self.index.search(query[None], k, self.ef, num_threads=1))
        return next(array for array in found if array.dtype.kind in "iu")[0]


class SymphonyQg8(SymphonyQg):
    """The same with vectors of 8 bits a number instead of 32."""

    bits = 8


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


class Deglib:
    """A graph over codes of 8 bits; of the vectors it compares twice as many as are asked for."""

    imports = "deglib"

    def __init__(self, folder):
        import deglib

        self.library = deglib
        self.parts = [os.path.join(folder, part) for part in ("graph", "base.npy", "scale.npy")]

    def build(self, base):
        deglib, (graph_file, vectors, scale) = self.library, self.parts
        exact = deglib.Metric.FP32_InnerProduct
        order = deglib.optimization.presort(base, metric=exact)
        how = {"optimization_target": deglib.builder.OptimizationTarget.HighLID, "extend_k": BEAM}
        graph = deglib.build_from_data(base[order], order, 2 * LINKS, metric=exact, **how)
        codes = deglib.optimization.make_scalar_quantizer_int8(base)
        space = deglib.FloatSpace.create(base.shape[1], deglib.Metric.Int8_InnerProduct)
        # A graph that is read-only cannot be saved.
        graph.to_mutable(space, codes.quantize(base)).save_graph(graph_file)
        np.save(vectors, base)
        np.save(scale, codes.abs_max)

    def open(self, dims):
        deglib, (graph_file, vectors, scale) = self.library, self.parts
        codes = deglib.optimization.ScalarQuantizerInt8(float(np.load(scale)))
        exact = deglib.FloatSpace.create(dims, deglib.Metric.FP32_InnerProduct)
        graph = deglib.load_readonly_graph(graph_file)
        self.index = deglib.create_searcher(graph, codes, exact, np.load(vectors, mmap_mode="r"))

    def effort(self, ef):
        self.ef = ef

    def one(self, query, k):
        return self.index.search(query, k, self.ef, rerank_factor=2)


class AlayaLite:
    """A graph with RaBitQ's codes of the neighbours beside each node, and the vectors."""

    imports = "alayalite"

    def __init__(self, folder):
        import alayalite

        self.kind, self.folder = alayalite.Client, folder

    def build(self, base):
        client, how = self.kind(self.folder), {"metric": "ip", "quantization_type": "rabitq", "max_nbrs": 2 * LINKS}
        index = client.create_index("index", capacity=len(base), **how)
        index.fit(base, ef_construction=BEAM, num_threads=os.cpu_count())
        client.save_index("index")

    def open(self, _dims):
        self.index = self.kind(self.folder).get_index("index")

    def effort(self, ef):
        self.ef = ef

    def one(self, query, k):
        return self.index.search(query, k, self.ef)


class Scann:
    """Clusters of codes of 4 bits for two numbers, and the vectors, as the tuning guide of scann-core recommends."""

    imports = "scann"

    def __init__(self, folder):
        from scann import scann_ops_pybind

        self.library, self.folder = scann_ops_pybind, folder

    def build(self, base):
        count, dims = base.shape
        leaves = round(count**0.5)
        index = self.library.builder(base, 10, "dot_product").set_n_training_threads(os.cpu_count())
        index.tree(leaves, leaves, training_sample_size=count, spherical=True, quantize_centroids=True, avq=2.5)
        # The guide has this threshold for vectors of length 1.
        index.score_ah(2, anisotropic_quantization_threshold=0.2 * min(1, 128 / dims) ** 0.75)
        index.reorder(100).build().serialize(self.folder)

    def open(self, _dims):
        self.index = self.library.load_searcher(self.folder)
        self.index.set_num_threads(1)

    def effort(self, ef):
        self.ef = ef

    def one(self, query, k):
        # More candidates than 3k change little before more leaves are searched.
        return self.index.search(query, k, max(self.ef, 3 * k), self.ef)[0]


class Lorann:
    """Clusters with a matrix of low rank each, and the vectors."""

    imports = "lorann"

    def __init__(self, folder):
        import lorann

        self.library, self.file = lorann, os.path.join(folder, "index")

    def build(self, base):
        clusters = round(len(base) ** 0.5)
        # The documentation has 128 for vectors of 200 to 1,000 numbers. With its rank, 32, recall stops at 0.98.
        index = self.library.LorannIndex(base, clusters, global_dim=128, rank=64, distance=self.library.IP)
        index.build(n_threads=os.cpu_count())
        index.save(self.file)

    def open(self, _dims):
        self.index = self.library.LorannIndex.load(self.file)

    def effort(self, ef):
        self.clusters, self.candidates = min(ef // 2, self.index.n_clusters), 3 * ef

    def one(self, query, k):
        return self.index.search(query, k, self.clusters, self.candidates, n_threads=1)


LIBRARIES = {
    "hnswlib": Hnswlib,
    "usearch": Usearch,
    "faiss": Faiss,
    "symphonyqg": SymphonyQg,
    "symphonyqg-8bit": SymphonyQg8,
    "svs": Svs,
    "deglib": Deglib,
    "alayalite": AlayaLite,
    "scann": Scann,
    "lorann": Lorann,
    "memorist": Memorist,
    "memorist-compact": MemoristCompact,
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
