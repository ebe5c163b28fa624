// Pixels of screenshots of the browser.

import type { Page } from "playwright-core";

export interface Picture {
  width: number;
  height: number;
  /** Red, green, blue of pixel (x, y). */
  at: (x: number, y: number) => [number, number, number];
}

/** Decodes a PNG file, by the browser itself. */
export async function decodePng(page: Page, file: Buffer): Promise<Picture> {
  const [width, height, text] = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
    context.drawImage(image, 0, 0);
    const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
    // As text: a list of so many numbers takes long to pass on.
    return [width, height, Array.from(data, (v) => String.fromCharCode(v)).join("")] as const;
  }, file.toString("base64"));
  const rgba = Buffer.from(text, "latin1");
  return { width, height, at: (x, y) => [0, 1, 2].map((c) => rgba[4 * (y * width + x) + c]!) as [number, number, number] };
}

/** Fraction of the pixels that differ visibly. */
export function difference(a: Picture, b: Picture): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  return share(a, (x, y) => {
    const [p, q] = [a.at(x, y), b.at(x, y)];
    return Math.abs(p[0] - q[0]) + Math.abs(p[1] - q[1]) + Math.abs(p[2] - q[2]) > 24;
  });
}

/** Fraction of the pixels whose color passes a test. */
export function part(picture: Picture, holds: (r: number, g: number, b: number) => boolean): number {
  return share(picture, (x, y) => holds(...picture.at(x, y)));
}

/** Fraction of the pixels whose position passes a test. */
function share({ width, height }: Picture, holds: (x: number, y: number) => boolean): number {
  let count = 0;
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (holds(x, y)) count++;
  return count / (width * height);
}
