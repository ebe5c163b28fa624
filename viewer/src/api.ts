// Requests to the server, and what the page reads of the answers.

import { decode, type Decoded } from "./decode";

export interface Column {
  name: string;
  unit: string;
  meaning: string;
  kind: "quantity" | "category";
  parts: string[];
}

export type Vector = [number, number, number];

export interface Body {
  name: string;
  /** How it is shown; absent when its shape is not known. */
  look?: "solid" | "glass" | "cutaway" | "hidden";
  color?: Vector | null;
  /** A plane in the body's own frame, instead of a surface. */
  plane?: { point: Vector; normal: Vector } | null;
  surface?: boolean;
}

export interface Material {
  name: string;
  /** sRGB, 0 to 255. */
  color: Vector;
}

/** Camera of the scene; where null, the page frames the scene. */
export interface Camera {
  position: Vector | null;
  target: Vector | null;
  /** Vertical [degrees]. */
  field_of_view: number;
}

export interface Result {
  scene: string;
  description: string;
  solver: string;
  dimensions: number;
  dx: number;
  frame_rate: number;
  created_by: string;
  columns: Column[];
  grain_radius: number;
  bounds: [Vector, Vector];
  /** Color maps: 256 colors each, six hexadecimal digits a color. */
  maps: Record<string, string>;
  palette: Vector[];
  materials: Material[];
  bodies: Body[];
  camera: Camera | null;
  notes: string[];
  /** Controls of a live scene; absent for a result. */
  live?: LiveAbout;
}

/** Controls of a live scene. */
export interface LiveAbout {
  /** Parameters of each material. */
  parameters: Parameter[][];
  joints: Joint[];
  /** Whether each body can be pulled. */
  free: boolean[];
}

export interface Parameter {
  key: string;
  meaning: string;
  unit: string;
  /** Initial value. */
  value: number;
  low: number;
  high: number;
  scale: "linear" | "cubic" | "logarithmic";
}

export interface Joint {
  name: string;
  kind: "revolute" | "prismatic" | "fixed" | "spherical";
  /** [rad or m] */
  limits: [number, number] | null;
  control: JointControl | null;
}

export interface JointControl {
  /** Keys that decrease and increase its position. */
  keys: [string, string] | null;
  gamepad_axis: number | null;
  /** At full deflection [rad/s or m/s]. */
  speed: number;
  label: string;
}

/** What is wrong, and what to do. */
export interface Trouble {
  error: string;
  help: string;
}

export interface Damage extends Trouble {
  frame: number;
}

/** State of a result, which changes while a run writes it. */
export interface Live {
  frames: [number, number][];
  planned: number;
  statistics: number;
  damage: Damage[];
  trouble: Trouble | null;
}

/** Lists of the same length, one entry a frame. */
export interface Statistics {
  frames: number[];
  kinetic_energy_j: number[];
  max_speed: number[];
  height_m: (number | null)[];
  forces_n: Vector[][];
}

/** Pose and load of a body, from `BodyRecord` of barchan-frame. */
export interface BodyRecord {
  /** [m] */
  position: Vector;
  /** Quaternion x, y, z, w. */
  rotation: [number, number, number, number];
  /** Of the grains [N]: mean since the previous frame; of the last step in a live scene. */
  force: Vector;
  /** About the origin [N m]. */
  torque: Vector;
}

/** State of a joint, from `JointRecord` of barchan-frame. */
export interface JointRecord {
  /** [rad or m] */
  position: number;
}

export interface GrainsHeader {
  frame: number;
  time: number;
  grains: number;
  lower: Vector;
  upper: Vector;
  bodies: BodyRecord[];
  /** Address of its terrain; null or absent: there is none. */
  terrain?: string | null;
}

export interface ColorsHeader extends Range {
  column: string;
  grains: number;
}

export interface TerrainHeader {
  /** Corner with the smallest x and z [m]. */
  origin: [number, number];
  /** Side of a column [m]. */
  cell: number;
  /** Along x and along z. */
  columns: [number, number];
  floor: number;
  /** sRGB, 0 to 255. */
  color: Vector;
}

export interface Range {
  min: number;
  max: number;
}

export interface GrainColumn extends Pick<Column, "name" | "unit" | "meaning"> {
  values: (number | null)[];
}

export interface Grain {
  index: number;
  id: number | null;
  columns: GrainColumn[];
}

/** An error that the server reports. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly help: string,
  ) {
    super(message);
  }
}

/** Error and help of anything that was thrown. */
export function troubleOf(thrown: unknown): Trouble {
  const error = thrown instanceof Error ? thrown.message : String(thrown);
  return { error, help: thrown instanceof Refusal ? thrown.help : "reload the page" };
}

/** The answer: the value of JSON, or else its bytes. */
async function ask(path: string, signal?: AbortSignal): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, signal ? { signal } : {});
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Refusal("the viewer does not answer", "start `barchan view` again");
  }
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    const answer: unknown = await response.json();
    if (isTrouble(answer)) throw new Refusal(answer.error, answer.help);
    return answer;
  }
  if (!response.ok) throw new Refusal(`the viewer answers ${response.status}`, "reload the page");
  return response.arrayBuffer();
}

async function json<T>(path: string): Promise<T> {
  return (await ask(path)) as T;
}

async function binary<H>(path: string, signal?: AbortSignal): Promise<Decoded<H>> {
  return decode<H>((await ask(path, signal)) as ArrayBuffer);
}

function isTrouble(answer: unknown): answer is Trouble {
  return typeof answer === "object" && answer !== null && "error" in answer;
}

/** Whether a request was aborted on purpose. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** A column, or one part of it, by which grains are colored. */
export interface ColorBy {
  column: string;
  part: string;
}

/** What frames are colored by; `range` null: the range of each frame. */
export interface Coloring extends ColorBy {
  range: Range | null;
}

export const api = {
  result: () => json<Result>("/api/result"),
  statistics: () => json<Statistics>("/api/statistics"),
  range: (by: ColorBy) => json<Range>(`/api/columns/${encodeURIComponent(by.column)}/range?part=${encodeURIComponent(by.part)}`),
  grains: (frame: number, signal: AbortSignal) => binary<GrainsHeader>(`/api/frames/${frame}/grains`, signal),
  colors: (frame: number, { column, part, range }: Coloring, signal: AbortSignal) => {
    const query = new URLSearchParams({ part, ...(range && { min: String(range.min), max: String(range.max) }) });
    return binary<ColorsHeader>(`/api/frames/${frame}/columns/${encodeURIComponent(column)}?${query}`, signal);
  },
  surface: (body: number) => binary<{ vertices: number; triangles: number }>(`/api/bodies/${body}/surface`),
  terrain: (address: string) => binary<TerrainHeader>(address),
  grainAt: (frame: number, index: number) => json<Grain>(`/api/frames/${frame}/grains/${index}`),
  grainWithId: (frame: number, id: number) => json<Grain | null>(`/api/frames/${frame}/ids/${id}`),
};
