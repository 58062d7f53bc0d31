// A list of any length of which only the rows near what is seen are drawn. Rows have whatever height they have: each is measured
// once it is drawn, and what is read stays where it is when those above turn out higher or lower than thought.

import { type ComponentChild, Fragment } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Span, spanOf } from "../text/window.ts";

/** So much above and below what is seen is drawn, too, in pixels. */
const MARGIN = 500;
/** The height of a row until one is measured. */
const GUESS = 88;
/** Rows whose height depends on which others are drawn, as in a table, settle or are left: so many times in a row. */
const SETTLE = 5;
const SPACERS = { ol: "li", div: "div", tbody: "tr" } as const;

interface WindowedProps<T> {
  as: keyof typeof SPACERS;
  items: readonly T[];
  keyOf: (item: T) => string | number;
  /** Draws a row. Its height is given if it has been measured: a row without content keeps it. */
  row: (item: T, at: number, height: number) => ComponentChild;
  /** Another list begins at its top, and nothing measured of this one is true of it. */
  list?: string;
  /** Which rows are drawn now. */
  seen?: (from: number, to: number) => void;
  attributes?: Record<string, unknown>;
}

export function Windowed<T>({ as: Box, items, keyOf, row, list = "", seen, attributes }: WindowedProps<T>) {
  const box = useRef<HTMLElement>(null);
  const known = useRef({ list, heights: new Map<string | number, number>(), usual: 0 });
  if (known.current.list !== list) known.current = { list, heights: new Map(), usual: 0 };
  const heights = useMemo(
    () => Float32Array.from(items, (item) => known.current.heights.get(keyOf(item)) ?? 0),
    [items, list],
  );
  const [span, setSpan] = useState<Span>({ from: 0, to: 0, above: 0, below: 0 });
  const usual = known.current.usual || GUESS;
  const now = useRef({ items, heights, span });
  // Fewer rows than before: the old span is not theirs.
  const shown = span.to > 0 && span.to <= items.length ? span : spanOf(heights, usual, 0, innerHeight + MARGIN);
  const settling = useRef(0);
  if (now.current.items !== items) settling.current = 0;
  now.current = { items, heights, span: shown };

  const look = () => {
    if (!box.current) return;
    const { top } = box.current.getBoundingClientRect();
    const next = spanOf(now.current.heights, known.current.usual || GUESS, -MARGIN - top, innerHeight + MARGIN - top);
    const { span: before } = now.current;
    if ((Object.keys(next) as (keyof Span)[]).some((key) => next[key] !== before[key])) setSpan(next);
  };

  const before = useRef(list);
  useLayoutEffect(() => {
    if (before.current === list || !box.current) return;
    before.current = list;
    if (box.current.getBoundingClientRect().top < topOf(box.current)) box.current.scrollIntoView();
  }, [list]);
  useLayoutEffect(() => {
    if (box.current) keepPlace(measure(box.current));
    if (settling.current++ < SETTLE) look();
  });
  useEffect(() => seen?.(shown.from, shown.to), [shown.from, shown.to, items]);
  useEffect(() => {
    let frame = 0;
    const soon = () => {
      cancelAnimationFrame(frame);
      settling.current = 0;
      frame = requestAnimationFrame(look);
    };
    const resized = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      if (width === last) return;
      if (last > 0) {
        known.current.heights.clear();
        now.current.heights.fill(0);
      }
      last = width;
      soon();
    });
    let last = 0;
    // Whichever part of the page scrolls.
    addEventListener("scroll", soon, { capture: true, passive: true });
    addEventListener("resize", soon);
    if (box.current) resized.observe(box.current);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", soon, { capture: true });
      removeEventListener("resize", soon);
      resized.disconnect();
    };
  }, []);

  /** Measures the rows that are drawn; by how much those above what is seen are higher than thought. */
  function measure(element: HTMLElement): number {
    const rows = [...element.children] as HTMLElement[];
    const tops = rows.map((one) => one.getBoundingClientRect().top);
    let moved = 0;
    // The first and the last stand for what is not drawn.
    for (let at = 1; at + 1 < rows.length; at++) {
      const index = shown.from + at - 1;
      const height = (tops[at + 1] as number) - (tops[at] as number);
      const before = heights[index] as number;
      if (rows[at]?.ariaBusy === "true" || Math.abs(height - before) < 0.5) continue;
      known.current.usual ||= height;
      if (shown.from > 0 && (tops[at + 1] as number) < topOf(element)) moved += height - (before || usual);
      heights[index] = height;
      known.current.heights.set(keyOf(items[index] as T), height);
    }
    return moved;
  }

  const Spacer = SPACERS[Box];
  const spacer = (height: number) => <Spacer aria-hidden="true" style={{ height: `${height}px` }} />;
  const Any = Box as "div";
  return (
    <Any {...attributes} ref={box as never}>
      {spacer(shown.above)}
      {items.slice(shown.from, shown.to).map((item, at) => (
        <Fragment key={keyOf(item)}>{row(item, shown.from + at, heights[shown.from + at] || usual)}</Fragment>
      ))}
      {spacer(shown.below)}
    </Any>
  );
}

/** Where what is seen of the list begins. */
const topOf = (element: HTMLElement) => Math.max(0, element.closest("#middle")?.getBoundingClientRect().top ?? 0);

/** Scrolls by as much as what is above grew. In a narrow window the page scrolls, else its middle; the other one cannot. */
function keepPlace(moved: number) {
  if (Math.abs(moved) < 0.5) return;
  document.getElementById("middle")?.scrollBy(0, moved);
  scrollBy(0, moved);
}
