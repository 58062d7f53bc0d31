import { useState } from "preact/hooks";
import type { Standing } from "../api/types.ts";
import type { View } from "../state/address.ts";
import { countSet, KINDS, SHARED, type Source, SOURCES, STATES } from "../state/filters.ts";
import { clearFilters, filter, go, hrefOf } from "../state/navigate.ts";
import { useStore } from "../state/store.ts";
import { ago, counted, number } from "../text/format.ts";
import { plain } from "../text/visible.ts";
import { Dot, useKindColours } from "./Kind.tsx";

const SOURCE_NAMES: Record<Source, string> = { memories: "Saved memories", notes: "Notes", sessions: "Sessions" };
const STATE_NAMES: Record<string, string> = {
  "": "Current",
  open: "Open tasks",
  overdue: "Overdue tasks",
  superseded: "Superseded",
  contradicted: "Contradicted",
  expiring: "Expiring",
  expired: "Expired",
  deleted: "Deleted",
};

/** Views that the filters do not change. */
const WHOLE: Partial<Record<View, string>> = {
  searches: "Filters do not apply to searches.",
  cleanup: "Filters do not apply to Clean up.",
};

export function Filters() {
  const whole = useStore((state) => WHOLE[state.address.view]);
  const filters = useStore((state) => state.address.filters);
  const area = useStore((state) => state.address.area.length > 0);
  // In a wide window they are shown always.
  const [open, setOpen] = useState(false);
  const done = () => {
    setOpen(false);
    scrollTo({ top: 0 });
  };
  const count = whole ? 0 : countSet(filters) + (area ? 1 : 0);
  return (
    <aside class="filters" aria-label="Filters">
      <button type="button" class="fold" aria-expanded={open} aria-controls="filters" onClick={() => setOpen(!open)}>
        Filters{count > 0 ? ` (${count})` : ""}
      </button>
      <div id="filters" class={open ? "" : "folded"}>
        {!whole && countSet(filters) > 0 && (
          <p class="set">
            {counted(countSet(filters), "filter")} set <button type="button" onClick={clearFilters}>Clear</button>
          </p>
        )}
        {!whole && area && (
          <p class="set">
            An area of the map <button type="button" onClick={() => go({ area: [] })}>Leave</button>
          </p>
        )}
        {whole ? <p class="unfiltered quiet">{whole}</p> : <Facets />}
        <Scope />
        {open && <button type="button" class="done primary" onClick={done}>Show the memories</button>}
      </div>
    </aside>
  );
}

function Facets() {
  return (
    <>
      <Kinds />
      <Sources />
      <Places />
      <More />
    </>
  );
}

function toggled<T>(all: T[], one: T): T[] {
  return all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
}

function Kinds() {
  const chosen = useStore((state) => state.address.filters.kinds);
  const counts = useStore((state) => state.overview?.byType);
  const colours = useKindColours();
  const shown = KINDS.filter((kind) => (counts?.[kind] ?? 0) > 0 || chosen.includes(kind)).sort(
    (a, b) => (counts?.[b] ?? 0) - (counts?.[a] ?? 0),
  );
  if (shown.length === 0) return null;
  return (
    <fieldset class="kinds">
      <legend>Kind</legend>
      {shown.map((kind) => (
        <label key={kind} class="choice">
          <input type="checkbox" checked={chosen.includes(kind)} onChange={() => filter({ kinds: toggled(chosen, kind) })} />
          <Dot colour={colours(kind)} />
          <span>{kind}</span>
          <span class="count">{number(counts?.[kind] ?? 0)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Sources() {
  const chosen = useStore((state) => state.address.filters.sources);
  return (
    <fieldset>
      <legend>Source</legend>
      {SOURCES.map((source) => (
        <label key={source} class="choice">
          <input type="checkbox" checked={chosen.includes(source)} onChange={() => filter({ sources: toggled(chosen, source) })} />
          <span>{SOURCE_NAMES[source]}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Places() {
  const filters = useStore((state) => state.address.filters);
  const overview = useStore((state) => state.overview);
  if (!overview || overview.projects.length + overview.agents.length === 0) return null;
  const choose = (label: string, key: "project" | "agent", names: { name: string; count: number }[]) =>
    names.length === 0 ? null : (
      <label class="field">
        {label}
        <select value={filters[key]} onChange={(event) => filter({ [key]: event.currentTarget.value })}>
          <option value="">All</option>
          <option value={SHARED}>Shared only</option>
          {names.map(({ name, count }) => <option key={name} value={name}>{plain(name)} ({number(count)})</option>)}
          {filters[key] && filters[key] !== SHARED && !names.some(({ name }) => name === filters[key]) && (
            <option value={filters[key]}>{plain(filters[key])}</option>
          )}
        </select>
      </label>
    );
  return (
    <fieldset>
      <legend>Belongs to</legend>
      {choose("Project (and global)", "project", overview.projects)}
      {choose("Agent (and global)", "agent", overview.agents)}
    </fieldset>
  );
}

function More() {
  const filters = useStore((state) => state.address.filters);
  return (
    <fieldset>
      <legend>Time, importance, state</legend>
      <div class="pair">
        <label class="field">
          Saved from
          <input type="date" value={filters.after} onChange={(event) => filter({ after: event.currentTarget.value })} />
        </label>
        <label class="field">
          to
          <input type="date" value={filters.before} onChange={(event) => filter({ before: event.currentTarget.value })} />
        </label>
      </div>
      <label class="field">
        Importance {filters.importance > 0 ? `at least ${filters.importance}` : "any"}
        <input
          type="range"
          min="0"
          max="10"
          value={filters.importance}
          onChange={(event) => filter({ importance: Number(event.currentTarget.value) })}
        />
      </label>
      <label class="field">
        State
        <select value={filters.state} onChange={(event) => filter({ state: event.currentTarget.value })}>
          {STATES.map((state) => <option key={state} value={state}>{STATE_NAMES[state]}</option>)}
        </select>
      </label>
      <label class="field">
        Tag
        <input
          type="text"
          value={filters.tags.join(", ")}
          placeholder="one, or another"
          onChange={(event) => filter({ tags: event.currentTarget.value.split(",").map((tag) => tag.trim()).filter(Boolean) })}
        />
      </label>
    </fieldset>
  );
}

function Scope() {
  const overview = useStore((state) => state.overview);
  const error = useStore((state) => state.overviewError);
  if (error) return <p class="notes" role="alert">{error}</p>;
  if (!overview) return null;
  const named = (name: string | null) => (name === "*" ? null : name);
  const isEmpty = overview.total === 0;
  const [project, agent] = [named(overview.project), named(overview.agent)];
  return (
    <div class="scope">
      <p>{project || agent
        ? `This page sees ${project ? `project ${plain(project)}` : "all projects"} and ${agent ? `agent ${plain(agent)}` : "all agents"}.`
        : "This page sees all projects and agents."}</p>
      {!isEmpty && <p>
        {overview.model ? `Model: ${overview.model}` : "No embedding model: keyword search only."}
        {overview.pendingEmbeddings > 0 && ` ${number(overview.pendingEmbeddings)} pending embeddings.`}
      </p>}
      <p class="path">{overview.store}</p>
      {!isEmpty && overview.warnings.map((text) => <p key={text} class="warning">{text}</p>)}
      {overview.machines && <OtherMachines {...overview.machines} />}
    </div>
  );
}

/** When other machines were met, and what was changed on two of them. */
function OtherMachines({ places, conflicts }: Standing) {
  return (
    <>
      {places.map(({ address, name, metAt, error }) => (
        <p key={address} class={error ? "warning" : undefined}>
          {`${name ?? address}: ${metAt === null ? "never met" : `met ${ago(metAt)}`}`}
          {error && `; the last try failed: ${error}`}
        </p>
      ))}
      {conflicts.length > 0 && (
        <p class="warning">
          Changed on two machines:{" "}
          {conflicts.map(({ id }, at) => (
            <>
              {at > 0 && ", "}
              <a key={id} href={hrefOf({ id, tab: "versions" })}>memory {id}</a>
            </>
          ))}
        </p>
      )}
    </>
  );
}
