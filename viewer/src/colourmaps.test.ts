import { expect, test } from "vitest";
import { CATEGORIES, SEQUENTIAL, table } from "./colourmaps";

/** Relative luminance. */
function luminance(r: number, g: number, b: number): number {
  const linear = (c: number) => ((c / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

test("sequential maps only grow lighter, in even steps", () => {
  for (const name of SEQUENTIAL) {
    const colours = table(name);
    const light = Array.from({ length: 256 }, (_, i) => Math.cbrt(luminance(colours[4 * i]!, colours[4 * i + 1]!, colours[4 * i + 2]!)));
    const steps = light.slice(16).map((l, i) => l - light[i]!);
    expect(Math.min(...steps), name).toBeGreaterThan(0);
    expect(Math.max(...steps) / Math.min(...steps), name).toBeLessThan(3);
  }
});

test("the map of signs is lightest in the middle and differs at its ends", () => {
  const colours = table("signs");
  const at = (i: number) => luminance(colours[4 * i]!, colours[4 * i + 1]!, colours[4 * i + 2]!);
  expect(at(128)).toBeGreaterThan(3 * at(0));
  expect(at(128)).toBeGreaterThan(3 * at(255));
  expect(colours[0]! < colours[2]!).toBe(true);
  expect(colours[1020]! > colours[1022]!).toBe(true);
});

test("categories can be told apart", () => {
  for (const [i, a] of CATEGORIES.entries()) {
    for (const b of CATEGORIES.slice(i + 1)) {
      expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThan(60);
    }
  }
});
