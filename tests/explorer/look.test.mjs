// What a person sees at the first look: colours, words, where things are, what to do where nothing is, and a phone.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect, nothingWrong, open, show } from "./browser.mjs";
import { explored } from "./explored.mjs";
import { Store } from "./store.mjs";

const { store, browser, view } = await explored(600);
const page = () => view.page;

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

const idOf = async (query) => (await store.json("search", query, "--mode", "keyword", "--limit", "1")).results[0].id;
const fact = (name) => page().locator(".facts > div", { has: page().locator("dt", { hasText: new RegExp(`^${name}$`) }) }).locator("dd");

test("a result has one number, and all others are behind why, one click away", async () => {
  await show(page(), "#/list?q=office printer");
  const row = page().locator(".rows .row", { hasText: "office printer" }).first();
  await row.waitFor();
  // In the line of what else is said of it.
  assert.match(await row.locator(".meta .score").textContent(), /^[01]\.\d\d[a-z ]*$/);
  await row.locator("a").click();
  const numbers = page().locator(".memory .sides");
  await page().locator(".memory .why .answer", { hasText: "result" }).waitFor();
  assert.ok(!(await numbers.isVisible()));
  await page().locator(".memory .why summary").click();
  await numbers.waitFor();
  await numbers.getByText("cosine").waitFor();
  // From where it is, and how old.
  assert.match(await fact("Source").textContent(), /\w/);
  assert.match(await fact("Saved").textContent(), /\d{4}, \d\d:\d\d \((just now|\d+ \w+ ago)\)$/);
});

test("what cannot be undone is in a menu, which Escape closes alone", async () => {
  await show(page(), `#/list?id=${await idOf("budget for the Berlin trip")}`);
  await page().locator(".memory .whole", { hasText: "budget" }).waitFor();
  const purge = page().getByRole("button", { name: "Purge", exact: true });
  assert.equal(await purge.count(), 0);
  assert.deepEqual(await page().locator(".memory > .actions > button").allTextContents(), ["Edit", "Delete"]);
  const more = page().getByRole("button", { name: "More" });
  await more.click();
  await purge.waitFor();
  await inspect(page(), "menu");
  await page().keyboard.press("Escape");
  await purge.waitFor({ state: "detached" });
  assert.ok(await more.evaluate((button) => button === document.activeElement));
  await page().locator(".memory").waitFor();
  await more.click();
  await page().locator("#list-title").click();
  await purge.waitFor({ state: "detached" });
});

test("how often a memory was found is one wording, apart from how often it was opened", async () => {
  const id = await idOf("Flaky checkout test");
  for (const query of ["flaky checkout", "queue to drain"]) await store.run("search", query, "--mode", "keyword");
  await show(page(), `#/list?id=${id}`);
  await page().getByRole("tab", { name: "Found by 3" }).waitFor();
  assert.equal(await fact("Found").textContent(), "by 3 searches");
  assert.equal(await fact("Opened").textContent(), "by no agent");
  await store.run("get", String(id));
  await page().reload();
  await page().locator(".facts").waitFor();
  assert.match(await fact("Opened").textContent(), /^1 time, last just now$/);
});

test("each kind has a colour of its own", async () => {
  await show(page(), "#/list");
  await page().locator("label.choice .dot").first().waitFor();
  const colours = await page().locator("label.choice .dot").evaluateAll((dots) => dots.map((dot) => dot.style.background));
  assert.ok(colours.length > 8);
  assert.equal(new Set(colours).size, colours.length, `${colours}`);
});

test("the map is made by itself, and its labels are phrases that memories share", async () => {
  await show(page(), "#/map");
  await page().locator(".chart canvas").first().waitFor({ timeout: 120_000 });
  const topics = page().locator(".map-tools label:nth-of-type(2) option");
  await topics.nth(3).waitFor({ state: "attached" });
  const labels = (await topics.allTextContents()).slice(1).map((text) => text.replace(/ \([\d,]+\)$/, "").toLowerCase());
  const texts = (await store.run("export")).toLowerCase().split("\n");
  for (const label of labels) {
    const memories = texts.filter((text) => text.includes(label)).length;
    assert.ok(memories > 1, `${label}: ${memories}`);
  }
  assert.ok(labels.some((label) => label.includes(" ")), `${labels}`);
});

test("the axis of the timeline is time", async () => {
  // Nothing was saved in the year after.
  const at = Date.now() - 900 * 86_400_000;
  const first = { content: "The first bicycle was bought", entryType: "fact", createdAt: at, updatedAt: at, accessCount: 0 };
  const rest = { type: "record", ulid: "01EXP10RERZZZZZZZZZZZZZZZZ", version: 1, source: "manual", confidence: 1, importance: 5, tags: [] };
  await store.import([{ ...first, ...rest }]);
  await show(page(), "#/timeline");
  await page().locator(".axis span").nth(2).waitFor();
  const spots = await page().locator(".axis [data-at], .bucket[data-at]").evaluateAll((all) =>
    all.map((one) => [Number(one.dataset.at), (one.querySelector(".hover") ?? one).getBoundingClientRect().left]).sort((a, b) => a[0] - b[0])
  );
  const [[from, left], [to, right]] = [spots[0], spots.at(-1)];
  assert.ok(spots.length > 30);
  for (const [at, x] of spots) {
    const expected = left + ((at - from) / (to - from)) * (right - left);
    assert.ok(Math.abs(x - expected) < 2, `${new Date(at)} is at ${x}, not at ${expected}`);
  }
  nothingWrong(view.wrong);
});

test("the search field looks as if one could write in it", async () => {
  const [field, fold] = await page().locator(".search form").evaluate((form) => {
    const { backgroundColor } = getComputedStyle(form);
    return [backgroundColor, getComputedStyle(form.closest(".header")).backgroundColor];
  });
  assert.deepEqual([field, fold], ["rgb(255, 255, 255)", "rgb(255, 255, 255)"], "no grey");
});

test("where nothing is, the page says what to do", async () => {
  const empty = await Store.empty();
  after(() => empty.end());
  const { page: bare, context, wrong } = await open(browser, await empty.explore());
  const says = async (hash, title, what) => {
    await show(bare, hash);
    await bare.getByRole("heading", { name: title, exact: true }).waitFor();
    assert.match(await bare.locator(".empty").textContent(), what, hash);
    await inspect(bare, `bare-${title}`);
  };
  await says("#/list", "No memories yet", /memorist connect.*New memory/);
  await says("#/map", "No map yet", /from 10 memories on.*memorist connect/);
  await says("#/timeline", "No memories yet", /appear here/);
  await says("#/searches", "No agent has searched yet", /memorist connect/);
  nothingWrong(wrong);
  await context.close();
  await show(page(), "#/timeline?kind=profile");
  await page().locator(".empty").getByRole("button", { name: "Clear 1 filter" }).click();
  await page().locator("svg.timeline").waitFor();
  await show(page(), "#/searches?only=noAnswer");
  await page().getByRole("button", { name: "Show all searches" }).click();
  await page().locator(".searches [data-row]").first().waitFor();
});

for (const colorScheme of ["light", "dark"]) {
  test(`on a phone, ${colorScheme}: views in one line, searches as cards, filters that lead back`, async () => {
    await store.run("search", "zyzzyva xylograph and other words that make a question rather long", "--mode", "keyword");
    const { page: phone, context, wrong } = await open(browser, await store.explore(), { ...PHONE, colorScheme });
    const tops = await phone.locator(".views a").evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
    assert.ok(tops.length === 5 && tops.every((top) => top === tops[0]), `${tops}`);

    await show(phone, "#/searches");
    const search = phone.locator(".searches tr", { hasText: "zyzzyva" }).first();
    const box = await search.locator("td").first().boundingBox();
    assert.ok(box.width > 320, `${box.width}`);
    assert.ok((await search.locator("td", { hasText: "just now" }).boundingBox()).y > box.y + box.height - 1);
    assert.ok(!(await phone.locator(".fold").isVisible()), "no filters where they filter nothing");
    const save = await search.getByRole("button", { name: "Save what was missing" }).boundingBox();
    assert.ok(save.x + save.width <= 390);
    await inspect(phone, `phone-searches-${colorScheme}`);

    await show(phone, "#/list");
    await phone.locator(".rows .row").first().waitFor();
    await phone.locator(".fold").tap();
    const kinds = await phone.locator(".kinds label").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ bottom, height }) => [bottom, height]));
    assert.ok(kinds.length > 8);
    for (const [bottom, height] of kinds) assert.ok(bottom < 844 && height >= 30, `${bottom} ${height}`);
    await phone.locator(".kinds label", { hasText: "contact" }).tap();
    await inspect(phone, `phone-filters-${colorScheme}`);
    await phone.getByRole("button", { name: "Show the memories" }).tap();
    assert.ok(!(await phone.locator(".kinds").isVisible()));
    const row = phone.locator(".rows .row", { hasText: "Anna Keller" });
    await row.waitFor();
    assert.ok((await row.boundingBox()).y < 500);
    await row.tap();
    await phone.locator(".memory .facts").waitFor();
    await inspect(phone, `phone-memory-${colorScheme}`);
    assert.ok(await phone.locator(".memory").evaluate((panel) => panel.scrollWidth <= panel.clientWidth), "nothing is cut off");
    nothingWrong(wrong);
    await context.close();
  });
}
