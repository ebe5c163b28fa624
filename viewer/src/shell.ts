// What every page has around its picture: the buttons of the view, the picture to save, the address, messages.

import type { Result } from "./api";
import { Banners } from "./banners";
import { element, make, throttled } from "./dom";
import type { Binding } from "./keys";
import { Legend } from "./legend";
import type { Change, Panel } from "./panel";
import type { Scene3d, ViewName } from "./scene3d";
import { toHash, type ViewState } from "./state";
import { Theme } from "./theme";

export class Shell {
  readonly theme = new Theme();
  readonly banners = new Banners(element("banners"));
  readonly legend = new Legend(element("legend"));
  readonly dialog = element<HTMLDialogElement>("help-dialog");
  /** Called when the panel of a narrow window was opened or closed. */
  onDrawer: () => void = () => {};
  /** Name of a saved picture, without its ending. */
  pictureName: () => string = () => this.result.scene;
  readonly writeHash = throttled(300, () => this.putHash());

  constructor(
    private readonly result: Result,
    private readonly state: ViewState,
    private readonly scene: Scene3d,
  ) {
    document.body.classList.toggle("flat", result.dimensions === 2);
    document.title = `${result.scene} · barchan`;
    element("title").textContent = result.scene;
    const about = element("about");
    about.textContent = result.description;
    about.title = `${result.description} (${result.solver}, ${result.created_by})`;
    result.notes.forEach((note, i) => this.banners.show(`note-${i}`, note, "", false));
    const on = (id: string, run: () => void) => element(id).addEventListener("click", run);
    const views: ViewName[] = ["reset", "front", "side", "top"];
    for (const view of views) on(`view-${view}`, () => this.look(view));
    on("screenshot", () => void this.screenshot());
    on("share", () => void this.share());
    on("theme", () => this.theme.toggle());
    on("help", () => this.dialog.showModal());
    const drawer = element("drawer");
    on("drawer", () => {
      const isOpen = element("panel").classList.toggle("open");
      drawer.setAttribute("aria-expanded", String(isOpen));
      this.onDrawer();
    });
    this.scene.onMoved = () => {
      this.state.camera = this.scene.cameraState;
      this.writeHash();
    };
  }

  /** Fetches the surfaces of bodies; says which could not be had. */
  async loadBodies(): Promise<void> {
    const { scene, result } = this;
    if (result.dimensions === 3 && !result.bodies.some((body) => body.plane)) scene.bodies.addGrid(result.bounds[0][1]);
    const problems = await scene.bodies.load(() => scene.refresh(true));
    scene.setTheme(this.theme.isDark);
    if (problems.length) this.banners.show("bodies", `some bodies are not shown: ${problems.join("; ")}`, "", false);
  }

  /** Keys for the view, the picture and the page. */
  bindings(): Binding[] {
    const turn = (x: number, y: number) => () => this.scene.nudge("turn", x, y);
    return [
      { keys: ["Shift+ArrowLeft"], label: "Shift ←", means: "turn to the left", run: turn(-0.1, 0) },
      { keys: ["Shift+ArrowRight"], label: "Shift →", means: "turn to the right", run: turn(0.1, 0) },
      { keys: ["Shift+ArrowUp"], label: "Shift ↑", means: "turn up", run: turn(0, 0.1) },
      { keys: ["Shift+ArrowDown"], label: "Shift ↓", means: "turn down", run: turn(0, -0.1) },
      { keys: ["+", "="], label: "+", means: "nearer", run: () => this.scene.nudge("zoom", 0, -0.12) },
      { keys: ["-", "_"], label: "−", means: "farther", run: () => this.scene.nudge("zoom", 0, 0.12) },
      { keys: ["w", "a", "d", "x"], label: "W A X D", means: "shift the view", run: (event) => this.pan(event.key.toLowerCase()) },
      { keys: ["r"], label: "R", means: "reset the view", run: () => this.look("reset") },
      { keys: ["1"], label: "1", means: "from the front", run: () => this.look("front") },
      { keys: ["2"], label: "2", means: "from the side", run: () => this.look("side") },
      { keys: ["3"], label: "3", means: "from above", run: () => this.look("top") },
      { keys: ["s"], label: "S", means: "save a picture", run: () => void this.screenshot() },
      { keys: ["c"], label: "C", means: "copy the address of this view", run: () => void this.share() },
      { keys: ["t"], label: "T", means: "light or dark", run: () => this.theme.toggle() },
      { keys: ["?", "h"], label: "?", means: "this help", run: () => this.dialog.showModal() },
    ];
  }

  /** The list of keys in the help. */
  explain(bindings: Binding[]): void {
    for (const { label, means } of bindings) element("keys").append(make("dt", {}, make("kbd", {}, label)), make("dd", {}, means));
  }

  /** Shows what the panel has changed; colors are up to the page. */
  apply(what: Change, panel: Panel): void {
    const { state, scene } = this;
    if (what === "clip") {
      const at = scene.setClip(state.clip);
      panel.setClipText(state.clip ? at : null);
    } else if (what === "size") {
      scene.grains.radius = this.result.grain_radius * state.size;
    } else if (what === "hidden") {
      scene.grains.hidden = state.hiddenMaterials;
      scene.bodies.setHidden(state.hiddenBodies);
    }
    scene.refresh(true);
    this.writeHash();
  }

  look(view: ViewName): void {
    this.scene.look(view);
    this.state.camera = view === "reset" ? null : this.scene.cameraState;
    this.writeHash();
  }

  announce(message: string): void {
    element("announce").textContent = message;
  }

  tell(message: string): void {
    this.announce(message);
    this.banners.show("told", message, "", false);
    setTimeout(() => this.banners.clear("told"), 3000);
  }

  private pan(key: string): void {
    const [x, y] = ({ w: [0, 0.1], x: [0, -0.1], a: [-0.1, 0], d: [0.1, 0] } as Record<string, [number, number]>)[key] ?? [0, 0];
    this.scene.nudge("pan", x, y);
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
