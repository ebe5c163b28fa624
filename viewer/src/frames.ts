// Loads and caches frames: the current frame comes first, a few more are fetched ahead, and requests that are no longer
// wanted are aborted.

import { api, type Coloring, type ColorsHeader, type GrainsHeader, isAbort } from "./api";
import { type Decoded, words } from "./decode";

export interface Grains {
  header: GrainsHeader;
  /** x, y, z, and palette | material << 8 of each grain. */
  data: Uint16Array;
}

export interface Colors {
  header: ColorsHeader;
  data: Uint16Array;
}

export interface Loaded {
  frame: number;
  grains: Grains;
  colors: Colors | null;
}

const KEPT_BYTES = 256 * 1024 * 1024;
const AT_ONCE = 3;

export class Frames {
  coloring: Coloring | null = null;
  /** Called when a frame was loaded or has failed. */
  onLoaded: (loaded: Loaded) => void = () => {};
  onFailed: (frame: number, error: unknown) => void = () => {};

  private readonly kept = new Map<string, { bytes: number; value: Grains | Colors }>();
  private readonly underWay = new Map<number, AbortController>();
  private readonly failed = new Set<string>();
  private wanted: number[] = [];

  /** The frame, if it is loaded. */
  get(frame: number): Loaded | null {
    const grains = this.kept.get(grainsKey(frame))?.value as Grains | undefined;
    const colors = this.coloring ? (this.kept.get(this.key(frame))?.value as Colors | undefined) : null;
    return grains && colors !== undefined ? { frame, grains, colors } : null;
  }

  /** Fetches these frames in their order; other requests are aborted. */
  want(frames: number[]): void {
    this.wanted = frames.filter((frame) => !this.get(frame) && !this.failed.has(this.key(frame)));
    for (const [frame, abort] of this.underWay) {
      // Requests under way are only aborted to make room for others.
      if (!frames.includes(frame) && this.wanted.length > 0 && this.underWay.size >= AT_ONCE) abort.abort();
    }
    this.pump();
  }

  /** Forgets which frames were damaged: they may have been written again. */
  forgetFailures(): void {
    this.failed.clear();
  }

  /** Forgets everything: the result was replaced. */
  forget(): void {
    this.kept.clear();
    this.failed.clear();
  }

  private pump(): void {
    for (const frame of this.wanted) {
      if (this.underWay.size >= AT_ONCE) return;
      if (!this.underWay.has(frame)) void this.fetch(frame);
    }
  }

  private async fetch(frame: number): Promise<void> {
    const abort = new AbortController();
    this.underWay.set(frame, abort);
    const coloring = this.coloring;
    const key = this.key(frame);
    try {
      const [grains, colors] = await Promise.all([
        this.keep(grainsKey(frame), async () => taken(await api.grains(frame, abort.signal), 4)),
        coloring ? this.keep(key, async () => taken(await api.colors(frame, coloring, abort.signal), 1)) : null,
      ]);
      if (coloring === this.coloring) this.onLoaded({ frame, grains, colors });
    } catch (error) {
      if (!isAbort(error)) {
        this.failed.add(key);
        this.onFailed(frame, error);
      }
    } finally {
      this.underWay.delete(frame);
      this.wanted = this.wanted.filter((other) => other !== frame || coloring !== this.coloring);
      this.pump();
    }
  }

  private async keep<T extends Grains | Colors>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.kept.get(key);
    if (known) {
      this.kept.delete(key);
      this.kept.set(key, known);
      return known.value as T;
    }
    const value = await make();
    this.kept.set(key, { bytes: value.data.byteLength, value });
    let bytes = [...this.kept.values()].reduce((sum, entry) => sum + entry.bytes, 0);
    for (const [oldest, entry] of this.kept) {
      if (bytes <= KEPT_BYTES || this.kept.size <= 2) break;
      this.kept.delete(oldest);
      bytes -= entry.bytes;
    }
    return value;
  }

  /** Key of a frame with its colors. */
  private key(frame: number): string {
    const by = this.coloring;
    return by ? `${frame}/${by.column}/${by.part}/${by.range?.min}/${by.range?.max}` : grainsKey(frame);
  }
}

function grainsKey(frame: number): string {
  return `${frame}`;
}

/** Header and data of an answer with `size` numbers per grain. */
function taken<H extends { grains: number }>(decoded: Decoded<H>, size: number): { header: H; data: Uint16Array } {
  return { header: decoded.header, data: words(decoded, size * decoded.header.grains) };
}
