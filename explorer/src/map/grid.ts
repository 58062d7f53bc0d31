// Finds points by place: the map is cut into 256 x 256 cells, each with the list of its points.

import type { Points } from "./points.ts";

const CELLS = 256;
const SHIFT = 8;

export interface Grid {
  x: Uint16Array;
  y: Uint16Array;
  /** Where the points of each cell begin in `order`. */
  begins: Uint32Array;
  order: Uint32Array;
}

const cellOf = (x: number, y: number) => (y >> SHIFT) * CELLS + (x >> SHIFT);

export function gridOf({ x, y, count }: Pick<Points, "x" | "y" | "count">): Grid {
  const begins = new Uint32Array(CELLS * CELLS + 1);
  for (let at = 0; at < count; at++) (begins[cellOf(x[at] as number, y[at] as number) + 1] as number)++;
  for (let cell = 0; cell < CELLS * CELLS; cell++) (begins[cell + 1] as number) += begins[cell] as number;
  const next = begins.slice(0, -1);
  const order = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    const cell = cellOf(x[at] as number, y[at] as number);
    order[next[cell] as number] = at;
    (next[cell] as number)++;
  }
  return { x, y, begins, order };
}

/** The point with the least `cost`, from the cells around a place outwards. `cost` is at least the distance. */
function least(grid: Grid, x: number, y: number, within: number, cost: (dx: number, dy: number, at: number) => number): number {
  const column = Math.max(0, Math.min(CELLS - 1, x >> SHIFT));
  const row = Math.max(0, Math.min(CELLS - 1, y >> SHIFT));
  let best = -1;
  let bound = within;
  for (let ring = 0; ring < CELLS; ring++) {
    // No point of a farther ring is nearer than that.
    if ((ring - 1) << SHIFT > bound) break;
    for (let r = row - ring; r <= row + ring; r++) {
      if (r < 0 || r >= CELLS) continue;
      const edge = r === row - ring || r === row + ring;
      for (let c = column - ring; c <= column + ring; c += edge || ring === 0 ? 1 : 2 * ring) {
        if (c < 0 || c >= CELLS) continue;
        const cell = r * CELLS + c;
        for (let slot = grid.begins[cell] as number; slot < (grid.begins[cell + 1] as number); slot++) {
          const at = grid.order[slot] as number;
          const reached = cost((grid.x[at] as number) - x, (grid.y[at] as number) - y, at);
          if (reached < bound) {
            bound = reached;
            best = at;
          }
        }
      }
    }
  }
  return best;
}

/** The nearest point, at most `within` away; -1: none. */
export const nearest = (grid: Grid, x: number, y: number, within: number, passes: (at: number) => boolean = () => true) =>
  least(grid, x, y, within, (dx, dy, at) => (passes(at) ? Math.hypot(dx, dy) : Number.POSITIVE_INFINITY));

export type Direction = "left" | "right" | "up" | "down";

/** The nearest point that way, in the quarter around the direction; -1: none. What lies aside counts as farther. */
export function toward(grid: Grid, from: number, direction: Direction, passes: (at: number) => boolean = () => true): number {
  const sign = direction === "left" || direction === "up" ? -1 : 1;
  const level = direction === "left" || direction === "right";
  return least(grid, grid.x[from] as number, grid.y[from] as number, Number.POSITIVE_INFINITY, (dx, dy, at) => {
    const ahead = (level ? dx : dy) * sign;
    const aside = Math.abs(level ? dy : dx);
    if (at === from || ahead <= 0 || aside > ahead || !passes(at)) return Number.POSITIVE_INFINITY;
    return Math.hypot(ahead, aside) + aside;
  });
}
