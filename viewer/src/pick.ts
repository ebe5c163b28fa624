// The grain under the pointer: the nearest sphere that a ray hits. Tests every grain, but only on a click.

import type { Vector } from "./api";
import { material as materialOf, NOT_DRAWN } from "./decode";
import type { Grains } from "./frames";

export interface Ray {
  origin: Vector;
  /** Unit vector. */
  direction: Vector;
}

export interface PickOptions {
  radius: number;
  /** Least radius per meter of distance, so that grains smaller than a few pixels can be hit. */
  slack: number;
  isHidden: (material: number) => boolean;
  /** Grains where this is negative are cut away. */
  clip: ((x: number, y: number, z: number) => number) | null;
}

export function pick(grains: Grains, ray: Ray, options: PickOptions): number | null {
  const { data, header } = grains;
  const { lower, upper } = header;
  const scale = [0, 1, 2].map((a) => (upper[a]! - lower[a]!) / 65535) as Vector;
  const [ox, oy, oz] = ray.origin;
  const [dx, dy, dz] = ray.direction;
  let best: number | null = null;
  let nearest = Infinity;
  for (let i = 0; i < header.grains; i++) {
    const x = lower[0] + data[4 * i]! * scale[0];
    const y = lower[1] + data[4 * i + 1]! * scale[1];
    const z = lower[2] + data[4 * i + 2]! * scale[2];
    const along = (x - ox) * dx + (y - oy) * dy + (z - oz) * dz;
    if (along <= 0) continue;
    const off = (x - ox) ** 2 + (y - oy) ** 2 + (z - oz) ** 2 - along * along;
    const radius = Math.max(options.radius, options.slack * along);
    if (off > radius * radius) continue;
    const hit = along - Math.sqrt(Math.max(0, radius * radius - off));
    if (hit >= nearest) continue;
    const material = materialOf(data, i);
    if (material === NOT_DRAWN || options.isHidden(material)) continue;
    if (options.clip && options.clip(x, y, z) < 0) continue;
    nearest = hit;
    best = i;
  }
  return best;
}
