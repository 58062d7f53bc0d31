// Loads the list: all that pass the filters, or what a search finds. Words are searched at once, meaning after a short silence.

import * as api from "../api/client.ts";
import { ApiError, isAborted, worded } from "../api/errors.ts";
import type { Brief, FindHit } from "../api/types.ts";
import { counted } from "../text/format.ts";
import { type Address, listPart } from "./address.ts";
import { idsWithin } from "./area.ts";
import { asked, PAGE } from "./asked.ts";
import { isEmpty, listParams } from "./filters.ts";
import { merged } from "./merged.ts";
import { isScrolled } from "./scrolled.ts";
import { EMPTY_LIST, get, isFar, type ListState, set } from "./store.ts";

type Item = Brief | FindHit;
type Listed = ListState["items"][number];

const SILENCE = 80;
/** An area of the map is searched within so many results. */
const WITHIN_AREA = 1000;
/** So many rows around those that are drawn are kept whole; of the others, their ids. */
const NEAR = 500;
/** Of so many around those that are drawn, those that were left are read again. */
const AHEAD = 40;
/** So many rows before the end the next page is loaded. */
const EARLY = 20;
/** So many are shown first, found by words alone: more than are seen at once. */
const FIRST = 20;
/** What the API gives at once. */
const LARGEST_PAGE = 1000;
/** Of a memory that is read whole. */
const SNIPPET = 700;
const AT_ONCE = 6;
/** So many of those that were left are read before it is looked which rows are drawn now. */
const ROUND = 24;
/** After a failure they are read again, in milliseconds. */
const RETRY = 2000;

let running: AbortController | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
/** It changed while it was loading. */
let stale = false;
/** Which rows are drawn. */
let drawn = { from: 0, to: 0 };
let filling = false;

const change = (part: Partial<ListState>) => set({ list: { ...get().list, ...part } });

/** Loads the list for the address. `typing`: more keys may follow. */
export function load(typing = false) {
  running?.abort();
  clearTimeout(timer);
  running = new AbortController();
  const { signal } = running;
  const { address } = get();
  if (isEmpty(address.filters)) return set({ list: { ...EMPTY_LIST, loading: false } });
  change({ loading: true, error: null, waiting: 0, more: null });
  if (address.query.trim() === "") return attempt(address.area.length > 0 ? loadArea(address, signal) : page(address, signal, {}));
  if (!typing || address.mode === "keyword") return attempt(find(address, signal));
  // What the words find is shown until the whole answer is there, and not any more then.
  const words = new AbortController();
  signal.addEventListener("abort", () => words.abort());
  find({ ...address, mode: "keyword" }, words.signal, true).catch(() => {});
  timer = setTimeout(() => attempt(find(address, signal).finally(() => words.abort())), SILENCE);
}

function attempt(task: Promise<void>) {
  task
    .catch((error) => {
      if (!isAborted(error)) change({ loading: false, error: worded(error) });
    })
    .finally(() => {
      if (!stale || get().list.loading) return;
      stale = false;
      void refresh();
    });
}

async function find(address: Address, signal: AbortSignal, isFirst = false) {
  const began = performance.now();
  const { query, filters, area } = address;
  const params = asked(address, area.length > 0 ? WITHIN_AREA : isFirst ? FIRST : PAGE);
  const [result, ids] = await Promise.all([
    api.search(params, signal),
    area.length > 0 ? idsWithin(area, filters, signal) : null,
  ]);
  if (signal.aborted) return;
  const items = ids ? result.results.filter(({ id }) => ids.has(id)) : result.results;
  const counts = items.length === 0 ? "Nothing found" : counted(items.length, "result");
  const found = result.noAnswer ? `Probably not here: ${counts}` : counts;
  set({
    list: {
      ...EMPTY_LIST,
      of: listPart(get().address),
      items,
      search: result,
      weaker: ids ? 0 : (result.weaker ?? 0),
      query,
      loading: isFirst,
      milliseconds: performance.now() - began,
      more: ids || isFirst ? null : further(params, result.nextCursor, signal),
    },
    ...(isFirst ? {} : { announced: `${found} for ${query}` }),
  });
}

/** Loads the next page of a search. */
function further(params: Record<string, unknown>, cursor: string | null | undefined, signal: AbortSignal): (() => void) | null {
  if (!cursor) return null;
  return more(async () => {
    const result = await api.search({ ...params, cursor }, signal);
    if (signal.aborted) return;
    append(result.results, further(params, result.nextCursor, signal));
    change({ weaker: result.weaker ?? 0 });
    if (!result.nextCursor && result.warnings) change({ end: result.warnings.join(" ") });
  });
}

const more = (task: () => Promise<void>) => () => {
  change({ loading: true, more: null });
  attempt(task());
};

function append(items: Item[], next: ListState["more"]) {
  const before = get().list.items;
  const known = new Set(before.map(({ id }) => id));
  const all = [...before, ...items.filter(({ id }) => !known.has(id))];
  change({ items: bounded(all), loading: false, more: next });
}

/** Keeps whole what is near the rows that are drawn. What a search found is kept: it says more than the memory, and ends soon. */
function bounded(items: Listed[]): Listed[] {
  if (get().list.search) return items;
  const [from, to] = [drawn.from - NEAR, drawn.to + NEAR + LARGEST_PAGE];
  return items.map((item, at) => ((at >= from && at < to) || isFar(item) ? item : { id: item.id }));
}

/** Rows come into view: loads the next page when they are the last, and reads again those that were left. */
export function look(from: number, to: number) {
  drawn = { from, to };
  const { items, more } = get().list;
  if (more && to >= items.length - EARLY) more();
  void fill();
}

async function fill() {
  const signal = running?.signal;
  const far = () => {
    const { items } = get().list;
    const { from, to } = drawn;
    // Those that are drawn, then those below and above.
    return [...items.slice(from, to + AHEAD), ...items.slice(Math.max(0, from - AHEAD), from)].filter(isFar).slice(0, ROUND);
  };
  if (filling || !signal) return;
  filling = true;
  try {
    for (let wanted = far(); wanted.length > 0 && !signal.aborted; wanted = far()) {
      const read = new Map((await byIds(wanted.map(({ id }) => id), signal)).map((item) => [item.id, item]));
      if (signal.aborted) return;
      const asked = new Set(wanted.map(({ id }) => id));
      // Those that are gone leave.
      change({ items: bounded(get().list.items.flatMap((item) => (asked.has(item.id) ? read.get(item.id) ?? [] : [item]))) });
    }
  } catch {
    if (!signal.aborted) setTimeout(fill, RETRY);
  } finally {
    filling = false;
    if (signal.aborted && running && !running.signal.aborted) void fill();
  }
}

async function page(address: Address, signal: AbortSignal, from: { after?: number; offset?: number }) {
  // The further somebody scrolls, the more at once.
  const isFirst = from.after === undefined && from.offset === undefined;
  const limit = isFirst ? PAGE : Math.min(LARGEST_PAGE, Math.max(PAGE, get().list.items.length));
  const result = await api.list({ ...listParams(address.filters), limit, ...from }, signal);
  if (signal.aborted) return;
  const { next: after, nextOffset: offset } = result;
  const isLast = after == null && offset == null;
  const next = isLast ? null : more(() => page(address, signal, after == null ? { offset } : { after }));
  if (isFirst) {
    set({ list: { ...EMPTY_LIST, of: listPart(get().address), items: result.results, loading: false, more: next } });
  } else append(result.results, next);
}

/** The memories in an area of the map, the newest first. */
async function loadArea({ area, filters }: Address, signal: AbortSignal) {
  const ids = [...(await idsWithin(area, filters, signal))].sort((a, b) => b - a);
  const show = async (from: number) => {
    const items = await byIds(ids.slice(from, from + PAGE), signal);
    if (signal.aborted) return;
    const end = from + PAGE;
    const next = end < ids.length ? more(() => show(end)) : null;
    if (from === 0) set({ list: { ...EMPTY_LIST, of: listPart(get().address), items, loading: false, more: next } });
    else append(items, next);
  };
  await show(0);
}

/** Reads some memories, a few at a time; those that are gone meanwhile are left out. */
async function byIds(ids: number[], signal: AbortSignal): Promise<Item[]> {
  const items: Item[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const read = ids.slice(from, from + AT_ONCE).map(async (id) => {
      try {
        const { entry, recoverable } = await api.memory({ id }, signal);
        return recoverable && !ofGone() ? [] : [{ ...entry, content: entry.content.slice(0, SNIPPET), truncated: entry.content.length > SNIPPET } as Item];
      } catch (error) {
        if (error instanceof ApiError && error.kind === "notFound") return [];
        throw error;
      }
    });
    items.push(...(await Promise.all(read)).flat());
  }
  return items;
}

/** Whether the list is of memories that are gone. */
const ofGone = () => ["deleted", "expired"].includes(get().address.filters.state);

/** Loads again after a change, without moving what is read: new ones wait above if the list is scrolled. */
export async function refresh() {
  const { list, address } = get();
  if (list.loading) {
    stale = true;
    return;
  }
  if (list.error || isEmpty(address.filters)) return load();
  if (address.area.length > 0) return isScrolled() ? undefined : load();
  const signal = running?.signal;
  const limit = Math.min(LARGEST_PAGE, Math.max(PAGE, list.items.length));
  try {
    const isSearch = address.query.trim() !== "";
    const [fresh, near] = await Promise.all([
      isSearch ? api.search(asked(address, limit), signal) : api.list({ ...listParams(address.filters), limit }, signal),
      isSearch ? null : below(list.items, limit, address, signal),
    ]);
    if (signal?.aborted) return;
    const now = get().list;
    if (now.loading) {
      stale = true;
      return;
    }
    // Rows may have left, been read or come below meanwhile.
    const present = new Set(now.items.map(({ id }) => id));
    const left = new Set(list.items.filter(({ id }) => !present.has(id)).map(({ id }) => id));
    const results = (fresh.results as Item[]).filter(({ id }) => !left.has(id));
    const { items, waiting } = merged<Listed>(now.items, results, limit - (fresh.results.length - results.length), isScrolled());
    change({ items: bounded(near ? near(items) : items), waiting });
  } catch {
    // The list stays as it is; the next change, or the reader, loads it again.
  }
}

/** Reads again the rows that are drawn where they are below the first `limit`; puts them in the list. */
async function below(items: readonly Listed[], limit: number, { filters }: Address, signal?: AbortSignal) {
  const from = Math.max(limit, drawn.from - AHEAD);
  const asked = items.slice(from, drawn.to + AHEAD);
  // Other lists are not in the order of the numbers.
  if (asked.length === 0 || !["", "superseded"].includes(filters.state)) return null;
  const { results } = await api.list({ ...listParams(filters), after: items[from - 1]?.id, limit: asked.length }, signal);
  const read = new Map<number, Listed>(results.map((item) => [item.id, item]));
  const end = results.length < asked.length ? 0 : (results.at(-1)?.id ?? 0);
  const gone = new Set(asked.filter(({ id }) => id >= end && !read.has(id)).map(({ id }) => id));
  return (all: Listed[]) => all.flatMap((item) => read.get(item.id) ?? (gone.has(item.id) ? [] : [item]));
}

/** What was deleted here is not in the list any more. */
export function drop(ids: readonly number[]) {
  const { list, address } = get();
  if (address.filters.state === "deleted") return;
  change({ items: list.items.filter(({ id }) => !ids.includes(id)) });
}
