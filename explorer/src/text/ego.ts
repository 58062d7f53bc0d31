// Where the memories around one are drawn: rings by distance, each under the one it was reached by.

import type { GraphEdge, GraphNode } from "../api/types.ts";

export interface Twig {
  node: GraphNode;
  /** The link that it was reached by; nothing at the centre. */
  edge: GraphEdge | null;
  children: Twig[];
}

export interface Spot {
  node: GraphNode;
  x: number;
  y: number;
}

/** The tree of shortest ways from the centre. */
export function tree(nodes: readonly GraphNode[], edges: readonly GraphEdge[], id: number): Twig | null {
  const by = new Map(nodes.map((node) => [node.id, node]));
  const centre = by.get(id);
  if (!centre) return null;
  const root: Twig = { node: centre, edge: null, children: [] };
  const seen = new Set([id]);
  let ring = [root];
  while (ring.length > 0) {
    const next: Twig[] = [];
    for (const twig of ring) {
      for (const edge of edges) {
        const other = edge.from === twig.node.id ? edge.to : edge.to === twig.node.id ? edge.from : null;
        const node = other === null ? undefined : by.get(other);
        if (!node || seen.has(node.id)) continue;
        seen.add(node.id);
        const child: Twig = { node, edge, children: [] };
        twig.children.push(child);
        next.push(child);
      }
    }
    ring = next;
  }
  return root;
}

const leaves = (twig: Twig): number => (twig.children.length === 0 ? 1 : twig.children.reduce((sum, one) => sum + leaves(one), 0));

/** Places on rings around 0, 0; each part of the tree has an angle by its leaves. */
export function place(root: Twig, distance: number): Spot[] {
  const spots: Spot[] = [];
  const walk = (twig: Twig, depth: number, from: number, to: number) => {
    const angle = (from + to) / 2;
    spots.push({ node: twig.node, x: depth * distance * Math.cos(angle), y: depth * distance * Math.sin(angle) });
    const all = leaves(twig);
    let at = from;
    for (const child of twig.children) {
      const end = at + ((to - from) * leaves(child)) / all;
      walk(child, depth + 1, at, end);
      at = end;
    }
  };
  walk(root, 0, -Math.PI / 2, 1.5 * Math.PI);
  return spots;
}
