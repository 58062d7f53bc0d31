// Which names of places are shown: those of the level that fits the zoom, the largest first, none over another.

import type { LabelEntry } from "../api/types.ts";
import { type Size, toScreen, type View, zoomOf } from "./view.ts";

export interface Shown {
  label: LabelEntry;
  left: number;
  top: number;
  size: number;
}

/** Fewer names say too little of a map. */
const FEWEST = 4;

/** The level for a zoom; a finer one where that has few names. */
export function levelOf(zoom: number, levels: readonly LabelEntry[][]): number {
  let level = Math.min(levels.length - 1, zoom < 1.8 ? 0 : zoom < 5 ? 1 : 2);
  while (level + 1 < levels.length && (levels[level]?.length ?? 0) < FEWEST) level++;
  return level;
}

export function shownLabels(levels: readonly LabelEntry[][], view: View, size: Size, widthOf: (text: string, size: number) => number): Shown[] {
  const level = levelOf(zoomOf(view, size), levels);
  const labels = [...(levels[level] ?? [])].sort((a, b) => b.count - a.count);
  const shown: (Shown & { width: number })[] = [];
  for (const label of labels) {
    const [left, top] = toScreen(view, size, label.x, label.y);
    if (left < 0 || top < 10 || left > size.width || top > size.height - 10) continue;
    const height = level <= 0 ? 15 : 13;
    const width = widthOf(label.text, height);
    const within = Math.max(width / 2 + 4, Math.min(size.width - width / 2 - 4, left));
    const free = shown.every((other) =>
      Math.abs(other.left - within) > (other.width + width) / 2 + 8 || Math.abs(other.top - top) > (other.size + height) / 2 + 6
    );
    if (free) shown.push({ label, left: within, top, size: height, width });
  }
  return shown;
}
