import { useState } from "preact/hooks";
import * as api from "../api/client.ts";
import type { Bucket, TimelineResult } from "../api/types.ts";
import { countSet, isEmpty, params } from "../state/filters.ts";
import { clearFilters, filter } from "../state/navigate.ts";
import { useStore } from "../state/store.ts";
import { roundUp, timeMarks } from "../text/axis.ts";
import { counted, date, isoDay, number } from "../text/format.ts";
import { Dot, useKindColours } from "./Kind.tsx";
import { Status } from "./Status.tsx";
import { useLoad } from "./useLoad.ts";
import { useNarrow } from "./useNarrow.ts";

const WIDTH = 1000;
const HEIGHT = 260;
const OTHERS = [["changed", "Changed"], ["superseded", "Superseded"], ["expired", "Expired"], ["deleted", "Deleted"]] as const;
const LANE = 26;
/** A bar is so wide, where the next leaves it room; wider in a narrow window. */
const LEAST = 6;
const LEAST_NARROW = 15;

export function Timeline() {
  const filters = useStore((state) => state.address.filters);
  const revision = useStore((state) => state.revision);
  const loaded = useLoad(JSON.stringify(filters), revision, (signal) => api.timeline(params(filters), signal));
  const buckets = loaded.data?.buckets ?? [];
  const count = countSet(filters);
  return (
    <section aria-labelledby="timeline-title">
      <div class="head">
        <h1 id="timeline-title">Timeline</h1>
        {buckets.length > 0 && <span class="quiet">Saved each {loaded.data?.unit}. Drag over it to filter.</span>}
        {filters.state && <span class="quiet">The state filter applies to the list only.</span>}
        {(filters.after || filters.before) && (
          <button type="button" class="push" onClick={() => filter({ after: "", before: "" })}>All time</button>
        )}
      </div>
      <Status {...loaded} loading={loaded.loading && !loaded.data} />
      {loaded.data && (buckets.length === 0 || isEmpty(filters)) && (
        <div class="empty">
          <h2>{count > 0 ? "No memories match these filters" : "No memories yet"}</h2>
          {count > 0
            ? <button type="button" onClick={clearFilters}>Clear {counted(count, "filter")}</button>
            : <p>The days on which memories were saved appear here.</p>}
        </div>
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

/** Where the bucket after this one would begin. */
function endOf({ unit }: TimelineResult, { start }: Bucket): number {
  const day = new Date(start);
  if (unit === "month") day.setMonth(day.getMonth() + 1);
  else day.setDate(day.getDate() + (unit === "week" ? 7 : 1));
  return day.getTime();
}

/** Where each bucket is on the axis, which is time. */
function spotsOf(result: TimelineResult, least: number) {
  const { buckets } = result;
  const from = buckets[0]?.start ?? 0;
  const end = Math.max(from + 1, ...buckets.map((bucket) => endOf(result, bucket)));
  // With room for the last bar.
  const to = Math.max(end, (buckets.at(-1)?.start ?? 0) + ((end - from) * least) / WIDTH);
  const x = (at: number) => ((at - from) / (to - from)) * WIDTH;
  const spots = buckets.map((bucket, index) => {
    const [left, next] = [x(bucket.start), x(buckets[index + 1]?.start ?? to)];
    const width = Math.max(x(endOf(result, bucket)) - left, Math.min(least, next - left));
    return { bucket, left, width: width * 0.86 };
  });
  return { from, to, x, spots };
}

type Spots = ReturnType<typeof spotsOf>["spots"];

function Chart({ result }: { result: TimelineResult }) {
  const { buckets } = result;
  const narrow = useNarrow();
  const { from, to, x, spots } = spotsOf(result, narrow ? LEAST_NARROW : LEAST);
  const [brush, setBrush] = useState<[number, number] | null>(null);
  const colours = useKindColours();
  const sums = totals(buckets);
  const kinds = Object.keys(sums).sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0));
  const most = roundUp(Math.max(...buckets.map(saved), 1));
  const lanes = OTHERS.filter(([key]) => buckets.some((bucket) => bucket[key] > 0));
  const height = HEIGHT + lanes.length * LANE;
  const at = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(WIDTH, ((event.clientX - box.left) / box.width) * WIDTH));
  };
  const end = () => {
    if (!brush) return;
    const [left, right] = brush[0] < brush[1] ? brush : [brush[1], brush[0]];
    setBrush(null);
    const within = spots.filter((spot) => spot.left <= right && spot.left + spot.width >= left);
    const [first, last] = [within[0], within.at(-1)];
    if (first && last) filter({ after: isoDay(first.bucket.start), before: isoDay(endOf(result, last.bucket) - 1) });
  };
  return (
    <>
      <div class="plot">
        <svg
          class="timeline"
          viewBox={`0 0 ${WIDTH} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Memories saved from ${date(from)} on; also in the table below`}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            const here = at(event);
            setBrush([here, here]);
          }}
          onPointerMove={(event) => brush && setBrush([brush[0], at(event)])}
          onPointerUp={end}
          onPointerCancel={() => setBrush(null)}
        >
          {(most % 2 === 0 ? [0, 0.5, 1] : [0, 1]).map((share) => <path key={share} class="level" d={`M0 ${HEIGHT * share}H${WIDTH}`} />)}
          {spots.map(({ bucket, left, width }) => {
            let y = HEIGHT;
            return (
              <g key={bucket.start} class="bucket" data-at={bucket.start}>
                <title>{`${date(bucket.start)}: ${number(saved(bucket))} saved`}</title>
                <rect class="hover" x={left} y={0} width={width} height={height} />
                {kinds.map((kind) => {
                  const size = ((bucket.saved[kind] ?? 0) / most) * HEIGHT;
                  y -= size;
                  return size > 0 && <rect key={kind} x={left} y={y} width={width} height={size} fill={colours(kind)} />;
                })}
              </g>
            );
          })}
          {lanes.map(([key], lane) => <Lane key={key} name={key} spots={spots} y={HEIGHT + lane * LANE + 6} />)}
          {brush && <rect class="brush" x={Math.min(...brush)} y={0} width={Math.abs(brush[1] - brush[0])} height={height} />}
        </svg>
        {(most % 2 === 0 ? [most, most / 2] : [most]).map((count) => (
          <span key={count} class="count" style={{ top: `${((1 - count / most) * HEIGHT * 100) / height}%` }}>{number(count)}</span>
        ))}
        {lanes.map(([key, label], lane) => (
          <span key={key} class="count lane-name" style={{ top: `${((HEIGHT + (lane + 0.6) * LANE) * 100) / height}%` }}>{label}</span>
        ))}
      </div>
      <p class="axis" aria-hidden="true">
        {timeMarks(from, to, narrow ? 4 : 9).map((mark) => (
          <span key={mark.at} data-at={mark.at} style={{ left: `${(x(mark.at) / WIDTH) * 100}%` }}>{mark.label}</span>
        ))}
      </p>
      <p class="legend">
        {kinds.map((kind) => <span key={kind}><Dot colour={colours(kind)} />{kind} {number(sums[kind] ?? 0)}</span>)}
      </p>
    </>
  );
}

/** A row of marks, the larger the more. */
function Lane({ name, spots, y }: { name: "changed" | "superseded" | "expired" | "deleted"; spots: Spots; y: number }) {
  const most = Math.max(...spots.map(({ bucket }) => bucket[name]), 1);
  return (
    <g class={`lane ${name}`}>
      {spots.map(({ bucket, left, width }) => {
        const height = bucket[name] > 0 ? 4 + 14 * Math.sqrt(bucket[name] / most) : 0;
        return height > 0 && (
          <rect key={bucket.start} x={left} y={y + 18 - height} width={width} height={height}>
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
          {[...result.buckets].reverse().map((bucket) => (
            <tr key={bucket.start}>
              <th scope="row">{date(bucket.start)}</th>
              <td>{number(saved(bucket))}</td>
              {OTHERS.map(([key]) => <td key={key}>{number(bucket[key])}</td>)}
              <td>
                <button type="button" class="small" aria-label={`Filter by the ${result.unit} from ${date(bucket.start)}`}
                  onClick={() => filter({ after: isoDay(bucket.start), before: isoDay(endOf(result, bucket) - 1) })}>Filter</button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
