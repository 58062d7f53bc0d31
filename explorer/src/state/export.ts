// Writes what the list shows to a file of the reader: JSON Lines, as memorist import reads them.

import * as api from "../api/client.ts";
import type { ListResult } from "../api/types.ts";
import { counted } from "../text/format.ts";
import { idsWithin } from "./area.ts";
import { fail, say } from "./change.ts";
import { type Filters, listParams } from "./filters.ts";
import { get } from "./store.ts";

/** So many are named at once. */
const MOST = 1000;

export async function save() {
  const { address, list } = get();
  try {
    // A search has no end: what it found so far is written.
    const isPart = address.query.trim() !== "" && list.more !== null;
    const ids = address.query.trim()
      ? list.items.map(({ id }) => id)
      : address.area.length > 0
        ? [...(await idsWithin(address.area, address.filters))]
        // A state is for lists alone.
        : address.filters.state ? await listed(address.filters) : null;
    const file = ids ? await named(ids) : { blob: await api.exported(listParams(address.filters)) };
    const url = URL.createObjectURL(file.blob);
    const link = document.createElement("a");
    link.href = url;
    link.download = "memories.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    const what = "count" in file ? `${isPart ? "The first " : ""}${counted(file.count, "memory", "memories")} saved` : "Saved";
    say(`${what} as memories.jsonl, where the browser keeps downloads`);
  } catch (error) {
    fail(error);
  }
}

/** All that pass, not only those that were scrolled to. */
async function listed(filters: Filters): Promise<number[]> {
  const ids: number[] = [];
  let from: { after?: number; offset?: number } | null = {};
  while (from) {
    const { results, next, nextOffset }: ListResult = await api.list({ ...listParams(filters), limit: MOST, ...from });
    for (const { id } of results) ids.push(id);
    from = next != null ? { after: next } : nextOffset != null ? { offset: nextOffset } : null;
  }
  return ids;
}

/** The lines of these, as one file, and of how many memories they are: some may be gone meanwhile. */
export async function named(ids: readonly number[]): Promise<{ blob: Blob; count: number }> {
  const parts: string[] = [];
  let count = 0;
  for (let from = 0; from === 0 || from < ids.length; from += MOST) {
    const part = await (await api.exported({ ids: ids.slice(from, from + MOST) })).text();
    // One header is enough.
    parts.push(from === 0 ? part : part.slice(part.indexOf("\n") + 1));
    count += part.match(/^\{"type":"record"/gm)?.length ?? 0;
  }
  return { blob: new Blob(parts), count };
}
