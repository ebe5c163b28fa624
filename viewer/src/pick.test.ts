import { expect, test } from "vitest";
import { pick, type PickOptions } from "./pick";
import type { Grains } from "./frames";

/** Three grains behind each other along z, one beside. */
const grains: Grains = {
  header: { frame: 0, time: 0, grains: 4, lower: [0, 0, 0], upper: [1, 1, 1], bodies: [] },
  data: new Uint16Array([
    0, 0, 0, 0x0000, //
    0, 0, 65535, 0x0100, //
    0, 0, 32768, 0x0000, //
    65535, 0, 65535, 0xff00,
  ]),
};
const options: PickOptions = { radius: 0.1, slack: 0, isHidden: () => false, clip: null };
const ray = { origin: [0.05, 0, 5] as [number, number, number], direction: [0, 0, -1] as [number, number, number] };

test("the nearest grain is picked", () => {
  expect(pick(grains, ray, options)).toBe(1);
  expect(pick(grains, { ...ray, origin: [0.5, 0, 5] }, options)).toBeNull();
  expect(pick(grains, { ...ray, direction: [0, 0, 1] }, options)).toBeNull();
});

test("what is not seen is not picked", () => {
  expect(pick(grains, ray, { ...options, isHidden: (m) => m === 1 })).toBe(2);
  expect(pick(grains, ray, { ...options, clip: (_x, _y, z) => 0.25 - z })).toBe(0);
  expect(pick(grains, { ...ray, origin: [1, 0, 5] }, options)).toBeNull();
});

test("grains smaller than a pixel can be hit", () => {
  const aside = { ...ray, origin: [0.2, 0, 5] as [number, number, number] };
  expect(pick(grains, aside, options)).toBeNull();
  expect(pick(grains, aside, { ...options, slack: 0.06 })).toBe(1);
});
