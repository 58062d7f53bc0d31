// How long it takes from a key press in the search to the frame that shows what it found, part by part.

/** Types a text, each key once the one before is shown, and returns the parts of each in milliseconds. */
export async function timeKeys(page, text, pause = 100) {
  await page.locator("#query").fill("");
  await page.evaluate(watch);
  await page.locator("#query").focus();
  const keys = [];
  for (const key of text) {
    await page.keyboard.press(key);
    await page.waitForFunction(() => window.keystroke?.painted);
    keys.push(await page.evaluate(parts));
    // So long that the search by meaning begins, too.
    await page.waitForTimeout(pause);
  }
  return keys;
}

function watch() {
  performance.setResourceTimingBufferSize(10_000);
  if (window.isWatched) return;
  window.isWatched = true;
  addEventListener("keydown", (event) => {
    window.keystroke = { pressed: event.timeStamp };
  }, true);
  new MutationObserver(() => {
    const { keystroke } = window;
    if (!keystroke || keystroke.shown) return;
    if (document.querySelector(".rows").dataset.query !== document.getElementById("query").value) return;
    keystroke.shown = performance.now();
    requestAnimationFrame(() => {
      // After the frame is drawn.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        keystroke.painted = performance.now();
      };
      port2.postMessage(0);
    });
  }).observe(document.getElementById("middle"), { subtree: true, childList: true, attributes: true, attributeFilter: ["data-query"] });
}

function parts() {
  const { pressed, shown, painted } = window.keystroke;
  const request = performance.getEntriesByType("resource").find(({ name, startTime }) => name.endsWith("/api/search") && startTime >= pressed);
  return {
    asked: request.startTime - pressed,
    answered: request.responseEnd - request.startTime,
    shown: shown - request.responseEnd,
    painted: painted - shown,
    all: painted - pressed,
  };
}

/** How long the browser takes to lay out the rows that are shown, in milliseconds: so fast is this machine. */
export function timeLayout(page, times) {
  return page.evaluate((times) => {
    const copy = document.querySelector(".rows").cloneNode(true);
    copy.style.cssText = "position: absolute; visibility: hidden; width: 1100px";
    document.body.append(copy);
    const rows = [...copy.children];
    const taken = Array.from({ length: times }, () => {
      copy.replaceChildren(...rows.map((row) => row.cloneNode(true)));
      const began = performance.now();
      copy.getBoundingClientRect();
      return performance.now() - began;
    });
    copy.remove();
    return taken;
  }, times);
}

/** The value below which so many of 100 are. */
export function percentile(values, percent) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)];
}

/** p50 and p95 of each part, to be printed. */
export const summary = (keys) =>
  Object.keys(keys[0]).map((part) => {
    const values = keys.map((key) => key[part]);
    return `${part} ${percentile(values, 50).toFixed(1)}/${percentile(values, 95).toFixed(1)}`;
  }).join(", ");
