// Draws points into the pixels of a 2-D canvas. Works everywhere, and faster than WebGL without a graphics card.

import { rgb } from "./colour.ts";
import { type Renderer, radius, type Scene } from "./renderer.ts";
import { type Size, type View, zoomOf } from "./view.ts";

/** Blue, green, red from the high byte, as canvases have them on all machines that browsers run on. */
const packed = (colour: string) => {
  const [r, g, b] = rgb(colour);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
};

const QUARTER = 0x3f3f3f;
const HALF = 0x7f7f7f;

/** Three quarters of the new colour and one of the old: what is dense becomes full. */
export const over = (old: number, colour: number) =>
  (0xff000000 | ((((old >>> 2) & QUARTER) + ((colour >>> 2) & QUARTER) + ((colour >>> 1) & HALF)) & 0xffffff)) >>> 0;

/** The pixels of a disc around its middle. */
export function disc(size: number): [number, number][] {
  const reach = Math.floor(size);
  const pixels: [number, number][] = [];
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) if (x * x + y * y <= size * size + 0.3) pixels.push([x, y]);
  }
  return pixels;
}

export class Raster implements Renderer {
  readonly name = "canvas";
  readonly #context: CanvasRenderingContext2D;
  #scene: Scene | undefined;
  #image: ImageData | undefined;

  constructor(readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser does not support canvas.");
    this.#context = context;
  }

  scene(scene: Scene) {
    this.#scene = scene;
  }

  draw(view: View, size: Size, ratio: number, most: number) {
    const scene = this.#scene;
    if (!scene) return;
    const width = Math.max(1, Math.round(size.width * ratio));
    const height = Math.max(1, Math.round(size.height * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.#image = undefined;
    }
    this.#image ??= this.#context.createImageData(width, height);
    const pixels = new Uint32Array(this.#image.data.buffer);
    pixels.fill(packed(scene.background));
    const { mask, points } = scene;
    const count = Math.min(points.count, most);
    const stamp = disc(radius(zoomOf(view, size), points.count) * ratio);
    const canvas = { pixels, width, height, scale: view.scale * ratio, view };
    if (mask) stampAll(canvas, scene, count, stamp, 0);
    stampAll(canvas, scene, count, stamp, 1);
    this.#context.putImageData(this.#image, 0, 0);
  }

  end() {
    this.#image = undefined;
  }
}

interface Target {
  pixels: Uint32Array;
  width: number;
  height: number;
  scale: number;
  view: View;
}

function stampAll(to: Target, { points, colour, palette, mask, dimmed }: Scene, count: number, stamp: [number, number][], passing: 0 | 1) {
  const { pixels, width, height, scale, view } = to;
  const colours = Uint32Array.from(passing ? palette : palette.map(() => dimmed), packed);
  const offsets = Int32Array.from(stamp, ([x, y]) => y * width + x);
  const reach = Math.max(...stamp.map(([x]) => x));
  const left = width / 2 - view.x * scale;
  const top = height / 2 - view.y * scale;
  for (let at = 0; at < count; at++) {
    if (mask && mask[at] !== passing) continue;
    const x = ((points.x[at] as number) * scale + left) | 0;
    const y = ((points.y[at] as number) * scale + top) | 0;
    if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
    const middle = y * width + x;
    const own = colours[colour[at] as number] as number;
    for (let one = 0; one < offsets.length; one++) {
      const pixel = middle + (offsets[one] as number);
      pixels[pixel] = over(pixels[pixel] as number, own);
    }
  }
}
