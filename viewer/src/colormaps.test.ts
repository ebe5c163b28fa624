import { expect, test } from "vitest";
import { CATEGORIES, mapNames, setMaps, table } from "./colormaps";

test("maps come from the program", () => {
  const ramp = Array.from({ length: 256 }, (_, i) => `${i.toString(16).padStart(2, "0")}80ff`).join("");
  setMaps({ ramp });
  expect(mapNames()).toContain("ramp");
  expect([...table("ramp").slice(4 * 200, 4 * 201)]).toEqual([200, 128, 255, 255]);
  // An unknown one is some map, not an error: an address can name anything.
  expect(table("nothing").length).toBe(1024);
});

test("categories can be told apart", () => {
  for (const [i, a] of CATEGORIES.entries()) {
    for (const b of CATEGORIES.slice(i + 1)) {
      expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThan(60);
    }
  }
});
