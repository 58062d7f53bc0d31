// The store as a whole: counts, names, the map.

import * as api from "../api/client.ts";
import { worded } from "../api/errors.ts";
import { get, set } from "./store.ts";

let asked = 0;

/** Loads it; of several answers under way only that to the last question counts. */
export async function load() {
  const mine = ++asked;
  try {
    const overview = await api.overview({});
    if (mine === asked) set({ overview, overviewError: null });
  } catch (error) {
    if (mine === asked) set({ overviewError: worded(error) });
  }
}

export const readOnly = () => get().overview?.readOnly ?? false;
