// The page of a scene that is simulated while one looks.

import type { LiveAbout, Result } from "../api";
import { categoryTable, setMaps, table } from "../colormaps";
import { element } from "../dom";
import type { Loaded } from "../frames";
import { type Binding, isTyping, listen } from "../keys";
import { type Change, CHANGES, colorName, columnOf, Panel } from "../panel";
import { Scene3d } from "../scene3d";
import { Shell } from "../shell";
import { fromHash, type ViewState } from "../state";
import { Bar } from "./bar";
import { Drive } from "./drive";
import { Forces } from "./forces";
import { Link, type LivePicture } from "./link";
import { Machine } from "./machine";
import { Puller } from "./pull";
import { Sliders } from "./sliders";

export class LiveApp {
  private readonly state: ViewState = fromHash(location.hash);
  private readonly scene: Scene3d;
  private readonly shell: Shell;
  private readonly panel: Panel;
  private readonly bar = new Bar();
  private readonly link = new Link();
  private readonly sliders: Sliders;
  private readonly forces: Forces;
  private readonly drive: Drive;
  private readonly machine: Machine;
  private readonly puller: Puller;
  /** The picture on the screen. */
  private shown: LivePicture | null = null;
  /** The newest picture that is not on the screen yet, and how many have come for it. */
  private next: LivePicture | null = null;
  private owed = 0;
  /** Pictures that came, for tests. */
  private came = 0;

  constructor(
    private readonly result: Result,
    about: LiveAbout,
  ) {
    setMaps(result.maps);
    this.scene = new Scene3d(element<HTMLCanvasElement>("canvas"), result);
    this.shell = new Shell(result, this.state, this.scene);
    this.sliders = new Sliders(result.materials, about.parameters, (material, key, value) => this.link.send({ type: "parameter", material, key, value }));
    this.forces = new Forces(this.scene, result.bodies);
    this.drive = new Drive(about.joints, (joint, velocity) => this.link.send({ type: "motor", joint, velocity }));
    this.machine = new Machine(element("machine"), about.joints, this.drive);
    this.puller = new Puller(this.scene, about.free, (pull) => this.link.send(pull ? { type: "drag", ...pull } : { type: "drop" }));
    const root = element("panel");
    root.append(...this.sliders.sections);
    if (this.forces.section) root.append(this.forces.section);
    this.panel = new Panel(root, result, this.state, { changed: (what) => this.apply(what), pickNearest: () => {}, forgetGrain: () => {} }, null);
    Object.assign(window, { barchan: this.forTests() });
  }

  async start(): Promise<void> {
    const { theme } = this.shell;
    theme.onChange = () => this.scene.setTheme(theme.isDark);
    theme.onChange();
    if (this.state.camera) this.scene.cameraState = this.state.camera;
    for (const what of CHANGES) this.apply(what);
    this.wire();
    this.link.open();
    requestAnimationFrame(() => this.tick());
    await this.shell.loadBodies();
  }

  // ---- pictures -----------------------------------------------------------------------------------------------------

  private received(picture: LivePicture): void {
    this.next = picture;
    this.owed += 1;
    this.came += 1;
  }

  private tick(): void {
    requestAnimationFrame(() => this.tick());
    this.readGamepad();
    const picture = this.next;
    if (!picture) return;
    this.next = null;
    this.display(picture);
    for (; this.owed > 0; this.owed--) this.link.send({ type: "seen" });
  }

  private display(picture: LivePicture): void {
    const { header } = picture;
    this.shown = picture;
    element("loading").hidden = true;
    this.scene.show(this.colored(picture));
    this.bar.update(header);
    this.sliders.update(header.parameters);
    this.forces.update(header.bodies, !header.playing);
    this.machine.update(header.joints);
    this.puller.show(header.drag);
    if (header.trouble) this.shell.banners.show("trouble", header.trouble.error, header.trouble.help);
    else this.shell.banners.clear("trouble");
    this.updateLegend();
  }

  /** The grains with what they are colored by. */
  private colored({ header, grains, speeds }: LivePicture): Loaded {
    const column = columnOf(this.result, this.state.color);
    const colors = (data: Uint16Array) => ({ header: { frame: header.frame, column: "", unit: "", grains: header.grains, min: 0, max: 0, missing: 65535 }, data });
    const { frame } = header;
    if (column?.kind === "category") {
      const data = new Uint16Array(header.grains);
      for (let i = 0; i < data.length; i++) data[i] = grains.data[4 * i + 3]! >> 8;
      return { frame, grains, colors: colors(data) };
    }
    return { frame, grains, colors: column && speeds ? colors(speeds) : null };
  }

  private updateLegend(): void {
    const column = columnOf(this.result, this.state.color);
    const range = this.shown?.header.colors;
    if (!column || (column.kind === "quantity" && !range)) {
      this.shell.legend.set(null);
      return;
    }
    this.shell.legend.set({
      title: colorName(column, this.state.color?.split(".")[1] ?? ""),
      unit: column.unit,
      min: range?.min ?? 0,
      max: range?.max ?? 0,
      map: this.state.map,
      categories: column.kind === "category" ? this.result.materials.map((m) => m.name) : null,
    });
  }

  private apply(what: Change): void {
    if (what === "color") this.applyColor();
    this.shell.apply(what, this.panel);
  }

  private applyColor(): void {
    const column = columnOf(this.result, this.state.color);
    const kind = column?.kind ?? "own";
    this.scene.grains.setColors(kind, kind === "own" ? null : kind === "category" ? categoryTable() : table(this.state.map));
    this.link.send({ type: "color", speed: kind === "quantity" });
    if (this.shown) this.display(this.shown);
  }

  // ---- what people do -----------------------------------------------------------------------------------------------

  private wire(): void {
    const { link, bar } = this;
    link.onPicture = (picture) => this.received(picture);
    link.onChange = (isOpen) => this.connected(isOpen);
    link.onRefusal = ({ error, help }) => this.shell.banners.show("refused", error, help);
    bar.onPlay = () => this.togglePlay();
    bar.onStep = () => this.step();
    bar.onReset = () => this.startOver();
    bar.onSpeed = (factor) => link.send({ type: "speed", factor });
    const bindings = [...this.bindings(), ...this.shell.bindings()].filter((binding) => !binding.keys.some((key) => this.drive.takes(key)));
    listen(bindings, () => this.shell.dialog.open);
    this.shell.explain(bindings);
    this.wireKeys();
    addEventListener("pagehide", () => link.close());
    // Back from the browser's memory: everything has moved on.
    addEventListener("pageshow", (event) => event.persisted && location.reload());
  }

  private bindings(): Binding[] {
    return [
      { keys: [" ", "k"], label: "Space", means: "run or pause", run: () => this.togglePlay() },
      { keys: [".", "n"], label: "N", means: "one step", run: () => this.step() },
      { keys: ["Backspace", "0"], label: "⌫", means: "start over", run: () => this.startOver() },
    ];
  }

  /** Keys that drive joints, while they are down. */
  private wireKeys(): void {
    const down = new Map<string, string>();
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || this.shell.dialog.open || isTyping(event.target, event.key)) return;
      if (!this.drive.takes(event.key)) return;
      event.preventDefault();
      if (event.repeat) return;
      down.set(event.code, event.key);
      this.drive.key(event.key, true);
    });
    document.addEventListener("keyup", (event) => {
      // By place: with Shift the same key has another name.
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
    this.shell.announce(on ? "Running" : "Paused");
  }

  private step(): void {
    this.link.send({ type: "step" });
    this.shell.announce("One step");
  }

  private startOver(): void {
    this.link.send({ type: "reset" });
    this.shell.announce("Started over");
  }

  private connected(isOpen: boolean): void {
    this.owed = 0;
    this.next = null;
    if (!isOpen) {
      this.shell.banners.show("server", "the simulation does not answer", "start `barchan view` again; the page goes on by itself");
      return;
    }
    this.shell.banners.clear("server");
    this.link.send({ type: "color", speed: columnOf(this.result, this.state.color)?.kind === "quantity" });
  }

  /** What tests look at. */
  private forTests(): object {
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
