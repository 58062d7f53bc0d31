import type { LabelEntry } from "../api/types.ts";
import type { Chart } from "../map/chart.ts";
import type { Colouring } from "../map/colour.ts";
import { SUPERSEDED, type Points } from "../map/points.ts";
import { seen, zoomAt } from "../map/view.ts";
import { COLOURS, type Colour } from "../state/address.ts";
import { make } from "../state/map.ts";
import { go } from "../state/navigate.ts";
import { useStore } from "../state/store.ts";
import { counted, number } from "../text/format.ts";
import { Dot } from "./Kind.tsx";

interface ToolbarProps {
  chart: Chart | null;
  labels: LabelEntry[][];
  points: Points;
  lasso: boolean;
  setLasso: (on: boolean) => void;
  selected: number;
}

export function Toolbar({ chart, labels, points, lasso, setLasso, selected }: ToolbarProps) {
  const colour = useStore((state) => state.address.colour);
  const area = useStore((state) => state.address.area.length > 0);
  const state = useStore((all) => all.address.filters.state);
  const query = useStore((state) => state.address.query.trim());
  const found = useStore((state) => `${number(state.list.items.length)}${state.list.more ? "+" : ""}`);
  return (
    <div class="head map-tools">
      <h1>{counted(points.count, "memory", "memories")}</h1>
      {state && <span class="quiet">The state filter applies to the list only.</span>}
      <label>
        Colour by{" "}
        <select value={colour} onChange={(event) => go({ colour: event.currentTarget.value as Colour }, "replace")}>
          {COLOURS.map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
      </label>
      <button type="button" aria-pressed={lasso} onClick={() => setLasso(!lasso)}>Draw an area</button>
      <Topics chart={chart} labels={labels} />
      {query && !area && (
        <span class="selection push">
          <b>{found}</b> found
          <button type="button" onClick={() => go({ view: "list" })}>List them</button>
        </span>
      )}
      {area && (
        <span class="selection push">
          <b>{number(selected)}</b> in the area
          <button type="button" class="primary" onClick={() => go({ view: "list" })}>List them</button>
          <button type="button" onClick={() => go({ area: [] })}>Clear</button>
        </span>
      )}
    </div>
  );
}

export function Zoom({ chart }: { chart: Chart | null }) {
  const zoom = (factor: number) => {
    if (chart?.view) chart.fly(zoomAt(chart.view, chart.size, chart.size.width / 2, chart.size.height / 2, factor));
  };
  return (
    <div class="zoom" role="group" aria-label="Map zoom">
      <button type="button" aria-label="Closer" onClick={() => zoom(1.6)}>+</button>
      <button type="button" aria-label="Farther" onClick={() => zoom(1 / 1.6)}>−</button>
      <button type="button" onClick={() => chart?.home()}>All</button>
      <button type="button" onClick={() => chart?.view && go({ area: seen(chart.view, chart.size) })}>Filter by the visible area</button>
    </div>
  );
}

/** The names of places as a list: the way there by keyboard. */
function Topics({ chart, labels }: { chart: Chart | null; labels: LabelEntry[][] }) {
  const all = [...(labels[1] ?? labels[0] ?? [])].sort((a, b) => b.count - a.count).slice(0, 40);
  if (all.length === 0) return null;
  return (
    <label>
      <span class="sr-only">Go to a topic</span>
      <select
        value=""
        onChange={(event) => {
          const label = all[Number(event.currentTarget.value)];
          if (chart && label) chart.visit(label.x, label.y);
          event.currentTarget.value = "";
        }}
      >
        <option value="">Go to a topic…</option>
        {all.map(({ text, count }, at) => <option key={text} value={at}>{text} ({number(count)})</option>)}
      </select>
    </label>
  );
}

export function Legend({ colours, points }: { colours: Colouring; points: Points }) {
  const map = useStore((state) => state.overview?.map);
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const superseded = points.flags.some((flags) => (flags & SUPERSEDED) !== 0);
  return (
    <div class="legend">
      {colours.legend.map(({ name, colour }) => <span key={name}><Dot colour={colour} />{name}</span>)}
      <span class="quiet push">
        Near is mostly, not always, alike{superseded ? "; includes superseded ones" : ""}. Lines lead to the true nearest.
      </span>
      {map?.state === "making" && <progress max="1" value={map.progress ?? 0} aria-label="Building a new map" />}
      {map?.isOld && !readOnly && map.state === "ready" && (
        <button type="button" onClick={() => void make("warm")}>Many memories are new since this map was built: rebuild</button>
      )}
    </div>
  );
}
