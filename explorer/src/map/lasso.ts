// Which points are in an area. The area is filled into a picture of 1024 x 1024 cells and the points look their cell up:
// a test of each point against each edge takes ten times as long.

import type { Points } from "./points.ts";

const CELLS = 1024;
const SHIFT = 6;

/** The cells of an area (x, y, x, y, …; even-odd rule), one byte a cell. */
export function fill(area: readonly number[]): Uint8Array {
  const cells = new Uint8Array(CELLS * CELLS);
  const corners = area.length / 2;
  const size = 1 << SHIFT;
  for (let row = 0; row < CELLS; row++) {
    const y = (row + 0.5) * size;
    const crossings: number[] = [];
    for (let at = 0; at < corners; at++) {
      const next = (at + 1) % corners;
      const [x1, y1] = [area[2 * at] as number, area[2 * at + 1] as number];
      const [x2, y2] = [area[2 * next] as number, area[2 * next + 1] as number];
      if (y1 <= y === y2 <= y) continue;
      crossings.push(x1 + ((y - y1) / (y2 - y1)) * (x2 - x1));
    }
    crossings.sort((a, b) => a - b);
    for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
      const from = Math.max(0, Math.ceil((crossings[pair] as number) / size - 0.5));
      const to = Math.min(CELLS - 1, Math.floor((crossings[pair + 1] as number) / size - 0.5));
      if (to >= from) cells.fill(1, row * CELLS + from, row * CELLS + to + 1);
    }
  }
  return cells;
}

/** The indexes of the points in an area. */
export function inside(points: Pick<Points, "x" | "y" | "count">, area: readonly number[]): number[] {
  const cells = fill(area);
  const found: number[] = [];
  for (let at = 0; at < points.count; at++) {
    const cell = ((points.y[at] as number) >> SHIFT) * CELLS + ((points.x[at] as number) >> SHIFT);
    if (cells[cell]) found.push(at);
  }
  return found;
}

/** A path of the pointer with fewer corners, as it goes into the address (Douglas-Peucker). */
export function simplify(path: readonly number[], most = 48): number[] {
  let tolerance = 64;
  for (;;) {
    const kept = reduce(path, tolerance);
    if (kept.length <= most * 2) return kept.map((one) => Math.max(0, Math.min(65_535, Math.round(one))));
    tolerance *= 1.5;
  }
}

function reduce(path: readonly number[], tolerance: number): number[] {
  const count = path.length / 2;
  if (count < 3) return [...path];
  const keep = new Uint8Array(count);
  keep[0] = keep[count - 1] = 1;
  const open: [number, number][] = [[0, count - 1]];
  for (let span = open.pop(); span; span = open.pop()) {
    const [from, to] = span;
    let furthest = -1;
    let distance = tolerance;
    for (let at = from + 1; at < to; at++) {
      const away = fromLine(path, at, from, to);
      if (away > distance) {
        distance = away;
        furthest = at;
      }
    }
    if (furthest < 0) continue;
    keep[furthest] = 1;
    open.push([from, furthest], [furthest, to]);
  }
  const kept: number[] = [];
  for (let at = 0; at < count; at++) if (keep[at]) kept.push(path[2 * at] as number, path[2 * at + 1] as number);
  return kept;
}

function fromLine(path: readonly number[], at: number, from: number, to: number): number {
  const [x, y] = [path[2 * at] as number, path[2 * at + 1] as number];
  const [x1, y1] = [path[2 * from] as number, path[2 * from + 1] as number];
  const dx = (path[2 * to] as number) - x1;
  const dy = (path[2 * to + 1] as number) - y1;
  const length = Math.hypot(dx, dy);
  return length === 0 ? Math.hypot(x - x1, y - y1) : Math.abs(dx * (y1 - y) - dy * (x1 - x)) / length;
}
