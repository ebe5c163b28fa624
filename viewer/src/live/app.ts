// The page of a live scene, which is simulated while it is shown.

import type { LiveAbout, Result } from "../api";
import { material } from "../decode";
import { element, everyFrame } from "../dom";
import { type Binding, isForPage } from "../keys";
import { Page } from "../page";
import { Panel } from "../panel";
import { Bar } from "./bar";
import { Drive } from "./drive";
import { Forces } from "./forces";
import { Link, type LivePicture } from "./link";
import { Machine } from "./machine";
import { Puller } from "./pull";
import { Sliders } from "./sliders";

export class LiveApp extends Page {
  protected readonly panel: Panel;
  private readonly bar = new Bar();
  private readonly link = new Link();
  private readonly sliders: Sliders;
  private readonly forces: Forces;
  private readonly drive: Drive;
  private readonly machine: Machine;
  private readonly puller: Puller;
  /** The picture on the screen. */
  private shown: LivePicture | null = null;
  /** The newest picture not yet drawn, and how many were received since the last one drawn. */
  private next: LivePicture | null = null;
  private owed = 0;
  /** Pictures received, for tests. */
  private came = 0;

  constructor(result: Result, about: LiveAbout) {
    super(result);
    this.sliders = new Sliders(result.materials, about.parameters, (material, key, value) => this.link.send({ type: "parameter", material, key, value }));
    this.forces = new Forces(this.scene, result.bodies);
    this.drive = new Drive(about.joints, (joint, velocity) => this.link.send({ type: "motor", joint, velocity }));
    this.machine = new Machine(element("machine"), about.joints, this.drive);
    this.puller = new Puller(this.scene, about.free, (pull) => this.link.send(pull ? { type: "drag", ...pull } : { type: "drop" }));
    const root = element("panel");
    root.append(...this.sliders.sections);
    if (this.forces.section) root.append(this.forces.section);
    const events = { changed: this.apply.bind(this), pickNearest: () => {}, forgetGrain: () => {} };
    this.panel = new Panel(root, result, this.state, events, null);
  }

  protected connect(): void {
    const { link } = this;
    link.onPicture = (picture) => this.received(picture);
    link.onChange = (isOpen) => this.connected(isOpen);
    link.onRefusal = (trouble) => this.banners.set("refused", trouble);
    this.bar.onSpeed = (factor) => link.send({ type: "speed", factor });
    this.listenToJointKeys();
    addEventListener("pagehide", () => link.close());
    // A page restored from the browser's cache is outdated.
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    link.open();
    everyFrame(() => this.tick());
  }

  // ---- pictures -----------------------------------------------------------------------------------------------------

  private received(picture: LivePicture): void {
    this.next = picture;
    this.owed += 1;
    this.came += 1;
  }

  private tick(): void {
    this.readGamepad();
    const picture = this.next;
    if (!picture) return;
    this.next = null;
    this.display(picture);
    for (; this.owed > 0; this.owed--) this.link.send({ type: "seen" });
  }

  private display(picture: LivePicture): void {
    const { header, grains } = picture;
    this.shown = picture;
    element("loading").hidden = true;
    this.scene.show(grains, this.colors(picture));
    this.bar.update(header);
    this.sliders.update(header.parameters);
    this.forces.update(header.bodies, !header.playing);
    this.machine.update(header.joints);
    this.puller.show(header.drag);
    this.banners.set("trouble", header.trouble);
    // Categories need no range.
    this.showLegend(this.colorBy?.column.kind === "category" ? { min: 0, max: 0 } : header.colors, this.state.map);
  }

  /** The numbers that color the grains. */
  private colors({ grains, speeds }: LivePicture): Uint16Array | null {
    const kind = this.colorBy?.column.kind;
    if (kind === "category") return new Uint16Array(grains.header.grains).map((_, i) => material(grains.data, i));
    return kind ? speeds : null;
  }

  protected applyColor(): void {
    this.scene.grains.setColors(this.colorBy?.column.kind ?? "own", this.state.map);
    this.askSpeeds();
    if (this.shown) this.display(this.shown);
  }

  private askSpeeds(): void {
    this.link.send({ type: "color", speed: this.colorBy?.column.kind === "quantity" });
  }

  // ---- controls -----------------------------------------------------------------------------------------------------

  protected override bindings(): Binding[] {
    return [
      { keys: [" ", "k"], label: "Space", means: "run or pause", button: "play", run: () => this.togglePlay() },
      { keys: [".", "n"], label: "N", means: "one step", button: "live-step", run: () => this.step() },
      { keys: ["Backspace", "0"], label: "⌫", means: "start over", button: "live-reset", run: () => this.startOver() },
      ...super.bindings(),
    ];
  }

  protected override isTaken(key: string): boolean {
    return this.drive.takes(key);
  }

  /** Joints are driven while their keys are down. */
  private listenToJointKeys(): void {
    const down = new Map<string, string>();
    document.addEventListener("keydown", (event) => {
      if (!this.drive.takes(event.key) || !isForPage(event, true)) return;
      event.preventDefault();
      if (event.repeat) return;
      down.set(event.code, event.key);
      this.drive.key(event.key, true);
    });
    document.addEventListener("keyup", (event) => {
      // By `code`: with Shift the same key has another name.
      const key = down.get(event.code);
      down.delete(event.code);
      if (key !== undefined) this.drive.key(key, false);
    });
    const release = () => {
      down.clear();
      this.drive.release();
    };
    addEventListener("blur", release);
    document.addEventListener("visibilitychange", () => document.hidden && release());
  }

  private readGamepad(): void {
    const pad = navigator.getGamepads?.().find((one) => one?.connected) ?? null;
    this.machine.showPad(pad?.id ?? null);
    this.drive.axes(pad?.axes ?? []);
  }

  private togglePlay(): void {
    const on = !(this.shown?.header.playing ?? false);
    this.link.send({ type: "play", on });
    this.announce(on ? "Running" : "Paused");
  }

  private step(): void {
    this.link.send({ type: "step" });
    this.announce("One step");
  }

  private startOver(): void {
    this.link.send({ type: "reset" });
    this.announce("Started over");
  }

  private connected(isOpen: boolean): void {
    this.owed = 0;
    this.next = null;
    if (!isOpen) {
      this.banners.show("server", "the simulation does not answer", "start `barchan view` again; the page goes on by itself");
      return;
    }
    this.banners.clear("server");
    this.askSpeeds();
  }

  protected forTests(): object {
    return {
      frame: () => this.shown?.header.frame ?? null,
      header: () => this.shown?.header ?? null,
      came: () => this.came,
      pictures: () => this.scene.pace.drawn,
      project: (point: [number, number, number]) => this.scene.project(point),
      bodyPoint: (body: number) => {
        const middle = this.scene.bodies.middle(body);
        return middle ? this.scene.bodies.toWorld(body, middle).toArray() : null;
      },
    };
  }
}
