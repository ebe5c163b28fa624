// Color maps, which come from the program, and the colors of categories.

export type Rgb = [number, number, number];

/** Map for values of both signs, centered on zero. */
export const BOTH_SIGNS = "balance";
export const DEFAULT_MAP = "viridis";

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
  return maps.get(name) ?? maps.get(DEFAULT_MAP) ?? new Uint8Array(256 * 4).map((_, i) => (i % 4 === 3 ? 255 : i >> 2));
}

/** Colors of categories, chosen in Oklab to differ for most kinds of color vision. */
export const CATEGORIES: Rgb[] = [
  [225, 164, 71],
  [41, 113, 198],
  [41, 172, 104],
  [222, 59, 61],
  [177, 86, 183],
  [115, 216, 240],
  [238, 227, 84],
  [110, 77, 50],
];

export function css(color: readonly [number, number, number]): string {
  return `rgb(${color[0]}, ${color[1]}, ${color[2]})`;
}
