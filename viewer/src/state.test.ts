import { expect, test } from "vitest";
import { DEFAULTS, fromHash, toHash, type ViewState } from "./state";

const FULL: ViewState = {
  frame: 12,
  camera: { position: [1, 2.5, -3], target: [0, 0.1, 0], zoom: 1.5 },
  color: "velocity.magnitude",
  map: "turbo",
  range: "frame",
  clip: { axis: "z", at: 0.25, flip: true },
  size: 1.4,
  speed: 0.25,
  loop: false,
  hiddenMaterials: [0, 2],
  hiddenBodies: [1],
  grain: 4711,
};

test("a state survives the address", () => {
  expect(fromHash(`#${toHash(FULL)}`)).toEqual(FULL);
  expect(fromHash(toHash(DEFAULTS))).toEqual(DEFAULTS);
  expect(toHash(DEFAULTS)).toBe("");
});

test("what is wrong in an address is left as it is", () => {
  const wrong = [
    "#frame=-1", "#frame=1e3", "#frame=", "#camera=1,2,3", "#camera=1,2,3,1,2,3", "#camera=a,b,c,d,e,f", "#color=../x",
    "#color=%E0%A4%A", "#clip=w,0.5,above", "#clip=x,7,above", "#size=100", "#size=NaN", "#speed=0", "#hide_bodies=1;2", "#grain=x",
    "#=&==&&", "#frame", "#map=<script>",
  ];
  for (const hash of wrong) expect(fromHash(hash), hash).toEqual(DEFAULTS);
});
