import { expect, test } from "vitest";
import { gridTriangles } from "./terrain";

test("triangles cover every square of the lattice and stay on it", () => {
  const [width, depth] = [4, 3];
  const triangles = gridTriangles(width, depth);
  expect(triangles.length).toBe(6 * 3 * 2);
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => [triangles[t + k]! % width, Math.floor(triangles[t + k]! / width)] as const);
    expect(Math.max(a![1], b![1], c![1])).toBeLessThan(depth);
    // Seen from above (z down), all turn the same way.
    const twice = (b![0] - a![0]) * (c![1] - a![1]) - (b![1] - a![1]) * (c![0] - a![0]);
    expect(twice).toBe(-1);
    area -= twice / 2;
  }
  expect(area).toBe(6);
  expect(gridTriangles(1, 5).length).toBe(0);
});
