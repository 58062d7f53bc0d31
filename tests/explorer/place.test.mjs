// What is read stays where it is, whatever comes, goes or changes around it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nothingWrong, show } from "./browser.mjs";
import { explored } from "./explored.mjs";

const { store, view } = await explored(3000);
const page = () => view.page;

const row = (key) => page().locator(`[data-row="${key}"]`);
const topOf = async (key) => (await row(key).boundingBox())?.y;
const stays = async (key, top, why) => {
  await page().waitForTimeout(300);
  const now = await topOf(key);
  assert.ok(Math.abs(now - top) <= 2, `${why}: from ${top} to ${now}`);
};
const scroll = async (by) => {
  await page().locator("#middle").evaluate((middle, to) => middle.scrollBy(0, to), by);
  await page().waitForTimeout(200);
};
/** The key of the first row that begins in view, below the head. */
const first = () =>
  page().evaluate(() => {
    const { bottom } = document.querySelector("#middle .head").getBoundingClientRect();
    return [...document.querySelectorAll("#middle [data-row]")].find((one) => one.getBoundingClientRect().top > bottom).dataset.row;
  });
const list = async () => {
  await show(page(), "#/searches");
  await page().locator("#searches-title").waitFor();
  await show(page(), "#/list");
  await page().locator(".rows [aria-posinset=\"1\"] .meta").waitFor();
  for (let times = 0; times < 20; times++) await scroll(1000);
  await page().locator(".rows .row:not([aria-busy]) a").first().waitFor();
};

test("a memory that is opened and closed moves nothing, and leads back to its row", async () => {
  await list();
  const above = await first();
  const top = await topOf(above);
  await row(above).click();
  await page().locator(".memory .whole").first().waitFor();
  await stays(above, top, "opened");
  await page().keyboard.press("Escape");
  await page().locator(".memory").waitFor({ state: "detached" });
  await stays(above, top, "closed");
  await page().locator(`[data-row="${above}"]:focus`).waitFor();
  for (const width of [1100, 1360]) {
    await page().setViewportSize({ width, height: 860 });
    await stays(above, top, `${width} wide`);
  }
  // Also from far away.
  await row(above).click();
  await page().locator(".memory .whole").first().waitFor();
  await scroll(-9000);
  await page().locator("#middle").focus();
  await page().keyboard.press("j");
  assert.ok((await page().locator(".rows a:focus").boundingBox()).y > 0, "keys begin where the list is read");
  await page().keyboard.press("Escape");
  await page().locator(`[data-row="${above}"]:focus`).waitFor();
  assert.ok((await page().locator(".rows .row").count()) < 100);
  nothingWrong(view.wrong);
});

test("what others save and delete above does not move the list", async () => {
  await list();
  await page().locator("#middle").focus();
  const read = await first();
  const top = await topOf(read);
  await store.run("add", "The lift is out of order until Friday");
  await page().locator(".waiting").waitFor();
  await stays(read, top, "added");
  const gone = await page().locator(".rows .row a").nth(1).getAttribute("data-row");
  await store.run("delete", gone);
  await row(gone).waitFor({ state: "detached" });
  await stays(read, top, "deleted");
  nothingWrong(view.wrong);
});

/** Answers to this are held back until the returned function is called. */
async function hold(which) {
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  let held;
  const arrived = new Promise((resolve) => {
    held = resolve;
  });
  await page().route("**/api/list", async (route) => {
    if (which(route.request().postDataJSON())) {
      held();
      await released;
    }
    await route.continue();
  });
  return { arrived, release };
}
const again = async () => {
  await show(page(), "#/searches");
  await page().locator("#searches-title").waitFor();
  await page().reload();
  await page().locator(".live.on").waitFor();
  await show(page(), "#/list");
  await page().locator(".rows [aria-posinset=\"12\"] .meta").waitFor();
};

test("what changes while the list goes on loading is not lost", async () => {
  await again();
  // The next page comes while the rows are loaded again.
  const refresh = await hold(({ after }) => after === undefined);
  const id = await page().locator(".rows .row a").nth(3).getAttribute("data-row");
  await store.run("update", id, "--content", "The fourth row is another one now");
  await refresh.arrived;
  for (let times = 0; times < 5; times++) await scroll(1000);
  await page().locator(".rows [aria-posinset=\"55\"]").waitFor();
  refresh.release();
  await page().waitForTimeout(500);
  await scroll(-10_000);
  await row(id).filter({ hasText: "another one now" }).waitFor({ timeout: 3000 });
  // The rows change while the next page is loaded.
  await again();
  const more = await hold(({ after }) => after !== undefined);
  for (let times = 0; times < 3; times++) await scroll(1000);
  await more.arrived;
  await store.run("add", "The stairs are closed until Friday");
  await page().waitForTimeout(1500);
  more.release();
  await page().locator(".waiting").waitFor();
});

test("a row is read again wherever it is, and one that could not be read is tried again", async () => {
  await again();
  const end = async (sign) => {
    for (let times = 0; times < 40; times++) await scroll(sign * 100_000);
  };
  await end(1);
  const id = await first();
  assert.ok(Number(await page().locator(`.row:has([data-row="${id}"])`).getAttribute("aria-posinset")) > 2000);
  await store.run("update", id, "--content", "A row far below is another one now");
  await row(id).filter({ hasText: "another one now" }).waitFor();
  const next = await page().locator(`.row:has([data-row="${id}"]) + .row a`).getAttribute("data-row");
  await store.run("delete", next);
  await row(next).waitFor({ state: "detached" });
  // Those at the top were left meanwhile.
  let refused = 0;
  await page().route("**/api/memory", (route) => (refused++ < 6 ? route.fulfill({ status: 503, body: "" }) : route.continue()));
  await page().locator("#middle").evaluate((middle) => middle.scrollTo(0, 0));
  await page().locator(".rows [aria-posinset=\"1\"] .meta").waitFor();
  assert.ok(refused > 6);
  await page().unroute("**/api/memory");
  view.wrong.splice(0);
});

test("searches of agents that come above do not move those that are read", async () => {
  for (let time = 0; time < 30; time++) await store.run("search", `nothing like it ${time}`, "--mode", "keyword");
  await show(page(), "#/searches");
  await page().locator(".searches td a", { hasText: "nothing like it 29" }).waitFor();
  for (const by of [300, 300]) {
    await scroll(by);
    const read = await first();
    const top = await topOf(read);
    const count = Number(await page().locator(`tr:has([data-row="${read}"])`).getAttribute("aria-rowindex"));
    await store.run("search", "zyzzyva xylograph", "--mode", "keyword");
    await page().locator(`tr[aria-rowindex="${count + 1}"] [data-row="${read}"]`).waitFor();
    await stays(read, top, "searched");
  }
});

test("a group that is written in keeps the focus out of sight, and one that is done hands it on", async () => {
  await show(page(), "#/cleanup");
  await page().locator(".groups[aria-busy=false] .group").first().waitFor({ timeout: 60_000 });
  const group = page().locator(".groups [aria-posinset=\"1\"]");
  await group.locator("summary").click();
  await group.locator("textarea").pressSequentially("A");
  await scroll(100_000);
  await page().keyboard.press("End");
  await page().keyboard.type("Z");
  await scroll(-100_000);
  assert.match(await group.locator("textarea").inputValue(), /Z$/);
  // Near the end, where fewer groups are left than were drawn.
  await show(page(), "#/cleanup?group=neverFound");
  await page().locator(".hint", { hasText: "No search has returned these" }).waitFor({ timeout: 60_000 });
  await page().locator(".groups[aria-busy=false] .group").first().waitFor();
  await scroll(100_000);
  const cards = page().locator(".group");
  const at = (await cards.count()) - 2;
  const key = await cards.nth(at).getAttribute("data-row");
  const then = await cards.nth(at + 1).getAttribute("data-row");
  await row(key).focus();
  await page().keyboard.press("b");
  await row(key).waitFor({ state: "detached" });
  await page().locator(`[data-row="${then}"]:focus`).waitFor();
  nothingWrong(view.wrong);
});
