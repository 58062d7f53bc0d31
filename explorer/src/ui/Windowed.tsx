// A list of any length of which only the rows near what is seen are drawn, and those that are held. Rows have whatever height they
// have: each is measured once it is drawn. What is read stays where it is when rows above come, go or turn out higher than thought,
// and when the width changes.

import { type ComponentChild, Fragment } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { isScrolled, readFrom, scroller } from "../state/scrolled.ts";
import { type Span, spanOf } from "../text/window.ts";

/** So much above and below what is seen is drawn, too, in pixels. */
const MARGIN = 500;
/** The height of a row until one is measured. */
const GUESS = 88;
/** Rows whose height depends on which others are drawn, as in a table, settle or are left: so many times in a row. */
const SETTLE = 5;
const SPACERS = { ol: "li", div: "div", tbody: "tr" } as const;

type Key = string | number;

/** Where the rows that are seen were, the first that begins in view first. */
interface Noted {
  rows: { key: Key; top: number }[];
  /** Of the list. */
  top: number;
  scroll: number;
  isScrolled: boolean;
}

interface Known {
  list: string;
  heights: Map<Key, number>;
  usual: number;
  span: Span | null;
  noted: Noted | null;
  focused: Key | null;
  /** What each child of the box is; nothing for a spacer. */
  drawn: (Key | null)[];
}

interface WindowedProps<T> {
  as: keyof typeof SPACERS;
  items: readonly T[];
  keyOf: (item: T) => Key;
  /** Draws a row. Its height is given if it has been measured: a row without content keeps it. */
  row: (item: T, at: number, height: number) => ComponentChild;
  /** Another list begins at its top, and nothing measured of this one is true of it. */
  list?: string;
  /** This row is drawn wherever it is, as the one with the focus is. */
  held?: Key | null;
  /** Which rows are drawn now. */
  seen?: (from: number, to: number) => void;
  attributes?: Record<string, unknown>;
}

export function Windowed<T>({ as: Box, items, keyOf, row, list = "", held = null, seen, attributes }: WindowedProps<T>) {
  const box = useRef<HTMLElement>(null);
  const known = useRef<Known | null>(null);
  if (known.current?.list !== list) {
    // The usual height is a guess as good as any.
    const usual = known.current?.usual ?? 0;
    known.current = { list, heights: new Map(), usual, span: null, noted: null, focused: null, drawn: [] };
  }
  const state = known.current;
  state.focused = (box.current && state.drawn[focusedIn(box.current)]) ?? null;
  const heights = useMemo(() => Float32Array.from(items, (item) => state.heights.get(keyOf(item)) ?? 0), [items, list]);
  const usual = state.usual || GUESS;
  const near = (top: number, margin: number) => spanOf(heights, usual, -margin - top, innerHeight + margin - top);
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const settling = useRef(0);
  const before = useRef({ items, list });
  const isOther = before.current.list !== list;
  const isSeenFirst = useRef(false);
  if (isOther) isSeenFirst.current = true;
  if (before.current.items !== items || !state.span) {
    settling.current = 0;
    state.span = near(topFor(), isOther ? 0 : MARGIN);
  }
  before.current = { items, list };
  const shown = state.span;

  const look = (margin = MARGIN) => {
    if (!box.current || !isShown(box.current)) return;
    const next = near(box.current.getBoundingClientRect().top, margin);
    const isDrawn = margin < MARGIN && shown.from <= next.from && next.to <= shown.to;
    if (isDrawn || (Object.keys(next) as (keyof Span)[]).every((key) => next[key] === shown[key])) return;
    state.span = next;
    draw(0);
  };
  const now = useRef({ look, settle });
  now.current = { look, settle };

  useLayoutEffect(() => {
    if (isOther && box.current && box.current.getBoundingClientRect().top < readFrom() - 1) box.current.scrollIntoView();
  }, [list]);
  // Measuring lays out the page. What else changes a height is told by the observer below.
  useLayoutEffect(() => {
    settle();
    if (settling.current++ < SETTLE) look(isSeenFirst.current ? 0 : MARGIN);
  }, [items, list, shown, held, state.focused]);
  // Of another list, what is seen comes first, and what is out of view in a later frame.
  useEffect(() => {
    if (!isSeenFirst.current) return;
    const frame = requestAnimationFrame(() => {
      isSeenFirst.current = false;
      settling.current = 0;
      now.current.look();
    });
    return () => cancelAnimationFrame(frame);
  }, [list]);
  useEffect(() => seen?.(shown.from, shown.to), [shown.from, shown.to, items]);
  useEffect(() => {
    let frame = 0;
    const soon = () => {
      cancelAnimationFrame(frame);
      settling.current = 0;
      frame = requestAnimationFrame(() => now.current.look(isSeenFirst.current ? 0 : MARGIN));
    };
    const moved = () => {
      now.current.settle();
      soon();
    };
    const resized = new ResizeObserver(moved);
    // Whichever part of the page scrolls.
    addEventListener("scroll", moved, { capture: true, passive: true });
    addEventListener("resize", soon);
    if (box.current) resized.observe(box.current);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", moved, { capture: true });
      removeEventListener("resize", soon);
      resized.disconnect();
    };
  }, []);

  /** Where the list begins once a row that is seen, and still there, stays where it is. */
  function topFor(): number {
    const { noted } = state;
    if (!noted?.isScrolled) return noted?.top ?? 0;
    const rows = inOrder(noted);
    const order = new Map(rows.map(({ key }, at) => [key, at]));
    let [first, top, above] = [noted.rows.length, noted.top, 0];
    for (const [index, item] of items.entries()) {
      const at = order.get(keyOf(item));
      if (at !== undefined && at < first) [first, top] = [at, (rows[at] as { top: number }).top - above];
      above += heights[index] || usual;
    }
    return top;
  }

  /** Measures the rows that are drawn, puts what is read where it was, and notes where that is. */
  function settle() {
    const element = box.current;
    // Not while something else is shown in its place.
    if (!element || !isShown(element)) return;
    const { drawn, noted } = state;
    const children = [...element.children] as HTMLElement[];
    const tops = children.map((child) => child.getBoundingClientRect().top);
    const byKey = new Map(indexes.map((index) => [keyOf(items[index] as T), index]));
    for (const [at, key] of drawn.entries()) {
      const index = key === null ? undefined : byKey.get(key);
      if (key === null || index === undefined || children[at]?.ariaBusy === "true") continue;
      const height = (tops[at + 1] as number) - (tops[at] as number);
      if (Math.abs(height - (heights[index] as number)) < 0.5) continue;
      state.usual ||= height;
      heights[index] = height;
      state.heights.set(key, height);
    }
    const area = scroller();
    const start = area.scrollTop;
    const stays = noted && inOrder(noted).find(({ key }) => drawn.includes(key));
    if (noted?.isScrolled && stays && isScrolled()) {
      // So far it was scrolled meanwhile, but for where the page is too short now.
      const isShort = start < noted.scroll && start + area.clientHeight >= area.scrollHeight - 1;
      const by = isShort ? 0 : start - noted.scroll;
      const moved = (tops[drawn.indexOf(stays.key)] as number) - (stays.top - by);
      if (Math.abs(moved) >= 0.5) area.scrollTop += moved;
    }
    const shift = area.scrollTop - start;
    const top = readFrom();
    const rows = drawn.flatMap((key, at) => {
      const [from, to] = [(tops[at] as number) - shift, (tops[at + 1] as number) - shift];
      if (key === null || to <= top || from >= innerHeight) return [];
      return [{ key, top: from }];
    });
    if (rows.length > 1 && (rows[0] as { top: number }).top < top) rows.push(...rows.splice(0, 1));
    state.noted = { rows, top: (tops[0] as number) - shift, scroll: area.scrollTop, isScrolled: isScrolled() };
  }

  /** The row that was opened, or has the focus, stays where it is before all others. */
  function inOrder({ rows }: Noted) {
    const worth = (key: Key) => (key === held ? 0 : key === state.focused ? 1 : 2);
    return [...rows].sort((a, b) => worth(a.key) - worth(b.key));
  }

  const Spacer = SPACERS[Box];
  const { focused } = state;
  const indexes = Array.from({ length: shown.to - shown.from }, (_, at) => shown.from + at);
  for (const key of new Set([held, focused])) {
    const index = key == null ? -1 : items.findIndex((item) => keyOf(item) === key);
    if (index >= 0 && (index < shown.from || index >= shown.to)) indexes.push(index);
  }
  indexes.sort((a, b) => a - b);
  const parts: ComponentChild[] = [];
  state.drawn = [];
  let next = 0;
  const space = (until: number, key: Key) => {
    let height = 0;
    for (; next < until; next++) height += heights[next] || usual;
    parts.push(<Spacer key={`before ${key}`} aria-hidden="true" style={{ height: `${height}px` }} />);
    state.drawn.push(null);
  };
  for (const index of indexes) {
    const item = items[index] as T;
    const key = keyOf(item);
    // There is always one at the top.
    if (parts.length === 0 || index > next) space(index, parts.length === 0 ? "all" : key);
    parts.push(<Fragment key={key}>{row(item, index, heights[index] || usual)}</Fragment>);
    state.drawn.push(key);
    next = index + 1;
  }
  space(items.length, "end");
  const Any = Box as "div";
  return <Any {...attributes} ref={box as never}>{parts}</Any>;
}

const isShown = (element: HTMLElement) => element.getClientRects().length > 0;

/** Which child has the focus. */
const focusedIn = (element: HTMLElement) => [...element.children].findIndex((child) => child.contains(document.activeElement));
