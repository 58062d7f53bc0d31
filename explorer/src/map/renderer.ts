// What draws the points: pixels of a 2-D canvas, or WebGL2 where there is a graphics card.

import type { Points } from "./points.ts";
import type { Size, View } from "./view.ts";

export interface Scene {
  points: Points;
  colour: Uint8Array;
  palette: string[];
  /** Which points pass the filters; nothing: all. */
  mask: Uint8Array | null;
  background: string;
  /** The colour of those that do not pass. */
  dimmed: string;
}

export interface Renderer {
  readonly name: "canvas" | "webgl";
  scene(scene: Scene): void;
  /** Draws at most `most` points: fewer while it moves. They are in random order, so the first are a fair sample. */
  draw(view: View, size: Size, ratio: number, most: number): void;
  /** Waits until it is drawn, to know how long that takes. */
  finish?(): void;
  end(): void;
}

/** The radius of a point in pixels: larger when close, and where there are few. */
export function radius(zoom: number, count: number): number {
  const few = count < 5000 ? 2.7 : count < 20_000 ? 2 : count < 200_000 ? 1.2 : 0.8;
  return Math.min(7, few * zoom ** 0.45);
}
