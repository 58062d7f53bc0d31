// Which part of the map is seen: map units (0 to 65535) to pixels and back.

import { EXTENT } from "./points.ts";

export interface View {
  /** The middle, in map units. */
  x: number;
  y: number;
  /** Pixels a unit. */
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

const CLOSEST = 64;

export const fitScale = ({ width, height }: Size) => (Math.min(width, height) / EXTENT) * 0.94;

export interface Bounds {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const WHOLE: Bounds = { left: 0, top: 0, right: EXTENT, bottom: EXTENT };

/** Where there are points. */
export function boundsOf({ x, y, count }: { x: Uint16Array; y: Uint16Array; count: number }): Bounds {
  if (count === 0) return WHOLE;
  const bounds: Bounds = { left: EXTENT, top: EXTENT, right: 0, bottom: 0 };
  for (let at = 0; at < count; at++) {
    bounds.left = Math.min(bounds.left, x[at] as number);
    bounds.right = Math.max(bounds.right, x[at] as number);
    bounds.top = Math.min(bounds.top, y[at] as number);
    bounds.bottom = Math.max(bounds.bottom, y[at] as number);
  }
  return bounds;
}

/** All of the points. */
export function fit(size: Size, { left, top, right, bottom }: Bounds = WHOLE): View {
  const across = Math.min(size.width / Math.max(right - left, 1), size.height / Math.max(bottom - top, 1)) * 0.9;
  return { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.min(across, fitScale(size) * 4) };
}

export const toScreen = (view: View, size: Size, x: number, y: number): [number, number] => [
  (x - view.x) * view.scale + size.width / 2,
  (y - view.y) * view.scale + size.height / 2,
];

export const toMap = (view: View, size: Size, left: number, top: number): [number, number] => [
  (left - size.width / 2) / view.scale + view.x,
  (top - size.height / 2) / view.scale + view.y,
];

/** How close, as a factor of the whole. */
export const zoomOf = (view: View, size: Size) => view.scale / fitScale(size);

/** Zooms so that what is under a pixel stays under it. */
export function zoomAt(view: View, size: Size, left: number, top: number, factor: number): View {
  const whole = fitScale(size);
  const scale = Math.max(whole * 0.8, Math.min(whole * CLOSEST, view.scale * factor));
  const [x, y] = toMap(view, size, left, top);
  return clamped({ x: x - (left - size.width / 2) / scale, y: y - (top - size.height / 2) / scale, scale });
}

export const pan = (view: View, dx: number, dy: number): View =>
  clamped({ ...view, x: view.x - dx / view.scale, y: view.y - dy / view.scale });

const clamp = (value: number) => Math.max(0, Math.min(EXTENT, value));
const clamped = (view: View): View => ({ ...view, x: clamp(view.x), y: clamp(view.y) });

/** The same view with a point in sight. */
export function including(view: View, size: Size, x: number, y: number): View {
  const [left, top] = toScreen(view, size, x, y);
  const margin = 40;
  const seen = left > margin && top > margin && left < size.width - margin && top < size.height - margin;
  return seen ? view : { ...view, x, y };
}

/** The corners of what is seen, as an area of the map. */
export function seen(view: View, size: Size): number[] {
  const [left, top] = toMap(view, size, 0, 0).map(clampWhole) as [number, number];
  const [right, bottom] = toMap(view, size, size.width, size.height).map(clampWhole) as [number, number];
  return [left, top, right, top, right, bottom, left, bottom];
}

const clampWhole = (value: number) => Math.max(0, Math.min(EXTENT - 1, Math.round(value)));
