// The state of the page: one value, replaced at each change, and who listens to it.

import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { ApiError } from "../api/errors.ts";
import type { Brief, Entry, FindHit, FindResult, MemoryResult, Overview } from "../api/types.ts";
import { type Address, HOME } from "./address.ts";

/** A memory of a list that was read and is far from what is seen: read again when it comes near. */
export interface Far {
  id: number;
  createdAt?: undefined;
}

export const isFar = (item: Brief | FindHit | Far): item is Far => item.createdAt === undefined;

export interface ListState {
  items: (Brief | FindHit | Far)[];
  /** Of a search: all it returned with the first page. */
  search: FindResult | null;
  /** How many more a search has that are hardly relevant. */
  weaker: number;
  /** The query that the list was loaded for, and that with all else it depends on. */
  query: string;
  of: string;
  loading: boolean;
  error: string | null;
  /** Loads the next page, if there is one. */
  more: (() => void) | null;
  /** Why a search has no further pages, though there may be more. */
  end: string | null;
  /** New ones that came while the list was read. */
  waiting: number;
  milliseconds: number | null;
}

export interface MemoryState {
  id: number;
  loading: boolean;
  result: MemoryResult | null;
  error: ApiError | null;
  /** It changed while it was edited. */
  changed: boolean;
}

/** A change that was made here, newest first. */
export interface Done {
  key: number;
  label: string;
  at: number;
  /** What takes it back; nothing if that was done. */
  undo: (() => Promise<unknown>) | null;
  undone: boolean;
}

export interface Toast {
  key: number;
  text: string;
  error: boolean;
  done: Done | null;
}

export type Dialog =
  | { kind: "help" }
  | { kind: "done" }
  | { kind: "edit"; entry: Entry }
  | { kind: "add"; content: string }
  | { kind: "purge"; id: number; content: string }
  | { kind: "link"; id: number }
  | { kind: "why"; query: string }
  | { kind: "conflict"; mine: string; what: string; now: Entry; again: (version: number) => void };

export interface State {
  session: "starting" | "open" | "closed";
  closedBecause: string | null;
  address: Address;
  overview: Overview | null;
  overviewError: string | null;
  live: boolean | null;
  /** Counts what other processes wrote: views that depend on it load again. */
  revision: number;
  list: ListState;
  memory: MemoryState | null;
  toast: Toast | null;
  done: Done[];
  dialog: Dialog | null;
  /** Said by screen readers. */
  announced: string;
  theme: "system" | "light" | "dark";
  /** What the theme comes to. */
  dark: boolean;
}

export const EMPTY_LIST: ListState = {
  items: [],
  search: null,
  weaker: 0,
  query: "",
  of: "",
  loading: true,
  error: null,
  more: null,
  end: null,
  waiting: 0,
  milliseconds: null,
};

let state: State = {
  session: "starting",
  closedBecause: null,
  address: HOME,
  overview: null,
  overviewError: null,
  live: null,
  revision: 0,
  list: EMPTY_LIST,
  memory: null,
  toast: null,
  done: [],
  dialog: null,
  announced: "",
  theme: "system",
  dark: false,
};

const listeners = new Set<() => void>();

export const get = () => state;

export function set(change: Partial<State>) {
  state = { ...state, ...change };
  for (const listener of [...listeners]) listener();
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A part of the state; the component is drawn again when it is another. */
export function useStore<T>(select: (state: State) => T): T {
  const [, again] = useReducer((count: number) => count + 1, 0);
  const value = select(state);
  const shown = useRef({ select, value });
  shown.current = { select, value };
  useLayoutEffect(() => {
    const check = () => {
      if (!Object.is(shown.current.select(state), shown.current.value)) again(0);
    };
    check();
    return subscribe(check);
  }, []);
  return value;
}

export const announce = (text: string) => set({ announced: text });
