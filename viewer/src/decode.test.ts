import { expect, test } from "vitest";
import { decode, material, position, words } from "./decode";
import { encoded } from "./test/encoded";

test("grains are where they were", () => {
  const data = new Uint16Array([0, 65535, 13107, 0x0201, 32768, 0, 65535, 0xff00]);
  const decoded = decode<{ grains: number }>(encoded({ grains: 2 }, data));
  expect(decoded.header.grains).toBe(2);
  const found = words(decoded, 8);
  expect([...found]).toEqual([...data]);
  expect(position(found, 0, [-1, 0, 0], [1, 2, 5])).toEqual([-1, 2, 1]);
  expect(material(found, 0)).toBe(2);
  expect(material(found, 1)).toBe(255);
});

test("cut or foreign answers are refused", () => {
  const whole = encoded({ grains: 1 }, new Uint16Array(4));
  expect(() => decode(whole.slice(0, 7))).toThrow("short");
  expect(() => decode(whole.slice(0, 16))).toThrow("cut off");
  expect(() => words(decode(whole.slice(0, whole.byteLength - 2)), 4)).toThrow("cut off");
  const foreign = new Uint8Array(whole.slice(0));
  foreign[0] = 0;
  expect(() => decode(foreign.buffer)).toThrow("another form");
});
