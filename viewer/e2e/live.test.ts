// A live scene as people use it: the real program simulates, a real browser steers.

import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, expect, test } from "vitest";
import type { LiveHeader } from "../src/live/link";
import { barchan, closePages, finish, place, serveLive, show, until } from "./harness";

/** A heap, an arm that is driven, and a block that can be pulled. */
const SCENE = `
description = "A heap of grains, an arm on a hinge and a loose block."
frame_rate = 60

[solver]
method = "pbd"
resolution = 0.06

[[fill]]
shape = { box = { min = [-0.3, 0.0, -0.3], max = [0.3, 0.4, 0.3] } }
material = "dry sand"

[[collider]]
name = "floor"
shape = { half_space = { normal = [0, 1, 0] } }

[[body]]
name = "arm"
shape = { box = { min = [0.5, 0.8, -0.08], max = [1.1, 0.92, 0.08] } }
density = 600

[[body]]
name = "block"
shape = { box = { min = [-0.9, 0.0, -0.15], max = [-0.6, 0.3, 0.15] } }
density = 400

[[joint]]
name = "hinge"
type = "revolute"
bodies = ["world", "arm"]
anchor = [0.5, 0.86, 0]
axis = [0, 0, 1]
limits = [-60, 60]
motor = { velocity = 0 }
control = { label = "Arm", keys = ["q", "e"], gamepad_axis = 1, speed = 60 }
`;

let child: ChildProcess | null = null;
// Small pictures: the processor that draws them also simulates.
const SMALL = { viewport: { width: 800, height: 500 } };

/** Simulates a scene live and opens its page. */
async function live(what = "heap.toml", options: Parameters<typeof show>[1] = {}, ...more: string[]) {
  writeFileSync(join(place, "heap.toml"), SCENE);
  const served = await serveLive(what, ...more);
  child = served.child;
  return { ...served, page: await show(served.url, { ...SMALL, ...options }, false) };
}

function header(page: Page): Promise<LiveHeader> {
  return page.evaluate("window.barchan.header()") as Promise<LiveHeader>;
}

async function angle(page: Page): Promise<number> {
  return (await header(page)).joints[0]!.position;
}

afterEach(async () => {
  const complaints = await closePages();
  child?.kill("SIGKILL");
  expect(complaints).toEqual([]);
});

afterAll(finish);

/** Child processes of a process. */
function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1]) === pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function ended(process: ChildProcess): Promise<unknown> {
  return process.exitCode ?? (await once(process, "exit"))[0];
}

test("it runs, pauses, steps and starts over", async () => {
  const { page } = await live();
  expect(await page.title()).toContain("heap");
  await until(page, "window.barchan.header().time > 0.2");
  expect(await page.locator("#live-now").textContent()).toMatch(/grains.*steps\/s.*a\sstep.*real\stime/);
  await page.getByRole("button", { name: "Pause" }).click();
  await until(page, "window.barchan.header().playing === false");
  const paused = await header(page);
  await page.waitForTimeout(300);
  expect((await header(page)).time).toBe(paused.time);
  await page.getByRole("button", { name: "One step" }).click();
  await until(page, `window.barchan.header().time > ${paused.time}`);
  expect((await header(page)).time - paused.time).toBeCloseTo(1 / 60, 6);
  await page.keyboard.press("n");
  await until(page, `window.barchan.header().time > ${paused.time} + 1.5 / 60`);
  await page.getByRole("button", { name: "Start over" }).click();
  await until(page, "window.barchan.header().time === 0");
  expect((await header(page)).playing).toBe(false);
  await page.keyboard.press("Space");
  await until(page, "window.barchan.header().time > 0.1");
  await page.getByLabel("Speed of time").selectOption("0.25");
  await until(page, "window.barchan.header().speed === 0.25");
  // A reloaded page finds everything as it was, and the program still there.
  await page.reload();
  await until(page, "window.barchan && window.barchan.header() !== null && window.barchan.header().speed === 0.25");
});

test("a key moves the arm, and letting go holds it", async () => {
  const { page } = await live();
  await until(page, "window.barchan.header().time > 0.05");
  expect(await page.locator("#machine").textContent()).toMatch(/Q.*Arm.*E/s);
  const before = await angle(page);
  await page.keyboard.down("e");
  await until(page, `window.barchan.header().joints[0].position > ${before} + 0.2`);
  await page.keyboard.up("e");
  await until(page, "Math.abs(window.barchan.header().joints[0].velocity) < 0.02");
  const held = await angle(page);
  await page.waitForTimeout(300);
  expect(Math.abs((await angle(page)) - held)).toBeLessThan(0.03);
  await page.keyboard.down("q");
  await until(page, `window.barchan.header().joints[0].position < ${held} - 0.15`);
  await page.keyboard.up("q");
  expect(await page.locator("output[data-joint=hinge]").textContent()).toMatch(/°$/);
  // The button does the same.
  const now = await angle(page);
  const button = (await page.getByRole("button", { name: "Arm on" }).boundingBox())!;
  await page.mouse.move(button.x + 8, button.y + 8);
  await page.mouse.down();
  await until(page, `window.barchan.header().joints[0].position > ${now} + 0.1`);
  await page.mouse.up();
});

test("the excavator of the gallery digs by its keys, on its terrain", async () => {
  const { page } = await live("excavator");
  await until(page, "window.barchan.header().time > 0.05");
  expect(await page.locator("#machine").textContent()).toMatch(/swing.*boom.*stick.*bucket/s);
  const joint = async (name: string) => {
    const text = await page.locator(`output[data-joint=${name}]`).textContent();
    return Number(/-?[\d.]+/.exec(text!.replace("−", "-"))![0]);
  };
  const before = await joint("bucket");
  // Its script would open the bucket now.
  await page.keyboard.down("r");
  await expect.poll(() => joint("bucket"), { timeout: 15_000 }).toBeLessThan(before - 15);
  await page.keyboard.up("r");
});

test("a gamepad drives, and its rest does not", async () => {
  const { page } = await live();
  await until(page, "window.barchan.header().time > 0.05");
  const pad = (value: number) =>
    page.evaluate((axis) => {
      navigator.getGamepads = () => [{ connected: true, id: "Stick (test)", axes: [0, axis] }] as unknown as Gamepad[];
    }, value);
  await pad(0.1);
  await page.waitForTimeout(300);
  const rest = await angle(page);
  expect(Math.abs(rest)).toBeLessThan(0.03);
  expect(await page.locator("#machine").textContent()).toContain("Gamepad: Stick");
  await pad(-0.8);
  await until(page, `window.barchan.header().joints[0].position < ${rest} - 0.15`);
  await pad(0);
  await until(page, "Math.abs(window.barchan.header().joints[0].velocity) < 0.02");
});

test("a slider changes the heap", async () => {
  const { page } = await live();
  const height = async () => (await header(page)).upper[1];
  await until(page, "window.barchan.header().time > 2");
  // The control: left alone, the heap stays as high as it is.
  const stands = await height();
  await until(page, "window.barchan.header().time > 2.6");
  expect(Math.abs((await height()) / stands - 1)).toBeLessThan(0.08);
  await page.getByLabel("Static friction angle").fill("0");
  await page.getByLabel("Friction angle", { exact: true }).fill("0");
  await until(page, "window.barchan.header().parameters[0][0] === 0");
  await until(page, `window.barchan.header().upper[1] < 0.7 * ${stands}`);
  await page.getByRole("button", { name: "As in the scene" }).click();
  await until(page, "window.barchan.header().parameters[0][0] === 35");
});

test("a body is pulled with the mouse, and the view does not turn", async () => {
  const { page } = await live();
  await until(page, "window.barchan.header().time > 0.1 && window.barchan.bodyPoint(2) !== null");
  // By its center: a body pulled at its face turns.
  const middle = "window.barchan.bodyPoint(2)[1]";
  const before = (await page.evaluate(middle)) as number;
  const address = page.url();
  const at = (await page.evaluate("window.barchan.project(window.barchan.bodyPoint(2))")) as { x: number; y: number };
  const box = (await page.locator("#canvas").boundingBox())!;
  await page.mouse.move(box.x + at.x, box.y + at.y);
  await page.mouse.down();
  await page.mouse.move(box.x + at.x, box.y + at.y - 220, { steps: 6 });
  await until(page, `${middle} > ${before} + 0.15`);
  expect(await page.evaluate("window.barchan.header().drag.body")).toBe(2);
  await page.mouse.up();
  await until(page, "window.barchan.header().drag === null");
  await until(page, `${middle} < ${before} + 0.1`);
  expect(page.url()).toBe(address);
});

test("the forces of grains are read, and colors follow the speed", async () => {
  const { page } = await live();
  await until(page, "window.barchan.header().time > 1");
  await until(page, "/\\d/.test(document.querySelector('#forces tr[data-body=floor] td').textContent)");
  await page.getByLabel("Color by").selectOption("velocity.magnitude");
  await page.locator("#legend").waitFor({ state: "visible" });
  await until(page, "window.barchan.header().colors !== null");
  expect(await page.locator("#legend").textContent()).toMatch(/Speed \[m\/s\]0/);
});

test("a slow browser gets fewer pictures, each of them new", async () => {
  const { page } = await live();
  await until(page, "window.barchan.header().time > 0.2");
  // Every picture takes 400 ms to draw.
  await page.evaluate(`(() => {
    const draw = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (call) => draw((now) => { const end = performance.now() + 200; while (performance.now() < end); call(now); });
  })()`);
  await page.waitForTimeout(500);
  const measure = `(() => { const h = window.barchan.header(); return { came: window.barchan.came(), frame: h.frame, time: h.time, wall: performance.now() }; })()`;
  const before = (await page.evaluate(measure)) as { came: number; frame: number; time: number; wall: number };
  await page.waitForTimeout(4000);
  const after = (await page.evaluate(measure)) as typeof before;
  const [came, made] = [after.came - before.came, after.frame - before.frame];
  expect(came).toBeGreaterThan(2);
  // Dropped: many more were made than came.
  expect(made).toBeGreaterThan(3 * came);
  // New: the picture on the screen keeps up with the clock.
  const behind = (after.wall - before.wall) / 1000 - (after.time - before.time);
  expect(behind).toBeLessThan(1.5);
});

test("closing the page leaves no process", async () => {
  const { page, child } = await live();
  await until(page, "window.barchan.header().time > 0.1");
  expect(child.exitCode).toBe(null);
  expect(childrenOf(child.pid!)).toEqual([]);
  await page.close();
  const start = Date.now();
  expect(await ended(child)).toBe(0);
  expect(Date.now() - start).toBeLessThan(6000);
});

test("with --stay it waits, paused, and Ctrl-C ends it at once", async () => {
  const { page, url, child } = await live("heap.toml", {}, "--stay");
  await until(page, "window.barchan.header().time > 0.1");
  await page.close();
  await new Promise((wait) => setTimeout(wait, 3500));
  expect(child.exitCode).toBe(null);
  const again = await show(url, SMALL, false);
  const first = (await header(again)).time;
  expect(first).toBeLessThan(3);
  const start = Date.now();
  child.kill("SIGINT");
  expect(await ended(child)).toBe(0);
  expect(Date.now() - start).toBeLessThan(2000);
  await again.locator(".banner.bad").waitFor();
  expect(await again.locator(".banner.bad").textContent()).toContain("does not answer");
  // The browser complains of the lost connection.
  await closePages();
});

test("what is wrong with a scene is told before anything is served", async () => {
  writeFileSync(join(place, "wrong.toml"), SCENE.replace("resolution = 0.06", "resolution = -1"));
  for (const [what, words] of [["wrong.toml", "resolution"], ["hourglas", "hourglass"], ["missing.toml", "no scene file"]] as const) {
    const outcome = await barchan("view", what, "--no-open", "--port", "0");
    expect(outcome.code, what).toBe(2);
    expect(outcome.stderr.replace(/[\s│]+/g, " "), what).toContain(words);
  }
});

test("it fits a narrow window", async () => {
  const { page } = await live("heap.toml", { viewport: { width: 390, height: 700 } });
  await until(page, "window.barchan.header().time > 0.1");
  const machine = (await page.locator("#machine").boundingBox())!;
  expect(machine.x).toBeGreaterThanOrEqual(0);
  expect(machine.x + machine.width).toBeLessThanOrEqual(390);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Friction angle", { exact: true }).waitFor();
});
