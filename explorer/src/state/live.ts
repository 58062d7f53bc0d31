// What other processes write appears by itself.

import { listen } from "../api/events.ts";
import type { MapStateResult } from "../api/types.ts";
import * as list from "./list.ts";
import * as memory from "./memory.ts";
import * as overview from "./overview.ts";
import { paced } from "./pace.ts";
import { get, set } from "./store.ts";

const TOGETHER = 150;
const EVERY = 1000;

const again = paced(refresh, { together: TOGETHER, every: EVERY, isHidden: () => document.hidden });

export function start() {
  document.addEventListener("visibilitychange", again.resume);
  void listen({
    event: ({ event, data }) => {
      if (event === "changed") again.ask();
      if (event === "map") mapState(data);
    },
    state: (live) => {
      set({ live });
      // What was missed before it was open.
      if (live) again.ask();
    },
  });
}

/** A change was made here: what is shown is loaded again at once. */
export const changed = () => again.ask(true);

/** Loads again what is shown. */
async function refresh() {
  set({ revision: get().revision + 1 });
  const isListed = get().address.view === "list" || get().address.query !== "";
  await Promise.all([overview.load(), memory.refresh(), isListed ? list.refresh() : undefined]);
}

function mapState(data: string) {
  const now = get().overview;
  if (!now) return;
  try {
    set({ overview: { ...now, map: JSON.parse(data) as MapStateResult } });
  } catch {
    void overview.load();
  }
}
