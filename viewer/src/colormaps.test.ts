import { expect, test } from "vitest";
import { CATEGORIES, mapNames, setMaps, srgb, table } from "./colormaps";

test("maps come from the program", () => {
  const ramp = Array.from({ length: 256 }, (_, i) => `${i.toString(16).padStart(2, "0")}80ff`).join("");
  setMaps({ ramp });
  expect(mapNames()).toContain("ramp");
  expect([...table("ramp").slice(4 * 200, 4 * 201)]).toEqual([200, 128, 255, 255]);
  // An unknown one is some map, not an error: an address can name anything.
  expect(table("nothing").length).toBe(1024);
});

test("colors are those of a screen", () => {
  expect(srgb({ l: 1, c: 0, h: 0 })).toEqual([255, 255, 255]);
  expect(srgb({ l: 0, c: 0, h: 0 })).toEqual([0, 0, 0]);
  // Half gray has the lightness of 21 % of the light.
  const [gray] = srgb({ l: Math.cbrt(0.2140), c: 0, h: 0 });
  expect(Math.abs(gray - 127.5)).toBeLessThan(1);
  // What no screen can show is taken back to what it can.
  for (const channel of srgb({ l: 0.6, c: 1, h: 150 })) expect(channel >= 0 && channel <= 255).toBe(true);
});

test("categories can be told apart", () => {
  for (const [i, a] of CATEGORIES.entries()) {
    for (const b of CATEGORIES.slice(i + 1)) {
      expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThan(60);
    }
  }
});
