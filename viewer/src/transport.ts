// The part of the bottom bar that both modes share: play and pause, and the speed.

import { element, option } from "./dom";

export class Transport {
  onSpeed: (speed: number) => void = () => {};
  protected readonly play = element("play");
  protected readonly speed = element<HTMLSelectElement>("speed");

  /** `idle` is the name of the play button while paused. */
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
