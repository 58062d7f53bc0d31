import { useRef } from "preact/hooks";
import type { FindHit } from "../api/types.ts";
import { countSet, isEmpty } from "../state/filters.ts";
import * as exporting from "../state/export.ts";
import * as list from "../state/list.ts";
import { scroller } from "../state/scrolled.ts";
import { clearFilters, go, hrefOf } from "../state/navigate.ts";
import { type Far, isFar, type ListState, set, useStore } from "../state/store.ts";
import { ago, counted, number, score, time } from "../text/format.ts";
import { remarks } from "../text/remarks.ts";
import { Kind } from "./Kind.tsx";
import { Relevance } from "./Score.tsx";
import { Marked, Name } from "./Text.tsx";
import { Windowed } from "./Windowed.tsx";

type Listed = ListState["items"][number];

export function List() {
  const items = useStore((state) => state.list.items);
  const query = useStore((state) => state.list.query);
  const of = useStore((state) => state.list.of);
  const all = useStore((state) => (state.list.more || state.list.loading ? -1 : state.list.items.length));
  const waiting = useStore((state) => state.list.waiting);
  // Closing it leads back to its row.
  const opened = useRef<number | null>(null);
  opened.current = useStore((state) => state.address.id) ?? opened.current;
  return (
    <section class="list" aria-labelledby="list-title">
      <Head />
      {waiting > 0 && (
        <button type="button" class="waiting" onClick={showNew}>{counted(waiting, "new memory", "new memories")}: show</button>
      )}
      <Notes />
      <Windowed
        as="ol"
        items={items}
        keyOf={({ id }: Listed) => id}
        row={(item: Listed, at, height) => <Row item={item} at={at} all={all} height={height} />}
        list={of}
        held={opened.current}
        seen={list.look}
        attributes={{ class: "rows", "data-query": query }}
      />
      <Foot />
    </section>
  );
}

function showNew() {
  scroller().scrollTo({ top: 0 });
  list.load();
}

function Head() {
  const { list: state, address, overview } = useStore((all) => all);
  const searched = address.query.trim() !== "";
  const count = state.items.length;
  const title = searched
    ? state.search?.noAnswer
      ? "Probably not here"
      : `${number(count)}${state.more ? "+" : ""} found`
    : address.area.length > 0
      ? "In the area of the map"
      : countSet(address.filters) > 0
        ? "Filtered, newest first"
        : overview && overview.total > 0
          ? `${counted(overview.total, "memory", "memories")}, newest first`
          : "Memories";
  return (
    <div class="head">
      <h1 id="list-title">{title}</h1>
      {searched && state.milliseconds !== null && <span class="quiet took">{Math.max(1, Math.round(state.milliseconds))} ms</span>}
      {address.area.length > 0 && <button type="button" onClick={() => go({ area: [] })}>Leave the area</button>}
      {count > 0 && <button type="button" class="push" onClick={() => void exporting.save()}>Export</button>}
      {searched && (
        <button type="button" class={count > 0 ? "" : "push"} aria-keyshortcuts="#" onClick={() => set({ dialog: { kind: "why", query: address.query } })}>
          Explain a missing memory
        </button>
      )}
    </div>
  );
}

function Notes() {
  const search = useStore((state) => state.list.search);
  const state = useStore((all) => all.address.filters.state);
  const query = useStore((all) => all.address.query);
  const items = useStore((all) => all.list.items.length);
  const warnings = [...remarks(search, items > 0), ...(search?.warnings ?? [])];
  if (query && state && state !== "superseded") warnings.push(`Search excludes ${state} memories. Clear the search to list them.`);
  if (warnings.length === 0) return null;
  return <ul class="notes">{warnings.map((text) => <li key={text}>{text}</li>)}</ul>;
}

/** Shows what is hardly relevant, too. */
function Weaker({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <button type="button" onClick={() => go({ weak: true })}>Show {counted(count, "weaker one")}</button>
  );
}

interface RowProps<T> {
  item: T;
  at: number;
  /** Of how many; -1: nobody knows yet. */
  all: number;
  height: number;
}

function Row({ item, height, ...place }: RowProps<Listed>) {
  if (!isFar(item)) return <Whole item={item} {...place} />;
  return (
    <li class="row" aria-busy="true" aria-posinset={place.at + 1} aria-setsize={place.all} style={{ height: `${height}px` }}>
      <a href={hrefOf({ id: item.id, tab: "text" })} data-row={item.id} class="quiet">Memory {item.id}</a>
    </li>
  );
}

function Whole({ item, at, all }: Omit<RowProps<Exclude<Listed, Far>>, "height">) {
  const open = useStore((state) => state.address.id === item.id);
  const hit: FindHit | null = "score" in item ? item : null;
  return (
    <li class={open ? "row open" : "row"} aria-posinset={at + 1} aria-setsize={all}>
      <a href={hrefOf({ id: item.id, tab: "text" })} data-row={item.id} aria-current={open ? "true" : undefined}>
        <Marked text={item.content ?? ""} words={hit?.words ?? []} />
        {item.truncated && <span class="quiet"> …</span>}
      </a>
      <p class="meta">
        {hit && <Relevance hit={hit} />}
        <Kind kind={item.entryType} />
        <span>#{item.id}</span>
        {item.project && <span>project <Name text={item.project} /></span>}
        {item.agent && <span>agent <Name text={item.agent} /></span>}
        {item.importance != null && item.importance !== 5 && <span>importance {item.importance}</span>}
        {item.tags?.slice(0, 4).map((tag) => <span key={tag} class="tag"><Name text={tag} /></span>)}
        <time title={time(item.createdAt)}>{ago(item.createdAt)}</time>
      </p>
    </li>
  );
}

function Foot() {
  const state = useStore((all) => all.list);
  if (state.error) {
    return (
      <div class="empty" role="alert">
        <p>{state.error}</p>
        <button type="button" onClick={() => list.load()}>Try again</button>
      </div>
    );
  }
  if (state.items.length === 0 && !state.loading) return <Empty />;
  return (
    <p class="foot quiet">
      {state.loading ? "Loading…" : state.end}
      {!state.loading && !state.more && <Weaker count={state.weaker} />}
    </p>
  );
}

function Empty() {
  const { address, overview, list: state } = useStore((all) => all);
  const set_ = countSet(address.filters) + (address.area.length > 0 ? 1 : 0);
  const readOnly = overview?.readOnly ?? true;
  const searched = address.query.trim() !== "";
  return (
    <div class="empty">
      <h2>{searched ? "Nothing found" : overview?.total === 0 ? "No memories yet" : "No memories match these filters"}</h2>
      {isEmpty(address.filters) && <p>These kinds never occur in these sources.</p>}
      {state.search?.nearMiss && (
        <p>
          The nearest is <a href={hrefOf({ id: state.search.nearMiss.id })}>memory {state.search.nearMiss.id}</a>, with a relevance
          of {score(state.search.nearMiss.actual)}: “<Marked text={state.search.nearMiss.content} />”
        </p>
      )}
      {!searched && overview?.total === 0 && <p>Run <code>memorist connect</code>: memories that your agents save appear here. Or save the first one.</p>}
      <p class="actions">
        {set_ > 0 && <button type="button" onClick={clearFilters}>Clear {counted(set_, "filter")}</button>}
        <Weaker count={state.weaker} />
        {searched && !readOnly && (
          <button type="button" onClick={() => set({ dialog: { kind: "add", content: "" } })}>Save what was missing</button>
        )}
        {overview?.total === 0 && !readOnly && !searched && (
          <button type="button" class="primary" onClick={() => set({ dialog: { kind: "add", content: "" } })}>New memory</button>
        )}
      </p>
    </div>
  );
}
