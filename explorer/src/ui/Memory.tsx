import { useEffect, useRef } from "preact/hooks";
import type { MemoryResult } from "../api/types.ts";
import { TABS, type Tab } from "../state/address.ts";
import * as change from "../state/change.ts";
import * as memory from "../state/memory.ts";
import { go, hrefOf } from "../state/navigate.ts";
import { set, useStore } from "../state/store.ts";
import { age, ago, counted, date, score, time } from "../text/format.ts";
import { editorUrl, placeName } from "../text/place.ts";
import { beginning } from "../text/visible.ts";
import { leaveMemory } from "./commands.ts";
import { FoundBy } from "./FoundBy.tsx";
import { Kind } from "./Kind.tsx";
import { Links } from "./Links.tsx";
import { Menu } from "./Menu.tsx";
import { Name, Plain, Whole } from "./Text.tsx";
import { Versions } from "./Versions.tsx";
import { WhyHere } from "./Why.tsx";

/** The API gives no more. */
const MOST_FOUND = 20;

const NAMES: Record<Tab, string> = { text: "Memory", versions: "Versions", links: "Links", found: "Found by" };

export function Memory() {
  const id = useStore((state) => state.address.id);
  const state = useStore((all) => all.memory);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.scrollTo({ top: 0 });
    // In a narrow window it covers the list.
    if (matchMedia("(max-width: 999px)").matches) panel.current?.focus();
  }, [id]);
  return (
    <section ref={panel} class="memory" aria-label={`Memory ${id}`} tabIndex={-1}>
      <div class="memory-head">
        <h2>Memory {id}</h2>
        <button type="button" class="icon" aria-label="Close the memory" aria-keyshortcuts="Escape" onClick={leaveMemory}>✕</button>
      </div>
      {state?.error && <Failed error={state.error.message} />}
      {state?.loading && <p class="quiet">Loading…</p>}
      {state?.result && <Loaded key={state.id} result={state.result} />}
    </section>
  );
}

function Failed({ error }: { error: string }) {
  return (
    <div class="empty" role="alert">
      <p>{error}</p>
      <p class="actions">
        <button type="button" onClick={() => void memory.load()}>Try again</button>
        <button type="button" onClick={leaveMemory}>Close</button>
      </p>
    </div>
  );
}

function Loaded({ result }: { result: MemoryResult }) {
  const tab = useStore((state) => state.address.tab);
  const { entry } = result;
  const step = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length] as Tab;
    go({ tab: next }, "replace");
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <>
      <Gone result={result} />
      <Actions result={result} />
      <div role="tablist" aria-label="Parts of the memory" class="tabs" onKeyDown={step}>
        {TABS.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === tab}
            aria-controls="tabpanel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => go({ tab: name }, "replace")}
          >
            {NAMES[name]}
            {name === "versions" && entry.version > 1 && <> <span class="count">{entry.version}</span></>}
            {name === "links" && entry.links && entry.links.length > 0 && <> <span class="count">{entry.links.length}{entry.moreLinks ? "+" : ""}</span></>}
            {name === "found" && result.foundBy.length > 0 && <> <span class="count">{result.foundBy.length}{result.foundBy.length === MOST_FOUND ? "+" : ""}</span></>}
          </button>
        ))}
      </div>
      <div id="tabpanel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "text" && <About result={result} />}
        {tab === "versions" && <Versions entry={entry} />}
        {tab === "links" && <Links entry={entry} />}
        {tab === "found" && <FoundBy result={result} />}
      </div>
    </>
  );
}

function Gone({ result: { entry, recoverable, supersededBy, contradictedBy } }: { result: MemoryResult }) {
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const links = (ids: number[]) => ids.map((id, at) => (
    <span key={id}>{at > 0 ? ", " : ""}<a href={hrefOf({ id, tab: "text" })}>memory {id}</a></span>
  ));
  return (
    <>
      {recoverable && (
        <p class="banner" role="status">
          {recoverable.why === "deleted" ? "Deleted" : "Expired"} {ago(recoverable.at)}: no agent finds it any more.{" "}
          {!readOnly && <button type="button" onClick={() => void change.bringBack(entry.id)}>Restore</button>}
        </p>
      )}
      {supersededBy.length > 0 && <p class="banner">Superseded by {links(supersededBy)}.</p>}
      {contradictedBy.length > 0 && <p class="banner">Contradicted by {links(contradictedBy)}.</p>}
    </>
  );
}

/** A page may not open a file itself: an editor or a terminal finds it by its line. */
async function copy(path: string) {
  try {
    await navigator.clipboard.writeText(path);
    change.say(`Copied ${beginning(path, 200)}`);
  } catch {
    change.say(beginning(path, 400));
  }
}

function Actions({ result: { entry, recoverable } }: { result: MemoryResult }) {
  const { place } = entry;
  const url = place ? editorUrl(place.path, place.startLine) : null;
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const purge = () => set({ dialog: { kind: "purge", id: entry.id, content: entry.content } });
  const items = [
    ...(readOnly || recoverable ? [] : [{ label: "Link", act: () => set({ dialog: { kind: "link", id: entry.id } }) }]),
    ...(place ? [{ label: "Copy its location", act: () => void copy(placeName(place.path, place.startLine)) }] : []),
    ...(readOnly ? [] : [{ label: "Purge", danger: true, act: purge }]),
  ];
  return (
    <div class="actions">
      {!readOnly && !recoverable && (
        <>
          <button type="button" aria-keyshortcuts="e" onClick={() => set({ dialog: { kind: "edit", entry } })}>Edit</button>
          <button type="button" aria-keyshortcuts="x" onClick={() => void change.remove(entry)}>Delete</button>
        </>
      )}
      {url && <a class="button" href={url}>Open in VS Code</a>}
      {items.length > 0 && <Menu label="More" items={items} />}
    </div>
  );
}

function About({ result }: { result: MemoryResult }) {
  const { entry, recoverable } = result;
  const hit = useStore((state) => state.list.items.find(({ id }) => id === entry.id));
  const words = hit && "words" in hit ? hit.words : undefined;
  return (
    <>
      <Whole text={entry.content} words={words} />
      {entry.context && (
        <>
          <h3>Context</h3>
          <Whole text={entry.context} />
        </>
      )}
      <WhyHere entry={entry} isGone={recoverable !== null} />
      {entry.body != null && <Body body={entry.body} />}
      <Facts result={result} />
    </>
  );
}

/** The value of a field: when a task is due is a date. */
function shown(name: string, value: unknown): string {
  if (name === "due" && typeof value === "number") return time(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Body({ body }: { body: unknown }) {
  if (typeof body !== "object" || body === null) return null;
  return (
    <>
      <h3>Fields</h3>
      <dl class="facts">
        {Object.entries(body).filter(([, value]) => value !== null && value !== "").map(([name, value]) => (
          <div key={name}>
            <dt>{beginning(name, 60)}</dt>
            <dd><Plain text={shown(name, value)} /></dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Facts({ result: { entry, foundBy } }: { result: MemoryResult }) {
  const { place } = entry;
  const facts: [string, preact.ComponentChildren][] = [
    ["Kind", <Kind kind={entry.entryType} />],
    ["Project", entry.project ? <Name text={entry.project} /> : "global"],
    ["Agent", entry.agent ? <Name text={entry.agent} /> : "global"],
    ["Importance", `${entry.importance} of 10`],
    ["Confidence", score(entry.confidence)],
    ["Tags", entry.tags.length > 0 ? entry.tags.map((tag) => <span key={tag} class="tag"><Name text={tag} /></span>) : null],
    ["Source", <Name text={entry.source} />],
    ["File", place ? <span class="path"><Name text={placeName(place.path, place.startLine)} /></span> : null],
    ["Said by", place?.role ? <Name text={place.role} /> : null],
    ["Session", entry.session ? <Name text={`${entry.session}${entry.turn != null ? `, turn ${entry.turn}` : ""}`} /> : null],
    ["Saved", <time>{`${time(entry.createdAt)} (${age(entry.createdAt)})`}</time>],
    ["Changed", entry.version > 1 ? `${ago(entry.updatedAt)}, version ${entry.version}` : null],
    ["Expires", entry.expiresAt ? date(entry.expiresAt) : null],
    ["Found", foundBy.length > 0 ? `by ${foundBy.length === MOST_FOUND ? "at least " : ""}${counted(foundBy.length, "search", "searches")}` : "by no search"],
    ["Opened", entry.accessCount > 0 ? `${counted(entry.accessCount, "time")}${entry.lastAccessedAt ? `, last ${ago(entry.lastAccessedAt)}` : ""}` : "by no agent"],
    ["Permanent id", <code>{entry.ulid}</code>],
  ];
  return (
    <dl class="facts">
      {facts.filter(([, value]) => value !== null).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
