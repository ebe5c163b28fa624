import { expect, test } from "vitest";
import { thinned } from "./grains";

test("one grain in so many is kept whole", () => {
  const data = new Uint16Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(thinned(data, 4, 1)).toBe(data);
  expect([...thinned(data, 4, 2)]).toEqual([1, 2, 3, 4, 9, 10, 11, 12]);
  expect([...thinned(data, 1, 5)]).toEqual([1, 6, 11]);
});
