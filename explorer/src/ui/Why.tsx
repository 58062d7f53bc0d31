// "Why not this one?": what a search makes of any memory, and the rule that kept it out.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api/client.ts";
import { isAborted, worded } from "../api/errors.ts";
import type { Entry, ExplainResult, FindHit } from "../api/types.ts";
import { asked } from "../state/asked.ts";
import { openMemory } from "../state/navigate.ts";
import { get, set, useStore } from "../state/store.ts";
import { number, score } from "../text/format.ts";
import { beginning } from "../text/visible.ts";
import { Bar } from "./Score.tsx";
import { Marked } from "./Text.tsx";

const ask = (query: string, id: number, signal?: AbortSignal) =>
  api.explain({ id, ...asked({ ...get().address, query }) }, signal);

/** In an open memory: what the search that is shown makes of it. */
export function WhyHere({ entry, isGone }: { entry: Entry; isGone: boolean }) {
  const query = useStore((state) => state.list.query || state.address.query).trim();
  const how = useStore((state) => JSON.stringify(asked({ ...state.address, query })));
  const [result, setResult] = useState<ExplainResult | string | null>(null);
  useEffect(() => {
    setResult(null);
    if (!query) return;
    const abort = new AbortController();
    ask(query, entry.id, abort.signal).then(setResult, (error) => {
      if (!isAborted(error)) setResult(worded(error));
    });
    return () => abort.abort();
  }, [how, entry.id, entry.version, isGone]);
  if (!query || !result) return null;
  return (
    <section class="why" aria-label="Ranking details">
      <h3>For “{beginning(query, 60)}”</h3>
      {typeof result === "string" ? <p class="quiet">{result}</p> : <Answer why={result} />}
    </section>
  );
}

export function Answer({ why, open = false }: { why: ExplainResult; open?: boolean }) {
  const place = (rank: number | null) => (rank === null ? "–" : number(rank));
  return (
    <>
      <p class={why.found ? "answer found" : "answer"}>{why.message}</p>
      {(why.vectorPart !== null || why.keywordPart !== null) && (
        <details open={open}>
          <summary>Scores</summary>
          <Bar vectorPart={why.vectorPart} keywordPart={why.keywordPart} />
          <table class="sides">
            <thead>
              <tr><th scope="col">Side</th><th scope="col">Value</th><th scope="col">Rank</th><th scope="col">Part of the score</th></tr>
            </thead>
            <tbody>
              <tr>
                <th scope="row" class="side meaning">Vector (cosine)</th>
                <td>{score(why.vectorScore, 3)}</td><td>{place(why.vectorRank)}</td><td>{score(why.vectorPart)}</td>
              </tr>
              <tr>
                <th scope="row" class="side words">Keyword (BM25)</th>
                <td>{score(why.keywordScore, 2)}</td><td>{place(why.keywordRank)}</td><td>{score(why.keywordPart)}</td>
              </tr>
              <tr>
                <th scope="row">Together</th>
                <td>{score(why.score)}</td><td>{place(why.rank)}</td><td>relevance {score(why.relevance)}</td>
              </tr>
            </tbody>
          </table>
        </details>
      )}
      {why.words.length > 0 && <p class="quiet">Matching words: {why.words.map((word) => beginning(word, 30)).join(", ")}</p>}
    </>
  );
}

/** Asks for any memory, by its number or a piece of its text. */
export function WhyForm({ query: given }: { query: string }) {
  const [query, setQuery] = useState(given);
  const [which, setWhich] = useState("");
  const [candidates, setCandidates] = useState<FindHit[] | null>(null);
  const [answer, setAnswer] = useState<ExplainResult | null>(null);
  const [error, setError] = useState("");
  const attempt = async (task: () => Promise<void>) => {
    setError("");
    setAnswer(null);
    try {
      await task();
    } catch (failed) {
      setError(worded(failed));
    }
  };
  const about = (id: number) => attempt(async () => setAnswer(await ask(query, id)));
  const submit = () =>
    attempt(async () => {
      setCandidates(null);
      const id = /^#?(\d+)$/.exec(which.trim())?.[1];
      if (id) return setAnswer(await ask(query, Number(id)));
      const found = await api.search({ query: which.slice(0, 2000), limit: 5, includeSuperseded: true });
      if (found.results.length === 0) return setError("No memory has this text. If it was never saved, save it now.");
      setCandidates(found.results);
    });
  return (
    <form onSubmit={(event) => {
      event.preventDefault();
      void submit();
    }}>
      <label class="field">
        The search
        <input type="text" required value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
      </label>
      <label class="field">
        The missing memory: its id, or some of its text
        <textarea rows={2} required value={which} onInput={(event) => setWhich(event.currentTarget.value)} />
      </label>
      <p class="actions"><button type="submit" class="primary">Why not?</button></p>
      <div aria-live="polite">
        {error && <p class="warning">{error}</p>}
        {candidates && (
          <>
            <p>Which one?</p>
            <ul class="candidates">
              {candidates.map(({ id, content }) => (
                <li key={id}>
                  <button type="button" onClick={() => void about(id)}>#{id} <Marked text={beginning(content ?? "", 140)} /></button>
                </li>
              ))}
            </ul>
          </>
        )}
        {answer && (
          <section class="why">
            <Answer why={answer} open />
            <button type="button" onClick={() => {
              set({ dialog: null });
              openMemory(answer.id);
            }}>Open memory {answer.id}</button>
          </section>
        )}
      </div>
    </form>
  );
}
