// Frames on their way from the server: what is wanted now comes first, a few more are fetched ahead, and what was wanted
// a moment ago is dropped, not queued.

import { api, type ColourBy, type ColoursHeader, type GrainsHeader, type Range } from "./api";
import { words } from "./decode";

export interface Grains {
  header: GrainsHeader;
  /** x, y, z, and palette | material << 8 of each grain. */
  data: Uint16Array;
}

export interface Colours {
  header: ColoursHeader;
  data: Uint16Array;
}

export interface Loaded {
  frame: number;
  grains: Grains;
  colours: Colours | null;
}

/** What frames are coloured by; `range` null: the range of each frame. */
export interface Colouring extends ColourBy {
  range: Range | null;
}

const KEPT_BYTES = 256 * 1024 * 1024;
const AT_ONCE = 3;

export class Frames {
  colouring: Colouring | null = null;
  /** Called when a frame has come, with the frame, or with what is wrong with it. */
  onLoaded: (loaded: Loaded) => void = () => {};
  onFailed: (frame: number, error: unknown) => void = () => {};

  private readonly kept = new Map<string, { bytes: number; value: Grains | Colours }>();
  private readonly underWay = new Map<number, AbortController>();
  private readonly failed = new Set<string>();
  private wanted: number[] = [];

  /** The frame, when it is here. */
  get(frame: number): Loaded | null {
    const grains = this.kept.get(grainsKey(frame))?.value as Grains | undefined;
    if (!grains) return null;
    if (!this.colouring) return { frame, grains, colours: null };
    const colours = this.kept.get(this.coloursKey(frame))?.value as Colours | undefined;
    return colours ? { frame, grains, colours } : null;
  }

  /** Fetches these frames, the first first; whatever else is under way is given up. */
  want(frames: number[]): void {
    this.wanted = frames.filter((frame) => !this.get(frame) && !this.failed.has(this.failedKey(frame)));
    for (const [frame, abort] of this.underWay) {
      // A frame that is nearly here is worth having, unless something else is waiting.
      if (!frames.includes(frame) && this.wanted.length > 0 && this.underWay.size >= AT_ONCE) abort.abort();
    }
    this.pump();
  }

  /** Forgets that a frame was damaged: it may have been written again. */
  forgetFailures(): void {
    this.failed.clear();
  }

  /** Forgets everything: the result was made anew. */
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
    const colouring = this.colouring;
    const failedKey = this.failedKey(frame);
    try {
      const [grains, colours] = await Promise.all([
        this.keep(grainsKey(frame), () => fetchGrains(frame, abort.signal)),
        colouring ? this.keep(this.coloursKey(frame), () => fetchColours(frame, colouring, abort.signal)) : null,
      ]);
      if (colouring === this.colouring) this.onLoaded({ frame, grains, colours });
    } catch (error) {
      const aborted = error instanceof DOMException && error.name === "AbortError";
      if (!aborted) {
        this.failed.add(failedKey);
        this.onFailed(frame, error);
      }
    } finally {
      this.underWay.delete(frame);
      this.wanted = this.wanted.filter((other) => other !== frame || colouring !== this.colouring);
      this.pump();
    }
  }

  private async keep<T extends Grains | Colours>(key: string, make: () => Promise<T>): Promise<T> {
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

  private coloursKey(frame: number): string {
    const by = this.colouring;
    return by ? `${frame}/${by.column}/${by.part}/${by.range?.min}/${by.range?.max}` : "";
  }

  private failedKey(frame: number): string {
    return this.colouring ? this.coloursKey(frame) : grainsKey(frame);
  }
}

function grainsKey(frame: number): string {
  return `${frame}`;
}

async function fetchGrains(frame: number, signal: AbortSignal): Promise<Grains> {
  const decoded = await api.grains(frame, signal);
  return { header: decoded.header, data: words(decoded, 4 * decoded.header.grains) };
}

async function fetchColours(frame: number, by: Colouring, signal: AbortSignal): Promise<Colours> {
  const decoded = await api.colours(frame, by, by.range, signal);
  return { header: decoded.header, data: words(decoded, decoded.header.grains) };
}
