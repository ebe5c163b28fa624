import { expect, test } from "vitest";
import { Clock } from "./clock";

const span = { first: 0, last: 9 };

test("time decides which frame is due", () => {
  const clock = new Clock(10);
  clock.play(2, 1000);
  expect(clock.due(1000, span)).toBe(2);
  expect(clock.due(1099, span)).toBe(2);
  expect(clock.due(1100, span)).toBe(3);
  // A slow picture skips frames.
  expect(clock.due(1500, span)).toBe(7);
  clock.speed = 0.5;
  expect(clock.due(1500, span)).toBe(4);
});

test("at the end it loops or stops", () => {
  const clock = new Clock(10);
  clock.play(8, 0);
  expect(clock.due(200, span)).toBe(0);
  expect(clock.due(1200, span)).toBe(0);
  clock.loop = false;
  expect(clock.due(200, span)).toBeNull();
});
