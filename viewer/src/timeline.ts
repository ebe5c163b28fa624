// The bottom bar of a result: play, scrub, speed, loop.

import type { GrainsHeader, Live } from "./api";
import { element, make } from "./dom";
import { grouped, text } from "./scales";
import { Transport } from "./transport";

export class Timeline extends Transport {
  onSeek: (frame: number) => void = () => {};
  private readonly scrub = element<HTMLInputElement>("scrub");
  private readonly now = element<HTMLOutputElement>("now");
  private readonly loop = element("loop");
  private readonly marks = element("marks");
  private last = 0;

  constructor() {
    super("Play");
    this.scrub.addEventListener("input", () => this.onSeek(Number(this.scrub.value)));
  }

  setSpan(first: number, last: number, live: Live): void {
    this.last = last;
    this.scrub.min = String(first);
    this.scrub.max = String(Math.max(last, first));
    const percent = (frames: number) => `${(100 * frames) / Math.max(1, last - first)}%`;
    const mark = (kind: "i" | "b", frame: number, frames: number) => {
      const made = make(kind);
      made.style.left = percent(frame - first);
      if (frames) made.style.width = percent(frames);
      return made;
    };
    const damaged = live.damage.map(({ frame }) => mark("i", frame, 0));
    const gaps = live.frames.slice(1).map(([next], i) => mark("b", live.frames[i]![1], next - live.frames[i]![1]));
    this.marks.replaceChildren(...gaps, ...damaged);
  }

  setFrame(frame: number, header: GrainsHeader | null): void {
    this.scrub.value = String(frame);
    const time = header && header.frame === frame ? `${text(header.time, "s", 4)} · ${grouped(header.grains)} grains`.replace(/ (?=s\b|grains)/g, "\u00a0") : "";
    this.scrub.setAttribute("aria-valuetext", `frame ${frame} of ${this.last}${time ? `, ${time}` : ""}`);
    this.now.replaceChildren(`${frame} / ${this.last} `, make("small", {}, time));
  }

  setLoop(loop: boolean): void {
    this.loop.setAttribute("aria-pressed", String(loop));
  }
}
