"""What a bench prints, as figures: pairs of a value and its unit, by name.

| line | names |
|---|---|
| `a view: p50 0.4 ms, p90 …` | `a-view.p50`, `.p90`, `.p95`, `.p99` |
| `…, 0.84 times that of all: p50 …` | also `.times`, which is left out of the name |
| `a view: 10 results, 1000 records allowed, recall@10 of the vector side 0.99` | `a-view.results`, `.recall` |
| `hybrid   HTTP   4 clients: p50 2.4 ms, p99 3 ms, 830/s` | `hybrid-http-4.p50`, `.p99`, `.rate` |
| `kernels/int8/scalar time: [107 ns 108 ns 109 ns]` of criterion | `kernels-int8-scalar.time` |
| a row of the bench `embedding` | `tokens-16.one`, `.one-times`, `.many`, `.many-times`, `.cosine` |
| `1000 real queries: least cosine 0.9999994, 9999 of their 10000 nearest` | `real-queries.cosine`, `.nearest` |
"""

import json
import re

SECONDS = {"ps": 1e-12, "ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0}
NUMBER = r"([\d.,]+)"

PERCENTILES = re.compile(rf"^(.+): p50 {NUMBER} ms, p90 {NUMBER} ms, p95 {NUMBER} ms, p99 {NUMBER} ms, max")
TIMES = re.compile(rf",? {NUMBER} times that of all$")
RECALL = re.compile(rf"^(.+): (?:(\d+) results, \d+ records allowed, )?recall@10 of the vector side {NUMBER}$")
SERVED = re.compile(rf"^(\w+)\s+(\w+)\s+(\d+) clients: p50 {NUMBER} ms, p99 {NUMBER} ms, {NUMBER}/s$")
CRITERION = re.compile(r"^(.*?)\s*time:\s+\[[\d.]+ \S+ ([\d.]+) (\S+) [\d.]+ \S+\]$")
EMBEDDED = re.compile(r"^\s*(\d+)\s+([\d.]+)\s+[\d.]+\s+([\d.]+)\s+\|\s+([\d.]+)\s+[\d.]+\s+([\d.]+)\s+([\d.]+)$")
NEAREST = re.compile(rf"^\d+ real queries: least cosine {NUMBER}, (\d+) of their \d+ nearest$")


def slug(text):
    """A name for a figure."""
    text = text.replace("%", " percent ")
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def parse(text):
    """The figures of all lines that have some; the others are passed over."""
    found = {}
    before = ""
    for line in text.splitlines():
        line = line.rstrip()
        if match := PERCENTILES.match(line):
            what = match[1]
            if times := TIMES.search(what):
                what = what[: times.start()]
                found[f"{slug(what)}.times"] = (float(times[1]), "times")
            for name, value in zip(("p50", "p90", "p95", "p99"), match.groups()[1:]):
                found[f"{slug(what)}.{name}"] = (_float(value) / 1e3, "s")
        elif match := RECALL.match(line):
            if match[2]:
                found[f"{slug(match[1])}.results"] = (int(match[2]), "count")
            found[f"{slug(match[1])}.recall"] = (float(match[3]), "recall")
        elif match := SERVED.match(line):
            name = slug(" ".join(match.groups()[:3]))
            found[f"{name}.p50"] = (_float(match[4]) / 1e3, "s")
            found[f"{name}.p99"] = (_float(match[5]) / 1e3, "s")
            found[f"{name}.rate"] = (_float(match[6]), "rate")
        elif match := CRITERION.match(line):
            # A long name is on the line before.
            found[f"{slug(match[1] or before)}.time"] = (float(match[2]) * SECONDS[match[3]], "s")
        elif match := EMBEDDED.match(line):
            name = f"tokens-{match[1]}"
            found[f"{name}.one"] = (float(match[2]) / 1e3, "s")
            found[f"{name}.one-times"] = (float(match[3]), "times")
            found[f"{name}.many"] = (float(match[4]) / 1e3, "s")
            found[f"{name}.many-times"] = (float(match[5]), "times")
            found[f"{name}.cosine"] = (float(match[6]), "cosine")
        elif match := NEAREST.match(line):
            found["real-queries.cosine"] = (float(match[1]), "cosine")
            found["real-queries.nearest"] = (int(match[2]), "count")
        if line.strip():
            before = line.strip()
    return found


def parse_levels(text):
    """The figures of `memorist bench --json`: of each level and of the exact scan."""
    found = {}
    for point in json.loads(text)["measured"]:
        if not point["quality"].startswith("ef "):
            found[f"{point['quality']}.recall"] = (point["recall"], "recall")
            found[f"{point['quality']}.p50"] = (point["p50Us"] / 1e6, "s")
            found[f"{point['quality']}.p99"] = (point["p99Us"] / 1e6, "s")
    return found


def _float(text):
    return float(text.replace(",", ""))
