// Helpers for the document.

import { css, type Rgb } from "./colormaps";

export function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

type Child = Node | string | null | undefined;
type Properties = Partial<Record<string, string | boolean>>;

/** A new element with properties and children. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === true) made.setAttribute(name, "");
    else if (typeof value === "string") made.setAttribute(name, value);
  }
  made.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return made;
}

export function button(properties: Properties, run: () => void, ...children: Child[]): HTMLButtonElement {
  const made = make("button", { ...properties, type: "button" }, ...children);
  made.addEventListener("click", run);
  return made;
}

/** A section of the panel with its heading. */
export function section(title: string, ...children: Child[]): HTMLElement {
  return make("section", { "aria-label": title }, make("h2", {}, title), ...children);
}

/** A row of a table: a name and its value. */
export function tableRow(properties: Properties, name: string, value: HTMLElement): HTMLElement {
  return make("tr", properties, make("th", { scope: "row" }, name), value);
}

export function option(value: string, label = value): HTMLOptionElement {
  return make("option", { value }, label);
}

/** A colored dot before a name. */
export function swatch(color: Rgb): HTMLElement {
  const made = make("span", { class: "swatch" });
  made.style.background = css(color);
  return made;
}

/** Sizes a canvas to the resolution of the screen; coordinates stay CSS pixels. */
export function prepare(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number } | null {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext("2d");
  if (!context || width === 0) return null;
  const ratio = Math.min(devicePixelRatio, 2);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Calls before every repaint of the browser. */
export function everyFrame(call: (now: number) => void): void {
  requestAnimationFrame((now) => {
    everyFrame(call);
    call(now);
  });
}

/** Calls at most once every `pause` milliseconds, and once more at the end. */
export function throttled(pause: number, call: () => void): () => void {
  let timer: number | undefined;
  let last = -Infinity;
  return () => {
    if (timer !== undefined) return;
    const wait = Math.max(0, last + pause - performance.now());
    timer = window.setTimeout(() => {
      timer = undefined;
      last = performance.now();
      call();
    }, wait);
  };
}

/** Position of a pointer relative to an element [CSS pixels]. */
export function pointIn(element: HTMLElement, event: PointerEvent): [number, number] {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
