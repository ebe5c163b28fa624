// Sliders for the parameters of the materials.

import type { Material, Parameter } from "../api";
import { button, make, swatch } from "../dom";
import { text } from "../scales";

const STEPS = 1000;
/** For how long after an input the values of the simulation, which lag behind, are ignored [ms]. */
const PATIENCE_MS = 700;

/** The value at a position of a slider, 0 to 1. */
export function valueAt({ low, high, scale }: Pick<Parameter, "low" | "high" | "scale">, place: number): number {
  if (scale === "logarithmic") return low * (high / low) ** place;
  if (scale === "cubic") return high * place ** 3;
  return low + (high - low) * place;
}

/** The position of a value on a slider, 0 to 1. */
export function placeOf({ low, high, scale }: Pick<Parameter, "low" | "high" | "scale">, value: number): number {
  const place = scale === "logarithmic" ? Math.log(value / low) / Math.log(high / low) : scale === "cubic" ? Math.cbrt(value / high) : (value - low) / (high - low);
  return Math.min(1, Math.max(0, place));
}

/** `friction_angle`: Friction angle. */
export function title(key: string): string {
  const words = key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

class Slider {
  readonly root: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly output: HTMLOutputElement;
  private touched = -Infinity;
  private value: number;

  constructor(
    private readonly parameter: Parameter,
    id: string,
    private readonly changed: (value: number) => void,
  ) {
    this.value = parameter.value;
    this.input = make("input", { id, type: "range", min: "0", max: String(STEPS), step: "1" });
    this.output = make("output", { for: id });
    this.input.addEventListener("input", () => {
      // A slider resolves about three digits.
      const value = Number(valueAt(parameter, Number(this.input.value) / STEPS).toPrecision(3));
      this.touched = performance.now();
      this.show(value);
      this.changed(value);
    });
    // After the mouse, the arrow keys drive joints again.
    this.input.addEventListener("pointerup", () => this.input.blur());
    const head = make("div", { class: "slider-head" }, make("label", { for: id }, title(parameter.key)), this.output);
    this.root = make("div", { class: "slider", title: parameter.meaning }, head, this.input);
    this.show(this.value);
  }

  /** Shows the value of the simulation. */
  update(value: number): void {
    if (value !== this.value && performance.now() - this.touched > PATIENCE_MS) this.show(value);
  }

  /** Back to the value of the scene. */
  restore(): void {
    if (this.value === this.parameter.value) return;
    this.touched = performance.now();
    this.show(this.parameter.value);
    this.changed(this.value);
  }

  private show(value: number): void {
    this.value = value;
    this.input.value = String(Math.round(STEPS * placeOf(this.parameter, value)));
    const unit = this.parameter.unit === "degrees" ? "°" : this.parameter.unit;
    this.output.value = unit === "°" ? `${text(value, "", 3)}°` : text(value, unit, 3);
    this.input.setAttribute("aria-valuetext", this.output.value);
  }
}

export class Sliders {
  private readonly sliders: Slider[][];
  readonly sections: HTMLElement[];

  constructor(materials: Material[], parameters: Parameter[][], changed: (material: number, key: string, value: number) => void) {
    this.sliders = parameters.map((list, material) =>
      list.map((parameter) => new Slider(parameter, `parameter-${material}-${parameter.key}`, (value) => changed(material, parameter.key, value))),
    );
    this.sections = this.sliders.flatMap((list, material) => {
      if (!list.length) return [];
      const { name, color } = materials[material]!;
      const restoreAll = () => list.forEach((slider) => slider.restore());
      const restore = button({ class: "tool small", title: "Back to the values of the scene" }, restoreAll, "As in the scene");
      const head = make("div", { class: "section-head" }, make("h2", {}, swatch(color), name), restore);
      return [make("section", { "aria-label": `Material ${name}`, class: "parameters" }, head, ...list.map((slider) => slider.root))];
    });
  }

  update(values: number[][]): void {
    values.forEach((list, i) => list.forEach((value, j) => this.sliders[i]?.[j]?.update(value)));
  }
}
