import { expect, test } from "vitest";
import { series } from "./plots";

test("each body has the length of its force", () => {
  const list = series(
    {
      frames: [0, 1],
      kinetic_energy_j: [0, 2],
      max_speed: [0, 1],
      height_m: [1, null],
      forces_n: [[[3, 0, 4]], [[0, -2, 0], [1, 0, 0]]],
    },
    ["floor", "paddle"],
  );
  expect(list.map((s) => s.name)).toEqual(["Kinetic energy", "Maximum speed", "Height", "Force on floor", "Force on paddle"]);
  expect(list[3]!.values).toEqual([5, 2]);
  expect(list[4]!.values).toEqual([null, 1]);
});
