// Playback: which frame is due. It follows the time, so frames are skipped where drawing is slow.

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

  /** Continues from `frame`, after a change of speed or a jump. */
  rebase(frame: number, now: number): void {
    this.from = frame;
    this.start = now;
  }

  /** The frame that is due now; null at the end. */
  due(now: number, span: Span): number | null {
    const elapsed = ((now - this.start) / 1000) * this.frameRate * this.speed;
    const frame = this.from + Math.floor(Math.max(0, elapsed) + 1e-6);
    if (frame <= span.last) return Math.max(frame, span.first);
    if (!this.loop) return null;
    const length = span.last - span.first + 1;
    return span.first + ((frame - span.first) % length);
  }
}
