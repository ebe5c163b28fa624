// Plots of the statistics over time with a playhead. A click goes to that frame.

import type { Statistics } from "./api";
import { cssColor, make, prepare } from "./dom";
import { extent, text, ticks } from "./scales";

interface Series {
  name: string;
  unit: string;
  values: (number | null)[];
}

/** The plotted series: some statistics, and the force on each body. */
export function series(statistics: Statistics, bodies: readonly string[]): Series[] {
  return [
    { name: "Kinetic energy", unit: "J", values: statistics.kinetic_energy_j },
    { name: "Maximum speed", unit: "m/s", values: statistics.max_speed },
    { name: "Height", unit: "m", values: statistics.height_m },
    ...bodies.map((body, i) => ({
      name: `Force on ${body}`,
      unit: "N",
      values: statistics.forces_n.map(({ [i]: force }) => (force ? Math.hypot(...force) : null)),
    })),
  ];
}

const LEFT = 44;
const RIGHT = 4;

export class Plots {
  readonly root = make("div");
  onSeek: (frame: number) => void = () => {};
  private readonly plots = new Map<string, { canvas: HTMLCanvasElement; output: HTMLOutputElement }>();
  private statistics: Statistics | null = null;
  private list: Series[] = [];
  private frame = 0;
  private last = 1;

  constructor(private readonly bodies: readonly string[]) {
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  update(statistics: Statistics, last: number): void {
    this.statistics = statistics;
    this.last = Math.max(1, last);
    this.list = series(statistics, this.bodies).filter((s) => s.values.some((v) => v !== null));
    for (const { name } of this.list) if (!this.plots.has(name)) this.add(name);
    this.draw();
  }

  setFrame(frame: number): void {
    if (frame === this.frame) return;
    this.frame = frame;
    this.draw();
  }

  draw(): void {
    for (const one of this.list) this.drawOne(one);
  }

  private add(name: string): void {
    const canvas = make("canvas", { role: "img" });
    const output = make("output");
    this.plots.set(name, { canvas, output });
    this.root.append(make("div", { class: "plot" }, make("div", { class: "head" }, make("span", {}, name), output), canvas));
    const seek = (event: PointerEvent) => {
      const x = (event.offsetX - LEFT) / Math.max(1, canvas.clientWidth - LEFT - RIGHT);
      this.onSeek(Math.round(Math.min(1, Math.max(0, x)) * this.last));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) seek(event);
    });
  }

  private drawOne(one: Series): void {
    const { canvas, output } = this.plots.get(one.name)!;
    const prepared = prepare(canvas);
    if (!prepared || !this.statistics) return;
    const { context, width, height } = prepared;
    const [low, high] = extent([0, ...one.values]);
    const x = (frame: number) => LEFT + (frame / this.last) * (width - LEFT - RIGHT);
    const y = (value: number) => height - 5 - ((value - low) / (high - low)) * (height - 12);
    const { frames } = this.statistics;

    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of ticks(low, high, 3)) {
      context.fillStyle = cssColor("--line");
      context.fillRect(LEFT, Math.round(y(tick)), width - LEFT - RIGHT, 1);
      context.fillStyle = cssColor("--soft");
      context.fillText(text(tick, "", 2), LEFT - 5, Math.min(height - 6, Math.max(6, y(tick))));
    }

    context.strokeStyle = cssColor("--accent");
    context.lineWidth = 1.5;
    context.beginPath();
    let before = -2;
    frames.forEach((frame, i) => {
      const value = one.values[i] ?? null;
      if (value === null) return;
      if (before === i - 1) context.lineTo(x(frame), y(value));
      else context.moveTo(x(frame), y(value));
      before = i;
    });
    context.stroke();

    const at = frames.indexOf(this.frame);
    const value = at >= 0 ? (one.values[at] ?? null) : null;
    context.fillStyle = cssColor("--text");
    context.fillRect(Math.round(x(this.frame)) - 0.5, 0, 1, height);
    if (value !== null) {
      context.beginPath();
      context.arc(x(this.frame), y(value), 3.2, 0, 2 * Math.PI);
      context.fill();
    }
    output.value = text(value, one.unit);
    canvas.setAttribute("aria-label", `${one.name}: ${output.value} at frame ${this.frame}, from ${text(low, one.unit)} to ${text(high, one.unit)}`);
  }
}
