// What lies over the points: names of places, hits of a search, the point in focus with its true neighbors, an area.

import type { LabelEntry } from "../api/types.ts";
import { shownLabels } from "./labels.ts";
import type { Points } from "./points.ts";
import { type Size, toScreen, type View } from "./view.ts";

export interface Over {
  points: Points;
  labels: LabelEntry[][];
  /** Indexes of what a search found, best first. */
  hits: number[];
  focus: number;
  neighbors: number[];
  open: number;
  area: readonly number[];
  drawing: boolean;
}

export interface Ink {
  text: string;
  halo: string;
  accent: string;
}

const FONT = "system-ui, sans-serif";

export function drawOver(context: CanvasRenderingContext2D, view: View, size: Size, ratio: number, over: Over, ink: Ink) {
  const { canvas } = context;
  const width = Math.max(1, Math.round(size.width * ratio));
  const height = Math.max(1, Math.round(size.height * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  const spot = (at: number) => toScreen(view, size, over.points.x[at] as number, over.points.y[at] as number);
  area(context, over, view, size, ink);
  lines(context, over, spot, ink);
  for (const [rank, at] of [...over.hits.entries()].reverse()) ring(context, spot(at), rank === 0 ? 8 : 6, ink.accent, ink.halo);
  names(context, over.labels, view, size, ink);
  if (over.open >= 0) ring(context, spot(over.open), 10, ink.text, ink.halo);
  if (over.focus >= 0) ring(context, spot(over.focus), 7, ink.text, ink.halo);
}

function area(context: CanvasRenderingContext2D, { area: corners, drawing }: Over, view: View, size: Size, ink: Ink) {
  if (corners.length < 4) return;
  context.beginPath();
  for (let at = 0; at < corners.length; at += 2) {
    const [left, top] = toScreen(view, size, corners[at] as number, corners[at + 1] as number);
    if (at === 0) context.moveTo(left, top);
    else context.lineTo(left, top);
  }
  context.closePath();
  context.globalAlpha = 0.12;
  context.fillStyle = ink.accent;
  context.fill("evenodd");
  context.globalAlpha = 1;
  context.strokeStyle = ink.accent;
  context.lineWidth = 1.5;
  context.setLineDash(drawing ? [5, 4] : []);
  context.stroke();
  context.setLineDash([]);
}

function lines(context: CanvasRenderingContext2D, { focus, neighbors }: Over, spot: (at: number) => [number, number], ink: Ink) {
  if (focus < 0) return;
  const [x, y] = spot(focus);
  context.strokeStyle = ink.accent;
  context.globalAlpha = 0.75;
  context.lineWidth = 1.2;
  for (const at of neighbors) {
    const [left, top] = spot(at);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(left, top);
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const at of neighbors) ring(context, spot(at), 4, ink.accent, ink.halo);
}

function names(context: CanvasRenderingContext2D, levels: LabelEntry[][], view: View, size: Size, ink: Ink) {
  const font = (height: number) => `600 ${height}px ${FONT}`;
  const widthOf = (text: string, height: number) => {
    context.font = font(height);
    return context.measureText(text).width;
  };
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { label, left, top, size: height } of shownLabels(levels, view, size, widthOf)) {
    context.font = font(height);
    context.lineWidth = 4;
    context.strokeStyle = ink.halo;
    context.strokeText(label.text, left, top);
    context.fillStyle = ink.text;
    context.fillText(label.text, left, top);
  }
}

function ring(context: CanvasRenderingContext2D, [x, y]: [number, number], size: number, colour: string, halo: string) {
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.lineWidth = 5;
  context.strokeStyle = halo;
  context.stroke();
  context.lineWidth = 2.4;
  context.strokeStyle = colour;
  context.stroke();
}
