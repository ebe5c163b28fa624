// The panel: color, clip plane, grains, materials, bodies, the picked grain, and the plots.

import type { Column, Grain, Result } from "./api";
import { css, mapNames } from "./colormaps";
import { make } from "./dom";
import { text } from "./scales";
import type { ViewState } from "./state";

/** What the panel can change, in the order in which all of it is shown. */
export const CHANGES = ["clip", "size", "hidden", "color"] as const;
export type Change = (typeof CHANGES)[number];

export interface PanelEvents {
  /** The state was changed here. */
  changed: (what: Change) => void;
  pickNearest: () => void;
  forgetGrain: () => void;
}

const FROM_COLUMN: Record<string, string> = { "velocity.magnitude": "Speed" };

export class Panel {
  private readonly color = make("select", { id: "color" });
  private readonly map = make("select", { id: "map" });
  private readonly range = make("select", { id: "range" });
  private readonly clipAxis = make("select", { id: "clip-axis" });
  private readonly clipAt = make("input", { id: "clip-at", type: "range", min: "0", max: "1", step: "0.005" });
  private readonly clipText = make("output", { for: "clip-at" });
  private readonly clipFlip = make("input", { id: "clip-flip", type: "checkbox" });
  private readonly size = make("input", { id: "size", type: "range", min: "0.2", max: "3", step: "0.05" });
  private readonly sizeText = make("output", { for: "size" });
  private readonly grain = make("div", { id: "grain" });
  private readonly materials: HTMLInputElement[] = [];
  private readonly bodies: HTMLInputElement[] = [];

  constructor(
    root: HTMLElement,
    private readonly result: Result,
    private readonly state: ViewState,
    private readonly events: PanelEvents,
    /** Plots over time; null when the scene is live, which has neither frames to plot nor grains to follow. */
    plots: HTMLElement | null,
  ) {
    root.append(
      this.colorSection(),
      this.clipSection(),
      this.grainsSection(),
      ...this.bodiesSection(),
    );
    if (plots) {
      root.append(
        make("section", { "aria-label": "Grain" }, make("h2", {}, "Grain"), this.grain),
        make("section", { "aria-label": "Over time" }, make("h2", {}, "Over time"), plots),
      );
    }
    this.showGrain(null, false);
    this.update();
  }

  /** Shows the state. */
  update(): void {
    const { state } = this;
    this.color.value = state.color ?? "";
    if (this.color.selectedIndex < 0) this.color.value = "";
    const column = columnOf(this.result, state.color);
    this.map.value = state.map;
    if (this.map.selectedIndex < 0) this.map.selectedIndex = 0;
    const hasScale = column?.kind === "quantity";
    rowOf(this.map).hidden = !hasScale;
    rowOf(this.range).hidden = !hasScale || this.result.live !== undefined;
    this.range.value = state.range;
    this.clipAxis.value = state.clip?.axis ?? "";
    for (const control of [this.clipAt, this.clipFlip]) rowOf(control).hidden = state.clip === null;
    this.clipAt.value = String(state.clip?.at ?? 0.5);
    this.clipFlip.checked = state.clip?.flip ?? false;
    this.size.value = String(state.size);
    this.sizeText.value = `${text(state.size, "", 2)} ×`;
    this.materials.forEach((box, i) => (box.checked = !state.hiddenMaterials.includes(i)));
    this.bodies.forEach((box, i) => (box.checked = !state.hiddenBodies.includes(i)));
  }

  setClipText(at: number | null): void {
    this.clipText.value = at === null ? "" : text(at, "m");
    this.clipAt.setAttribute("aria-valuetext", this.clipText.value);
  }

  /** All columns of a grain, or how to pick one. */
  showGrain(grain: Grain | null, isMissing: boolean, id: number | null = null): void {
    if (!grain) {
      const button = make("button", { class: "tool", id: "pick", type: "button" }, "Pick one");
      button.addEventListener("click", () => this.events.pickNearest());
      const hint = isMissing ? `Grain ${id} is not in this frame.` : "Click on a grain to read its numbers.";
      this.grain.replaceChildren(make("div", { class: "grain-head" }, make("p", { class: "hint" }, hint), isMissing ? this.forget() : button));
      return;
    }
    const rows = grain.columns.flatMap((column) => {
      const unit = column.unit === "1" ? "" : column.unit;
      return column.values.map((value, i) => {
        const name = column.values.length > 1 ? `${column.name} ${partName(column.values.length, i)}` : column.name;
        const shown = value === null ? "–" : String(value);
        const note = column.name === "material" ? this.result.materials[Number(value)]?.name : undefined;
        return make(
          "tr",
          { title: column.meaning, "data-column": column.name, "data-part": String(i) },
          make("th", { scope: "row" }, name),
          make("td", {}, note ? `${shown} (${note})` : shown, make("span", { class: "unit" }, unit)),
        );
      });
    });
    this.grain.replaceChildren(
      make("div", { class: "grain-head" }, make("strong", {}, `Grain ${grain.id ?? grain.index}`), this.forget()),
      make("table", { class: "grain-table" }, make("tbody", {}, ...rows)),
    );
  }

  private forget(): HTMLButtonElement {
    const button = make("button", { class: "tool", type: "button", id: "forget" }, "Let go");
    button.addEventListener("click", () => this.events.forgetGrain());
    return button;
  }

  private colorSection(): HTMLElement {
    this.color.append(make("option", { value: "" }, "The grains’ own"));
    for (const column of this.result.columns) {
      const options = column.parts.map((part) => make("option", { value: `${column.name}.${part}` }, colorName(column, part)));
      if (options.length === 1) this.color.append(options[0]!);
      else this.color.append(make("optgroup", { label: column.name }, ...options));
    }
    this.map.append(...mapNames().map((name) => make("option", { value: name }, name)));
    this.range.append(make("option", { value: "all" }, "of all frames"), make("option", { value: "frame" }, "of each frame"));
    const change = () => {
      this.state.color = this.color.value || null;
      this.state.map = this.map.value;
      this.state.range = this.range.value === "frame" ? "frame" : "all";
      this.update();
      this.events.changed("color");
    };
    for (const select of [this.color, this.map, this.range]) select.addEventListener("change", change);
    return make(
      "section",
      { "aria-label": "Color" },
      make("h2", {}, "Color"),
      row("Color by", this.color),
      row("Map", this.map),
      row("Range", this.range),
    );
  }

  private clipSection(): HTMLElement {
    this.clipAxis.append(make("option", { value: "" }, "off"), ...["x", "y", "z"].map((axis) => make("option", { value: axis }, `across ${axis}`)));
    const change = () => {
      const axis = this.clipAxis.value as "" | "x" | "y" | "z";
      this.state.clip = axis ? { axis, at: Number(this.clipAt.value), flip: this.clipFlip.checked } : null;
      this.update();
      this.events.changed("clip");
    };
    this.clipAxis.addEventListener("change", change);
    this.clipAt.addEventListener("input", change);
    this.clipFlip.addEventListener("change", change);
    return make(
      "section",
      { "aria-label": "Clip plane" },
      make("h2", {}, "Clip plane"),
      row("Plane", this.clipAxis),
      row("Position", this.clipAt, this.clipText),
      make("label", { class: "check" }, this.clipFlip, make("span", {}, "Cut the other side")),
    );
  }

  private grainsSection(): HTMLElement {
    this.size.addEventListener("input", () => {
      this.state.size = Number(this.size.value);
      this.update();
      this.events.changed("size");
    });
    const boxes = this.result.materials.map((material, i) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = css(material.color);
      return this.check(material.name, this.materials, i, "hiddenMaterials", swatch);
    });
    return make(
      "section",
      { "aria-label": "Grains" },
      make("h2", {}, "Grains"),
      row("Size", this.size, this.sizeText),
      ...(boxes.length ? [make("div", { role: "group", "aria-label": "Materials shown", id: "materials" }, ...boxes)] : []),
    );
  }

  private bodiesSection(): HTMLElement[] {
    if (!this.result.bodies.length) return [];
    const boxes = this.result.bodies.map((body, i) => this.check(body.name, this.bodies, i, "hiddenBodies"));
    const group = make("div", { role: "group", "aria-label": "Bodies shown", id: "bodies" }, ...boxes);
    return [make("section", { "aria-label": "Bodies" }, make("h2", {}, "Bodies"), group)];
  }

  private check(
    name: string,
    boxes: HTMLInputElement[],
    i: number,
    key: "hiddenMaterials" | "hiddenBodies",
    swatch?: HTMLElement,
  ): HTMLElement {
    const box = make("input", { type: "checkbox" });
    boxes.push(box);
    box.addEventListener("change", () => {
      const others = this.state[key].filter((other) => other !== i);
      this.state[key] = box.checked ? others : [...others, i].sort((a, b) => a - b);
      this.events.changed("hidden");
    });
    return make("label", { class: "check" }, box, swatch, make("span", {}, name));
  }
}

function row(name: string, control: HTMLElement, output?: HTMLElement): HTMLElement {
  return make("div", { class: "row" }, make("label", { for: control.id }, name), control, output);
}

/** The line of the panel that a control stands in. */
function rowOf(control: HTMLElement): HTMLElement {
  return control.closest<HTMLElement>(".row, .check") ?? control;
}

/** The column that `column.part` names. */
export function columnOf(result: Result, color: string | null): Column | null {
  const [name, part] = (color ?? "").split(".");
  const column = result.columns.find((c) => c.name === name);
  return column && column.parts.includes(part ?? "") ? column : null;
}

export function colorName(column: Column, part: string): string {
  const key = `${column.name}.${part}`;
  if (FROM_COLUMN[key]) return FROM_COLUMN[key];
  const name = column.name.replaceAll("_", " ");
  return part === "value" ? name : `${name} ${part}`;
}

function partName(count: number, i: number): string {
  const names: Record<number, string[]> = { 3: ["x", "y", "z"], 6: ["xx", "yy", "zz", "yz", "xz", "xy"] };
  return names[count]?.[i] ?? String(i);
}
