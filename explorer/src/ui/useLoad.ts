// Loads what a part of the page shows, again when what it depends on changes.

import { useEffect, useState } from "preact/hooks";
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
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ key, data: before.key === key ? before.data : null, error: null, loading: true }));
    const show = (data: T) => {
      if (!abort.signal.aborted) setState({ key, data, error: null, loading: true });
    };
    const first = state.key !== key || state.data === null;
    load(abort.signal, first ? show : () => {}).then(
      (data) => setState({ key, data, error: null, loading: false }),
      (error) => {
        if (!isAborted(error)) setState((before) => ({ ...before, error: worded(error), loading: false }));
      },
    );
    return () => abort.abort();
  }, [key, revision, tries]);
  return { ...state, data: state.key === key ? state.data : null, again: () => setTries(tries + 1) };
}
