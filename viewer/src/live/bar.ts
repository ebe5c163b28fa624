// The bar below a live scene: pause, step, start over, the speed of time, and how fast it goes.

import { element, make } from "../dom";
import { text } from "../scales";
import type { LiveHeader } from "./link";

export class Bar {
  onPlay: () => void = () => {};
  onStep: () => void = () => {};
  onReset: () => void = () => {};
  onSpeed: (speed: number) => void = () => {};

  private readonly play = element<HTMLButtonElement>("live-play");
  private readonly speed = element<HTMLSelectElement>("live-speed");
  private readonly now = element<HTMLOutputElement>("live-now");
  private readonly badge = element("live");
  private shown = -Infinity;

  constructor() {
    element("timeline").hidden = true;
    element("live-bar").hidden = false;
    const click = (button: HTMLElement, run: () => void) =>
      button.addEventListener("click", (event) => {
        run();
        // After the mouse, the keys are for the simulation again, not for the button.
        if (event.detail > 0) button.blur();
      });
    click(this.play, () => this.onPlay());
    click(element("live-step"), () => this.onStep());
    click(element("live-reset"), () => this.onReset());
    this.speed.addEventListener("change", () => {
      this.onSpeed(Number(this.speed.value));
      this.speed.blur();
    });
  }

  update(header: LiveHeader): void {
    document.body.classList.toggle("playing", header.playing);
    this.play.setAttribute("aria-label", header.playing ? "Pause" : "Run");
    if (document.activeElement !== this.speed) this.setSpeed(header.speed);
    const isDue = !header.playing || performance.now() - this.shown > 150;
    if (!isDue) return;
    this.shown = performance.now();
    const { rates } = header;
    const facts = [`${grouped(header.grains)} grains`];
    if (header.playing) facts.push(`${text(rates.steps_per_s, "", 3)} steps/s`, `${text(rates.step_ms, "ms", 3)} a step`, `${text(rates.ratio, "", 2)} × real time`);
    this.now.replaceChildren(`${header.time.toFixed(2)}\u00a0s `, make("small", {}, facts.map((fact) => fact.replaceAll(" ", "\u00a0")).join(" · ")));
    // Slower than asked for, and not just for a moment.
    const isSlow = header.playing && header.trouble === null && rates.ratio > 0 && rates.ratio < 0.9 * header.speed;
    this.badge.hidden = !isSlow && header.playing;
    this.badge.textContent = header.playing ? `${text(rates.ratio, "", 2)} × real time` : "paused";
    this.badge.title = header.playing ? "The simulation is slower than the clock; nothing is skipped" : "";
  }

  private setSpeed(speed: number): void {
    if (![...this.speed.options].some((option) => Number(option.value) === speed)) {
      this.speed.append(make("option", { value: String(speed) }, String(speed)));
    }
    this.speed.value = String(speed);
  }
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
