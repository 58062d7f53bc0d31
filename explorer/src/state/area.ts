// The memories in an area of the map that pass the filters.

import { inside } from "../map/lasso.ts";
import type { Filters } from "./filters.ts";
import { passing } from "./mask.ts";

export async function idsWithin(area: number[], filters: Filters, signal?: AbortSignal): Promise<Set<number>> {
  const { points, mask } = await passing(filters, signal);
  const ids = new Set<number>();
  for (const at of inside(points, area)) if (!mask || mask[at]) ids.add(points.id[at] as number);
  return ids;
}
