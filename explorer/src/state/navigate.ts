// Moves between addresses.

import { type Address, format, parse } from "./address.ts";
import { type Filters, NO_FILTERS } from "./filters.ts";
import { get, set } from "./store.ts";

type Then = (now: Address, before: Address) => void;
const followers: Then[] = [];

/** Calls at each change of the address. */
export const onAddress = (then: Then) => {
  followers.push(then);
};

function enter(address: Address) {
  const before = get().address;
  set({ address });
  for (const then of followers) then(address, before);
}

/** Shows an address. A new one is a step for Back; typing replaces the last step instead. */
export function go(change: Partial<Address>, how: "step" | "replace" = "step") {
  const address = { ...get().address, ...change };
  const hash = format(address);
  if (hash === format(get().address) && location.hash === hash) return;
  if (how === "step") history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
  enter(address);
}

export const hrefOf = (change: Partial<Address>) => format({ ...get().address, ...change });

export const filter = (change: Partial<Filters>) => go({ filters: { ...get().address.filters, ...change } });
export const clearFilters = () => go({ filters: NO_FILTERS, area: [] });
export const openMemory = (id: number, tab: Address["tab"] = "text") => go({ id, tab });
export const closeMemory = () => go({ id: null, tab: "text" });

/** Begins with the address that the page was opened with. */
export function start() {
  set({ address: parse(location.hash) });
  addEventListener("popstate", () => enter(parse(location.hash)));
}
