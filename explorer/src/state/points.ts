// The points of the map, loaded once and again when there are newer ones.

import { post } from "../api/client.ts";
import { decode, type Points } from "../map/points.ts";

let points: Points | undefined;
let loading: Promise<Points> | undefined;
let next: Promise<Points> | undefined;

export const knownPoints = () => points;

/** The points; those that are there already unless `fresh`. */
export function loadPoints(fresh = false): Promise<Points> {
  if (points && !fresh) return Promise.resolve(points);
  if (!loading) {
    loading = ask().finally(() => {
      loading = undefined;
    });
    return loading;
  }
  if (!fresh) return loading;
  // What was written since that request is in the next.
  next ??= loading.catch(() => {}).then(() => {
    next = undefined;
    return loadPoints(true);
  });
  return next;
}

async function ask(): Promise<Points> {
  const response = await post("map", points ? { have: points.generation } : {});
  if (response.status === 204 && points) return points;
  points = decode(await response.arrayBuffer());
  return points;
}
