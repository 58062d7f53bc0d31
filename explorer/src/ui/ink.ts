// The colours of the page, for what is drawn on a canvas.

import type { Ink } from "../map/overlay.ts";

export function inkOf(element: HTMLElement): { ink: Ink; background: string; dimmed: string } {
  const style = getComputedStyle(element);
  const hex = (name: string, otherwise: string) => {
    const value = style.getPropertyValue(name).trim();
    return /^#[0-9a-f]{6}$/i.test(value) ? value : otherwise;
  };
  const background = hex("--map", "#ffffff");
  return {
    ink: { text: hex("--text", "#1c1f26"), halo: background, accent: hex("--accent", "#3b5bdb") },
    background,
    dimmed: hex("--dimmed", "#d8dbe2"),
  };
}
