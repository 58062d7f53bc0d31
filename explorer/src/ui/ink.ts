// The colours of the page, for what is drawn on a canvas.

import type { Ink } from "../map/overlay.ts";

/** `#rrggbb` of a colour as the browser computes it: `rgb(r, g, b)`. */
export const hexOf = (computed: string) =>
  `#${(computed.match(/\d+/g) ?? ["0", "0", "0"]).slice(0, 3).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;

export function inkOf(element: HTMLElement): { ink: Ink; background: string; dimmed: string } {
  const { color } = element.style;
  // A colour that depends on the theme is known where it is used.
  const hex = (name: string) => {
    element.style.color = `var(${name})`;
    return hexOf(getComputedStyle(element).color);
  };
  const background = hex("--map");
  const colours = { ink: { text: hex("--text"), halo: background, accent: hex("--accent") }, background, dimmed: hex("--dimmed") };
  element.style.color = color;
  return colours;
}
