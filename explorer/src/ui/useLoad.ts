// Loads what a part of the page shows, again when what it depends on changes.

import { useEffect, useRef, useState } from "preact/hooks";
import { isAborted, worded } from "../api/errors.ts";

export interface Loaded<T> {
  data: T | null;
  error: string | null;
  loading: boolean;
  again: () => void;
}

/** What is there stays shown while `revision` loads it again, and is dropped when `key` is another. A long task may `show` what
 * it has so far. */
export function useLoad<T>(key: string, revision: number, load: (signal: AbortSignal, show: (part: T) => void) => Promise<T>): Loaded<T> {
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<{ key: string; data: T | null; error: string | null; loading: boolean }>({
    key,
    data: null,
    error: null,
    loading: true,
  });
  const running = useRef<{ key: string; abort: AbortController; again: boolean } | null>(null);
  const latest = useRef(load);
  latest.current = load;
  const begin = (isFirst: boolean) => {
    const mine = { key, abort: new AbortController(), again: false };
    const { signal } = mine.abort;
    running.current = mine;
    setState((before) => ({ key, data: before.key === key ? before.data : null, error: null, loading: true }));
    const show = (data: T) => {
      if (!signal.aborted && isFirst) setState({ key, data, error: null, loading: true });
    };
    latest.current(signal, show)
      .then(
        (data) => signal.aborted || setState({ key, data, error: null, loading: false }),
        (error) => {
          if (!isAborted(error)) setState((before) => ({ ...before, error: worded(error), loading: false }));
        },
      )
      .finally(function next() {
        if (running.current !== mine) return;
        // Not while nobody looks.
        if (mine.again && document.hidden) return document.addEventListener("visibilitychange", next, { once: true });
        running.current = null;
        if (mine.again && !signal.aborted) begin(false);
      });
  };
  useEffect(() => {
    // One at a time: what changes meanwhile is loaded after it.
    if (running.current?.key === key) {
      running.current.again = true;
      return;
    }
    running.current?.abort.abort();
    begin(state.key !== key || state.data === null);
  }, [key, revision, tries]);
  useEffect(() => () => running.current?.abort.abort(), []);
  return { ...state, data: state.key === key ? state.data : null, again: () => setTries(tries + 1) };
}
