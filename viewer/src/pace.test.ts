import { expect, test } from "vitest";
import { Pace } from "./pace";

/** Moves for a while on a machine where a picture costs `cost(ratio, every)` milliseconds. */
function run(cost: (ratio: number, every: number) => number, seconds: number): { pace: Pace; mean: number } {
  const pace = new Pace();
  pace.grains = 1e6;
  let [now, pictures] = [0, 0];
  let level = pace.step(now, true);
  while (now < 1000 * seconds) {
    now += Math.max(16.7, cost(level.ratio, level.every));
    level = pace.step(now, true);
    if (now > 500 * seconds) pictures += 1;
  }
  return { pace, mean: (500 * seconds) / pictures };
}

test("a quick machine draws everything", () => {
  expect(run(() => 5, 10).pace.now).toEqual({ ratio: 1, every: 1 });
});

test("a slow machine draws less until it is quick enough", () => {
  const { mean } = run((ratio, every) => 10 + 300 * ratio * ratio / every, 20);
  expect(mean).toBeLessThan(60);
});

test("nothing is given up where that does not help", () => {
  const { pace } = run(() => 80, 7);
  expect(pace.now.ratio).toBeGreaterThanOrEqual(0.5);
});

test("at rest everything is drawn", () => {
  const { pace } = run((ratio, every) => 900 * ratio / every, 10);
  expect(pace.now.ratio).toBeLessThan(1);
  expect(pace.step(1e9, false)).toEqual({ ratio: 1, every: 1 });
});
