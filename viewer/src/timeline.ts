// The bar below: play, scrub, speed, loop.

import type { GrainsHeader, Live } from "./api";
import { element, make } from "./dom";
import { text } from "./scales";

export class Timeline {
  onSeek: (frame: number) => void = () => {};
  onPlay: () => void = () => {};
  onStep: (by: number) => void = () => {};
  onSpeed: (speed: number) => void = () => {};
  onLoop: (loop: boolean) => void = () => {};

  private readonly scrub = element<HTMLInputElement>("scrub");
  private readonly now = element<HTMLOutputElement>("now");
  private readonly play = element<HTMLButtonElement>("play");
  private readonly loop = element<HTMLButtonElement>("loop");
  private readonly speed = element<HTMLSelectElement>("speed");
  private readonly marks = element("marks");
  private last = 0;

  constructor() {
    this.scrub.addEventListener("input", () => this.onSeek(Number(this.scrub.value)));
    this.play.addEventListener("click", () => this.onPlay());
    this.loop.addEventListener("click", () => this.onLoop(this.loop.getAttribute("aria-pressed") !== "true"));
    this.speed.addEventListener("change", () => this.onSpeed(Number(this.speed.value)));
    const click = (id: string, run: () => void) => element(id).addEventListener("click", run);
    click("first", () => this.onSeek(Number(this.scrub.min)));
    click("last", () => this.onSeek(this.last));
    click("back", () => this.onStep(-1));
    click("forward", () => this.onStep(1));
  }

  setSpan(first: number, last: number, live: Live): void {
    this.last = last;
    this.scrub.min = String(first);
    this.scrub.max = String(Math.max(last, first));
    const width = Math.max(1, last - first);
    const at = (frame: number) => `${(100 * (frame - first)) / width}%`;
    const damaged = live.damage.map((d) => {
      const mark = make("i");
      mark.style.left = at(d.frame);
      return mark;
    });
    const gaps = live.frames.slice(1).map(([next], i) => {
      const gap = make("b");
      const end = live.frames[i]![1];
      gap.style.left = at(end);
      gap.style.width = `${(100 * (next - end)) / width}%`;
      return gap;
    });
    this.marks.replaceChildren(...gaps, ...damaged);
  }

  setFrame(frame: number, header: GrainsHeader | null): void {
    this.scrub.value = String(frame);
    const time = header && header.frame === frame ? `${text(header.time, "s", 4)} · ${grouped(header.grains)} grains`.replace(/ (?=s\b|grains)/g, "\u00a0") : "";
    this.scrub.setAttribute("aria-valuetext", `frame ${frame} of ${this.last}${time ? `, ${time}` : ""}`);
    this.now.replaceChildren(`${frame} / ${this.last} `, make("small", {}, time));
  }

  setPlaying(playing: boolean): void {
    document.body.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  setLoop(loop: boolean): void {
    this.loop.setAttribute("aria-pressed", String(loop));
  }

  setSpeed(speed: number): void {
    if (![...this.speed.options].some((option) => Number(option.value) === speed)) {
      this.speed.append(make("option", { value: String(speed) }, String(speed)));
    }
    this.speed.value = String(speed);
  }
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
