#!/usr/bin/env python3
"""Measures how a compact index grows: build time, size, search time and memory at 0.1, 1, 3 and 10 million vectors.

    python3 benches/scale.py FOLDER                        builds an index in FOLDER/index, and extends it step by step
    python3 benches/scale.py FOLDER --counts 20000,40000   other steps
    python3 benches/scale.py FOLDER --svg plot.svg         draws the plot, too

Ten million vectors take 6 GB on the disk and about two hours of the processor. What a step prints is kept in FOLDER/COUNT.log; a
step that ended is not run again. One that was killed goes on where it was, but its build time lacks what it took before.
"""

import argparse
import math
import re
import subprocess
import sys
from pathlib import Path

from measure.machine import ROOT

COUNTS = "100000,1000000,3000000,10000000"
#: The plots: title, unit, and the figure in what a step prints. The build comes first: its time is added to that of the steps before.
PLOTS = (
    ("time of the processor to build it", "s", r"vectors: \d+ s, (\d+) s of the processor"),
    ("size", "MB", r"^(\d+) MB, "),
    ("a search at recall 0.95, p50", "µs", r"^recall 0\.95 .* p50 (\d+) µs"),
    ("private memory", "MB", r"^private memory after that: (\d+) MB"),
)
LAST = "an update took"
WIDTH, HEIGHT, LEFT, EDGE = 380, 220, 70, 40


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--counts", default=COUNTS, help=f"vectors of each step, in ascending order (default: {COUNTS})")
    parser.add_argument("--svg", type=Path, help="where the plot is written")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    growth, built = {}, 0
    for count in map(int, given.counts.split(",")):
        printed = step(given.folder, count)
        found = [re.findall(pattern, printed, re.MULTILINE) for _, _, pattern in PLOTS]
        figures = [int(figure[-1]) if figure else 0 for figure in found]
        figures[0] = built = built + figures[0]
        growth[count] = figures
        print(f"{count:,} vectors:", ", ".join(f"{title} {figure:,} {unit}" for (title, unit, _), figure in zip(PLOTS, figures)))
    if given.svg:
        given.svg.write_text(svg(growth), encoding="utf-8")


def step(folder, count):
    """What the step prints. It is run unless it ended before."""
    log = folder / f"{count}.log"
    if log.exists() and LAST in (printed := log.read_text(encoding="utf-8")):
        return printed
    command = ["cargo", "run", "--release", "-p", "memorist-index", "--example", "scale", "--", folder / "index", str(count)]
    with log.open("w", encoding="utf-8") as kept:
        subprocess.run(command, cwd=ROOT, stdout=kept, check=True)
    return log.read_text(encoding="utf-8")


def svg(growth):
    """Two rows of two plots with the number of vectors across. Both axes are logarithmic."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}" font-family="sans-serif" font-size="12" '
        'role="img" aria-label="Build time, size, search time and memory of a compact index against its number of vectors">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for at, (title, unit, _) in enumerate(PLOTS):
        points = [(count, max(figures[at], 1)) for count, figures in growth.items()]
        parts += [f'<g transform="translate({at % 2 * WIDTH},{at // 2 * HEIGHT})">', *plot(f"{title}, {unit}", points), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def plot(title, points):
    def place(value, values, start, end):
        low, high = math.log(min(values) / 1.5), math.log(max(values) * 1.5)
        return round(start + (math.log(value) - low) / (high - low) * (end - start), 1)

    counts, figures = zip(*points)
    places = [
        (place(count, counts, LEFT, WIDTH - 20), place(figure, figures, HEIGHT - EDGE, EDGE)) for count, figure in points
    ]
    path = " ".join(f"{x},{y}" for x, y in places)
    yield f'<text x="{LEFT}" y="20" font-size="13">{title}</text>'
    yield f'<path d="M{LEFT} {EDGE} V{HEIGHT - EDGE} H{WIDTH - 20}" fill="none" stroke="#999"/>'
    yield f'<polyline points="{path}" fill="none" stroke="#d1495b" stroke-width="2"/>'
    for (x, y), (count, figure) in zip(places, points):
        yield f'<circle cx="{x}" cy="{y}" r="3" fill="#d1495b"/>'
        yield f'<text x="{x}" y="{HEIGHT - EDGE + 18}" text-anchor="middle">{count / 1e6:g} million</text>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{figure:,}</text>'


if __name__ == "__main__":
    main()
