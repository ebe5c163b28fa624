// Colour maps, made in Oklab: lightness rises evenly, so that equal steps of a value look equal, and in grey too.

export type Rgb = [number, number, number];

interface Stop {
  /** Lightness, 0 to 1. */
  l: number;
  /** Chroma. */
  c: number;
  /** Hue [degrees]. */
  h: number;
}

const MAPS: Record<string, Stop[]> = {
  // From dusk to noon: violet, red, ochre, pale yellow.
  dusk: [
    { l: 0.24, c: 0.11, h: 285 },
    { l: 0.42, c: 0.16, h: 325 },
    { l: 0.6, c: 0.17, h: 380 },
    { l: 0.78, c: 0.15, h: 425 },
    { l: 0.95, c: 0.09, h: 465 },
  ],
  // From deep water to reeds: indigo, teal, green, pale yellow.
  shore: [
    { l: 0.25, c: 0.12, h: 285 },
    { l: 0.43, c: 0.1, h: 240 },
    { l: 0.6, c: 0.11, h: 190 },
    { l: 0.77, c: 0.15, h: 145 },
    { l: 0.95, c: 0.12, h: 105 },
  ],
  grey: [
    { l: 0.2, c: 0, h: 0 },
    { l: 0.97, c: 0, h: 0 },
  ],
  // For values of both signs: blue, nothing, red.
  signs: [
    { l: 0.4, c: 0.16, h: 262 },
    { l: 0.68, c: 0.11, h: 245 },
    { l: 0.95, c: 0.005, h: 245 },
    { l: 0.68, c: 0.13, h: 35 },
    { l: 0.42, c: 0.16, h: 25 },
  ],
};

export const SEQUENTIAL = ["shore", "dusk", "grey"] as const;

/** Colours of categories: as different as can be for most kinds of colour vision. */
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

/** 256 colours of a map, four bytes each. */
export function table(name: string): Uint8Array {
  const stops = MAPS[name] ?? MAPS["shore"]!;
  const out = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    out.set(colourAt(stops, i / 255), 4 * i);
    out[4 * i + 3] = 255;
  }
  return out;
}

function colourAt(stops: Stop[], t: number): Rgb {
  const x = t * (stops.length - 1);
  const i = Math.min(Math.floor(x), stops.length - 2);
  const [a, b] = [stops[i]!, stops[i + 1]!];
  const mix = (from: number, to: number) => from + (x - i) * (to - from);
  return srgb({ l: mix(a.l, b.l), c: mix(a.c, b.c), h: mix(a.h, b.h) });
}

/** The colour on a screen; chroma is taken back until the screen can show it. */
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

export function css(colour: readonly [number, number, number]): string {
  return `rgb(${colour[0]}, ${colour[1]}, ${colour[2]})`;
}
