// Which points of the map pass the filters.

import { post } from "../api/client.ts";
import { decodeMask, type Points } from "../map/points.ts";
import { countSet, type Filters, isEmpty, params } from "./filters.ts";
import { loadPoints } from "./points.ts";

export interface Passing {
  points: Points;
  /** A byte a point; nothing: all pass. */
  mask: Uint8Array | null;
}

/** The points, and which of them pass: of one generation, newer points are loaded for a newer mask. */
export async function passing(filters: Filters, signal?: AbortSignal): Promise<Passing> {
  let points = await loadPoints();
  if (countSet({ ...filters, state: "" }) === 0) return { points, mask: null };
  if (isEmpty(filters)) return { points, mask: new Uint8Array(points.count) };
  for (let tries = 0; ; tries++) {
    const response = await post("mapFilter", params(filters), signal);
    const { generation, mask } = decodeMask(await response.arrayBuffer());
    if (generation === points.generation && mask.length === points.count) return { points, mask };
    if (tries === 2) throw new Error("The map changes faster than it can be filtered. Try again in a moment.");
    points = await loadPoints(true);
  }
}
