// The state that an address can carry: what is after the `#`. Whatever is missing or wrong there is left as it is.

import type { Vector } from "./api";
import { USUAL_MAP } from "./colormaps";

export interface ClipState {
  axis: "x" | "y" | "z";
  /** Where the plane stands, as a part of the extent, 0 to 1. */
  at: number;
  /** Which side is cut away: that above the plane, or that below. */
  flip: boolean;
}

export interface ViewState {
  frame: number | null;
  camera: { position: Vector; target: Vector; zoom: number } | null;
  /** `column.part`, or null for the grains' own colors. */
  color: string | null;
  map: string;
  /** Range of the colors: of all frames, or of each frame. */
  range: "all" | "frame";
  clip: ClipState | null;
  /** Size of grains, 1: as the result says. */
  size: number;
  speed: number;
  loop: boolean;
  hiddenMaterials: number[];
  hiddenBodies: number[];
  /** Identity of the grain that is followed. */
  grain: number | null;
}

export const DEFAULTS: ViewState = {
  frame: null,
  camera: null,
  color: null,
  map: USUAL_MAP,
  range: "all",
  clip: null,
  size: 1,
  speed: 1,
  loop: true,
  hiddenMaterials: [],
  hiddenBodies: [],
  grain: null,
};

export function toHash(state: ViewState): string {
  const parts: string[] = [];
  const put = (key: string, value: string) => parts.push(`${key}=${value}`);
  if (state.frame !== null) put("frame", String(state.frame));
  if (state.camera) {
    const { position, target, zoom } = state.camera;
    put("camera", [...position, ...target, ...(zoom === 1 ? [] : [zoom])].map(short).join(","));
  }
  if (state.color) put("color", encodeURIComponent(state.color));
  if (state.map !== DEFAULTS.map) put("map", encodeURIComponent(state.map));
  if (state.range !== DEFAULTS.range) put("range", state.range);
  if (state.clip) put("clip", [state.clip.axis, short(state.clip.at), state.clip.flip ? "below" : "above"].join(","));
  if (state.size !== DEFAULTS.size) put("size", short(state.size));
  if (state.speed !== DEFAULTS.speed) put("speed", short(state.speed));
  if (!state.loop) put("loop", "no");
  if (state.hiddenMaterials.length) put("hide_materials", state.hiddenMaterials.join(","));
  if (state.hiddenBodies.length) put("hide_bodies", state.hiddenBodies.join(","));
  if (state.grain !== null) put("grain", String(state.grain));
  return parts.join("&");
}

export function fromHash(hash: string): ViewState {
  const fields = new Map<string, string>();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) fields.set(part.slice(0, at), decoded(part.slice(at + 1)));
  }
  const state: ViewState = { ...DEFAULTS };
  state.frame = whole(fields.get("frame"));
  state.camera = camera(fields.get("camera"));
  const color = fields.get("color");
  if (color && /^[a-z0-9_]{1,64}\.[a-z0-9]{1,16}$/.test(color)) state.color = color;
  const map = fields.get("map");
  if (map && /^[a-z]{1,16}$/.test(map)) state.map = map;
  if (fields.get("range") === "frame") state.range = "frame";
  state.clip = clip(fields.get("clip"));
  state.size = within(fields.get("size"), 0.2, 4) ?? DEFAULTS.size;
  state.speed = within(fields.get("speed"), 0.01, 16) ?? DEFAULTS.speed;
  state.loop = fields.get("loop") !== "no";
  state.hiddenMaterials = list(fields.get("hide_materials"));
  state.hiddenBodies = list(fields.get("hide_bodies"));
  state.grain = whole(fields.get("grain"));
  return state;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function camera(text: string | undefined): ViewState["camera"] {
  const numbers = (text ?? "").split(",").map(Number);
  if ((numbers.length !== 6 && numbers.length !== 7) || !text || !numbers.every(Number.isFinite)) return null;
  const [a, b, c, d, e, f, zoom] = numbers as [number, number, number, number, number, number, number?];
  const same = a === d && b === e && c === f;
  if (same || !((zoom ?? 1) > 0)) return null;
  return { position: [a, b, c], target: [d, e, f], zoom: zoom ?? 1 };
}

function clip(text: string | undefined): ClipState | null {
  const match = /^([xyz]),([0-9.]+),(above|below)$/.exec(text ?? "");
  const at = Number(match?.[2]);
  if (!match || !(at >= 0 && at <= 1)) return null;
  return { axis: match[1] as ClipState["axis"], at, flip: match[3] === "below" };
}

function whole(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function within(text: string | undefined, low: number, high: number): number | null {
  const value = Number(text);
  return text !== undefined && text !== "" && value >= low && value <= high ? value : null;
}

function list(text: string | undefined): number[] {
  return text && /^\d{1,4}(,\d{1,4})*$/.test(text) ? text.split(",").map(Number) : [];
}

/** Enough digits for a picture that looks the same. */
function short(value: number): string {
  return String(Number(value.toPrecision(5)));
}
