// The legend of the colors.

import type { Range } from "./api";
import { CATEGORIES, css, type Rgb, table } from "./colormaps";
import { make, swatch } from "./dom";
import { text } from "./scales";

export interface LegendContent extends Range {
  title: string;
  map: string;
  /** Names of the categories; null for a quantity, which has a scale. */
  categories: string[] | null;
}

export class Legend {
  private content: LegendContent | null = null;

  constructor(private readonly root: HTMLElement) {}

  set(content: LegendContent | null): void {
    if (JSON.stringify(content) === JSON.stringify(this.content)) return;
    this.content = content;
    this.root.hidden = content === null;
    this.root.replaceChildren();
    if (!content) return;
    this.root.append(make("h2", {}, content.title));
    if (content.categories) {
      const items = content.categories.map((name, i) => make("li", {}, swatch(categoryColor(i)), name));
      this.root.append(make("ul", {}, ...items));
      return;
    }
    const canvas = make("canvas", { width: "256", height: "1", "aria-hidden": "true" });
    const image = new ImageData(new Uint8ClampedArray(table(content.map)), 256, 1);
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    const middle = (content.min + content.max) / 2;
    const numbers = [content.min, middle, content.max].map((value) => make("span", {}, text(value, "")));
    this.root.append(canvas, make("div", { class: "scale" }, ...numbers));
  }

  /** Draws the legend onto a saved picture. */
  paint(context: CanvasRenderingContext2D, height: number, ratio: number, isDark: boolean): void {
    const content = this.content;
    if (!content) return;
    context.save();
    context.scale(ratio, ratio);
    const ink = isDark ? "#eceae6" : "#24211d";
    const bottom = height / ratio;
    context.font = "600 14px system-ui, sans-serif";
    context.fillStyle = ink;
    context.fillText(content.title, 16, bottom - 50);
    context.font = "13px system-ui, sans-serif";
    if (content.categories) {
      let x = 16;
      content.categories.forEach((name, i) => {
        context.fillStyle = css(categoryColor(i));
        context.beginPath();
        context.arc(x + 6, bottom - 30, 6, 0, 2 * Math.PI);
        context.fill();
        context.fillStyle = ink;
        context.fillText(name, x + 17, bottom - 25);
        x += 30 + context.measureText(name).width;
      });
    } else {
      const colors = table(content.map);
      for (let i = 0; i < 256; i++) {
        context.fillStyle = css([colors[4 * i]!, colors[4 * i + 1]!, colors[4 * i + 2]!]);
        context.fillRect(16 + i, bottom - 42, 1.5, 12);
      }
      context.fillStyle = ink;
      context.fillText(text(content.min), 16, bottom - 14);
      context.textAlign = "right";
      context.fillText(text(content.max), 272, bottom - 14);
    }
    context.restore();
  }
}

function categoryColor(i: number): Rgb {
  return CATEGORIES[i % CATEGORIES.length]!;
}
