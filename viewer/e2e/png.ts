// Decodes screenshots of the browser: PNG with 8 bits per channel, not interlaced.

import { inflateSync } from "node:zlib";

export interface Picture {
  width: number;
  height: number;
  /** Red, green, blue of pixel (x, y). */
  at: (x: number, y: number) => [number, number, number];
}

export function decodePng(file: Buffer): Picture {
  let [width, height, channels] = [0, 0, 3];
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const kind = file.toString("latin1", at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = data[9] === 6 ? 4 : 3;
    } else if (kind === "IDAT") parts.push(data);
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let i = 0; i < stride; i++) {
      const left = i >= channels ? out[y * stride + i - channels]! : 0;
      const up = y > 0 ? out[(y - 1) * stride + i]! : 0;
      const corner = y > 0 && i >= channels ? out[(y - 1) * stride + i - channels]! : 0;
      out[y * stride + i] = raw[y * (stride + 1) + 1 + i]! + predicted(filter ?? 0, left, up, corner);
    }
  }
  return {
    width,
    height,
    at: (x, y) => {
      const i = y * stride + x * channels;
      return [out[i]!, out[i + 1]!, out[i + 2]!];
    },
  };
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** Fraction of the pixels that differ visibly. */
export function difference(a: Picture, b: Picture): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  return share(a, (x, y) => {
    const [p, q] = [a.at(x, y), b.at(x, y)];
    return Math.abs(p[0] - q[0]) + Math.abs(p[1] - q[1]) + Math.abs(p[2] - q[2]) > 24;
  });
}

/** Fraction of the pixels whose color passes a test. */
export function part(picture: Picture, holds: (r: number, g: number, b: number) => boolean): number {
  return share(picture, (x, y) => holds(...picture.at(x, y)));
}

/** Fraction of the pixels whose position passes a test. */
function share({ width, height }: Picture, holds: (x: number, y: number) => boolean): number {
  let count = 0;
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (holds(x, y)) count++;
  return count / (width * height);
}
