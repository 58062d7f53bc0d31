// Draws points by WebGL2: a vertex a memory, its colour looked up in a palette.

import { HUES } from "../ui/colours.ts";
import { rgb } from "./colour.ts";
import { type Renderer, radius, type Scene } from "./renderer.ts";
import { type Size, type View, zoomOf } from "./view.ts";

const VERTEX = `#version 300 es
layout(location = 0) in vec2 place;
layout(location = 1) in float colour;
layout(location = 2) in float passes;
uniform vec2 middle;
uniform vec2 scale;
uniform float size;
uniform bool passing;
uniform vec3 palette[${HUES.length + 1}];
uniform vec3 dimmed;
out vec4 shade;
void main() {
  vec2 at = (place - middle) * scale;
  bool shown = passing == (passes > 0.5);
  gl_Position = shown ? vec4(at.x, -at.y, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = size;
  shade = vec4(passing ? palette[int(colour)] : dimmed, 0.78);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade;
out vec4 pixel;
uniform float size;
void main() {
  float away = length(gl_PointCoord - 0.5) * size;
  float edge = size * 0.5;
  pixel = vec4(shade.rgb, shade.a * (1.0 - smoothstep(edge - 1.0, edge + 0.2, away)));
}`;

const UNIFORMS = ["middle", "scale", "size", "passing", "palette", "dimmed"] as const;

type Locations = Record<(typeof UNIFORMS)[number], WebGLUniformLocation | null>;

const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

/** Whether there is a graphics card behind WebGL2: without one, the 2-D canvas is ten times as fast. */
export function hasGraphicsCard(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !SOFTWARE.test(name);
}

export class WebGl implements Renderer {
  readonly name = "webgl";
  readonly #gl: WebGL2RenderingContext;
  readonly #program: WebGLProgram;
  readonly #at: Locations;
  readonly #buffers: WebGLBuffer[] = [];
  #scene: Scene | undefined;
  #colours: { palette: number[]; dimmed: number[]; background: number[] } = { palette: [], dimmed: [], background: [] };

  constructor(readonly canvas: HTMLCanvasElement) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false });
    if (!gl) throw new Error("No WebGL2.");
    this.#gl = gl;
    this.#program = link(gl);
    this.#at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(this.#program, name)])) as Locations;
    for (let location = 0; location < 3; location++) {
      this.#buffers.push(gl.createBuffer());
      gl.enableVertexAttribArray(location);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  scene(scene: Scene) {
    const gl = this.#gl;
    const { points, colour, mask } = scene;
    const before = this.#scene;
    // What is there already is not sent to the graphics card again.
    if (points !== before?.points) {
      const places = new Uint16Array(points.count * 2);
      for (let at = 0; at < points.count; at++) {
        places[2 * at] = points.x[at] as number;
        places[2 * at + 1] = points.y[at] as number;
      }
      this.#fill(0, places, 2, gl.UNSIGNED_SHORT);
    }
    if (colour !== before?.colour) this.#fill(1, colour, 1, gl.UNSIGNED_BYTE);
    if (mask !== before?.mask || points !== before.points) {
      this.#fill(2, mask ?? new Uint8Array(points.count).fill(1), 1, gl.UNSIGNED_BYTE);
    }
    const unit = (one: string) => rgb(one).map((part) => part / 255);
    this.#colours = { palette: scene.palette.flatMap(unit), dimmed: unit(scene.dimmed), background: unit(scene.background) };
    this.#scene = scene;
  }

  #fill(location: number, values: ArrayBufferView<ArrayBufferLike>, size: number, type: number) {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffers[location] as WebGLBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, values as ArrayBufferView<ArrayBuffer>, gl.STATIC_DRAW);
    gl.vertexAttribPointer(location, size, type, false, 0, 0);
  }

  draw(view: View, size: Size, ratio: number, most: number) {
    const scene = this.#scene;
    if (!scene) return;
    const gl = this.#gl;
    const [width, height] = [Math.max(1, Math.round(size.width * ratio)), Math.max(1, Math.round(size.height * ratio))];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    const { palette, dimmed, background } = this.#colours;
    gl.viewport(0, 0, width, height);
    gl.clearColor(...(background as [number, number, number]), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.#program);
    gl.uniform2f(this.#at.middle, view.x, view.y);
    gl.uniform2f(this.#at.scale, (2 * view.scale) / size.width, (2 * view.scale) / size.height);
    gl.uniform1f(this.#at.size, Math.max(1.5, 2 * radius(zoomOf(view, size), scene.points.count) * ratio + 1));
    gl.uniform3fv(this.#at.palette, palette);
    gl.uniform3fv(this.#at.dimmed, dimmed);
    const count = Math.min(scene.points.count, most);
    for (const passing of scene.mask ? [0, 1] : [1]) {
      gl.uniform1i(this.#at.passing, passing);
      gl.drawArrays(gl.POINTS, 0, count);
    }
  }

  /** Waits until what was drawn is drawn. */
  finish() {
    this.#gl.finish();
  }

  end() {
    this.#gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

function link(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(type);
    if (!shader) throw new Error("WebGL2 was lost.");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "WebGL2");
  return program;
}
