import { expect, test } from "vitest";
import type { Joint } from "../api";
import { encoded } from "../test/encoded";
import { deflection, Drive } from "./drive";
import { read } from "./link";
import { placeOf, title, valueAt } from "./sliders";

const joint = (keys: [string, string] | null, axis: number | null, speed = 2): Joint => ({
  name: "j",
  kind: "revolute",
  limits: null,
  control: { keys, gamepad_axis: axis, speed, label: "J" },
});

function driven(...joints: Joint[]): { drive: Drive; sent: [number, number][] } {
  const sent: [number, number][] = [];
  return { drive: new Drive(joints, (i, velocity) => sent.push([i, velocity])), sent };
}

test("keys drive while they are down, both together not at all", () => {
  const { drive, sent } = driven(joint(["a", "d"], null));
  expect(drive.takes("A") && drive.takes("d") && !drive.takes("w")).toBe(true);
  drive.key("d", true);
  drive.key("a", true);
  drive.key("d", false);
  drive.key("a", false);
  expect(sent).toEqual([[0, 2], [0, 0], [0, -2], [0, 0]]);
});

test("a negative speed swaps the keys", () => {
  const { drive, sent } = driven(joint(["a", "d"], null, -2));
  drive.key("d", true);
  expect(sent).toEqual([[0, -2]]);
});

test("keys and buttons are held apart", () => {
  const { drive, sent } = driven(joint(["a", "d"], null));
  drive.key("d", true);
  drive.hold(0, 1, "button", true);
  drive.key("d", false);
  expect(sent).toEqual([[0, 2]]);
  drive.release();
  expect(sent).toEqual([[0, 2], [0, 0]]);
});

test("a stick has a dead zone and reaches full speed", () => {
  expect(deflection(0.14)).toBe(0);
  expect(deflection(-0.1)).toBe(0);
  expect(deflection(NaN)).toBe(0);
  expect(deflection(1)).toBe(1);
  expect(deflection(-1)).toBe(-1);
  expect(deflection(0.575)).toBeCloseTo(0.5, 9);
  const { drive, sent } = driven(joint(null, 1), joint(null, null));
  drive.axes([1, 0.1]);
  drive.axes([1, -1]);
  drive.axes([1, -0.99]);
  drive.axes([]);
  expect(sent).toEqual([[0, -2], [0, 0]]);
});

test("the places of a slider and its values are each other's inverse", () => {
  for (const scale of ["linear", "cubic", "logarithmic"] as const) {
    const range = { low: scale === "logarithmic" ? 100 : 0, high: 1e6, scale };
    for (const place of [0, 0.1, 0.5, 0.93, 1]) {
      expect(placeOf(range, valueAt(range, place))).toBeCloseTo(place, 9);
    }
    expect(valueAt(range, 0)).toBe(range.low);
    expect(placeOf(range, 1e9)).toBe(1);
  }
  expect(title("static_friction_angle")).toBe("Static friction angle");
});

test("a picture is taken apart, with and without speeds", () => {
  for (const colors of [null, { min: 0, max: 2 }]) {
    const data = new Uint16Array(2 * (colors ? 5 : 4)).map((_, i) => i);
    const buffer = encoded({ grains: 2, colors }, data);
    const picture = read(buffer);
    expect([...picture.grains.data]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(picture.speeds ? [...picture.speeds] : null).toEqual(colors ? [8, 9] : null);
    expect(() => read(buffer.slice(0, -2))).toThrow("cut off");
  }
});
