// The binary format of frames, colors and surfaces: magic, length of the header, header (JSON), data.

import type { Vector } from "./api";

const MAGIC = "BARCHAN1";

export interface Decoded<H> {
  header: H;
  /** The data begins here, at a multiple of eight bytes. */
  buffer: ArrayBuffer;
  offset: number;
}

export function decode<H>(buffer: ArrayBuffer): Decoded<H> {
  if (buffer.byteLength < 12) throw new Error("the answer is too short");
  const magic = new TextDecoder("latin1").decode(new Uint8Array(buffer, 0, 8));
  if (magic !== MAGIC) throw new Error("the answer is in another form: reload the page");
  const length = new DataView(buffer).getUint32(8, true);
  const offset = 12 + length;
  if (offset > buffer.byteLength) throw new Error("the answer is cut off");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 12, length))) as H;
  return { header, buffer, offset };
}

/** Data as 16-bit numbers, `count` of them. */
export function words(decoded: Decoded<unknown>, count: number): Uint16Array {
  if (decoded.offset + 2 * count > decoded.buffer.byteLength) throw new Error("the answer is cut off");
  return new Uint16Array(decoded.buffer, decoded.offset, count);
}

/** Position of a grain [m], from its four words. */
export function position(data: Uint16Array, index: number, lower: Vector, upper: Vector): Vector {
  const at = (axis: 0 | 1 | 2) => lower[axis] + ((data[4 * index + axis] ?? 0) / 65535) * (upper[axis] - lower[axis]);
  return [at(0), at(1), at(2)];
}

export const NOT_DRAWN = 255;

export function material(data: Uint16Array, index: number): number {
  return (data[4 * index + 3] ?? 0) >> 8;
}
