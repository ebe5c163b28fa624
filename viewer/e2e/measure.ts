// How many pictures a second the page draws, in this browser on this machine: `npm run measure`.
// BARCHAN_SCALES chooses the sizes, as resolutions of the gallery's `collapse`.

import { afterAll, expect, test } from "vitest";
import { finish, open, result, serve } from "./harness";

afterAll(finish);

const SECONDS = 5;
const scales = (process.env["BARCHAN_SCALES"] ?? "0.5,1.02").split(",");

for (const scale of scales) {
  test(`collapse at scale ${scale}`, { timeout: 600_000 }, async () => {
    const directory = await result(`scale-${scale}`, "collapse", "--scale", scale, "--frames", "8");
    const { page } = await open(await serve(directory), { viewport: { width: 1280, height: 720 } });
    await page.waitForTimeout(2000);
    const turning = (await page.evaluate(`new Promise((done) => {
      const before = window.barchan.pictures();
      const start = performance.now();
      const step = () => {
        window.barchan.turn(0.02);
        const passed = (performance.now() - start) / 1000;
        if (passed < ${SECONDS}) requestAnimationFrame(step);
        else done((window.barchan.pictures() - before) / passed);
      };
      step();
    })`)) as number;
    const { ratio, every } = (await page.evaluate("window.barchan.level()")) as { ratio: number; every: number };
    await page.waitForTimeout(1000);
    await page.keyboard.press("Space");
    const playing = (await page.evaluate(`new Promise((done) => {
      const seen = [];
      const start = performance.now();
      const step = () => {
        const frame = window.barchan.frame();
        if (seen.at(-1) !== frame) seen.push(frame);
        const passed = (performance.now() - start) / 1000;
        if (passed < ${SECONDS}) requestAnimationFrame(step);
        else done(seen.length / passed);
      };
      step();
    })`)) as number;
    const text = (await page.locator("#now").textContent()) ?? "";
    const grains = /·\s*([\d\s\u202f]+)\sgrains/.exec(text)?.[1] ?? "?";
    console.log(`${grains} grains: ${turning.toFixed(1)} pictures/s turning (resolution × ${ratio}, one grain in ${every}), ${playing.toFixed(1)} frames/s playing`);
    expect(turning).toBeGreaterThan(1);
  });
}
