// What the bar below has in both modes: play and pause, and the speed of time.

import { element, option } from "./dom";

export class Transport {
  onSpeed: (speed: number) => void = () => {};
  protected readonly play = element("play");
  protected readonly speed = element<HTMLSelectElement>("speed");

  /** `idle` is the name of the button while it would play. */
  constructor(private readonly idle: string) {
    this.speed.addEventListener("change", () => this.onSpeed(Number(this.speed.value)));
    this.setPlaying(false);
  }

  setPlaying(playing: boolean): void {
    document.body.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", playing ? "Pause" : this.idle);
  }

  setSpeed(speed: number): void {
    if (![...this.speed.options].some(({ value }) => Number(value) === speed)) this.speed.append(option(String(speed)));
    this.speed.value = String(speed);
  }
}
