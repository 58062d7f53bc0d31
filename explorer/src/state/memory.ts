// The memory that is open.

import * as api from "../api/client.ts";
import { ApiError, isAborted, worded } from "../api/errors.ts";
import { get, set } from "./store.ts";

let running: AbortController | undefined;

/** Loads the memory of the address; `quiet`: what is shown stays until it is there. */
export async function load(quiet = false) {
  running?.abort();
  const { id } = get().address;
  if (id === null) return set({ memory: null });
  running = new AbortController();
  const { signal } = running;
  const before = get().memory;
  if (!quiet || before?.id !== id) set({ memory: { id, loading: true, result: null, error: null, changed: false } });
  try {
    const result = await api.memory({ id }, signal);
    if (!signal.aborted) set({ memory: { id, loading: false, result, error: null, changed: false } });
  } catch (error) {
    if (isAborted(error)) return;
    const told = error instanceof ApiError ? error : new ApiError("internal", worded(error), 0);
    set({ memory: { id, loading: false, result: null, error: told, changed: false } });
  }
}

/** After a change elsewhere. What is being edited is kept, and the editor says so. */
export async function refresh() {
  const { memory, dialog } = get();
  if (!memory) return;
  if (dialog?.kind === "edit" && dialog.entry.id === memory.id) set({ memory: { ...memory, changed: true } });
  else await load(true);
}
