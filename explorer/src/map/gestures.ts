// What the pointer, the wheel and the keys do on the map.

import type { Chart } from "./chart.ts";
import { type Direction, toward } from "./grid.ts";
import { simplify } from "./lasso.ts";
import { pan, toMap, type View, zoomAt } from "./view.ts";

export interface Doings {
  hover: (at: number) => void;
  focus: (at: number) => void;
  open: (at: number) => void;
  area: (corners: number[]) => void;
  /** Whether a drag draws an area without Shift. */
  lasso: () => boolean;
}

/** A press that moves less is a click. */
const CLICK = 4;
const ARROWS: Record<string, Direction> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

export function gestures(element: HTMLElement, chart: Chart, doings: Doings): () => void {
  const pointers = new Map<number, [number, number]>();
  let path: number[] | null = null;
  let moved = 0;

  const at = (event: MouseEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0 || !chart.view) return;
    element.setPointerCapture(event.pointerId);
    const here = at(event);
    pointers.set(event.pointerId, here);
    moved = 0;
    path = pointers.size === 1 && (event.shiftKey || doings.lasso()) ? [...toMap(chart.view, chart.size, ...here)] : null;
  };

  const move = (event: PointerEvent) => {
    const here = at(event);
    const before = pointers.get(event.pointerId);
    if (!before || !chart.view) return doings.hover(chart.pick(...here));
    const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
    moved += Math.hypot(dx, dy);
    if (path) {
      path.push(...toMap(chart.view, chart.size, ...here));
      chart.set({ area: path, drawing: true });
    } else if (pointers.size === 2) {
      pinch(event.pointerId, before, here, chart.view);
    } else chart.look(pan(chart.view, dx, dy));
    pointers.set(event.pointerId, here);
  };

  const pinch = (id: number, before: [number, number], here: [number, number], view: View) => {
    const other = [...pointers].find(([one]) => one !== id)?.[1];
    if (!other) return;
    const away = (from: [number, number]) => Math.max(1, Math.hypot(from[0] - other[0], from[1] - other[1]));
    const middle = [(here[0] + other[0]) / 2, (here[1] + other[1]) / 2] as const;
    chart.look(zoomAt(view, chart.size, ...middle, away(here) / away(before)));
  };

  const up = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    const drawn = path;
    path = null;
    if (drawn) {
      chart.set({ drawing: false });
      const corners = moved >= CLICK * 4 ? simplify(drawn) : [];
      doings.area(corners.length >= 6 ? corners : []);
    } else if (moved < CLICK) {
      const found = chart.pick(...at(event));
      if (found >= 0) doings.open(found);
    }
  };

  const wheel = (event: WheelEvent) => {
    if (!chart.view) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    chart.look(zoomAt(chart.view, chart.size, ...at(event), Math.exp(-event.deltaY * lines * 0.0016)));
  };

  const key = (event: KeyboardEvent) => {
    if (!chart.view || event.ctrlKey || event.metaKey || event.altKey) return;
    const { width, height } = chart.size;
    const direction = ARROWS[event.key];
    if (direction && chart.grid) {
      const { focus } = chart.over;
      const next = focus < 0 ? chart.middle() : toward(chart.grid, focus, direction, chart.passes);
      if (next >= 0) doings.focus(next);
    } else if (event.key === "Enter" && chart.over.focus >= 0) doings.open(chart.over.focus);
    else if (event.key === "+" || event.key === "=") chart.fly(zoomAt(chart.view, chart.size, width / 2, height / 2, 1.6));
    else if (event.key === "-") chart.fly(zoomAt(chart.view, chart.size, width / 2, height / 2, 1 / 1.6));
    else if (event.key === "0") chart.home();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const leave = () => doings.hover(-1);
  const twice = (event: MouseEvent) => {
    if (chart.view) chart.fly(zoomAt(chart.view, chart.size, ...at(event), 2));
  };

  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("dblclick", twice);
  element.addEventListener("keydown", key);
  return () => {
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", up);
    element.removeEventListener("pointerleave", leave);
    element.removeEventListener("wheel", wheel);
    element.removeEventListener("dblclick", twice);
    element.removeEventListener("keydown", key);
  };
}
