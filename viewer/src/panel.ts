// The panel: color, clip plane, grains, materials, bodies, the picked grain, and the plots.

import type { Column, Grain, Result } from "./api";
import { mapNames } from "./colormaps";
import { button, make, option, section, swatch, tableRow } from "./dom";
import { text } from "./scales";
import type { ViewState } from "./state";

/** What the panel can change, in the order in which it is applied. */
export const CHANGES = ["clip", "size", "hidden", "color"] as const;
export type Change = (typeof CHANGES)[number];

export interface PanelEvents {
  /** The panel has changed the state. */
  changed: (what: Change) => void;
  pickNearest: () => void;
  forgetGrain: () => void;
}

type Hidden = "hiddenMaterials" | "hiddenBodies";

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
  /** Check boxes of materials and bodies: checked where shown. */
  private readonly boxes: { box: HTMLInputElement; key: Hidden; i: number }[] = [];

  constructor(
    root: HTMLElement,
    private readonly result: Result,
    private readonly state: ViewState,
    private readonly events: PanelEvents,
    /** Plots over time; null when the scene is live, which has neither frames to plot nor grains to follow. */
    plots: HTMLElement | null,
  ) {
    root.append(this.colorSection(), this.clipSection(), this.grainsSection(), ...this.bodiesSection());
    if (plots) root.append(section("Grain", this.grain), section("Over time", plots));
    this.showGrain(null);
    this.update();
  }

  /** Shows the state. */
  update(): void {
    const { state } = this;
    this.color.value = state.color ?? "";
    if (this.color.selectedIndex < 0) this.color.value = "";
    this.map.value = state.map;
    if (this.map.selectedIndex < 0) this.map.selectedIndex = 0;
    const hasScale = colorBy(this.result, state.color)?.column.kind === "quantity";
    rowOf(this.map).hidden = !hasScale;
    rowOf(this.range).hidden = !hasScale || this.result.live !== undefined;
    this.range.value = state.range;
    this.clipAxis.value = state.clip?.axis ?? "";
    for (const control of [this.clipAt, this.clipFlip]) rowOf(control).hidden = state.clip === null;
    this.clipAt.value = String(state.clip?.at ?? 0.5);
    this.clipFlip.checked = state.clip?.flip ?? false;
    this.size.value = String(state.size);
    this.sizeText.value = `${text(state.size, "", 2)} ×`;
    for (const { box, key, i } of this.boxes) box.checked = !state[key].includes(i);
  }

  setClipText(at: number | null): void {
    this.clipText.value = at === null ? "" : text(at, "m");
    this.clipAt.setAttribute("aria-valuetext", this.clipText.value);
  }

  /** All columns of a grain, or how to pick one; `missing` is the id of a grain that this frame lacks. */
  showGrain(grain: Grain | null, missing: number | null = null): void {
    const forget = button({ class: "tool", id: "forget" }, () => this.events.forgetGrain(), "Let go");
    if (!grain) {
      const isMissing = missing !== null;
      const hint = isMissing ? `Grain ${missing} is not in this frame.` : "Click on a grain to read its numbers.";
      const choose = isMissing ? forget : button({ class: "tool", id: "pick" }, () => this.events.pickNearest(), "Pick one");
      this.grain.replaceChildren(make("div", { class: "grain-head" }, make("p", { class: "hint" }, hint), choose));
      return;
    }
    const rows = grain.columns.flatMap(({ name, unit, meaning, values }) =>
      values.map((value, i) => {
        const shown = value === null ? "–" : String(value);
        const note = name === "material" ? this.result.materials[Number(value)]?.name : undefined;
        const cell = make("td", {}, note ? `${shown} (${note})` : shown, make("span", { class: "unit" }, unit === "1" ? "" : unit));
        const full = values.length > 1 ? `${name} ${partName(values.length, i)}` : name;
        return tableRow({ title: meaning, "data-column": name, "data-part": String(i) }, full, cell);
      }),
    );
    this.grain.replaceChildren(
      make("div", { class: "grain-head" }, make("strong", {}, `Grain ${grain.id ?? grain.index}`), forget),
      make("table", { class: "grain-table" }, make("tbody", {}, ...rows)),
    );
  }

  private colorSection(): HTMLElement {
    this.color.append(option("", "The grains’ own"));
    for (const column of this.result.columns) {
      const options = column.parts.map((part) => option(`${column.name}.${part}`, colorName(column, part)));
      this.color.append(options.length === 1 ? options[0]! : make("optgroup", { label: column.name }, ...options));
    }
    this.map.append(...mapNames().map((name) => option(name)));
    this.range.append(option("all", "of all frames"), option("frame", "of each frame"));
    this.onInput([this.color, this.map, this.range], "color", () => {
      this.state.color = this.color.value || null;
      this.state.map = this.map.value;
      this.state.range = this.range.value === "frame" ? "frame" : "all";
    });
    return section("Color", row("Color by", this.color), row("Map", this.map), row("Range", this.range));
  }

  private clipSection(): HTMLElement {
    this.clipAxis.append(option("", "off"), ...["x", "y", "z"].map((axis) => option(axis, `across ${axis}`)));
    this.onInput([this.clipAxis, this.clipAt, this.clipFlip], "clip", () => {
      const axis = this.clipAxis.value as "" | "x" | "y" | "z";
      this.state.clip = axis ? { axis, at: Number(this.clipAt.value), flip: this.clipFlip.checked } : null;
    });
    const flip = make("label", { class: "check" }, this.clipFlip, make("span", {}, "Cut the other side"));
    return section("Clip plane", row("Plane", this.clipAxis), row("Position", this.clipAt, this.clipText), flip);
  }

  private grainsSection(): HTMLElement {
    this.onInput([this.size], "size", () => (this.state.size = Number(this.size.value)));
    const boxes = this.result.materials.map(({ name, color }, i) => this.check(name, "hiddenMaterials", i, swatch(color)));
    return section("Grains", row("Size", this.size, this.sizeText), group("Materials shown", "materials", boxes));
  }

  private bodiesSection(): HTMLElement[] {
    const boxes = this.result.bodies.map(({ name }, i) => this.check(name, "hiddenBodies", i));
    return boxes.length ? [section("Bodies", group("Bodies shown", "bodies", boxes))] : [];
  }

  /** On input, `take` copies the values of the controls into the state. */
  private onInput(controls: HTMLElement[], what: Change, take: () => void): void {
    for (const control of controls) {
      control.addEventListener("input", () => {
        take();
        this.update();
        this.events.changed(what);
      });
    }
  }

  private check(name: string, key: Hidden, i: number, mark?: HTMLElement): HTMLElement {
    const box = make("input", { type: "checkbox" });
    this.boxes.push({ box, key, i });
    this.onInput([box], "hidden", () => {
      const others = this.state[key].filter((other) => other !== i);
      this.state[key] = box.checked ? others : [...others, i].sort((a, b) => a - b);
    });
    return make("label", { class: "check" }, box, mark, make("span", {}, name));
  }
}

function group(name: string, id: string, boxes: HTMLElement[]): HTMLElement | null {
  return boxes.length ? make("div", { role: "group", "aria-label": name, id }, ...boxes) : null;
}

function row(name: string, control: HTMLElement, output?: HTMLElement): HTMLElement {
  return make("div", { class: "row" }, make("label", { for: control.id }, name), control, output);
}

/** The row of the panel that holds a control. */
function rowOf(control: HTMLElement): HTMLElement {
  return control.closest<HTMLElement>(".row, .check") ?? control;
}

/** The column and its part that `column.part` names. */
export function colorBy(result: Result, color: string | null): { column: Column; part: string } | null {
  const [name, part = ""] = (color ?? "").split(".");
  const column = result.columns.find((c) => c.name === name);
  return column?.parts.includes(part) ? { column, part } : null;
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
