"""What the benches print is read, and the documents are written from it."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import groups, output, pages, tables, timing  # noqa: E402

PRINTED = """
the view of a half: recall@10 of the vector side 0.9940
the view of a half, cached, 0.84 times that of all: p50 0.400 ms, p90 0.600 ms, p95 0.700 ms, p99 0.900 ms, max 2.000 ms
    of which, p50: the filter 1µs, meaning 2µs, words 3µs
1 % filter: 10 results, 1,000 records allowed, recall@10 of the vector side 1.0000
1 % filter: 10 results, 1000 records allowed, recall@10 of the vector side 1.0000
hybrid   HTTP   4 clients: p50 2.40 ms, p99 3.10 ms, 830/s
kernels/int8/scalar     time:   [107.10 ns 108.20 ns 109.30 ns]
open/store, until it can be searched/100000
                        time:   [16.1 ms 17.2 ms 18.3 ms]
                        change: [-1.0% +0.1% +2.0%] (p = 0.5 > 0.05)
tokens   ours, ms   ONNX, ms   times |  many: ours, ms a text   ONNX   times   least cosine
    16       1.70       6.63     3.9 |                    1.50   3.45     2.3      0.9999994
1000 real queries: least cosine 0.9999994, 9999 of their 10000 nearest
"""

KEPT = {
    "runs": {"r": {"date": "2026-01-02", "commit": "abc", "rounds": 3, "machine": {"cpu": "Some CPU", "cores": 2}}},
    "figures": {"a.p50": {"value": 0.0004, "low": 0.00039, "high": 0.00052, "unit": "s", "run": "r"}},
}
PAGE = f"before\n\n<!-- figures: some -->\nold\n{pages.END}\n\nafter"


class Printed(unittest.TestCase):
    def test_every_shape_of_line_is_read(self):
        found = output.parse(PRINTED)
        self.assertEqual(found["the-view-of-a-half.recall"], (0.994, "recall"))
        self.assertEqual(found["the-view-of-a-half-cached.times"], (0.84, "times"))
        self.assertAlmostEqual(found["the-view-of-a-half-cached.p99"][0], 0.0009)
        self.assertEqual(found["1-percent-filter.results"], (10, "count"))
        self.assertEqual(found["hybrid-http-4.rate"], (830.0, "rate"))
        self.assertAlmostEqual(found["kernels-int8-scalar.time"][0], 108.2e-9)
        self.assertAlmostEqual(found["open-store-until-it-can-be-searched-100000.time"][0], 0.0172)
        self.assertEqual(found["tokens-16.one-times"], (3.9, "times"))
        self.assertEqual(found["tokens-16.cosine"], (0.9999994, "cosine"))
        self.assertEqual(found["real-queries.nearest"], (9999, "count"))
        self.assertNotIn("of-which.p50", found)
        self.assertTrue(all(unit in tables.UNITS for _, unit in found.values()))

    def test_levels_of_memorist_bench(self):
        point = {"quality": "balanced", "recall": 0.991, "p50Us": 32.0, "p99Us": 60.0}
        found = output.parse_levels(json.dumps({"measured": [{**point, "quality": "ef 12"}, point]}))
        self.assertEqual(sorted(found), ["balanced.p50", "balanced.p99", "balanced.recall"])
        self.assertAlmostEqual(found["balanced.p50"][0], 32e-6)


class Numbers(unittest.TestCase):
    def test_times_are_short(self):
        for seconds, shown in ((108e-9, "108 ns"), (32e-6, "32 µs"), (110e-6, "0.11 ms"), (0.0004, "0.4 ms"),
                               (0.017, "17 ms"), (0.0039, "3.9 ms"), (4.0, "4 s"), (7.25, "7.2 s"), (210, "3.5 minutes"),
                               (0.00099949, "1 ms"), (1.4, "1.4 s"), (0.76, "760 ms"), (0, "0 ns")):
            self.assertEqual(tables.time(seconds), shown)

    def test_other_units(self):
        self.assertEqual(tables.number(2440, "rate"), "2,440")
        self.assertEqual(tables.number(0.99, "recall"), "0.990")
        self.assertEqual(tables.number(258.6, "MB"), "259 MB")
        self.assertEqual(tables.number(0.5, "times"), "0.5")
        with self.assertRaises(ValueError):
            tables.number(1, "miles")

    def test_median_of_rounds(self):
        self.assertEqual(timing.summary([3, 1, 2]), {"value": 2, "low": 1, "high": 3, "rounds": 3})
        self.assertEqual(timing.summary([0.00014099999999999998])["value"], 0.000141)

    def test_percentiles(self):
        self.assertEqual(timing.percentile(range(100), 50), 50)
        self.assertEqual(timing.percentile([5], 99), 5)


class Pages(unittest.TestCase):
    def test_templates_are_filled(self):
        fill = lambda text: pages.fill(text, KEPT["figures"])
        self.assertEqual(fill("p50 {a.p50}"), "p50 0.4 ms")
        self.assertEqual(fill("{a.p50~}"), "0.4 ms (0.39 ms to 0.52 ms)")
        self.assertEqual(fill("{b.p50?} of {origin}"), "- of {origin}")
        with self.assertRaises(pages.Wrong):
            fill("{b.p50}")

    def test_the_origin_names_moment_machine_and_rounds(self):
        said = pages.origin("{a.p50}", KEPT)
        for part in ("2026-01-02", "abc", "3 rounds", "Some CPU", "2 cores"):
            self.assertIn(part, said)
        once = {**KEPT, "runs": {"r": {**KEPT["runs"]["r"], "rounds": 1}}}
        self.assertIn("one round, on Some CPU", pages.origin("{a.p50}", once))

    def test_a_page_is_written_between_its_comments(self):
        with TemporaryTemplate("some", "| a | figure |\n|---|---|\n| x | {a.p50} |\n"):
            new = pages.written(PAGE, KEPT)
            self.assertIn("| x | 0.4 ms |\n" + pages.END + "\n\nafter", new)
            self.assertEqual(pages.written(new, KEPT), new)
            with self.assertRaises(pages.Wrong):
                pages.written(PAGE.replace(pages.END, ""), KEPT)
        with self.assertRaises(pages.Wrong):
            pages.written(PAGE, KEPT)

    def test_numbers_without_a_mark_are_found(self):
        table = "| question | figure |\n|---|---|\n| of 10 | 3 ms |\n| none | yes, recall@10 and p50 |\n"
        self.assertEqual(pages.unmarked(table), [3])
        self.assertEqual(pages.unmarked(f"{pages.BY_HAND}\n\n{table}"), [])
        self.assertEqual(pages.unmarked(f"{pages.BY_HAND}\ntext\n\n{table}"), [6])
        self.assertEqual(pages.unmarked(f"<!-- figures: x -->\n{table}{pages.END}\n\n{table}"), [10])
        self.assertEqual(pages.literal(table), [3])
        self.assertEqual(pages.literal("| question | figure |\n|---|---|\n| of 10 | {a.tokens-16~} of p50 |"), [])


class Groups(unittest.TestCase):
    def test_every_bench_is_there(self):
        for group in groups.GROUPS.values():
            if group.bench != "levels" and group.name not in groups.SCRIPTS:
                self.assertTrue((pages.ROOT / f"benches/{group.bench}.rs").exists(), group.bench)

    def test_every_figure_of_a_template_is_of_a_group(self):
        templates = list(pages.FOLDER.glob("*.md"))
        self.assertTrue(templates)
        for template in templates:
            for match in pages.PLACE.finditer(template.read_text(encoding="utf-8")):
                group, *rest = match[1].split(".")
                names = {variant.name for variant in groups.GROUPS[group].variants}
                self.assertTrue("" in names or rest[0] in names, match[1])


class TemporaryTemplate:
    """A template that is there for a while."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def __enter__(self):
        import tempfile

        self.folder, self.before = tempfile.TemporaryDirectory(), pages.FOLDER
        pages.FOLDER = Path(self.folder.name)
        (pages.FOLDER / f"{self.name}.md").write_text(self.text, encoding="utf-8")

    def __exit__(self, *error):
        pages.FOLDER = self.before
        self.folder.cleanup()


if __name__ == "__main__":
    unittest.main()
