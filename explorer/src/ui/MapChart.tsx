import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as api from "../api/client.ts";
import { isAborted } from "../api/errors.ts";
import type { LabelEntry } from "../api/types.ts";
import { Chart } from "../map/chart.ts";
import { colouring } from "../map/colour.ts";
import { gestures } from "../map/gestures.ts";
import { inside } from "../map/lasso.ts";
import type { Points } from "../map/points.ts";
import { Raster } from "../map/raster.ts";
import { hasGraphicsCard, WebGl } from "../map/webgl.ts";
import { fail } from "../state/change.ts";
import type { Filters } from "../state/filters.ts";
import { type Passing, passing } from "../state/mask.ts";
import { go, openMemory } from "../state/navigate.ts";
import { announce, useStore } from "../state/store.ts";
import { beginning } from "../text/visible.ts";
import { inkOf } from "./ink.ts";
import { Legend, Toolbar, Zoom } from "./MapTools.tsx";
import { type About, Tip } from "./Tip.tsx";

const HOVER = 60;

/** The points, what lies over them, and what can be done with them. */
export function MapChart({ points, labels, newer }: { points: Points; labels: LabelEntry[][]; newer: (points: Points) => void }) {
  const { filters, colour, area, id } = useStore((state) => state.address);
  const query = useStore((state) => state.address.query.trim());
  const items = useStore((state) => state.list.items);
  const counts = useStore((state) => state.overview?.byType) ?? {};
  const dark = useStore((state) => state.dark);
  const frame = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLCanvasElement>(null);
  const above = useRef<HTMLCanvasElement>(null);
  const [chart, setChart] = useState<Chart | null>(null);
  const [plain, setPlain] = useState(() => !hasGraphicsCard());
  const [lasso, setLasso] = useState(false);
  // By id: an index is another memory in newer points.
  const [focused, setFocused] = useState(0);
  const [hovered, setHovered] = useState(0);
  const drawing = useRef(false);
  drawing.current = lasso;
  const mask = useMask(points, filters, newer);
  const colours = useMemo(() => colouring(points, colour, counts, Math.floor(Date.now() / 86_400_000)), [points, colour, counts]);
  const selected = useMemo(
    () => (area.length > 0 ? inside(points, area).filter((at) => !mask || mask[at]) : []),
    [points, area, mask],
  );

  useEffect(() => {
    const lost = () => setPlain(true);
    const canvas = below.current as HTMLCanvasElement;
    const renderer = plain ? new Raster(canvas) : new WebGl(canvas);
    const made = new Chart(renderer, above.current as HTMLCanvasElement, () => setPlain(true));
    const element = frame.current as HTMLDivElement;
    canvas.addEventListener("webglcontextlost", lost);
    const end = gestures(element, made, {
      hover: (at) => setHovered(made.points?.id[at] ?? 0),
      focus: (at) => {
        setHovered(0);
        setFocused(made.points?.id[at] ?? 0);
        made.reveal(at);
      },
      open: (at) => openMemory(made.points?.id[at] as number),
      area: (corners) => {
        setLasso(false);
        go({ area: corners });
      },
      lasso: () => drawing.current,
    });
    const sizes = new ResizeObserver(([entry]) => {
      if (entry) made.resize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    sizes.observe(element);
    setChart(made);
    return () => {
      canvas.removeEventListener("webglcontextlost", lost);
      sizes.disconnect();
      end();
      made.end();
    };
  }, [plain]);

  useEffect(() => {
    const { ink, background, dimmed } = inkOf(frame.current as HTMLElement);
    chart?.show({ points, colour: colours.index, palette: colours.palette, mask, background, dimmed }, ink);
  }, [chart, points, colours, mask, dark]);

  useEffect(() => {
    if (!chart) return;
    const hits = query ? items.map((item) => chart.indexOf(item.id)).filter((at) => at >= 0) : [];
    const open = id === null ? -1 : chart.indexOf(id);
    chart.set({ labels, hits, open, area });
    if (open >= 0) chart.reveal(open);
  }, [chart, points, labels, items, query, id, area]);

  const near = hovered || focused;
  const revision = useStore((state) => state.revision);
  const about = useFocus(chart, points, near, hovered === 0, revision);
  const focus = near === 0 ? -1 : (chart?.indexOf(near) ?? -1);

  return (
    <section class="map" aria-label="Map of all memories">
      <Toolbar chart={chart} labels={labels} points={points} lasso={lasso} setLasso={setLasso} selected={selected.length} />
      <div class="around">
        <div
          ref={frame}
          class={classOf(lasso, hovered > 0, query !== "" && items.length > 0)}
          role="application"
          aria-roledescription="map"
          aria-label="Map of the memories. Arrow keys go to the nearest point in that direction, Enter opens it, plus and minus zoom."
          tabIndex={0}
        >
          <canvas key={plain ? "2d" : "webgl"} ref={below} data-renderer={plain ? "2d" : "webgl"} />
          <canvas ref={above} />
          {chart && focus >= 0 && about && <Tip chart={chart} at={focus} about={about} />}
        </div>
        <Zoom chart={chart} />
      </div>
      <Legend colours={colours} points={points} />
    </section>
  );
}

const classOf = (lasso: boolean, onPoint: boolean, hits: boolean) =>
  `chart${lasso ? " lasso" : onPoint ? " on-point" : ""}${hits ? " hits" : ""}`;

/** Which points pass the filters. A mask of other points is ignored. */
function useMask(points: Points, filters: Filters, newer: (points: Points) => void): Uint8Array | null {
  const [known, setKnown] = useState<Passing | null>(null);
  const key = JSON.stringify(filters);
  useEffect(() => {
    const abort = new AbortController();
    passing(filters, abort.signal).then(
      (now) => {
        if (abort.signal.aborted) return;
        if (now.points !== points) newer(now.points);
        setKnown(now);
      },
      (error) => {
        if (!isAborted(error)) fail(error);
      },
    );
    return () => abort.abort();
  }, [key, points]);
  return known?.points === points ? known.mask : null;
}

const known = new Map<number, About>();
let knownOf = -1;

/** The text of a point, said if a key led to it, and lines to its true neighbors. */
function useFocus(chart: Chart | null, points: Points, id: number, isKey: boolean, revision: number): About | null {
  const [about, setAbout] = useState<About | null>(null);
  useEffect(() => {
    // What was changed or purged is read again.
    if (knownOf !== revision) known.clear();
    knownOf = revision;
    chart?.set({ focus: id === 0 ? -1 : chart.indexOf(id), neighbors: [] });
    setAbout(known.get(id) ?? null);
    if (!chart || id === 0) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const memory = known.get(id) ?? (await read(id, abort.signal));
        known.set(id, memory);
        setAbout(memory);
        if (isKey) announce(`${memory.content}, ${memory.entryType}, memory ${id}`);
        const near = await api.neighbors({ id, k: 8 }, abort.signal);
        chart.set({ neighbors: near.results.map((one) => chart.indexOf(one.id)).filter((at) => at >= 0) });
      } catch {
        // Without text: the point can still be opened, which says what is wrong.
      }
    }, HOVER);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [chart, points, id, revision]);
  return about?.id === id ? about : null;
}

async function read(id: number, signal: AbortSignal): Promise<About> {
  const { entry } = await api.memory({ id }, signal);
  return { id, content: beginning(entry.content, 160), entryType: entry.entryType };
}
