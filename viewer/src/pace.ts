// How fast pictures come, and how sharp they may be: while the view moves too slowly, fewer pixels are drawn.

const SLOW_MS = 30;
const FAST_MS = 14;
const COARSEST = 0.4;

export class Pace {
  /** Part of the full resolution that is drawn while moving. */
  ratio = 1;
  drawn = 0;
  private last = 0;
  private mean = 16;

  /** One more picture at `now` [ms]; returns the resolution for it. */
  step(now: number, isMoving: boolean): number {
    const passed = now - this.last;
    this.last = now;
    if (!isMoving) return 1;
    // A pause between two pictures says nothing about their cost.
    if (passed < 500) this.mean += 0.25 * (passed - this.mean);
    if (this.mean > SLOW_MS && this.ratio > COARSEST) {
      this.ratio = Math.max(COARSEST, this.ratio * 0.8);
      this.mean = 20;
    } else if (this.mean < FAST_MS && this.ratio < 1) {
      this.ratio = Math.min(1, this.ratio * 1.1);
    }
    return this.ratio;
  }

  /** The view has come to rest. */
  rest(): void {
    this.mean = Math.min(this.mean, 20);
  }
}
