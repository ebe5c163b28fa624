// Measures how many pictures per second the page draws: `npm run measure`.
// BARCHAN_SCALES chooses the sizes, as resolutions of the gallery's `collapse`.

import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { finish, result, serve, show } from "./harness";

afterAll(finish);

const SECONDS = 5;
const scales = (process.env["BARCHAN_SCALES"] ?? "0.5,1.02").split(",");

/** Rate at which `step`, which runs before every repaint, increases `count` [1/s]. */
function rate(page: Page, step: string): Promise<number> {
  return page.evaluate(`new Promise((done) => {
    const before = window.barchan.pictures();
    const start = performance.now();
    let [count, frame] = [0, null];
    const next = () => {
      ${step}
      const passed = (performance.now() - start) / 1000;
      if (passed < ${SECONDS}) requestAnimationFrame(next);
      else done(count / passed);
    };
    next();
  })`);
}

for (const scale of scales) {
  test(`collapse at scale ${scale}`, { timeout: 600_000 }, async () => {
    const directory = await result(`scale-${scale}`, "collapse", "--scale", scale, "--frames", "8");
    const page = await show(await serve(directory), { viewport: { width: 1280, height: 720 } });
    await page.waitForTimeout(2000);
    const turning = await rate(page, "window.barchan.turn(0.02); count = window.barchan.pictures() - before;");
    const { ratio, every } = (await page.evaluate("window.barchan.level()")) as { ratio: number; every: number };
    await page.waitForTimeout(1000);
    await page.keyboard.press("Space");
    const playing = await rate(page, "const now = window.barchan.frame(); if (now !== frame) count += 1; frame = now;");
    const text = (await page.locator("#now").textContent()) ?? "";
    const grains = /·\s*([\d\s\u202f]+)\sgrains/.exec(text)?.[1] ?? "?";
    console.log(`${grains} grains: ${turning.toFixed(1)} pictures/s turning (resolution × ${ratio}, one grain in ${every}), ${playing.toFixed(1)} frames/s playing`);
    expect(turning).toBeGreaterThan(1);
  });
}
