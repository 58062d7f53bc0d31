"""Data, recall, workers, curves and plots of the comparisons."""

import json
import math
import sys
import tempfile
import time
import unittest
from pathlib import Path
from xml.dom import minidom

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import pages, plot, tables, timing  # noqa: E402

try:
    import numpy as np
except ImportError:
    np = None

ECHO = """
import sys
sys.path.insert(0, {benches!r})
from measure import timing
def answer(command):
    print("{{not an answer}}", flush=True)
    if command["x"] == 0:
        raise ValueError("no zeros")
    return {{"half": command["x"] / 2}}
timing.serve(answer)
"""


class Workers(unittest.TestCase):
    def worker(self, folder, code, timeout=30):
        return timing.Worker([sys.executable, "-B", "-c", code], Path(folder) / "log", timeout=timeout)

    def test_answers_come_back_and_chatter_does_not(self):
        code = ECHO.format(benches=str(pages.ROOT / "benches"))
        with tempfile.TemporaryDirectory() as folder, self.worker(folder, code) as worker:
            self.assertEqual(worker.ask(x=3), {"half": 1.5})
            with self.assertRaisesRegex(timing.WorkerFailed, "ValueError: no zeros"):
                worker.ask(x=0)
            self.assertEqual(worker.ask(x=1), {"half": 0.5})

    def test_the_last_words_of_one_that_died_are_kept(self):
        code = "import sys; sys.stdin.readline(); sys.exit('out of luck')"
        with tempfile.TemporaryDirectory() as folder, self.worker(folder, code) as worker:
            with self.assertRaisesRegex(timing.WorkerFailed, "out of luck"):
                worker.ask(x=1)

    def test_one_that_hangs_is_ended(self):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, self.worker(folder, "import time; time.sleep(60)", 0.5) as worker:
            with self.assertRaisesRegex(timing.WorkerFailed, "too slow"):
                worker.ask(x=1)
        self.assertLess(time.monotonic() - began, 20)


@unittest.skipUnless(np, "needs numpy")
class Data(unittest.TestCase):
    def setUp(self):
        from measure import data

        vectors, queries = data.made_vectors(500, queries=20)
        random = np.random.default_rng(1)
        tags = [f"t{number}" for number in random.integers(0, 20, 500)]
        self.corpus = data.Corpus(["x"] * 500, vectors, ["y"] * 20, queries, tags, random.integers(1, 11, 500), False)

    def exact(self, which=None):
        rows = self.corpus.rows(which)
        order = np.argsort(-(self.corpus.queries @ self.corpus.vectors[rows].T), axis=1)[:, :10]
        return [[int(rows[at]) for at in line] for line in order]

    def test_exact_neighbours_have_recall_one_under_every_filter(self):
        for which in (None, "1", "50"):
            self.assertEqual(self.corpus.recall(self.exact(which), slice(0, 20), which), 1.0)

    def test_a_missing_neighbour_costs_a_tenth(self):
        found = [row[:9] for row in self.exact()]
        self.assertAlmostEqual(self.corpus.recall(found, slice(0, 20)), 0.9)

    def test_what_a_filter_excludes_is_no_result(self):
        with self.assertRaises(ValueError):
            self.corpus.recall(self.exact(), slice(0, 20), "1")
        with self.assertRaises(ValueError):
            self.corpus.recall([[row[0]] * 10 for row in self.exact()], slice(0, 20))

    def test_the_same_seed_makes_the_same_vectors_of_length_one(self):
        from measure import data

        again, _ = data.made_vectors(500, queries=20)
        self.assertTrue(np.array_equal(self.corpus.vectors, again))
        self.assertTrue(np.allclose(np.linalg.norm(again, axis=1), 1, atol=1e-5))

    def test_a_curve_crosses_a_recall_between_two_efforts(self):
        import index

        points = [(0.9, 1e-5), (0.99, 9e-5)]
        took, bound = index.time_at(points, 1 - math.sqrt(0.1 * 0.01))
        self.assertAlmostEqual(took, 3e-5, 9)
        self.assertFalse(bound)
        self.assertEqual(index.time_at(points, 0.8), (1e-5, True))
        self.assertIsNone(index.time_at(points, 0.999))

    def test_ratios_are_those_of_rounds(self):
        import index

        curve = lambda factor: [(0.9, [1e-5 * factor, 2e-5 * factor]), (0.99, [2e-5 * factor, 4e-5 * factor])]
        built = {name: {"disk": 1.0, "open": 0.1, "wall": 1.0, "cpu": 2.0} for name in ("hnswlib", "memorist")}
        figures = index.summary({"hnswlib": curve(4), "memorist": curve(1)}, built)
        self.assertEqual([round(value, 6) for value in figures["memorist.times-95"][0]], [4, 4])
        self.assertIn("| memorist | ", index.shown(figures, ["hnswlib", "memorist"]))
        json.dumps(figures)


class Exact:
    """A store that compares every vector; a forgetful one takes no changes."""

    efforts, words, forgetful = (), None, False

    def __init__(self, folder, _effort):
        self.file, self.rows = Path(folder) / "rows.npy", {}

    def ingest(self, _items, vectors):
        np.save(self.file, vectors)

    def open(self):
        self.rows = dict(enumerate(np.load(self.file)))

    def vector(self, vector, _which=None):
        return sorted(self.rows, key=lambda row: -float(self.rows[row] @ vector))[:10]

    def hybrid(self, vector, _text, which=None):
        return self.vector(vector, which)

    def insert(self, row, _item, vector):
        if not self.forgetful:
            self.rows[row] = vector

    def delete(self, row):
        if not self.forgetful:
            del self.rows[row]

    def close(self):
        pass


class Forgetful(Exact):
    forgetful = True


@unittest.skipUnless(np, "needs numpy")
class Stores(unittest.TestCase):
    def answers(self, kind):
        from measure import data, stores

        vectors, queries = data.made_vectors(300, queries=40)
        corpus = data.Corpus(["x"] * 300, vectors, ["y"] * 40, queries, ["t7"] * 300, np.full(300, 5), False)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        data.save(corpus, Path(folder.name))
        stores.STORES["a test"] = kind
        self.addCleanup(stores.STORES.pop, "a test")
        answers = stores.Answers("a test", folder.name, folder.name)
        self.assertGreater(answers.answer({"do": "ingest"})["wall"], 0)
        self.assertLess(0, answers.answer({"do": "open"})["open"])
        return corpus, answers

    def test_what_is_found_is_counted(self):
        corpus, answers = self.answers(Exact)
        found = answers.answer({"do": "search", "lane": "vector", "first": 0, "count": 30, "seconds": 0})
        # The time was over at once, but a few are asked anyway.
        self.assertEqual(len(found["rows"]), 20)
        self.assertEqual(corpus.recall(found["rows"], slice(0, 20)), 1.0)
        words = answers.answer({"do": "search", "lane": "words", "first": 0, "count": 30, "seconds": 9})
        self.assertIsNone(words["rows"])
        done = answers.answer({"do": "change", "count": 25, "seconds": 60})
        self.assertEqual((done["inserts"], done["found"], done["ghosts"]), (25, 25, 0))

    def test_a_store_that_loses_writes_is_found_out(self):
        _, answers = self.answers(Forgetful)
        done = answers.answer({"do": "change", "count": 25, "seconds": 60})
        self.assertEqual((done["inserts"], done["found"], done["ghosts"]), (25, 0, 25))

    def test_every_store_and_library_can_be_installed(self):
        from measure import environments, libraries, stores

        for name in {*stores.STORES, *libraries.LIBRARIES}:
            shared = environments.SHARED.get(name, name)
            if shared != "memorist":
                self.assertTrue(all("==" in part for part in environments.REQUIREMENTS[shared]), name)

    def test_libraries_of_one_environment_are_one_module(self):
        from measure import environments, libraries

        for name, shared in environments.SHARED.items():
            self.assertEqual(libraries.LIBRARIES[name].imports, libraries.LIBRARIES[shared].imports)


class Plots(unittest.TestCase):
    def test_a_plot_is_well_formed_and_within_its_frame(self):
        curves = {"memorist": [(0.9, 40_000), (0.99, 10_000), (1.0, 900)], "a <b>": [(0.8, 9_000), (0.97, 1_000)]}
        root = minidom.parseString(plot.svg("100 & more", curves)).documentElement
        dots = root.getElementsByTagName("circle")
        self.assertEqual(len(dots), 5)
        for dot in dots:
            self.assertTrue(plot.LEFT - 1 <= float(dot.getAttribute("cx")) <= plot.WIDTH - plot.RIGHT + 1)
            self.assertTrue(plot.TOP - 1 <= float(dot.getAttribute("cy")) <= plot.HEIGHT - plot.BOTTOM + 1)
        # More recall is on the right, more queries above.
        self.assertLess(float(dots[0].getAttribute("cx")), float(dots[1].getAttribute("cx")))
        self.assertLess(float(dots[0].getAttribute("cy")), float(dots[1].getAttribute("cy")))

    def test_rates_are_round(self):
        self.assertEqual(plot.rates(800, 6_000), [1_000, 2_000, 5_000])


class Tables(unittest.TestCase):
    def test_what_is_written_is_read(self):
        lines = tables.table(["a", "b"], [[1, "x y"]]).splitlines()
        self.assertEqual(lines[1], "|---|---|")
        self.assertEqual([tables.cells(line) for line in lines], [["a", "b"], [], ["1", "x y"]])
        self.assertIsNone(tables.cells("no table"))


if __name__ == "__main__":
    unittest.main()
