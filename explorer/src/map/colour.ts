// What colour each point has: by a property of its memory.

import type { Colour } from "../state/address.ts";
import { HUES, OTHER } from "../ui/colours.ts";
import type { Points } from "./points.ts";

export interface Colouring {
  /** The place of each point's colour in `palette`. */
  index: Uint8Array;
  palette: string[];
  legend: { name: string; colour: string }[];
}

const AGES: [number, string][] = [[1, "a day"], [7, "a week"], [30, "a month"], [90, "three months"], [365, "a year"]];
/** From new to old, and from important to not: legible on dark and light. */
const RAMP = ["#d9480f", "#e8890c", "#b9a51a", "#4f9d69", "#2f86a8", "#5b6fb5"];

export function colouring(points: Points, colour: Colour, counts: Record<string, number>, today: number): Colouring {
  switch (colour) {
    case "kind":
      return byName(points, points.kind, points.kinds, counts);
    case "project":
      return byName(points, points.project, ["shared", ...points.projects], countsOf(points.project, ["shared", ...points.projects]));
    case "agent":
      return byName(points, points.agent, ["shared", ...points.agents], countsOf(points.agent, ["shared", ...points.agents]));
    case "age":
      return ramp(points.count, (at) => {
        const age = today - (points.day[at] as number);
        const step = AGES.findIndex(([days]) => age < days);
        return step < 0 ? AGES.length : step;
      }, [...AGES.map(([, name]) => `under ${name}`), "older"]);
    case "importance":
      return ramp(points.count, (at) => Math.min(5, Math.floor((10 - (points.importance[at] as number)) / 2)), [
        "9 to 10", "7 to 8", "5 to 6", "3 to 4", "1 to 2", "0",
      ]);
  }
}

function countsOf(column: Uint16Array, names: string[]): Record<string, number> {
  const sums = new Uint32Array(names.length);
  for (const value of column) if (value < sums.length) (sums[value] as number)++;
  return Object.fromEntries(names.map((name, at) => [name, sums[at] as number]));
}

function byName(points: Points, column: Uint8Array | Uint16Array, names: string[], counts: Record<string, number>): Colouring {
  const ranked = [...names.keys()].sort((a, b) => (counts[names[b] as string] ?? 0) - (counts[names[a] as string] ?? 0)
    || (names[a] as string).localeCompare(names[b] as string));
  const slot = new Uint8Array(names.length).fill(HUES.length);
  const shown = ranked.filter((name) => (counts[names[name] as string] ?? 0) > 0).slice(0, HUES.length);
  for (const [at, name] of shown.entries()) slot[name] = at;
  const index = new Uint8Array(points.count);
  for (let at = 0; at < points.count; at++) index[at] = slot[column[at] as number] ?? HUES.length;
  const legend = shown.map((name, at) => ({ name: names[name] as string, colour: HUES[at] as string }));
  const rest = ranked.filter((name) => (counts[names[name] as string] ?? 0) > 0).length - shown.length;
  if (rest > 0) legend.push({ name: `${rest} others`, colour: OTHER });
  return { index, palette: [...HUES, OTHER], legend };
}

function ramp(count: number, stepOf: (at: number) => number, names: string[]): Colouring {
  const index = new Uint8Array(count);
  for (let at = 0; at < count; at++) index[at] = stepOf(at);
  return { index, palette: RAMP, legend: names.map((name, at) => ({ name, colour: RAMP[at] as string })) };
}

/** `#rrggbb` as three numbers. */
export const rgb = (colour: string): [number, number, number] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
