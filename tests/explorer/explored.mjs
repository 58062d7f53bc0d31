// A store, and a browser that looks at it in the explorer, for the tests of a file.

import { after } from "node:test";
import { launch, open } from "./browser.mjs";
import { Store } from "./store.mjs";

/** Of so many memories; both end after the last test. */
export async function explored(count) {
  const store = await Store.make(count);
  let browser;
  after(async () => {
    await browser?.close();
    await store.end();
  });
  browser = await launch();
  return { store, browser, view: await open(browser, await store.explore()) };
}
