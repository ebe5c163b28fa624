// What the page of a result and the page of a live scene share: the 3D view and its buttons, colors, the address,
// messages.

import type { Column, Range, Result } from "./api";
import { Banners } from "./banners";
import { setMaps } from "./colormaps";
import { element, make, throttled } from "./dom";
import { type Binding, listen } from "./keys";
import { Legend } from "./legend";
import { type Change, CHANGES, colorBy, colorName, type Panel } from "./panel";
import { Scene3d, type ViewName } from "./scene3d";
import { fromHash, toHash, type ViewState } from "./state";
import { Theme } from "./theme";

export abstract class Page {
  protected readonly state: ViewState = fromHash(location.hash);
  protected readonly scene: Scene3d;
  protected readonly banners = new Banners(element("banners"));
  protected readonly writeHash = throttled(300, () => this.putHash());
  protected abstract readonly panel: Panel;
  private readonly theme = new Theme();
  private readonly legend = new Legend(element("legend"));

  constructor(protected readonly result: Result) {
    setMaps(result.maps);
    this.scene = new Scene3d(element<HTMLCanvasElement>("canvas"), result);
    document.body.classList.toggle("flat", result.dimensions === 2);
    document.title = `${result.scene} · barchan`;
    element("title").textContent = result.scene;
    const about = element("about");
    about.textContent = result.description;
    about.title = `${result.description} (${result.solver}, ${result.created_by})`;
    result.notes.forEach((note, i) => this.banners.show(`note-${i}`, note, "", false));
    const drawer = element("drawer");
    drawer.addEventListener("click", () => drawer.setAttribute("aria-expanded", String(element("panel").classList.toggle("open"))));
    this.scene.onMoved = () => {
      this.state.camera = this.scene.cameraState;
      this.writeHash();
    };
  }

  /** Shows the state of the address and begins to listen. */
  async start(): Promise<void> {
    Object.assign(window, { barchan: this.forTests() });
    listen(this.bindings(), (key) => this.isTaken(key));
    this.theme.onChange = () => this.themeChanged();
    this.themeChanged();
    this.applyAddress();
    this.connect();
    await this.loadBodies();
  }

  /** Connects to the server and the controls of this mode. */
  protected abstract connect(): void;
  /** What tests and measurements read. */
  protected abstract forTests(): object;
  protected abstract applyColor(): void;

  /** Whether a key has another meaning here, instead of its binding. */
  protected isTaken(_key: string): boolean {
    return false;
  }

  protected themeChanged(): void {
    this.scene.setTheme(this.theme.isDark);
  }

  /** Name of a saved picture, without its ending. */
  protected pictureName(): string {
    return this.result.scene;
  }

  /** Actions with their keys and buttons. */
  protected bindings(): Binding[] {
    const { scene } = this;
    const turn = (x: number, y: number) => () => scene.nudge("turn", x, y);
    const pan: Record<string, [number, number]> = { w: [0, 0.1], x: [0, -0.1], a: [-0.1, 0], d: [0.1, 0] };
    const look = (view: ViewName) => ({ button: `view-${view}`, run: () => this.look(view) });
    return [
      { keys: ["Shift+ArrowLeft"], label: "Shift ←", means: "turn to the left", run: turn(-0.1, 0) },
      { keys: ["Shift+ArrowRight"], label: "Shift →", means: "turn to the right", run: turn(0.1, 0) },
      { keys: ["Shift+ArrowUp"], label: "Shift ↑", means: "turn up", run: turn(0, 0.1) },
      { keys: ["Shift+ArrowDown"], label: "Shift ↓", means: "turn down", run: turn(0, -0.1) },
      { keys: ["+", "="], label: "+", means: "nearer", run: () => scene.nudge("zoom", 0, -0.12) },
      { keys: ["-", "_"], label: "−", means: "farther", run: () => scene.nudge("zoom", 0, 0.12) },
      { keys: ["w", "a", "d", "x"], label: "W A X D", means: "shift the view", run: (key) => scene.nudge("pan", ...pan[key.toLowerCase()]!) },
      { keys: ["r"], label: "R", means: "reset the view", ...look("reset") },
      { keys: ["1"], label: "1", means: "from the front", ...look("front") },
      { keys: ["2"], label: "2", means: "from the side", ...look("side") },
      { keys: ["3"], label: "3", means: "from above", ...look("top") },
      { keys: ["s"], label: "S", means: "save a picture", button: "screenshot", run: () => void this.screenshot() },
      { keys: ["c"], label: "C", means: "copy the address of this view", button: "share", run: () => void this.share() },
      { keys: ["t"], label: "T", means: "light or dark", button: "theme", run: () => this.theme.toggle() },
      { keys: ["?", "h"], label: "?", means: "this help", button: "help", run: () => element<HTMLDialogElement>("help-dialog").showModal() },
    ];
  }

  protected applyAddress(): void {
    if (this.state.camera) this.scene.cameraState = this.state.camera;
    for (const what of CHANGES) this.apply(what);
  }

  /** Applies a change of the panel. */
  protected apply(what: Change): void {
    const { state, scene } = this;
    if (what === "clip") {
      this.panel.setClipText(scene.setClip(state.clip));
    } else if (what === "size") {
      scene.grains.radius = this.result.grain_radius * state.size;
    } else if (what === "hidden") {
      scene.grains.hidden = state.hiddenMaterials;
      scene.bodies.setHidden(state.hiddenBodies);
    } else {
      this.applyColor();
    }
    scene.refresh(true);
    this.writeHash();
  }

  /** What grains are colored by; null: their own colors. */
  protected get colorBy(): { column: Column; part: string } | null {
    return colorBy(this.result, this.state.color);
  }

  /** Shows the legend; none while the range of the colors is not known. */
  protected showLegend(range: Range | null | undefined, map: string): void {
    if (!this.colorBy || !range) return this.legend.set(null);
    const { column, part } = this.colorBy;
    const categories = column.kind === "category" ? this.categories(column) : null;
    const unit = categories || column.unit === "1" ? "" : ` [${column.unit}]`;
    this.legend.set({ title: colorName(column, part) + unit, min: range.min, max: range.max, map, categories });
  }

  /** Names of the categories of a column. */
  protected categories(_column: Column): string[] {
    return this.result.materials.map((material) => material.name);
  }

  protected announce(message: string): void {
    element("announce").textContent = message;
  }

  /** Loads the surfaces of bodies; reports those that failed. */
  private async loadBodies(): Promise<void> {
    const { scene, result } = this;
    if (result.dimensions === 3 && !result.bodies.some((body) => body.plane)) scene.bodies.addGrid(result.bounds[0][1]);
    const problems = await scene.bodies.load(() => scene.refresh(true));
    scene.setTheme(this.theme.isDark);
    if (problems.length) this.banners.show("bodies", `some bodies are not shown: ${problems.join("; ")}`, "", false);
  }

  private look(view: ViewName): void {
    this.scene.look(view);
    this.state.camera = view === "reset" ? null : this.scene.cameraState;
    this.writeHash();
  }

  private tell(message: string): void {
    this.announce(message);
    this.banners.show("told", message, "", false);
    setTimeout(() => this.banners.clear("told"), 3000);
  }

  private async screenshot(): Promise<void> {
    this.scene.drawNow();
    const source = this.scene.canvas;
    const picture = make("canvas");
    [picture.width, picture.height] = [source.width, source.height];
    const context = picture.getContext("2d");
    if (!context) return;
    context.drawImage(source, 0, 0);
    this.legend.paint(context, picture.height, picture.width / source.clientWidth, this.theme.isDark);
    const blob = await new Promise<Blob | null>((done) => picture.toBlob(done, "image/png"));
    if (!blob) return;
    const url = URL.createObjectURL(blob);
    const name = `${this.pictureName()}.png`;
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    this.announce(`Saved ${name}`);
  }

  private async share(): Promise<void> {
    this.state.camera = this.scene.cameraState;
    this.putHash();
    try {
      await navigator.clipboard.writeText(location.href);
      this.tell("The address of this view is copied");
    } catch {
      this.tell("Copy the address from the address bar: it holds this view");
    }
  }

  private putHash(): void {
    const hash = toHash(this.state);
    if (`#${hash}` !== location.hash) history.replaceState(null, "", hash ? `#${hash}` : location.pathname);
  }
}
