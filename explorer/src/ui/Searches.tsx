import { useState } from "preact/hooks";
import * as api from "../api/client.ts";
import type { SearchEntry } from "../api/types.ts";
import { go, hrefOf } from "../state/navigate.ts";
import { set, useStore } from "../state/store.ts";
import { ago, number, time } from "../text/format.ts";
import { beginning } from "../text/visible.ts";
import { Status } from "./Status.tsx";
import { Name } from "./Text.tsx";
import { useLoad } from "./useLoad.ts";
import { Windowed } from "./Windowed.tsx";

const ONLY = [["", "All"], ["noAnswer", "Found nothing"], ["weak", "Found little"], ["neverOpened", "Never opened"]] as const;
const PAGE = 100;

/** What agents searched, and what they got. */
export function Searches() {
  const only = useStore((state) => state.address.only);
  const revision = useStore((state) => state.revision);
  const counts = useStore((state) => state.overview?.searches);
  const [pages, setPages] = useState(1);
  const loaded = useLoad(only, revision * 1000 + pages, (signal) => load(only, pages, signal));
  const results = loaded.data?.results ?? [];
  return (
    <section aria-labelledby="searches-title">
      <div class="head">
        <h1 id="searches-title">Searches of agents</h1>
        {counts && <span class="quiet">{number(counts.logged)} logged, {number(counts.noAnswer)} found nothing</span>}
      </div>
      <fieldset class="segments">
        <legend class="sr-only">Which searches</legend>
        {ONLY.map(([value, label]) => (
          <label key={value} class={value === only ? "chosen" : ""}>
            <input type="radio" name="only" checked={value === only} onChange={() => go({ only: value })} />
            {label}
          </label>
        ))}
      </fieldset>
      <Status {...loaded} loading={loaded.loading && !loaded.data} />
      {loaded.data && results.length === 0 && (
        <div class="empty">
          <h2>{only ? "None of these" : "No agent has searched yet"}</h2>
          {only
            ? <button type="button" onClick={() => go({ only: "" })}>Show all searches</button>
            : <p>Run <code>memorist connect</code>: searches of your agents appear here. Your own in this page are not logged.</p>}
        </div>
      )}
      {results.length > 0 && <Table results={results} isAll={loaded.data?.next == null} list={only} />}
      {loaded.data?.next != null && (
        <p class="foot"><button type="button" onClick={() => setPages(pages + 1)}>Older ones</button></p>
      )}
    </section>
  );
}

async function load(only: string, pages: number, signal: AbortSignal) {
  const results: SearchEntry[] = [];
  let before: number | null | undefined;
  for (let page = 0; page < pages; page++) {
    const result = await api.searches({ only: only || undefined, before, limit: PAGE }, signal);
    results.push(...result.results);
    before = result.next;
    if (before == null) break;
  }
  return { results, next: before };
}

function Table({ results, isAll, list }: { results: SearchEntry[]; isAll: boolean; list: string }) {
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const row = (one: SearchEntry, at: number) => (
    <tr aria-rowindex={at + 2}>
      <td>
        <a data-row={`s${one.id}`} href={hrefOf({ view: "list", query: one.query, mode: one.mode, weak: false })}>
          <bdi>{beginning(one.query, 160) || "(removed)"}</bdi>
        </a>
      </td>
      <td data-label="Found">{one.noAnswer ? <span class="tag warning">nothing</span> : number(one.hits)}</td>
      <td data-label="By">{one.agent && one.agent !== "*" && <><Name text={one.agent} />, </>}{one.tool}</td>
      <td data-label="When"><time title={time(one.searchedAt)}>{ago(one.searchedAt)}</time></td>
      {!readOnly && (
        <td>
          {(one.noAnswer || one.hits === 0) && (
            <button type="button" class="small" onClick={() => set({ dialog: { kind: "add", content: one.query } })}>
              Save what was missing
            </button>
          )}
        </td>
      )}
    </tr>
  );
  return (
    <table class="wide searches" aria-rowcount={isAll ? results.length + 1 : -1}>
      <caption class="sr-only">Searches, newest first</caption>
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col">Search</th><th scope="col">Found</th><th scope="col">By</th><th scope="col">When</th>
          {!readOnly && <th scope="col"><span class="sr-only">Do</span></th>}
        </tr>
      </thead>
      <Windowed as="tbody" items={results} keyOf={({ id }: SearchEntry) => id} row={row} list={list} />
    </table>
  );
}
