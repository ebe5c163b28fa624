// Playing: which frame is due. Time decides, not how many pictures were drawn, so frames are skipped when it is slow.

export interface Span {
  first: number;
  last: number;
}

export class Clock {
  playing = false;
  speed = 1;
  loop = true;
  private start = 0;
  private from = 0;

  constructor(private readonly frameRate: number) {}

  play(frame: number, now: number): void {
    this.playing = true;
    this.rebase(frame, now);
  }

  pause(): void {
    this.playing = false;
  }

  /** Goes on from `frame`: after a change of speed, or a jump. */
  rebase(frame: number, now: number): void {
    this.from = frame;
    this.start = now;
  }

  /** The frame that is due now; null when playing has come to its end. */
  due(now: number, span: Span): number | null {
    const elapsed = ((now - this.start) / 1000) * this.frameRate * this.speed;
    const frame = this.from + Math.floor(Math.max(0, elapsed) + 1e-6);
    if (frame <= span.last) return Math.max(frame, span.first);
    if (!this.loop) return null;
    const length = span.last - span.first + 1;
    return span.first + ((frame - span.first) % length);
  }
}
