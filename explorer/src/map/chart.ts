// The map on the page: two canvases, what is seen of it, and when it is drawn.

import { type Grid, gridOf, nearest } from "./grid.ts";
import { drawOver, type Ink, type Over } from "./overlay.ts";
import type { Points } from "./points.ts";
import type { Renderer, Scene } from "./renderer.ts";
import { type Bounds, boundsOf, fit, fitScale, including, type Size, toMap, toScreen, type View } from "./view.ts";

/** How near the pointer has to be to a point, in pixels. */
const REACH = 12;
/** So many points while it moves. */
const MOVING = 200_000;
const REST = 120;
const FLIGHT = 260;
/** A first frame that takes longer, in milliseconds, is not drawn by a graphics card. */
const SLOW = 100;

export class Chart {
  view: View | null = null;
  size: Size = { width: 1, height: 1 };
  over: Omit<Over, "points"> = { labels: [], hits: [], focus: -1, neighbors: [], open: -1, area: [], drawing: false };
  #scene: Scene | undefined;
  #grid: Grid | undefined;
  #ids: Map<number, number> | undefined;
  #ink: Ink = { text: "#000000", halo: "#ffffff", accent: "#3b5bdb" };
  #frame = 0;
  #flight = 0;
  /** Nobody has moved it. */
  #isWhole = true;
  #bounds: Bounds | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  readonly #renderer: Renderer;
  #slow: (() => void) | undefined;
  readonly #over: CanvasRenderingContext2D;
  /** How long the last frame took, in milliseconds. */
  took = 0;

  /** `slow` is called if the first frame shows that another renderer should draw. */
  constructor(renderer: Renderer, over: HTMLCanvasElement, slow: () => void) {
    this.#renderer = renderer;
    this.#slow = slow;
    this.#over = over.getContext("2d") as CanvasRenderingContext2D;
  }

  get points(): Points | undefined {
    return this.#scene?.points;
  }

  get grid(): Grid | undefined {
    return this.#grid;
  }

  show(scene: Scene, ink: Ink) {
    if (scene.points !== this.#scene?.points) {
      this.#grid = gridOf(scene.points);
      this.#bounds = boundsOf(scene.points);
      if (this.#isWhole) this.view = fit(this.size, this.#bounds);
      this.#ids = undefined;
      this.over = { ...this.over, focus: -1, neighbors: [] };
    }
    this.#scene = scene;
    this.#ink = ink;
    this.#renderer.scene(scene);
    this.draw();
  }

  set(part: Partial<Omit<Over, "points">>) {
    this.over = { ...this.over, ...part };
    this.draw();
  }

  resize(size: Size) {
    this.size = size;
    if (this.#isWhole) this.view = fit(size, this.#bounds);
    this.draw();
  }

  /** All of it. */
  home() {
    this.fly(fit(this.size, this.#bounds));
    this.#isWhole = true;
  }

  /** Moves at once; `moving` draws fewer points until it rests. */
  look(view: View) {
    this.#flight++;
    this.#isWhole = false;
    this.#look(view);
  }

  #look(view: View) {
    this.view = view;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.draw(), REST);
    this.draw(true);
  }

  /** Moves there in steps, or at once for those who want no motion. */
  fly(to: View) {
    const from = this.view ?? to;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.look(to);
    const began = performance.now();
    const flight = ++this.#flight;
    this.#isWhole = false;
    const step = () => {
      // Somebody steers.
      if (flight !== this.#flight) return;
      const part = Math.min(1, (performance.now() - began) / FLIGHT);
      const eased = part * (2 - part);
      const scale = from.scale * (to.scale / from.scale) ** eased;
      this.#look({ x: from.x + (to.x - from.x) * eased, y: from.y + (to.y - from.y) * eased, scale });
      if (part < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  draw(moving = false) {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#now(moving));
  }

  #now(moving: boolean) {
    const { view, size } = this;
    const scene = this.#scene;
    if (!view || !scene || size.width < 2) return;
    const began = performance.now();
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.#renderer.draw(view, size, ratio, moving ? MOVING : Number.POSITIVE_INFINITY);
    if (this.#slow) {
      this.#renderer.finish?.();
      if (performance.now() - began > SLOW) this.#slow();
      this.#slow = undefined;
    }
    drawOver(this.#over, view, size, ratio, { ...this.over, points: scene.points }, this.#ink);
    this.took = performance.now() - began;
  }

  passes = (at: number): boolean => {
    const mask = this.#scene?.mask;
    return !mask || mask[at] === 1;
  };

  /** The point under a pixel; -1: none. */
  pick(left: number, top: number): number {
    if (!this.view || !this.#grid) return -1;
    const [x, y] = toMap(this.view, this.size, left, top);
    return nearest(this.#grid, x, y, REACH / this.view.scale, this.passes);
  }

  /** The point that is nearest to the middle. */
  middle(): number {
    if (!this.view || !this.#grid) return -1;
    return nearest(this.#grid, this.view.x, this.view.y, Number.POSITIVE_INFINITY, this.passes);
  }

  indexOf(id: number): number {
    if (!this.#ids && this.points) {
      this.#ids = new Map();
      for (let at = 0; at < this.points.count; at++) this.#ids.set(this.points.id[at] as number, at);
    }
    return this.#ids?.get(id) ?? -1;
  }

  /** Where a point is on the page. */
  spot(at: number): [number, number] {
    const points = this.points as Points;
    return toScreen(this.view as View, this.size, points.x[at] as number, points.y[at] as number);
  }

  /** Closer to a place. */
  visit(x: number, y: number) {
    this.fly({ x, y, scale: Math.max(this.view?.scale ?? 0, fitScale(this.size) * 4) });
  }

  reveal(at: number) {
    const points = this.points;
    if (!points || !this.view || at < 0) return;
    const view = including(this.view, this.size, points.x[at] as number, points.y[at] as number);
    if (view !== this.view) this.fly(view);
  }

  end() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#rest);
    this.#renderer.end();
  }
}
