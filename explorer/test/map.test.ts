import assert from "node:assert/strict";
import { test } from "node:test";
import { colouring, rgb } from "../src/map/colour.ts";
import { gridOf, nearest, toward } from "../src/map/grid.ts";
import { levelOf, shownLabels } from "../src/map/labels.ts";
import { inside, simplify } from "../src/map/lasso.ts";
import { decode, decodeMask, type Points } from "../src/map/points.ts";
import { disc, over } from "../src/map/raster.ts";
import { boundsOf, fit, pan, toMap, toScreen, zoomAt, zoomOf } from "../src/map/view.ts";

/** The same sequence each time. */
function draws(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function scattered(count: number): Points {
  const draw = draws(7);
  const column = (most: number) => Uint16Array.from({ length: count }, () => Math.floor(draw() * most));
  return {
    generation: 1, count, kinds: ["fact", "task"], projects: ["p"], agents: [],
    id: Uint32Array.from({ length: count }, (_, at) => at + 1),
    x: column(65_536), y: column(65_536), project: column(2), agent: new Uint16Array(count), day: column(20_000),
    kind: Uint8Array.from(column(2)), importance: Uint8Array.from(column(11)), flags: new Uint8Array(count),
  };
}

test("the file of the map is read column by column", () => {
  const names = JSON.stringify({ kinds: ["fact"], projects: ["a"], agents: [] });
  const padded = names.padEnd(Math.ceil(names.length / 4) * 4);
  const bytes: number[] = [..."MMAP"].map((one) => one.charCodeAt(0));
  const put = (value: number, width: number) => {
    for (let at = 0; at < width; at++) bytes.push((value >>> (8 * at)) & 255);
  };
  const column = (values: number[], width: number) => {
    for (const value of values) put(value, width);
    while (bytes.length % 4 !== 0) bytes.push(0);
  };
  for (const value of [1, 9, 3, padded.length]) put(value, 4);
  for (const character of padded) bytes.push(character.charCodeAt(0));
  column([7, 8, 70_000], 4);
  column([1, 2, 65_535], 2);
  column([4, 5, 6], 2);
  column([0, 1, 1], 2);
  column([0, 0, 0], 2);
  column([20_000, 20_001, 20_002], 2);
  column([0, 0, 0], 1);
  column([5, 9, 10], 1);
  column([0, 1, 6], 1);
  const points = decode(Uint8Array.from(bytes).buffer);
  assert.deepEqual([points.generation, points.count, points.projects], [9, 3, ["a"]]);
  assert.deepEqual([...points.id], [7, 8, 70_000]);
  assert.deepEqual([...points.x], [1, 2, 65_535]);
  assert.deepEqual([...points.day], [20_000, 20_001, 20_002]);
  assert.deepEqual([...points.importance], [5, 9, 10]);
  assert.deepEqual([...points.flags], [0, 1, 6]);
  assert.throws(() => decode(new ArrayBuffer(4)), /Reload/);
});

test("a mask has a bit a point", () => {
  const buffer = Uint8Array.from([2, 0, 0, 0, 10, 0, 0, 0, 0b1000_0001, 0b10, 0, 0]).buffer;
  const { generation, mask } = decodeMask(buffer);
  assert.deepEqual([generation, [...mask]], [2, [1, 0, 0, 0, 0, 0, 0, 1, 0, 1]]);
});

test("what is under the pointer stays there while it zooms, and pixels lead back to places", () => {
  const size = { width: 800, height: 600 };
  let view = zoomAt(fit(size), size, 400, 300, 1 / zoomOf(fit(size), size));
  const [x, y] = toMap(view, size, 200, 150);
  view = zoomAt(view, size, 200, 150, 3);
  const [left, top] = toScreen(view, size, x, y);
  assert.ok(Math.abs(left - 200) < 1e-6 && Math.abs(top - 150) < 1e-6);
  assert.ok(Math.abs(zoomOf(view, size) - 3) < 1e-9);
  const moved = pan(view, 10, -20);
  const [l, t] = toScreen(moved, size, x, y);
  assert.ok(Math.abs(l - 210) < 1e-6 && Math.abs(t - 130) < 1e-6);
  assert.ok(zoomOf(zoomAt(view, size, 0, 0, 1e9), size) <= 64 + 1e-9);
});

test("the grid finds the same nearest point as a look at all", () => {
  const points = scattered(3000);
  const grid = gridOf(points);
  const draw = draws(3);
  for (let round = 0; round < 200; round++) {
    const [x, y] = [draw() * 65_536, draw() * 65_536];
    const distance = (at: number) => Math.hypot((points.x[at] as number) - x, (points.y[at] as number) - y);
    let best = 0;
    for (let at = 1; at < points.count; at++) if (distance(at) < distance(best)) best = at;
    assert.equal(distance(nearest(grid, x, y, Number.POSITIVE_INFINITY)), distance(best));
  }
  assert.equal(nearest(grid, 0, 0, 0.001), -1);
  const only = nearest(grid, 100, 100, Number.POSITIVE_INFINITY, (at) => at === 5);
  assert.equal(only, 5);
});

test("an arrow leads to the nearest point that way", () => {
  const points = { x: Uint16Array.from([100, 300, 900, 310, 100]), y: Uint16Array.from([100, 110, 100, 900, 60_000]), count: 5 };
  const grid = gridOf(points);
  assert.equal(toward(grid, 0, "right"), 1);
  assert.equal(toward(grid, 1, "left"), 0);
  assert.equal(toward(grid, 1, "down"), 3);
  assert.equal(toward(grid, 0, "up"), -1);
  assert.equal(toward(grid, 0, "down"), 3);
  assert.equal(toward(grid, 0, "right", (at) => at !== 1), 2);
});

test("a lasso has the points within it, as an exact test of each finds but for its edge", () => {
  const points = scattered(4000);
  const area = [10_000, 10_000, 50_000, 12_000, 30_000, 30_000, 55_000, 52_000, 8_000, 50_000];
  const within = (x: number, y: number) => {
    let is = false;
    for (let at = 0; at < area.length / 2; at++) {
      const next = (at + 1) % (area.length / 2);
      const [x1, y1, x2, y2] = [area[2 * at], area[2 * at + 1], area[2 * next], area[2 * next + 1]] as [number, number, number, number];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) is = !is;
    }
    return is;
  };
  const found = new Set(inside(points, area));
  let wrong = 0;
  for (let at = 0; at < points.count; at++) if (found.has(at) !== within(points.x[at] as number, points.y[at] as number)) wrong++;
  assert.ok(found.size > 500 && wrong < 20, `${wrong} of ${points.count}`);
});

test("a path of the pointer becomes few corners that have the same points", () => {
  const path: number[] = [];
  for (let at = 0; at < 500; at++) {
    const angle = (at / 500) * 2 * Math.PI;
    path.push(32_768 + 20_000 * Math.cos(angle), 32_768 + 20_000 * Math.sin(angle));
  }
  const corners = simplify(path);
  assert.ok(corners.length <= 96 && corners.length >= 12);
  const points = scattered(4000);
  const [exact, few] = [inside(points, path).length, inside(points, corners).length];
  assert.ok(Math.abs(exact - few) < exact * 0.03, `${exact} and ${few}`);
});

test("colours: the most frequent names have one of their own, and each point has that of its memory", () => {
  const points = scattered(100);
  const kinds = colouring(points, "kind", { fact: 10, task: 90 }, 20_000);
  assert.deepEqual(kinds.legend.map(({ name }) => name), ["task", "fact"]);
  for (let at = 0; at < 100; at++) assert.equal(kinds.index[at], points.kind[at] === 1 ? 0 : 1);
  const age = colouring({ ...points, day: points.day.fill(20_000) }, "age", {}, 20_000);
  assert.ok(age.index.every((one) => one === 0));
  for (const colour of ["project", "agent", "importance"] as const) {
    const { index, palette } = colouring(points, colour, {}, 20_000);
    assert.ok(index.every((one) => one < palette.length));
  }
  assert.deepEqual(rgb("#3b73d9"), [0x3b, 0x73, 0xd9]);
});

test("a pixel over another is mostly the new colour, and full after a few", () => {
  let pixel = 0xffffffff;
  for (let time = 0; time < 12; time++) pixel = over(pixel, 0xff204060);
  for (const shift of [0, 8, 16]) assert.ok(Math.abs(((pixel >>> shift) & 255) - ((0xff204060 >>> shift) & 255)) <= 6);
  assert.equal(pixel >>> 24, 255);
  assert.equal(disc(0).length, 1);
  assert.equal(disc(1).length, 5);
});

test("labels: the largest of a level first, none over another", () => {
  const size = { width: 800, height: 600 };
  const label = (x: number, y: number, text: string, count: number) => ({ x, y, text, count });
  const levels = [[label(32_768, 32_768, "large", 10), label(32_900, 32_768, "under it", 5), label(10_000, 10_000, "apart", 1), label(32_768, 40_000, "below", 1)]];
  const shown = shownLabels(levels, fit(size), size, (text) => text.length * 8).map(({ label: { text } }) => text);
  assert.deepEqual(shown, ["large", "apart", "below"]);
  const many = [0, 1, 2, 3].map((at) => label(at, at, `${at}`, 1));
  assert.deepEqual([1, 3, 9].map((zoom) => levelOf(zoom, [many, many, many])), [0, 1, 2]);
  assert.deepEqual([1, 3].map((zoom) => levelOf(zoom, [many.slice(0, 1), many, many])), [1, 1]);
});

test("at first all points are seen, as large as they can be", () => {
  const points = { x: Uint16Array.from([1000, 60_000, 30_000]), y: Uint16Array.from([20_000, 30_000, 25_000]), count: 3 };
  const size = { width: 800, height: 600 };
  const view = fit(size, boundsOf(points));
  const spots = [0, 1, 2].map((at) => toScreen(view, size, points.x[at] as number, points.y[at] as number));
  assert.ok(spots.every(([left, top]) => left >= 0 && left <= 800 && top >= 0 && top <= 600));
  assert.ok((spots[1] as number[])[0] as number - ((spots[0] as number[])[0] as number) > 700);
  assert.ok(Number.isFinite(fit(size, boundsOf({ ...points, count: 1 })).scale));
});
