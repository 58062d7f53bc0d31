import { useRef } from "preact/hooks";
import type { SearchMode } from "../api/types.ts";
import { VIEWS, type View } from "../state/address.ts";
import { go, hrefOf } from "../state/navigate.ts";
import { set, useStore } from "../state/store.ts";
import * as theme from "../state/theme.ts";

const NAMES: Record<View, string> = {
  list: "List",
  map: "Map",
  timeline: "Timeline",
  searches: "Searches",
  cleanup: "Clean up",
};

const MODES: [SearchMode, string][] = [
  ["hybrid", "Hybrid"],
  ["vector", "Vector"],
  ["keyword", "Keyword"],
];

export function Header() {
  const view = useStore((state) => state.address.view);
  return (
    <header class="header">
      <a class="brand" href="#/list" aria-label="memorist: all memories">
        <img src="icon.svg" alt="" width="26" height="26" />
        <span>memorist</span>
      </a>
      <Search />
      <nav class="views" aria-label="Views">
        {VIEWS.map((name) => (
          <a key={name} href={hrefOf({ view: name })} aria-current={name === view ? "page" : undefined}>{NAMES[name]}</a>
        ))}
      </nav>
      <Tools />
    </header>
  );
}

function Search() {
  const query = useStore((state) => state.address.query);
  const mode = useStore((state) => state.address.mode);
  const model = useStore((state) => state.overview === null || state.overview.model !== null);
  const typed = useRef(false);
  const type = (value: string) => {
    go({ query: value, weak: false, view: targetView() }, typed.current ? "replace" : "step");
    typed.current = true;
  };
  return (
    <search class="search">
      <form
        role="presentation"
        onSubmit={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>("[data-row]")?.focus();
        }}
      >
        <Glass />
        <input
          id="query"
          type="search"
          placeholder="Search"
          aria-label="Search the memories"
          aria-keyshortcuts="/"
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={(event) => type(event.currentTarget.value)}
          onBlur={() => {
            typed.current = false;
          }}
        />
        <kbd aria-hidden="true">/</kbd>
        {model && (
          <select
            aria-label="Search by"
            value={mode}
            onChange={(event) => go({ mode: event.currentTarget.value as SearchMode })}
          >
            {MODES.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
          </select>
        )}
      </form>
    </search>
  );
}

/** The map shows hits itself; other views give way to the list. */
function targetView(): View {
  const now = document.querySelector(".view-map");
  return now ? "map" : "list";
}

function Tools() {
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const done = useStore((state) => state.done.length);
  const dark = useStore((state) => state.dark);
  return (
    <div class="tools">
      <Live />
      {!readOnly && <button type="button" class="primary" onClick={() => set({ dialog: { kind: "add", content: "" } })}>New</button>}
      {done > 0 && <button type="button" onClick={() => set({ dialog: { kind: "done" } })}>Done <b>{done}</b></button>}
      <button type="button" class="icon" aria-label={dark ? "Light theme" : "Dark theme"} onClick={theme.toggle}>
        {dark ? <Sun /> : <Moon />}
      </button>
      <button type="button" class="icon" aria-label="Help: all keys" onClick={() => set({ dialog: { kind: "help" } })}>?</button>
    </div>
  );
}

function Live() {
  const live = useStore((state) => state.live);
  const readOnly = useStore((state) => state.overview?.readOnly ?? false);
  return (
    <span class={`live ${live === false ? "off" : live ? "on" : ""}`}>
      {live === false ? "Disconnected, reconnecting… If the server stopped, run memorist explore." : live ? "Live" : ""}
      {readOnly && " · read only"}
    </span>
  );
}

const stroke = { fill: "none", stroke: "currentColor", "stroke-width": "1.6", "stroke-linecap": "round" } as const;

const Glass = () => (
  <svg class="glass" viewBox="0 0 20 20" width="17" height="17" aria-hidden="true" {...stroke}>
    <circle cx="8.5" cy="8.5" r="5.5" />
    <path d="M13 13l4 4" />
  </svg>
);

const Sun = () => (
  <svg viewBox="0 0 20 20" width="17" height="17" aria-hidden="true" {...stroke}>
    <circle cx="10" cy="10" r="3.5" />
    <path d="M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4" />
  </svg>
);

const Moon = () => (
  <svg viewBox="0 0 20 20" width="17" height="17" aria-hidden="true" {...stroke}>
    <path d="M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z" />
  </svg>
);
