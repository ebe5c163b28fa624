// The state of the view in the address, after the `#`. What is missing or invalid there has its default.

import type { Vector } from "./api";
import { DEFAULT_MAP } from "./colormaps";

export interface ClipState {
  axis: "x" | "y" | "z";
  /** Position of the plane as a fraction of the extent, 0 to 1. */
  at: number;
  /** Cuts away the side below the plane instead of the side above. */
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
  /** Size of grains, relative to the radius in the result. */
  size: number;
  speed: number;
  loop: boolean;
  hiddenMaterials: number[];
  hiddenBodies: number[];
  /** Id of the grain that is followed. */
  grain: number | null;
}

export const DEFAULTS: ViewState = {
  frame: null,
  camera: null,
  color: null,
  map: DEFAULT_MAP,
  range: "all",
  clip: null,
  size: 1,
  speed: 1,
  loop: true,
  hiddenMaterials: [],
  hiddenBodies: [],
  grain: null,
};

/** How a field of the state is written in the address. */
interface Field<T> {
  /** Its name in the address, if different. */
  name?: string;
  write: (value: NonNullable<T>) => string;
  /** Null where it is missing or invalid. */
  read: (text: string) => T | null;
}

const FIELDS: { [K in keyof ViewState]: Field<ViewState[K]> } = {
  frame: { write: String, read: whole },
  camera: { write: ({ position, target, zoom }) => [...position, ...target, ...(zoom === 1 ? [] : [zoom])].map(short).join(","), read: camera },
  color: { write: encodeURIComponent, read: (text) => matching(text, /^[a-z0-9_]{1,64}\.[a-z0-9]{1,16}$/) },
  map: { write: encodeURIComponent, read: (text) => matching(text, /^[a-z]{1,16}$/) },
  range: { write: String, read: (text) => (text === "frame" ? text : null) },
  clip: { write: ({ axis, at, flip }) => [axis, short(at), flip ? "below" : "above"].join(","), read: clip },
  size: { write: short, read: (text) => within(text, 0.2, 4) },
  speed: { write: short, read: (text) => within(text, 0.01, 16) },
  loop: { write: (loop) => (loop ? "yes" : "no"), read: (text) => text !== "no" },
  hiddenMaterials: { name: "hide_materials", write: String, read: list },
  hiddenBodies: { name: "hide_bodies", write: String, read: list },
  grain: { write: String, read: whole },
};
const KEYS = Object.keys(FIELDS) as (keyof ViewState)[];

export function toHash(state: ViewState): string {
  const written = <K extends keyof ViewState>(key: K, { [key]: value }: ViewState) => (value === null ? "" : FIELDS[key].write(value!));
  return KEYS.filter((key) => written(key, state) !== written(key, DEFAULTS))
    .map((key) => `${FIELDS[key].name ?? key}=${written(key, state)}`)
    .join("&");
}

export function fromHash(hash: string): ViewState {
  const fields = new Map<string, string>();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) fields.set(part.slice(0, at), decoded(part.slice(at + 1)));
  }
  const read = KEYS.map((key) => [key, FIELDS[key].read(fields.get(FIELDS[key].name ?? key) ?? "") ?? DEFAULTS[key]]);
  return Object.fromEntries(read) as ViewState;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function matching(text: string, pattern: RegExp): string | null {
  return pattern.test(text) ? text : null;
}

function camera(text: string): ViewState["camera"] {
  const numbers = text.split(",").map(Number);
  if ((numbers.length !== 6 && numbers.length !== 7) || !numbers.every(Number.isFinite)) return null;
  const [a, b, c, d, e, f, zoom = 1] = numbers as [number, number, number, number, number, number, number?];
  const same = a === d && b === e && c === f;
  return same || zoom <= 0 ? null : { position: [a, b, c], target: [d, e, f], zoom };
}

function clip(text: string): ClipState | null {
  const match = /^([xyz]),([0-9.]+),(above|below)$/.exec(text);
  const at = Number(match?.[2]);
  if (!match || !(at >= 0 && at <= 1)) return null;
  return { axis: match[1] as ClipState["axis"], at, flip: match[3] === "below" };
}

function whole(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function within(text: string, low: number, high: number): number | null {
  const value = Number(text);
  return text !== "" && value >= low && value <= high ? value : null;
}

function list(text: string): number[] | null {
  return /^\d{1,4}(,\d{1,4})*$/.test(text) ? text.split(",").map(Number) : null;
}

/** With enough digits for a view that looks the same. */
function short(value: number): string {
  return String(Number(value.toPrecision(5)));
}
