import assert from "node:assert/strict";
import { test } from "node:test";
import type { FindHit, FindResult } from "../src/api/types.ts";
import { diff } from "../src/text/diff.ts";
import { place, tree } from "../src/text/ego.ts";
import { age, ago, dayStart, isoDay, nextDayStart } from "../src/text/format.ts";
import { roundUp, timeMarks } from "../src/text/axis.ts";
import { marked } from "../src/text/marks.ts";
import { editorUrl, placeName } from "../src/text/place.ts";
import { remarks } from "../src/text/remarks.ts";
import { beginning, plain, visible } from "../src/text/visible.ts";
import { confirmation } from "../src/ui/Purge.tsx";

const shown = (before: string, after: string) =>
  diff(before, after).map(({ change, text }) => (change === "same" ? text : change === "added" ? `+[${text}]` : `-[${text}]`)).join("");

test("a diff names the words that changed, and puts both texts together again", () => {
  assert.equal(shown("Deploys go out on Tuesdays", "Deploys go out on Thursdays"), "Deploys go out on -[Tuesdays]+[Thursdays]");
  assert.equal(shown("", "new"), "+[new]");
  assert.equal(shown("same", "same"), "same");
  assert.equal(shown("a b c", "a c"), "a -[b ]c");
  assert.equal(shown("red green blue", "cyan pink blue"), "-[red green]+[cyan pink] blue");
  // No more than what changed.
  assert.deepEqual(diff("a b c a b b a", "c b a b a c").filter(({ change }) => change === "same").map(({ text }) => text).join("").replace(/ /g, "").length, 4);
  const texts = ["a b c d e f", "a x c d y f g", "", "f e d c b a", "a a a b", "b a a"];
  for (const before of texts) {
    for (const after of texts) {
      const parts = diff(before, after);
      assert.equal(parts.filter(({ change }) => change !== "added").map(({ text }) => text).join(""), before);
      assert.equal(parts.filter(({ change }) => change !== "removed").map(({ text }) => text).join(""), after);
    }
  }
});

test("a diff of texts that have nothing in common ends soon, as one replacement", () => {
  const [before, after] = ["a", "b"].map((name) => Array.from({ length: 5000 }, (_, at) => `${name}${at}`).join(" ")) as [string, string];
  const began = performance.now();
  assert.deepEqual(diff(before, after).map(({ change }) => change), ["removed", "added"]);
  assert.ok(performance.now() - began < 5000);
});

test("characters that reorder or hide text are shown by name", () => {
  const pieces = visible("pay \u202Eecila\u202C now\u200B");
  assert.deepEqual(pieces.filter(({ control }) => control).map(({ text }) => text), ["U+202E", "U+202C", "U+200B"]);
  assert.equal(plain("a\u2066b"), "aU+2066b");
  assert.deepEqual(visible("line\r\nnext\ttab"), [{ text: "line" }, { text: "\nnext\ttab" }]);
  assert.deepEqual(visible("\u0000"), [{ text: "U+0000", control: "control character U+0000" }]);
  // Tags that hide instructions, and joiners that belong to the writing.
  assert.equal(visible("a\u{E0041}b").length, 3);
  assert.deepEqual(visible("👩‍💻"), [{ text: "👩‍💻" }]);
  assert.equal(visible("pass\u200Dword").length, 3);
});

test("a beginning is one line of at most so many characters", () => {
  assert.equal(beginning("one\n two   three", 80), "one two three");
  assert.equal(beginning("abcdef", 4), "abc…");
});

test("words are marked as whole words, or within others if that is how they were found", () => {
  const spans = (text: string, words: string[]) => marked(text, words).map(({ text: part, marked: is }) => (is ? `[${part}]` : part)).join("");
  assert.equal(spans("to do it tomorrow", ["to"]), "[to] do it tomorrow");
  assert.equal(spans("JWT tokens", ["token"]), "JWT [token]s");
  assert.equal(spans("abcd", ["ab", "bc"]), "[abc]d");
  assert.equal(spans("plain", []), "plain");
  assert.equal(spans("数据库连接", ["数据"]), "[数据]库连接");
  assert.deepEqual(marked("", ["x"]), []);
});

test("days are those of the reader", () => {
  assert.equal(isoDay(dayStart("2026-02-28") ?? 0), "2026-02-28");
  assert.equal(isoDay(nextDayStart("2026-02-28") ?? 0), "2026-03-01");
  assert.equal(dayStart("yesterday"), null);
  assert.equal(ago(1_000_000, 1_000_000 + 5 * 60_000), "5 min ago");
  assert.equal(ago(1_000_000 + 2 * 86_400_000, 1_000_000), "in 2 days");
});

test("a purge asks for the first words as they are shown", () => {
  assert.equal(confirmation("The password\nof the printer is 1234"), "The password of the");
  assert.equal(confirmation("a\u202Eb"), "aU+202Eb");
  assert.ok(confirmation("x".repeat(1_000_000)).length <= 60);
});

test("a graph becomes a tree of shortest ways, each once, and each has a place", () => {
  const node = (id: number, depth: number) => ({ id, depth, content: `m${id}`, entryType: "fact" as const, isCurrent: true });
  const edge = (from: number, to: number) => ({ from, to, linkType: "related" as const });
  const nodes = [node(1, 0), node(2, 1), node(3, 1), node(4, 2)];
  const root = tree(nodes, [edge(1, 2), edge(3, 1), edge(2, 4), edge(3, 4), edge(4, 1)].slice(0, 4), 1);
  assert.ok(root);
  assert.deepEqual(root.children.map(({ node: { id } }) => id), [2, 3]);
  assert.deepEqual(root.children.map(({ children }) => children.length), [1, 0]);
  const spots = place(root, 100);
  assert.equal(spots.length, 4);
  for (const { node: { depth }, x, y } of spots) assert.ok(Math.abs(Math.hypot(x, y) - depth * 100) < 1e-6);
  assert.equal(tree(nodes, [], 9), null);
});

test("a file is opened at its line by an editor, whatever its path has", () => {
  assert.equal(editorUrl("/home/me/notes/a b#c.md", 12), "vscode://file/home/me/notes/a%20b%23c.md:12");
  assert.equal(editorUrl("C:\\notes\\a.md", 3), "vscode://file/C:/notes/a.md:3");
  assert.equal(editorUrl("notes.md", 1), null);
  assert.equal(editorUrl("//host/share/a.md", 1), null);
  assert.equal(editorUrl("javascript:alert(1)", 1), null);
});

test("a page of a PDF is a page, and no editor opens it", () => {
  assert.equal(placeName("/notes/a.md", 12), "/notes/a.md:12");
  assert.equal(placeName("/notes/Plan.PDF", 3), "/notes/Plan.PDF, page 3");
  assert.equal(editorUrl("/notes/plan.pdf", 3), null);
});

test("a search says what is not there", () => {
  const hit = (relevance: number): FindHit => {
    const parts = { words: [], vectorPart: 0, keywordPart: 0 };
    return { id: 1, entryType: "fact", createdAt: 0, score: 0.9, matchedBy: [], relevance, ...parts };
  };
  const search = (rest: Partial<FindResult>): FindResult => ({
    results: [hit(0.11), hit(0.2)],
    total: 2,
    noAnswer: false,
    nearMiss: null,
    missing: [],
    weaker: 0,
    nextCursor: null,
    tier: "full",
    warnings: [],
    explain: null,
    ...rest,
  });
  assert.deepEqual(remarks(null, false), []);
  assert.deepEqual(remarks(search({}), true), []);
  assert.deepEqual(remarks(search({ noAnswer: true }), true), ["Probably not here: the best relevance is 0.20."]);
  assert.deepEqual(remarks(search({ missing: ["KESTREL-12"] }), true), ["No memory mentions KESTREL-12; these only resemble it."]);
  assert.deepEqual(remarks(search({ results: [], noAnswer: true, missing: ["A-1", "B-2"] }), false), ["No memory mentions A-1, B-2."]);
});

test("an axis of time has few marks, at the beginnings of days, months or years, and each year is said once", () => {
  const at = (...date: [number, number, number]) => new Date(...date).getTime();
  const labels = (from: number, to: number, most: number) => timeMarks(from, to, most).map(({ label }) => label);
  assert.deepEqual(labels(at(2025, 11, 20), at(2026, 10, 28), 6), ["Jan 2026", "Mar", "May", "Jul", "Sept", "Nov"]);
  assert.deepEqual(labels(at(2025, 11, 30), at(2026, 0, 2), 9), ["30 Dec 2025", "31 Dec", "1 Jan 2026", "2 Jan"]);
  assert.deepEqual(labels(at(2001, 5, 1), at(2026, 5, 1), 6), ["2005", "2010", "2015", "2020", "2025"]);
  for (const days of [1, 3, 10, 40, 100, 400, 1000, 10_000]) {
    const [from, to] = [at(2024, 1, 29), at(2024, 1, 29 + days)];
    const marks = timeMarks(from, to, 9);
    assert.ok(marks.length > 1 && marks.length <= 9, `${days}: ${marks.length}`);
    for (const mark of marks) assert.ok(mark.at >= from && mark.at <= to && new Date(mark.at).getHours() === 0);
  }
  assert.deepEqual([0, 1, 3, 7, 40, 41, 99, 2001].map(roundUp), [1, 1, 3, 7, 40, 50, 100, 3000]);
});

test("how old something is, is said in days, months or years", () => {
  const day = 86_400_000;
  const now = Date.UTC(2026, 10, 28);
  assert.deepEqual([2, 29, 30, 45, 343, 800].map((days) => age(now - days * day, now)), [
    "2 days ago", "29 days ago", "1 month ago", "1 month ago", "11 months ago", "2 years ago",
  ]);
});
