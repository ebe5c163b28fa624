// Color maps, which come from the program, and the colors of categories.

export type Rgb = [number, number, number];

interface Stop {
  /** Lightness in Oklab, 0 to 1. */
  l: number;
  /** Chroma. */
  c: number;
  /** Hue [degrees]. */
  h: number;
}

/** Map for values of both signs, centered on zero. */
export const BOTH_SIGNS = "balance";
export const USUAL_MAP = "viridis";

const maps = new Map<string, Uint8Array>();

/** Sets the maps of the program, with six hexadecimal digits per color. */
export function setMaps(texts: Record<string, string>): void {
  for (const [name, text] of Object.entries(texts)) {
    const bytes = (text.match(/../g) ?? []).map((digits) => parseInt(digits, 16));
    const colors = new Uint8Array(256 * 4).fill(255);
    for (let i = 0; i < 256; i++) colors.set(bytes.slice(3 * i, 3 * i + 3), 4 * i);
    maps.set(name, colors);
  }
}

export function mapNames(): string[] {
  return [...maps.keys()];
}

/** The 256 colors of a map, as RGBA bytes. */
export function table(name: string): Uint8Array {
  return maps.get(name) ?? maps.get(USUAL_MAP) ?? new Uint8Array(256 * 4).map((_, i) => (i % 4 === 3 ? 255 : i >> 2));
}

/** Colors of categories, chosen to differ for most kinds of color vision. */
export const CATEGORIES: Rgb[] = [
  { l: 0.76, c: 0.13, h: 75 },
  { l: 0.55, c: 0.15, h: 255 },
  { l: 0.66, c: 0.15, h: 155 },
  { l: 0.6, c: 0.2, h: 25 },
  { l: 0.6, c: 0.17, h: 325 },
  { l: 0.83, c: 0.1, h: 215 },
  { l: 0.9, c: 0.16, h: 105 },
  { l: 0.45, c: 0.06, h: 60 },
].map(srgb);

/** An Oklab color in sRGB; chroma is reduced until it is in the gamut. */
export function srgb(stop: Stop): Rgb {
  let c = stop.c;
  for (let i = 0; i < 24; i++) {
    const linear = linearRgb(stop.l, c, stop.h);
    if (linear.every((x) => x >= -1e-4 && x <= 1 + 1e-4)) break;
    c *= 0.94;
  }
  return linearRgb(stop.l, c, stop.h).map((x) => Math.round(255 * encode(Math.min(1, Math.max(0, x))))) as Rgb;
}

function linearRgb(lightness: number, chroma: number, hue: number): Rgb {
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function encode(x: number): number {
  return x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
}

export function css(color: readonly [number, number, number]): string {
  return `rgb(${color[0]}, ${color[1]}, ${color[2]})`;
}
