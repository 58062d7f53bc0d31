import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { paced } from "../src/state/pace.ts";
import { spanOf } from "../src/text/window.ts";

test("of a long list the rows near what is seen are drawn, and all others have their height", () => {
  // 0 is not measured yet: 10.
  const heights = [20, 0, 0, 30, 0, 0];
  assert.deepEqual(spanOf(heights, 10, -50, 1000), { from: 0, to: 6, above: 0, below: 0 });
  assert.deepEqual(spanOf(heights, 10, 20, 45), { from: 1, to: 4, above: 20, below: 20 });
  assert.deepEqual(spanOf(heights, 10, 25, 40), { from: 1, to: 3, above: 20, below: 50 });
  for (const [top, bottom] of [[-500, -400], [400, 500], [15, 16]] as const) {
    const { from, to, above, below } = spanOf(heights, 10, top, bottom);
    const drawn = heights.slice(from, to).reduce((sum, height) => sum + (height || 10), 0);
    assert.ok(to > from, "there is a row to go on from");
    assert.equal(above + drawn + below, 90);
  }
  assert.deepEqual(spanOf([], 10, 0, 100), { from: 0, to: 0, above: 0, below: 0 });
});

test("many events are one task a second, one at a time, the last always, and none while nobody looks", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const began: number[] = [];
    let hidden = false;
    let running = 0;
    let end = () => {};
    const task = () => {
      began.push(Date.now());
      assert.equal(++running, 1, "one at a time");
      return new Promise<void>((resolve) => {
        end = () => {
          running--;
          resolve();
        };
      });
    };
    const pass = async (milliseconds: number) => {
      for (let at = 0; at < milliseconds; at += 10) {
        mock.timers.tick(10);
        await new Promise(setImmediate);
      }
    };
    const pace = paced(task, { together: 150, every: 1000, isHidden: () => hidden });
    for (let event = 0; event < 20; event++) pace.ask();
    await pass(300);
    assert.deepEqual(began, [150]);
    pace.ask();
    await pass(2000);
    assert.equal(began.length, 1, "the first is not done yet");
    end();
    await pass(200);
    assert.deepEqual(began.length, 2, "what was requested meanwhile");
    end();
    await pass(100);
    pace.ask();
    await pass(500);
    assert.equal(began.length, 2, "not within a second");
    pace.ask(true);
    await pass(200);
    assert.equal(began.length, 3, "but at once where a person waits");
    end();
    await pass(1500);
    hidden = true;
    pace.ask();
    await pass(5000);
    assert.equal(began.length, 3, "not while nobody looks");
    hidden = false;
    pace.resume();
    await pass(200);
    assert.equal(began.length, 4);
    end();
    await pass(5000);
    assert.equal(began.length, 4, "nothing was requested since");
  } finally {
    mock.timers.reset();
  }
});
