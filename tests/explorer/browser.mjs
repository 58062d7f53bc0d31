// The browser, and what may never happen in a page.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const pictures = process.env.MEMORIST_PICTURES;

const QUIET = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export const launch = () =>
  chromium.launch({ executablePath: process.env.MEMORIST_CHROMIUM ?? "/usr/bin/chromium", args: QUIET });

/** A page that notes each error, refused content and request elsewhere. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const wrong = [];
  const { origin } = new URL(url);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== origin && !request.url().startsWith("data:")) wrong.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`refused: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(url);
  await page.locator("#list-title").waitFor();
  return { page, context, wrong };
}

/** Shows an address of the page. */
export async function show(page, hash) {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
}

/** No fault that axe finds, and a picture. */
export async function inspect(page, name) {
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  if (pictures) {
    await mkdir(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
  const { violations } = await new AxeBuilder({ page }).analyze();
  const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join("; ")}`);
  assert.deepEqual(faults, [], name);
}

export const nothingWrong = (wrong) => assert.deepEqual(wrong, []);
