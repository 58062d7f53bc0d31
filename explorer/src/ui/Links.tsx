import { useState } from "preact/hooks";
import * as api from "../api/client.ts";
import type { Entry, GraphEdge, GraphResult } from "../api/types.ts";
import * as change from "../state/change.ts";
import { go, hrefOf } from "../state/navigate.ts";
import { set, useStore } from "../state/store.ts";
import { place, type Spot, tree, type Twig } from "../text/ego.ts";
import { counted, linkPhrase } from "../text/format.ts";
import { beginning } from "../text/visible.ts";
import { Kind, useKindColours } from "./Kind.tsx";
import { Similar } from "./Similar.tsx";
import { Status } from "./Status.tsx";
import { useLoad } from "./useLoad.ts";

const DISTANCE = 80;

export function Links({ entry }: { entry: Entry }) {
  const [depth, setDepth] = useState(2);
  const revision = useStore((state) => state.revision);
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const loaded = useLoad(`${entry.id} ${depth}`, revision, (signal) => api.graph({ id: entry.id, depth, limit: 150 }, signal));
  const root = loaded.data && tree(loaded.data.nodes, loaded.data.edges, entry.id);
  return (
    <>
      <fieldset class="inline">
        <legend>Links away</legend>
        {[1, 2, 3].map((value) => (
          <label key={value}><input type="radio" name="depth" checked={depth === value} onChange={() => setDepth(value)} /> {value}</label>
        ))}
      </fieldset>
      <Status {...loaded} loading={loaded.loading && !loaded.data} />
      {root && root.children.length === 0 && (
        <div class="empty">
          <h3>No links yet</h3>
          <p>A link says that one memory caused, supersedes or contradicts another.</p>
          {!readOnly && <button type="button" onClick={() => set({ dialog: { kind: "link", id: entry.id } })}>Link it</button>}
        </div>
      )}
      {root && loaded.data && root.children.length > 0 && (
        <>
          <Picture graph={loaded.data} root={root} />
          {loaded.data.truncated && <p class="quiet">There are more: the nearest {loaded.data.nodes.length} are shown.</p>}
          <ul class="tree" aria-label={`Links of memory ${entry.id}`}>
            {root.children.map((twig) => <Branch key={twig.node.id} twig={twig} from={entry.id} unlink={!readOnly} />)}
          </ul>
        </>
      )}
      <Similar entry={entry} />
    </>
  );
}

function Branch({ twig, from, unlink }: { twig: Twig; from: number; unlink: boolean }) {
  const { node, edge } = twig;
  return (
    <li>
      <span class="quiet">{linkPhrase(edge?.linkType ?? "", edge?.to === from)}</span>{" "}
      <a href={hrefOf({ id: node.id })} class={node.isCurrent ? "" : "old"}>#{node.id} <bdi>{beginning(node.content, 90)}</bdi></a>{" "}
      <Kind kind={node.entryType} />
      {unlink && edge && (
        <button type="button" class="small" aria-label={`Unlink memory ${node.id}`}
          onClick={() => void change.unlink(edge.from, edge.linkType, edge.to)}>Unlink</button>
      )}
      {twig.children.length > 0 && (
        <ul>{twig.children.map((child) => <Branch key={child.node.id} twig={child} from={node.id} unlink={false} />)}</ul>
      )}
    </li>
  );
}

/** The same as a picture; the tree below says it in words. */
function Picture({ graph, root }: { graph: GraphResult; root: Twig }) {
  const colours = useKindColours();
  const spots = place(root, DISTANCE);
  const by = new Map(spots.map((spot) => [spot.node.id, spot]));
  const rings = Math.max(...spots.map(({ node }) => node.depth), 1);
  const half = rings * DISTANCE + 34;
  const wordy = spots.length <= 24;
  const edges = graph.edges.filter(({ from, to }) => by.has(from) && by.has(to));
  return (
    <svg class="ego" viewBox={`${-half * 1.2} ${-half} ${half * 2.4} ${half * 2}`} role="img"
      aria-label={`${counted(spots.length - 1, "linked memory", "linked memories")}; listed below`}>
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="13" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0L8 4L0 8z" />
        </marker>
      </defs>
      {edges.map((edge) => <Edge key={`${edge.from} ${edge.to} ${edge.linkType}`} edge={edge} by={by} />)}
      {spots.map(({ node, x, y }) => (
        <g key={node.id} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`} class={node.isCurrent ? "node" : "node old"}
          onClick={() => go({ id: node.id })}>
          <title>{`#${node.id} ${beginning(node.content, 120)}`}</title>
          <circle r={node.depth === 0 ? 10 : 7} fill={colours(node.entryType)} />
          {(wordy || node.depth === 0) && <text y={node.depth === 0 ? -15 : 20} text-anchor="middle">{beginning(node.content, 22)}</text>}
        </g>
      ))}
    </svg>
  );
}

function Edge({ edge, by }: { edge: GraphEdge; by: Map<number, Spot> }) {
  const from = by.get(edge.from) as Spot;
  const to = by.get(edge.to) as Spot;
  return (
    <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} class={`edge ${edge.linkType}`}
      marker-end={edge.linkType === "related" ? undefined : "url(#arrow)"}>
      <title>{linkPhrase(edge.linkType, false)}</title>
    </line>
  );
}
