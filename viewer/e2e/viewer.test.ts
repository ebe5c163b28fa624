// The viewer as people use it: the real program, a real result, a real browser.

import { readdirSync, readFileSync, symlinkSync, truncateSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { barchan, closePages, copyOf, finish, picture, place, raw, result, SCENES, serve, settled, show, shownFrame, slowRun, until } from "./harness";
import { difference, part } from "./png";

let block = "";
let url = "";

beforeAll(async () => {
  block = await result("block");
  url = await serve(block);
});

// No page may complain, whatever the test was about.
afterEach(async () => expect(await closePages()).toEqual([]));

afterAll(finish);

const isSand = (r: number, g: number, b: number) => r > g + 12 && g > b + 12;

test("a result opens and its grains are drawn", async () => {
  const page = await show(url);
  expect(await page.title()).toContain("block");
  const drawn = await picture(page);
  expect(part(drawn, isSand)).toBeGreaterThan(0.02);
  // The control: without the material nothing of it is left.
  await page.getByRole("checkbox", { name: "dry sand" }).uncheck();
  const empty = await picture(page);
  expect(part(empty, isSand)).toBeLessThan(0.001);
  expect(difference(drawn, empty)).toBeGreaterThan(0.02);
});

test("it plays, pauses, scrubs and steps", async () => {
  const page = await show(`${url}#frame=0&loop=no`);
  const before = await picture(page);
  await page.getByRole("button", { name: "Play" }).click();
  await until(page, "window.barchan.frame() >= 5");
  await until(page, "window.barchan.frame() === 12");
  await page.getByRole("button", { name: "Play" }).waitFor();
  expect(difference(before, await picture(page))).toBeGreaterThan(0.005);
  await page.getByRole("slider", { name: "Frame" }).fill("3");
  await until(page, "window.barchan.frame() === 3");
  await page.getByRole("button", { name: "One frame on" }).click();
  await until(page, "window.barchan.frame() === 4");
  await page.getByRole("button", { name: "One frame back" }).click();
  await until(page, "window.barchan.frame() === 3");
  expect(await page.locator("#now").textContent()).toContain("3 / 12");
});

test("loops", async () => {
  const page = await show(`${url}#frame=9`);
  await page.getByRole("button", { name: "Play" }).click();
  await until(page, "window.barchan.frame() === 12 || window.barchan.frame() < 5");
  await until(page, "window.barchan.frame() < 5");
  await page.getByRole("button", { name: "Pause" }).click();
});

test("color by a column changes the pixels and shows a legend", async () => {
  const page = await show(`${url}#frame=6`);
  const own = await picture(page);
  await page.getByLabel("Color by").selectOption("velocity.magnitude");
  await page.locator("#legend").waitFor({ state: "visible" });
  const speed = await picture(page);
  expect(part(speed, isSand)).toBeLessThan(0.5 * part(own, isSand));
  expect(await page.locator("#legend").textContent()).toMatch(/Speed \[m\/s\]0/);
  await page.getByLabel("Map").selectOption("turbo");
  const turbo = await picture(page);
  expect(difference(speed, turbo)).toBeGreaterThan(0.01);
  await page.getByLabel("Range").selectOption("frame");
  await settled(page);
  await page.getByLabel("Color by").selectOption("plastic_case.value");
  await settled(page);
  expect(await page.locator("#legend li").count()).toBeGreaterThan(0);
  await page.getByLabel("Color by").selectOption("");
  expect(difference(own, await picture(page))).toBeLessThan(0.002);
});

test("clip plane, grain size and bodies change the picture", async () => {
  const page = await show(`${url}#frame=2`);
  const whole = await picture(page);
  await page.getByLabel("Plane", { exact: true }).selectOption("x");
  const cut = await picture(page);
  expect(part(cut, isSand)).toBeLessThan(0.85 * part(whole, isSand));
  await page.getByLabel("Cut the other side").check();
  expect(difference(cut, await picture(page))).toBeGreaterThan(0.01);
  await page.getByLabel("Plane", { exact: true }).selectOption("");
  await page.getByLabel("Size").fill("0.4");
  expect(part(await picture(page), isSand)).toBeLessThan(0.85 * part(whole, isSand));
  await page.getByLabel("Size").fill("1");
  const before = await picture(page);
  await page.getByRole("checkbox", { name: "post" }).uncheck();
  expect(difference(before, await picture(page))).toBeGreaterThan(0.003);
});

test("a picked grain shows the numbers that `measure` prints, and is followed", async () => {
  const page = await show(`${url}#frame=7`);
  const box = (await page.locator("#canvas").boundingBox())!;
  const at = (await page.evaluate("window.barchan.onScreen(5)")) as { x: number; y: number };
  await page.mouse.click(box.x + at.x, box.y + at.y);
  await page.locator(".grain-table").waitFor();
  for (const frame of [7, 8]) {
    if (frame === 8) await page.keyboard.press("ArrowRight");
    await until(page, `window.barchan.frame() === ${frame}`);
    await settled(page);
    const id = /\d+/.exec((await page.locator("#grain strong").textContent())!)![0];
    const measured = await barchan("measure", block, "--frame", String(frame), "--grain", id, "--json");
    const columns = (JSON.parse(measured.stdout) as { columns: { name: string; values: (number | null)[] }[] }).columns;
    expect(columns.length).toBeGreaterThan(5);
    for (const { name, values } of columns) {
      for (const [i, value] of values.entries()) {
        const cell = page.locator(`tr[data-column="${name}"][data-part="${i}"] td`);
        const shown = await cell.evaluate((td) => td.firstChild?.textContent ?? "");
        expect(parseFloat(shown), `${name} ${i} of frame ${frame}`).toBe(value);
      }
    }
  }
  await page.keyboard.press("Escape");
  expect(await page.locator(".grain-table").count()).toBe(0);
});

test("plots show the statistics, and a click on one goes to its frame", async () => {
  const page = await show(`${url}#frame=0`);
  await until(page, "document.querySelectorAll('.plot canvas').length === 5");
  const labels = await page.locator(".plot canvas").evaluateAll((all) => all.map((c) => c.getAttribute("aria-label") ?? ""));
  for (const name of ["Kinetic energy", "Maximum speed", "Height", "Force on floor", "Force on post"]) {
    expect(labels.some((label) => label.startsWith(name)), name).toBe(true);
  }
  const plot = page.locator(".plot canvas").first();
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  await page.mouse.click(box.x + box.width - 4, box.y + 20);
  await until(page, "window.barchan.frame() === 12");
});

test("the address holds the view", async () => {
  const page = await show(`${url}#frame=5`);
  await page.getByLabel("Color by").selectOption("pressure.value");
  await page.getByLabel("Plane", { exact: true }).selectOption("z");
  await page.locator("#canvas").focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("+");
  const shown = await picture(page);
  await until(page, "location.hash.includes('camera=') && location.hash.includes('clip=z')");
  const address = page.url();
  const again = await show(address);
  expect(await shownFrame(again)).toBe(5);
  expect(await again.getByLabel("Color by").inputValue()).toBe("pressure.value");
  expect(difference(shown, await picture(again))).toBeLessThan(0.005);
  // The control: another view is another picture.
  const plain = await show(`${url}#frame=5`);
  expect(difference(shown, await picture(plain))).toBeGreaterThan(0.02);
});

test("new frames of a run appear by themselves", async () => {
  const { directory, child } = slowRun("live");
  while (!existsSync(join(directory, "frames/000001"))) await new Promise((wait) => setTimeout(wait, 100));
  const page = await show(await serve(directory));
  const first = (await page.evaluate("window.barchan.last()")) as number;
  expect(await page.locator("#live").textContent()).toContain("of 400");
  await until(page, `window.barchan.last() >= ${first + 2} && window.barchan.frame() >= ${first + 2}`);
  // Who looks at an earlier frame stays there.
  await page.keyboard.press("Home");
  await until(page, "window.barchan.frame() === 0");
  const last = (await page.evaluate("window.barchan.last()")) as number;
  await until(page, `window.barchan.last() > ${last}`);
  expect(await shownFrame(page)).toBe(0);
  child.kill("SIGKILL");
});

test("a damaged frame is told, and the others go on", async () => {
  const broken = copyOf(block, "broken");
  truncateSync(join(broken, "frames/000004/position/c/0/0"), 100);
  const page = await show(`${await serve(broken)}#frame=3`);
  expect(await page.locator(".banner.bad").count()).toBe(0);
  await page.keyboard.press("ArrowRight");
  const banner = page.locator(".banner.bad");
  await banner.waitFor();
  expect(await banner.textContent()).toMatch(/Frame 4 is damaged: frames\/000004\/position\/c\/0\/0/);
  await page.keyboard.press("ArrowRight");
  await until(page, "window.barchan.frame() === 5");
  await banner.waitFor({ state: "detached" });
  expect(await page.locator(".marks i").count()).toBe(1);
});

test("a lost scene leaves the grains", async () => {
  const lost = copyOf(block, "lost");
  writeFileSync(join(lost, "scene.toml"), "not a scene");
  const page = await show(await serve(lost));
  expect(await page.locator(".banner").textContent()).toContain("scene cannot be read");
  expect(part(await picture(page), isSand)).toBeGreaterThan(0.02);
});

test("what is no result is refused in the terminal", async () => {
  const view = (directory: string) => barchan("view", directory, "--no-open", "--port", "0");
  const cases = { missing: "no result directory", ".": "not a barchan result" };
  for (const [directory, words] of Object.entries(cases)) {
    const outcome = await view(directory);
    expect(outcome.code, directory).toBe(2);
    expect(outcome.stderr.replace(/[\s│]+/g, " ")).toContain(words);
  }
  const newer = copyOf(block, "newer");
  const manifest = join(newer, "manifest.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/"format": \d+/, '"format": 99'));
  expect((await view(newer)).code).toBe(2);
  writeFileSync(manifest, readFileSync(manifest, "utf8").slice(0, 40));
  expect((await view(newer)).code).toBe(2);
});

test("hostile requests get nothing", async () => {
  const linked = copyOf(block, "linked");
  writeFileSync(join(place, "secret"), "secret");
  symlinkSync(join(block, "frames/000001"), join(linked, "frames/000099"));
  const address = await serve(linked);
  const host = new URL(address).host;
  const get = (target: string, name = host) => raw(address, `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
  for (const target of ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "//etc/passwd", "/assets/../../secret", "/api/frames/99/grains"]) {
    expect(await get(target), target).toBe(404);
  }
  expect(await get("/api/result", "evil.example")).toBe(403);
  expect(await get("/", "evil.example")).toBe(403);
  expect(await raw(address, `POST /api/result HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`)).toBe(405);
  expect(await get("/api/result")).toBe(200);
});

test("keys do everything", async () => {
  const page = await show(`${url}#frame=2`);
  await page.keyboard.press("End");
  await until(page, "window.barchan.frame() === 12");
  await page.keyboard.press("Home");
  await until(page, "window.barchan.frame() === 0");
  await page.keyboard.press("Space");
  await until(page, "window.barchan.frame() >= 2");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Play" }).waitFor();
  const before = await picture(page);
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  expect(difference(before, await picture(page))).toBeGreaterThan(0.005);
  await page.keyboard.press("r");
  expect(difference(before, await picture(page))).toBeLessThan(0.002);
  await page.keyboard.press("p");
  await page.locator(".grain-table").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  // Tab reaches every control, in the order of the page, and each can be seen to have the focus.
  const reached: string[] = [];
  await page.evaluate("document.activeElement instanceof HTMLElement && document.activeElement.blur()");
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    const focus = (await page.evaluate(`(() => {
      const e = document.activeElement;
      return e === document.body ? "" : (e.id || e.closest("label")?.textContent || e.tagName) + "|" + getComputedStyle(e).outlineStyle;
    })()`)) as string;
    if (!focus) break;
    expect(focus, "visible focus").not.toMatch(/\|none$/);
    reached.push(focus.split("|")[0]!);
  }
  const wanted = ["view-reset", "screenshot", "theme", "help", "canvas", "color", "clip-axis", "size", "dry sand", "floor", "play", "scrub", "speed", "loop"];
  expect(reached.filter((id) => wanted.includes(id))).toEqual(wanted);
});

test("every control has a name", async () => {
  const page = await show(url);
  const nameless = await page.evaluate(`[...document.querySelectorAll("button, input, select, canvas, output, dialog, aside")].filter((e) => {
    const label = e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels[0] && e.labels[0].textContent.trim());
    return !label && !e.hasAttribute("aria-labelledby") && e.getAttribute("aria-hidden") !== "true" && e.tagName !== "OUTPUT";
  }).map((e) => e.outerHTML.slice(0, 80))`);
  expect(nameless).toEqual([]);
  expect(await page.locator("[aria-live]").count()).toBeGreaterThan(0);
});

test("light and dark, by the system and by choice", async () => {
  const brightness = async (page: Page) => part(await picture(page), (r, g, b) => r + g + b > 450);
  const light = await show(url, { colorScheme: "light" });
  expect(await brightness(light)).toBeGreaterThan(0.5);
  await light.getByRole("button", { name: "Light or dark" }).click();
  expect(await brightness(light)).toBeLessThan(0.3);
  const dark = await show(url, { colorScheme: "dark", reducedMotion: "reduce" });
  expect(await brightness(dark)).toBeLessThan(0.3);
});

test("works at the width of a phone", async () => {
  const page = await show(url, { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true });
  const overflow = () => page.evaluate("document.documentElement.scrollWidth - innerWidth");
  expect(await overflow()).toBeLessThanOrEqual(0);
  expect(await page.getByLabel("Color by").isVisible()).toBe(false);
  await page.getByRole("button", { name: "Settings" }).tap();
  await page.getByLabel("Color by").waitFor({ state: "visible" });
  await page.getByLabel("Color by").selectOption("velocity.magnitude");
  expect(await overflow()).toBeLessThanOrEqual(0);
  await page.getByRole("button", { name: "Settings" }).tap();
  await page.getByRole("button", { name: "Play" }).tap();
  await until(page, "window.barchan.frame() > 2");
  await page.getByRole("button", { name: "Pause" }).tap();
  expect(part(await picture(page), () => true)).toBe(1);
});

test("a picture can be saved", async () => {
  const page = await show(`${url}#frame=4&color=velocity.magnitude`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save a picture" }).click()]);
  expect(download.suggestedFilename()).toBe("block-000004.png");
  const file = readFileSync(await download.path());
  expect(file.subarray(1, 4).toString()).toBe("PNG");
  expect(file.length).toBeGreaterThan(5000);
});

test("a result in the plane is looked at straight on", async () => {
  const plane = await result("plane", join(SCENES, "golden/busy2d.toml"));
  const page = await show(`${await serve(plane)}#frame=4`);
  const drawn = await picture(page);
  expect(part(drawn, isSand)).toBeGreaterThan(0.02);
  expect(await page.getByRole("button", { name: "Top" }).isVisible()).toBe(false);
  await page.keyboard.press("Shift+ArrowUp");
  await page.keyboard.press("r");
  expect(difference(drawn, await picture(page))).toBeLessThan(0.002);
});

test("the result is as it was", () => {
  expect(readdirSync(block).filter((name) => !name.startsWith(".")).sort()).toContain("manifest.json");
  expect(readdirSync(join(block, "frames")).length).toBe(14);
});
