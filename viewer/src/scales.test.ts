import { expect, test } from "vitest";
import { extent, text, ticks } from "./scales";

test("ticks are round and lie inside", () => {
  expect(ticks(0, 10, 3)).toEqual([0, 5, 10]);
  expect(ticks(-0.2, 0.93, 4)).toEqual([0, 0.5]);
  expect(ticks(3, 3)).toEqual([3]);
  for (const [low, high] of [[0, 7e9], [-1e-9, 3e-9], [12.1, 12.9]] as const) {
    const found = ticks(low, high, 4);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(6);
    expect(Math.min(...found)).toBeGreaterThanOrEqual(low - 1e-12);
    expect(Math.max(...found)).toBeLessThanOrEqual(high * (1 + 1e-9));
  }
});

test("gaps do not make a range", () => {
  expect(extent([null, 3, Number.NaN, 1, null])).toEqual([1, 3]);
  expect(extent([])).toEqual([0, 1]);
  const [low, high] = extent([5, 5]);
  expect(high).toBeGreaterThan(low);
});

test("numbers read well", () => {
  expect(text(0, "m")).toBe("0 m");
  expect(text(0.21, "s")).toBe("0.21 s");
  expect(text(1234.5, "J")).toBe("1235 J");
  expect(text(12345, "Pa")).toBe("12.3 kPa");
  expect(text(0.0012, "m/s")).toBe("1.2 mm/s");
  expect(text(0.00002, "kg")).toBe("2.00e-5 kg");
  expect(text(0.5, "1")).toBe("0.5");
  expect(text(null, "m")).toBe("–");
  expect(text(Number.NaN, "m")).toBe("–");
});
