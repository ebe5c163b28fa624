// The bottom bar of a live scene: run, step, start over, the speed of time, and the rates of the simulation.

import { element, make } from "../dom";
import { grouped, text } from "../scales";
import { Transport } from "../transport";
import type { LiveHeader } from "./link";

export class Bar extends Transport {
  private readonly now = element<HTMLOutputElement>("live-now");
  private readonly badge = element("live");
  private shown = -Infinity;

  constructor() {
    super("Run");
    document.body.classList.add("live");
    const bar = element("timeline");
    bar.setAttribute("aria-label", "Simulation");
    this.play.title = "Run or pause (space)";
    this.speed.setAttribute("aria-label", "Speed of time");
    // After the mouse, keys go to the simulation again, not to the button.
    bar.addEventListener("click", (event) => {
      if (event.detail > 0 && event.target instanceof Element) event.target.closest("button")?.blur();
    });
    this.speed.addEventListener("change", () => this.speed.blur());
    for (const slow of this.speed.querySelectorAll(".of-result")) slow.remove();
  }

  update(header: LiveHeader): void {
    this.setPlaying(header.playing);
    if (document.activeElement !== this.speed) this.setSpeed(header.speed);
    if (header.playing && performance.now() - this.shown <= 150) return;
    this.shown = performance.now();
    const { rates } = header;
    const facts = [`${grouped(header.grains)} grains`];
    if (header.playing) facts.push(`${text(rates.steps_per_s, "", 3)} steps/s`, `${text(rates.step_ms, "ms", 3)} a step`, `${text(rates.ratio, "", 2)} × real time`);
    this.now.replaceChildren(`${header.time.toFixed(2)}\u00a0s `, make("small", {}, facts.map((fact) => fact.replaceAll(" ", "\u00a0")).join(" · ")));
    // Slower than the speed that was set.
    const isSlow = header.playing && header.trouble === null && rates.ratio > 0 && rates.ratio < 0.9 * header.speed;
    this.badge.hidden = !isSlow && header.playing;
    this.badge.textContent = header.playing ? `${text(rates.ratio, "", 2)} × real time` : "paused";
    this.badge.title = header.playing ? "The simulation is slower than the clock; nothing is skipped" : "";
  }
}
