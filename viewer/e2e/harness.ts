// Starts the real program and a real browser.

import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { decodePng, type Picture } from "./png";

const PROGRAM = process.env["BARCHAN"] ?? resolve(import.meta.dirname, "../../target/release/barchan");
export const SCENES = resolve(import.meta.dirname, "../../scenes");

/** A folder for results, removed at the end. */
export const place = mkdtempSync(join(tmpdir(), "barchan-e2e-"));
const children: ChildProcess[] = [];
let browser: Browser | null = null;
const complaints: string[] = [];

/** Coarse enough for a run of a second or two; two materials and a body that moves. */
const SCENE = `
frames = 12
frame_rate = 24

[solver]
resolution = 0.03

[[fill]]
name = "block"
shape = { box = { min = [-0.15, 0.0, -0.15], max = [0.15, 0.3, 0.15] } }
material = "dry sand"

[[collider]]
name = "floor"
shape = { half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }

[[collider]]
name = "post"
shape = { box = { min = [0.3, 0.0, -0.05], max = [0.4, 0.3, 0.05] } }
`;

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program to its end. */
export function barchan(...args: string[]): Promise<Outcome> {
  return new Promise((done) => {
    execFile(PROGRAM, args, { cwd: place, env: { ...process.env, NO_COLOR: "1" } }, (error, stdout, stderr) => {
      const code = typeof error?.code === "number" ? error.code : error ? 1 : 0;
      done({ code, stdout, stderr });
    });
  });
}

/** Starts the program and leaves it running. */
export function start(...args: string[]): ChildProcess {
  const child = spawn(PROGRAM, args, { cwd: place, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return child;
}

/** A result of the scene above, or of another; made once and copied for tests that damage it. */
export async function result(name: string, scene?: string, ...more: string[]): Promise<string> {
  const directory = join(place, `${name}.barchan`);
  if (existsSync(directory)) return directory;
  writeFileSync(join(place, "block.toml"), SCENE);
  const made = await barchan("run", scene ?? "block.toml", "-o", directory, "--no-render", ...more);
  // 1: the final check of a scene can fail when its run is cut short.
  if (made.code > 1) throw new Error(made.stderr);
  return directory;
}

export function copyOf(directory: string, name: string): string {
  const copy = join(place, `${name}.barchan`);
  cpSync(directory, copy, { recursive: true });
  return copy;
}

/** Starts a run that takes a while. */
export function slowRun(name: string): { directory: string; child: ChildProcess } {
  const directory = join(place, `${name}.barchan`);
  writeFileSync(join(place, "slow.toml"), SCENE.replace("frames = 12", "frames = 400"));
  return { directory, child: start("run", "slow.toml", "-o", directory, "--set", "solver.resolution=0.02", "--no-render") };
}

/** Serves a result; the address ends with a slash. */
export async function serve(directory: string): Promise<string> {
  return (await serveLive(directory)).url;
}

/** Serves a result, or simulates a scene live. */
export async function serveLive(what: string, ...more: string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = start("view", what, "--no-open", "--json", "--port", "0", ...more);
  const url = await new Promise<string>((done, fail) => {
    child.stdout?.once("data", (data: Buffer) => done((JSON.parse(String(data)) as { url: string }).url));
    child.once("exit", (code) => fail(new Error(`barchan view ended with ${code}`)));
  });
  return { url, child };
}

function findChromium(): string {
  const installed = spawnSync("which", ["chromium", "chromium-browser", "google-chrome"], { encoding: "utf8" }).stdout.split("\n")[0];
  const found = process.env["BARCHAN_CHROMIUM"] || installed;
  if (found) return found;
  throw new Error("there is no Chromium: install Debian's package `chromium`, or set BARCHAN_CHROMIUM");
}

/** Opens a page and collects its complaints. `rests` waits until nothing changes, which a live page never reaches. */
export async function show(url: string, options: BrowserContextOptions = {}, rests = true): Promise<Page> {
  browser ??= await chromium.launch({
    executablePath: findChromium(),
    args: [
      "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-extensions", "--mute-audio",
    ],
  });
  const context = await browser.newContext({ viewport: { width: 1000, height: 640 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    // Requests of outdated frames are aborted on purpose.
    if (!reason.includes("ERR_ABORTED")) complaints.push(`request failed: ${request.url()} ${reason}`);
  });
  await page.goto(url);
  await until(page, "window.barchan && window.barchan.frame() !== null");
  if (rests) await settled(page);
  return page;
}

/** Closes all pages; returns their errors and warnings. */
export async function closePages(): Promise<string[]> {
  const said = complaints.splice(0);
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
  complaints.length = 0;
  return said;
}

/** Waits until an expression holds. The page forbids `eval`, so it is polled from outside. */
export async function until(page: Page, expression: string): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await page.evaluate(expression))) {
    if (Date.now() > end) throw new Error(`never came true: ${expression}`);
    await page.waitForTimeout(50);
  }
}

/** Waits until nothing new has been drawn for a while. */
export async function settled(page: Page): Promise<void> {
  let before = -1;
  for (let i = 0; i < 60; i++) {
    const now = (await page.evaluate("window.barchan.pictures()")) as number;
    if (now === before) return;
    before = now;
    await page.waitForTimeout(400);
  }
}

export async function shownFrame(page: Page): Promise<number> {
  return (await page.evaluate("window.barchan.frame()")) as number;
}

/** A screenshot of the middle of the view, without the overlays. */
export async function picture(page: Page): Promise<Picture> {
  await settled(page);
  const box = await page.locator("#canvas").boundingBox();
  if (!box) throw new Error("there is no canvas");
  const clip = { x: box.x + 20, y: box.y + 60, width: box.width - 40, height: box.height - 160 };
  return decodePng(page, await page.screenshot({ clip }));
}

/** Sends bytes as they are, and returns the status of the answer. */
export function raw(url: string, request: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((done, fail) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let text = "";
    socket.on("data", (data) => {
      text += data.toString("latin1");
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1];
      if (status) {
        socket.destroy();
        done(Number(status));
      }
    });
    socket.on("error", fail);
    socket.on("close", () => done(0));
  });
}

/** Ends everything that was started here. */
export async function finish(): Promise<void> {
  await browser?.close();
  browser = null;
  for (const child of children) child.kill("SIGKILL");
  rmSync(place, { recursive: true, force: true });
}
