// Adapts the quality to the frame rate: while the view moves and frames take too long, fewer pixels are drawn, then
// fewer grains. At rest everything is drawn.

interface Level {
  /** Fraction of the full resolution. */
  ratio: number;
  /** One grain in this many is drawn. */
  every: number;
}

const LEVELS: readonly Level[] = [
  { ratio: 1, every: 1 },
  { ratio: 0.7, every: 1 },
  { ratio: 0.5, every: 1 },
  { ratio: 0.5, every: 2 },
  { ratio: 0.42, every: 4 },
  { ratio: 0.35, every: 8 },
  { ratio: 0.3, every: 16 },
  { ratio: 0.3, every: 64 },
];
const SLOW_MS = 40;
const FAST_MS = 18;
/** A lower level must save at least this fraction of the time. */
const WORTH = 0.15;
/** How long the measured time of another level is trusted [ms]. */
const MEMORY_MS = 8000;
/** Below this number, all grains are drawn. */
const FEW = 20_000;

export class Pace {
  drawn = 0;
  grains = 0;
  private level = 0;
  private last = 0;
  private samples = 0;
  /** Mean frame time at each level [ms], and when it was measured [ms]. */
  private readonly known = new Map<number, { mean: number; at: number }>();

  /** Starts at a level that a processor can draw, where there is no graphics card. */
  expectSlow(grains: number): void {
    const vertices = 15_000;
    const level = LEVELS.findIndex(({ ratio, every }) => ratio <= 0.5 && grains / every <= vertices);
    this.level = level < 0 ? LEVELS.length - 1 : level;
  }

  /** The level while moving. */
  get now(): Level {
    const { ratio, every } = LEVELS[this.level]!;
    return { ratio, every: this.grains < FEW ? 1 : every };
  }

  /** Called for a frame at `now` [ms]; returns its level. */
  step(now: number, isMoving: boolean): Level {
    const passed = now - this.last;
    this.last = now;
    if (!isMoving) {
      this.samples = 0;
      return LEVELS[0]!;
    }
    this.samples += 1;
    // A pause, or the first frame after a change, says nothing about the cost of a frame.
    if (passed > 3000 || this.samples < 2) return this.now;
    const mean = this.learn(passed, now);
    const wanted = passed > 100 ? 3 : 8;
    if (this.samples >= wanted) this.choose(mean);
    return this.now;
  }

  private learn(passed: number, now: number): number {
    for (const [level, { at }] of this.known) if (now - at > MEMORY_MS) this.known.delete(level);
    const before = this.known.get(this.level)?.mean ?? passed;
    const mean = before + 0.3 * (passed - before);
    this.known.set(this.level, { mean, at: now });
    return mean;
  }

  private choose(mean: number): void {
    const [below, above] = [this.known.get(this.level + 1)?.mean, this.known.get(this.level - 1)?.mean];
    const isFast = mean < FAST_MS;
    const isVain = above !== undefined && above * (1 - WORTH) < mean;
    if (this.level > 0 && (isFast || isVain)) this.change(-1);
    else if (mean > SLOW_MS && this.level < LEVELS.length - 1 && (below === undefined || below < mean * (1 - WORTH))) {
      this.change(mean > 250 && below === undefined ? Math.min(2, LEVELS.length - 1 - this.level) : 1);
    }
  }

  private change(by: number): void {
    this.level += by;
    this.samples = 0;
  }
}
