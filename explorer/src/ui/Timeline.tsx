import { useState } from "preact/hooks";
import * as api from "../api/client.ts";
import type { Bucket, TimelineResult } from "../api/types.ts";
import { isEmpty, params } from "../state/filters.ts";
import { filter } from "../state/navigate.ts";
import { useStore } from "../state/store.ts";
import { date, isoDay, number } from "../text/format.ts";
import { coloursOf } from "./colours.ts";
import { Dot } from "./Kind.tsx";
import { Status } from "./Status.tsx";
import { useLoad } from "./useLoad.ts";

const WIDTH = 1000;
const HEIGHT = 260;
const OTHERS = [["changed", "Changed"], ["superseded", "Superseded"], ["expired", "Expired"], ["deleted", "Deleted"]] as const;
const LANE = 26;

export function Timeline() {
  const filters = useStore((state) => state.address.filters);
  const revision = useStore((state) => state.revision);
  const loaded = useLoad(JSON.stringify(filters), revision, (signal) => api.timeline(params(filters), signal));
  const buckets = loaded.data?.buckets ?? [];
  return (
    <section aria-labelledby="timeline-title">
      <div class="head">
        <h1 id="timeline-title">Timeline</h1>
        {loaded.data && <span class="quiet">saved each {loaded.data.unit}, at most {number(Math.max(...buckets.map(saved), 0))}; drag over it to filter</span>}
        {filters.state && <span class="quiet">Of every state: that filter is for the list.</span>}
        {(filters.after || filters.before) && (
          <button type="button" onClick={() => filter({ after: "", before: "" })}>All time</button>
        )}
      </div>
      <Status {...loaded} loading={loaded.loading && !loaded.data} />
      {loaded.data && (buckets.length === 0 || isEmpty(filters)) && (
        <div class="empty"><h2>Nothing in this time</h2><p>Clear a filter to see more.</p></div>
      )}
      {loaded.data && buckets.length > 0 && <Chart result={loaded.data} />}
      {loaded.data && buckets.length > 0 && <Table result={loaded.data} />}
    </section>
  );
}

const saved = (bucket: Bucket) => Object.values(bucket.saved).reduce((sum, count) => sum + count, 0);

function totals(buckets: Bucket[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const bucket of buckets) {
    for (const [kind, count] of Object.entries(bucket.saved)) sums[kind] = (sums[kind] ?? 0) + count;
  }
  return sums;
}

function endOf(result: TimelineResult, at: number): number {
  const next = result.buckets[at + 1];
  if (next) return next.start - 1;
  const days = { day: 1, week: 7, month: 31 }[result.unit];
  return (result.buckets[at]?.start ?? 0) + days * 86_400_000 - 1;
}

function Chart({ result }: { result: TimelineResult }) {
  const { buckets } = result;
  const [brush, setBrush] = useState<[number, number] | null>(null);
  const sums = totals(buckets);
  const colours = coloursOf(sums);
  const kinds = Object.keys(sums).sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0));
  const most = Math.max(...buckets.map(saved), 1);
  const step = WIDTH / buckets.length;
  const lanes = OTHERS.filter(([key]) => buckets.some((bucket) => bucket[key] > 0));
  const at = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(((event.clientX - box.left) / box.width) * buckets.length)));
  };
  const end = () => {
    if (!brush) return;
    const [from, to] = brush[0] < brush[1] ? brush : [brush[1], brush[0]];
    setBrush(null);
    filter({ after: isoDay(buckets[from]?.start ?? 0), before: isoDay(endOf(result, to)) });
  };
  return (
    <>
      <svg
        class="timeline"
        viewBox={`0 0 ${WIDTH} ${HEIGHT + lanes.length * LANE + 22}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Memories saved from ${date(buckets[0]?.start ?? 0)} on; the table below says the same`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const here = at(event);
          setBrush([here, here]);
        }}
        onPointerMove={(event) => brush && setBrush([brush[0], at(event)])}
        onPointerUp={end}
        onPointerCancel={() => setBrush(null)}
      >
        {buckets.map((bucket, index) => {
          let y = HEIGHT;
          return (
            <g key={bucket.start}>
              <title>{`${date(bucket.start)}: ${number(saved(bucket))} saved`}</title>
              <rect class="hover" x={index * step} y={0} width={step} height={HEIGHT + lanes.length * LANE} />
              {kinds.map((kind) => {
                const height = ((bucket.saved[kind] ?? 0) / most) * (HEIGHT - 10);
                y -= height;
                return height > 0 && (
                  <rect key={kind} x={index * step + step * 0.08} y={y} width={step * 0.84} height={height} fill={colours(kind)} />
                );
              })}
            </g>
          );
        })}
        {lanes.map(([key], lane) => <Lane key={key} name={key} buckets={buckets} step={step} y={HEIGHT + lane * LANE + 6} />)}
        {brush && (
          <rect class="brush" x={Math.min(...brush) * step} y={0} width={(Math.abs(brush[1] - brush[0]) + 1) * step} height={HEIGHT + lanes.length * LANE} />
        )}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{date(buckets[0]?.start ?? 0)}</span>
        <span>{date(buckets[buckets.length >> 1]?.start ?? 0)}</span>
        <span>{date(endOf(result, buckets.length - 1))}</span>
      </p>
      <p class="legend">
        {kinds.slice(0, 8).map((kind) => <span key={kind}><Dot colour={colours(kind)} />{kind} {number(sums[kind] ?? 0)}</span>)}
        {kinds.length > 8 && <span><Dot colour={colours("")} />others</span>}
        {lanes.length > 0 && <span>Below: {lanes.map(([, label]) => label.toLowerCase()).join(", ")}</span>}
      </p>
    </>
  );
}

/** A row of marks, the larger the more. */
function Lane({ name, buckets, step, y }: { name: "changed" | "superseded" | "expired" | "deleted"; buckets: Bucket[]; step: number; y: number }) {
  const most = Math.max(...buckets.map((bucket) => bucket[name]), 1);
  return (
    <g class={`lane ${name}`}>
      {buckets.map((bucket, index) => {
        const height = bucket[name] > 0 ? 4 + 14 * Math.sqrt(bucket[name] / most) : 0;
        return height > 0 && (
          <rect key={bucket.start} x={index * step + step * 0.08} y={y + 18 - height} width={step * 0.84} height={height}>
            <title>{`${date(bucket.start)}: ${bucket[name]} ${name}`}</title>
          </rect>
        );
      })}
    </g>
  );
}

function Table({ result }: { result: TimelineResult }) {
  return (
    <details class="twin">
      <summary>The same as a table</summary>
      <table class="wide">
        <thead>
          <tr><th scope="col">From</th><th scope="col">Saved</th>{OTHERS.map(([key, label]) => <th key={key} scope="col">{label}</th>)}<th scope="col"><span class="sr-only">Do</span></th></tr>
        </thead>
        <tbody>
          {[...result.buckets.entries()].reverse().map(([at, bucket]) => (
            <tr key={bucket.start}>
              <th scope="row">{date(bucket.start)}</th>
              <td>{number(saved(bucket))}</td>
              {OTHERS.map(([key]) => <td key={key}>{number(bucket[key])}</td>)}
              <td>
                <button type="button" class="small" aria-label={`Filter by the ${result.unit} from ${date(bucket.start)}`}
                  onClick={() => filter({ after: isoDay(bucket.start), before: isoDay(endOf(result, at)) })}>Filter</button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
