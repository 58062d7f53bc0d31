// What other processes write appears by itself.

import { listen } from "../api/events.ts";
import type { MapState } from "../api/types.ts";
import * as list from "./list.ts";
import * as memory from "./memory.ts";
import * as overview from "./overview.ts";
import { get, set } from "./store.ts";

const TOGETHER = 150;
let pending: ReturnType<typeof setTimeout> | undefined;

export function start() {
  void listen({
    event: ({ event, data }) => {
      if (event === "changed") changed();
      if (event === "map") mapState(data);
    },
    state: (live) => {
      set({ live });
      // What was missed before it was open.
      if (live) changed();
    },
  });
}

/** Loads again what is shown; several changes in a row are one. */
export function changed() {
  pending ??= setTimeout(() => {
    pending = undefined;
    set({ revision: get().revision + 1 });
    void overview.load();
    memory.refresh();
    if (get().address.view === "list" || get().address.query) void list.refresh(isScrolled());
  }, TOGETHER);
}

/** In a narrow window the page is scrolled, else its middle. */
const isScrolled = () => Math.max(document.getElementById("middle")?.scrollTop ?? 0, scrollY) > 8;

function mapState(data: string) {
  const now = get().overview;
  if (!now) return;
  try {
    set({ overview: { ...now, map: JSON.parse(data) as MapState } });
  } catch {
    void overview.load();
  }
}
