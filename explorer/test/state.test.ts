import assert from "node:assert/strict";
import { mock, test } from "node:test";
import * as api from "../src/api/client.ts";
import { errorOf } from "../src/api/errors.ts";
import { EventParser } from "../src/api/events.ts";
import { codeIn } from "../src/api/session.ts";
import { commandOf, KEYS } from "../src/keys.ts";
import { type Address, format, HOME, parse } from "../src/state/address.ts";
import { asked } from "../src/state/asked.ts";
import { named } from "../src/state/export.ts";
import { countSet, isEmpty, listParams, NO_FILTERS, params, searchParams } from "../src/state/filters.ts";
import { merged } from "../src/state/merged.ts";

test("an address holds the whole state", () => {
  const address: Address = {
    view: "map",
    query: "what & where? #1 = ünïcode",
    mode: "vector",
    weak: true,
    filters: {
      kinds: ["fact", "task"], sources: ["notes"], project: "a/b", agent: "-", tags: ["x y", "a,b"], importance: 7,
      after: "2026-01-02", before: "2026-03-04", state: "deleted",
    },
    area: [0, 0, 65535, 0, 100, 200],
    id: 42,
    tab: "links",
    group: "expiring",
    colour: "age",
    only: "weak",
  };
  assert.deepEqual(parse(format(address)), address);
  assert.equal(format(HOME), "#/list");
  assert.deepEqual(parse(""), HOME);
});

test("an address with nonsense is as usual", () => {
  assert.deepEqual(parse("#/nowhere?id=-1&importance=x&after=today&mode=magic&area=1.2.3&tab=9&source=web"), HOME);
  assert.deepEqual(parse("#/list?area=1.2.3.4.5.99999").area, []);
  assert.deepEqual(parse("#/list?area=1.2.3.4").area, [], "two corners have no inside");
  assert.equal(parse("#/list?importance=99").filters.importance, 10);
});

test("filters say what the API understands, and nothing that is not set", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(listParams(NO_FILTERS))), {});
  const of = params({ ...NO_FILTERS, sources: ["notes", "sessions"], project: "-", agent: "claude", importance: 3 });
  assert.deepEqual(JSON.parse(JSON.stringify(of)), {
    entryTypes: ["conversation", "chunk"], minImportance: 3, project: null, agent: "claude",
  });
  assert.equal(listParams({ ...NO_FILTERS, state: "expired" }).state, "expired");
  assert.equal(searchParams({ ...NO_FILTERS, state: "superseded" }).includeSuperseded, true);
  const day = params({ ...NO_FILTERS, after: "2026-05-01", before: "2026-05-01" });
  assert.equal(Number(day.createdBefore) - Number(day.createdAfter), 86_400_000);
});

test("kinds and sources that exclude one another let nothing pass", () => {
  assert.ok(isEmpty({ ...NO_FILTERS, kinds: ["task"], sources: ["notes"] }));
  assert.ok(!isEmpty({ ...NO_FILTERS, kinds: ["chunk"], sources: ["notes"] }));
  assert.equal(countSet({ ...NO_FILTERS, kinds: ["task"], importance: 2 }), 2);
});

test("each key has one command, and none in a field but Escape", () => {
  const free = { typing: false, control: false, dialog: false };
  const press = (key: string, where = free, held = {}) =>
    commandOf({ key, ctrlKey: false, metaKey: false, altKey: false, ...held }, where);
  assert.equal(new Set(KEYS.map(({ key }) => key)).size, KEYS.length);
  for (const { key, command } of KEYS) assert.equal(press(key), command);
  for (const { key, command } of KEYS) assert.equal(press(key, { ...free, typing: true }), command === "close" ? "close" : null);
  assert.equal(press("x", { ...free, dialog: true }), null);
  assert.equal(press("Enter", { ...free, control: true }), null);
  assert.equal(press("k", free, { ctrlKey: true }), null);
  assert.equal(press("u", free, { isComposing: true }), null);
  assert.equal(press("z"), null);
});

test("events are read from whatever pieces they come in", () => {
  const stream = "event: changed\r\ndata: {\"commits\":2}\r\n\r\n: still here\n\nevent: map\ndata: a\ndata: b\n\ndata: plain\n\n";
  const wanted = [
    { event: "changed", data: '{"commits":2}' },
    { event: "map", data: "a\nb" },
    { event: "message", data: "plain" },
  ];
  for (const size of [1, 2, 3, 7, stream.length]) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < stream.length; at += size) events.push(...parser.push(stream.slice(at, at + size)));
    assert.deepEqual(events, wanted, `pieces of ${size}`);
  }
});

test("an error is said in the words of the program, or in plain ones", () => {
  const conflict = errorOf(409, '{"error":{"kind":"conflict","message":"Changed","entry":{"id":3}}}');
  assert.deepEqual([conflict.kind, conflict.message, conflict.entry?.id], ["conflict", "Changed", 3]);
  assert.equal(errorOf(403, '{"error":{"kind":"readOnly","message":"no"}}').kind, "readOnly");
  assert.match(errorOf(401, "<html>").message, /memorist explore/);
  assert.equal(errorOf(418, "").kind, "internal");
  assert.equal(errorOf(400, '{"error":{"kind":"strange"}}').kind, "invalid");
});

test("the one-time code is all of the fragment, or there is none", () => {
  assert.equal(codeIn("#code=abc_-1"), "abc_-1");
  assert.equal(codeIn("#/list?q=code"), null);
  assert.equal(codeIn("#code=a&b"), null);
});

test("a list that is read again loses what is gone, keeps what is below, and lets new ones wait while it is scrolled", () => {
  const rows = (...ids: number[]) => ids.map((id) => ({ id }));
  const ids = ({ items, waiting }: { items: { id: number }[]; waiting: number }) => [items.map(({ id }) => id), waiting];
  // 9 is new, 7 was deleted, 4 and 3 are below what was loaded again.
  const [shown, fresh] = [rows(8, 7, 6, 5, 4, 3), rows(9, 8, 6, 5)];
  assert.deepEqual(ids(merged(shown, fresh, 4, false)), [[9, 8, 6, 5, 4, 3], 0]);
  assert.deepEqual(ids(merged(shown, fresh, 4, true)), [[8, 6, 5, 4, 3], 1]);
  // All was loaded again: what is not there is gone.
  assert.deepEqual(ids(merged(shown, rows(8, 6), 10, true)), [[8, 6], 0]);
  assert.deepEqual(ids(merged(rows(1), [], 50, true)), [[], 0]);
});

test("why a memory is found asks for the same search as the list", () => {
  const search = asked({ query: " printer ", mode: "keyword", weak: false, filters: { ...NO_FILTERS, kinds: ["fact"], state: "superseded" } });
  assert.deepEqual(JSON.parse(JSON.stringify(search)), {
    query: "printer", mode: "keyword", prefix: true, limit: 50, entryTypes: ["fact"], includeSuperseded: true,
  });
  assert.equal(asked({ ...HOME, query: "printer", weak: true }).minRelevance, 0);
});

test("what only reads is given up after a time, what changes something is not", async () => {
  const global = globalThis as { sessionStorage?: unknown; fetch: unknown };
  const { fetch } = globalThis;
  global.sessionStorage = { getItem: () => null };
  const limits: AbortController[] = [];
  const timeout = mock.method(AbortSignal, "timeout", () => {
    limits.push(new AbortController());
    return (limits.at(-1) as AbortController).signal;
  });
  // It never answers.
  global.fetch = (_: string, { signal }: { signal: AbortSignal | null }) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  try {
    const own = new AbortController();
    const reads = [api.overview({}), api.memory({ id: 1 }, own.signal)];
    void api.add({ content: "It is late" });
    assert.equal(limits.length, 2);
    for (const limit of limits) limit.abort(new DOMException("", "TimeoutError"));
    for (const read of reads) await assert.rejects(read, { kind: "unreachable" });
    const left = api.list({}, own.signal);
    own.abort();
    await assert.rejects(left, { name: "AbortError" });
  } finally {
    timeout.mock.restore();
    global.fetch = fetch;
    delete global.sessionStorage;
  }
});

test("an export of many names some at a time, and has one header", async () => {
  const global = globalThis as { sessionStorage?: unknown; fetch: unknown };
  const { fetch } = globalThis;
  global.sessionStorage = { getItem: () => null };
  const asked: number[] = [];
  global.fetch = async (_: string, { body }: { body: string }) => {
    const { ids } = JSON.parse(body) as { ids: number[] };
    asked.push(ids.length);
    // 7 is gone meanwhile.
    const lines = ids.filter((id) => id !== 7).map((id) => `{"type":"record","id":${id}}\n`);
    return new Response(`{"type":"memorist"}\n${lines.join("")}`);
  };
  try {
    const { blob, count } = await named(Array.from({ length: 2500 }, (_, at) => at));
    assert.deepEqual(asked, [1000, 1000, 500]);
    assert.equal(count, 2499);
    const lines = (await blob.text()).trim().split("\n").map((line) => JSON.parse(line) as { type: string; id: number });
    assert.deepEqual(lines.map(({ type }) => type === "memorist"), [true, ...Array(2499).fill(false)]);
    assert.equal(lines.at(-1)?.id, 2499);
  } finally {
    global.fetch = fetch;
    delete global.sessionStorage;
  }
});
