// Changes that a person makes here. All but a purge can be taken back; a conflict shows both versions.

import * as api from "../api/client.ts";
import { ApiError, worded } from "../api/errors.ts";
import type { Entry } from "../api/types.ts";
import { counted, linkPhrase } from "../text/format.ts";
import * as drafts from "./drafts.ts";
import * as list from "./list.ts";
import * as live from "./live.ts";
import { type Done, get, set } from "./store.ts";

const MOST_DONE = 200;
/** The versions that changes made here, by memory. */
const own = new Map<number, number>();
let key = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, { error = false, done = null as Done | null } = {}) {
  clearTimeout(timer);
  const toast = { key: ++key, text, error, done };
  set({ toast, announced: done ? `${text}. Press u to undo.` : text });
  timer = setTimeout(() => {
    if (get().toast === toast) set({ toast: null });
  }, error ? 15_000 : 10_000);
}

export const fail = (error: unknown) => say(worded(error), { error: true });

export function did(label: string, undo: Done["undo"]) {
  const done: Done = { key: ++key, label, at: Date.now(), undo, undone: false };
  set({ done: [done, ...get().done].slice(0, MOST_DONE) });
  say(label, { done: undo ? done : null });
  live.changed();
}

/** Takes a change back: the given one, or the last that was not yet. */
export async function undo(done = get().done.find((one) => one.undo && !one.undone)) {
  if (!done?.undo || done.undone) return say("There is nothing to undo here");
  try {
    await done.undo();
    set({ done: get().done.map((one) => (one.key === done.key ? { ...one, undone: true } : one)) });
    say(`Undone: ${done.label}`);
    live.changed();
  } catch (error) {
    fail(error);
  }
}

interface Attempt {
  what: string;
  /** The text that this change would give, to be compared when somebody else was faster. */
  mine?: string;
  run: (version: number | undefined) => Promise<void>;
}

/** Makes a change; a conflict opens both versions and lets it go on with the newer one. */
export async function attempt({ what, mine = "", run }: Attempt, version?: number): Promise<boolean> {
  try {
    await run(version);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.kind === "conflict" && error.entry && version !== undefined) {
      const now = error.entry;
      // What was faster is a change made here, which the screen is about to show.
      if (now.version > version && own.get(now.id) === now.version) return attempt({ what, mine, run }, now.version);
      set({ dialog: { kind: "conflict", what, mine, now, again: (newer) => void attempt({ what, mine, run }, newer) } });
    } else fail(error);
    if (error instanceof ApiError && error.kind === "conflict") live.changed();
    return false;
  }
}

/** Goes back to the version before a change, if nobody has changed it since. */
export const undoTo = (id: number, before: number, after: number) => async () => {
  checked(await api.rollback({ id, version: before, expect: after }));
};

/** Undoes a deletion, and nothing else: somebody may have been faster. */
export const undelete = async (id: number) => {
  const { recoverable } = await api.memory({ id });
  if (!recoverable) throw new ApiError("conflict", `Memory ${id} is restored already.`, 409);
  await api.undo({ id });
};

/** Deletes what was saved or brought back here, if nobody has changed it since. */
const deleteAgain = (id: number, version: number) => async () => {
  await api.remove({ id, expect: version });
  list.drop([id]);
};

/** What `update` and `rollback` answer when there is no such memory. */
function checked<T extends { error?: string }>(result: T): T {
  if (result.error) throw new ApiError("notFound", result.error, 404);
  return result;
}

export type Fields = Partial<Pick<Entry, "content" | "entryType" | "importance" | "tags" | "context" | "expiresAt">>;

export const edit = (entry: Pick<Entry, "id" | "version">, fields: Fields) =>
  attempt({
    what: `Change memory ${entry.id}`,
    mine: fields.content,
    run: async (version = entry.version) => {
      const result = checked(await api.update({ id: entry.id, expect: version, ...fields }));
      if (result.version) own.set(entry.id, result.version);
      drafts.forget(entry.id);
      set({ dialog: null });
      did(`Changed memory ${entry.id}`, undoTo(entry.id, version, result.version ?? version + 1));
    },
  }, entry.version);

export const remove = (entry: Pick<Entry, "id" | "version">) =>
  attempt({
    what: `Delete memory ${entry.id}`,
    run: async (version = entry.version) => {
      const { deleted } = await api.remove({ id: entry.id, expect: version });
      if (!deleted) throw new ApiError("notFound", `Memory ${entry.id} no longer exists.`, 404);
      list.drop([entry.id]);
      did(`Deleted memory ${entry.id}`, () => undelete(entry.id));
    },
  }, entry.version);

export const rollback = (entry: Pick<Entry, "id" | "version">, to: number, content: string) =>
  attempt({
    what: `Restore version ${to} of memory ${entry.id}`,
    mine: content,
    run: async (version = entry.version) => {
      const result = checked(await api.rollback({ id: entry.id, version: to, expect: version }));
      if (result.version) own.set(entry.id, result.version);
      did(`Restored version ${to} of memory ${entry.id}`, undoTo(entry.id, version, result.version ?? version + 1));
    },
  }, entry.version);

export const add = (fields: Record<string, unknown>) =>
  attempt({
    what: "Save a memory",
    run: async () => {
      const { id, duplicate } = await api.add(fields);
      drafts.forget("new");
      set({ dialog: null });
      if (duplicate) return say(`Memory ${id} already has this text`);
      did(`Saved memory ${id}`, deleteAgain(id, 1));
    },
  });

export const link = (fromId: number, linkType: string, toId: number) =>
  attempt({
    what: `Link memory ${fromId}`,
    run: async () => {
      const { created } = await api.link({ fromId, toId, linkType });
      set({ dialog: null });
      const label = `Memory ${fromId} ${linkPhrase(linkType, false)} ${toId}`;
      if (!created) return say(`${label}: already linked`);
      did(label, () => api.unlink({ fromId, toId, linkType }));
    },
  });

export const unlink = (fromId: number, linkType: string, toId: number) =>
  attempt({
    what: `Unlink memory ${fromId}`,
    run: async () => {
      await api.unlink({ fromId, toId, linkType });
      did(`Removed the link from ${fromId} to ${toId}`, () => api.link({ fromId, toId, linkType }));
    },
  });

/** Takes back the last that was done to a memory: deletion, expiry, a change. */
export const bringBack = (id: number) =>
  attempt({
    what: `Restore memory ${id}`,
    run: async () => {
      await undelete(id);
      const { entry } = await api.memory({ id });
      did(`Restored memory ${id}`, deleteAgain(id, entry.version));
    },
  });

export const purge = (what: { ids: number[] } | { text: string }, name: string) =>
  attempt({
    what: `Purge ${name}`,
    run: async () => {
      const { records, versions, queries, complete, remainingFiles = [], stays = [] } = await api.purge({ ...what, confirm: true });
      if ("ids" in what) list.drop(what.ids);
      // What could bring its text back is forgotten here, too.
      drafts.forgetAll();
      set({ dialog: null, done: get().done.map((one) => ({ ...one, undo: null })) });
      const files = complete ? "" : " Some files are still being purged in the background.";
      const needed = stays.length > 0 ? ` Kept, because the store needs it: ${stays.join(", ")}.` : "";
      const rest = files + needed + (remainingFiles.length > 0 ? ` It may still be in ${remainingFiles.join(", ")}.` : "");
      did(
        `Purged ${name}: ${counted(records, "memory", "memories")}, ${counted(versions, "earlier version")}, ${counted(queries, "search", "searches")}.${rest}`,
        null,
      );
    },
  });
