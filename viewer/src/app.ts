// The page as a whole: what is shown, which frame, and what happens when something is asked for.

import { api, type Live, type Result, type Statistics, type Vector } from "./api";
import { Clock } from "./clock";
import { BOTH_SIGNS, CATEGORIES, categoryTable, setMaps, table, USUAL_MAP } from "./colormaps";
import { element, throttled } from "./dom";
import { position } from "./decode";
import { Frames, type Loaded } from "./frames";
import { listen, type Binding } from "./keys";
import { type Change, CHANGES, colorName, columnOf, Panel } from "./panel";
import { pick } from "./pick";
import { Plots } from "./plots";
import { Scene3d } from "./scene3d";
import { Shell } from "./shell";
import { fromHash, type ViewState } from "./state";
import { Timeline } from "./timeline";

/** Frames fetched ahead while playing. */
const AHEAD = 4;
/** Frames of more grains than this are only fetched when they are wanted. */
const HUGE = 5e6;
/** Colors are spread anew when a run has so many times the frames. */
const GROWTH = 1.25;

export class App {
  private readonly state: ViewState = fromHash(location.hash);
  private readonly frames = new Frames();
  private readonly clock: Clock;
  private readonly timeline = new Timeline();
  private readonly plots: Plots;
  private readonly panel: Panel;
  private readonly scene: Scene3d;
  private readonly shell: Shell;
  private live: Live | null = null;
  private shown: Loaded | null = null;
  private wanted = 0;
  private isFollowing = true;
  private statisticsKnown = 0;
  private grainRequest = 0;
  /** Last frame when the range of the colors was taken. */
  private rangeFrom = 1;
  private readonly askStatistics = throttled(700, () => void this.fetchStatistics());

  constructor(private readonly result: Result) {
    setMaps(result.maps);
    this.clock = new Clock(result.frame_rate);
    this.plots = new Plots(result.bodies.map((body) => body.name));
    this.scene = new Scene3d(element<HTMLCanvasElement>("canvas"), result);
    this.shell = new Shell(result, this.state, this.scene);
    this.panel = new Panel(
      element("panel"),
      result,
      this.state,
      {
        changed: (what) => this.apply(what),
        pickNearest: () => this.pickAt(this.scene.canvas.clientWidth / 2, this.scene.canvas.clientHeight / 2, true),
        forgetGrain: () => this.follow(null),
      },
      this.plots.root,
    );
    Object.assign(window, { barchan: this.forTests() });
  }

  /** Shows what there is, and goes on listening. */
  async start(): Promise<void> {
    this.wire();
    const { theme } = this.shell;
    theme.onChange = () => {
      this.scene.setTheme(theme.isDark);
      this.plots.draw();
    };
    theme.onChange();
    this.frames.onLoaded = (loaded) => this.loaded(loaded);
    this.frames.onFailed = (frame, error) => this.failed(frame, error);
    if (this.state.camera) this.scene.cameraState = this.state.camera;
    this.applyAll();
    this.listenToServer();
    requestAnimationFrame((now) => this.tick(now));
    await this.shell.loadBodies();
  }

  private wire(): void {
    this.shell.onDrawer = () => this.plots.draw();
    this.shell.pictureName = () => `${this.result.scene}-${String(this.wanted).padStart(6, "0")}`;
    this.timeline.onSeek = (frame) => this.seek(frame);
    this.timeline.onPlay = () => this.togglePlay();
    this.timeline.onStep = (by) => this.step(by);
    this.timeline.onSpeed = (speed) => this.setSpeed(speed);
    this.timeline.onLoop = (loop) => this.setLoop(loop);
    this.plots.onSeek = (frame) => this.seek(frame);
    this.wirePicking();
    const bindings = [...this.bindings(), ...this.shell.bindings()];
    listen(bindings, () => this.shell.dialog.open);
    this.shell.explain(bindings);
    addEventListener("hashchange", () => this.readHash());
  }

  private bindings(): Binding[] {
    return [
      { keys: [" ", "k"], label: "Space", means: "play or pause", run: () => this.togglePlay() },
      { keys: ["ArrowLeft", ","], label: "←", means: "one frame back", run: () => this.step(-1) },
      { keys: ["ArrowRight", "."], label: "→", means: "one frame on", run: () => this.step(1) },
      { keys: ["PageUp"], label: "Page up", means: "ten frames back", run: () => this.step(-10) },
      { keys: ["PageDown"], label: "Page down", means: "ten frames on", run: () => this.step(10) },
      { keys: ["Home"], label: "Home", means: "first frame", run: () => this.seek(this.span.first) },
      { keys: ["End"], label: "End", means: "last frame", run: () => this.seek(this.span.last) },
      { keys: ["l"], label: "L", means: "loop", run: () => this.setLoop(!this.state.loop) },
      { keys: ["p"], label: "P", means: "pick the grain in the middle", run: () => this.pickMiddle() },
      { keys: ["Escape"], label: "Esc", means: "let go of the grain", run: () => this.follow(null) },
    ];
  }

  // ---- frames -------------------------------------------------------------------------------------------------------

  private get span(): { first: number; last: number } {
    const frames = this.live?.frames ?? [];
    return { first: frames[0]?.[0] ?? 0, last: frames.at(-1)?.[1] ?? 0 };
  }

  /** The nearest frame that there is. */
  private nearest(frame: number): number {
    const { first, last } = this.span;
    let best = Math.min(last, Math.max(first, frame));
    const intervals = this.live?.frames ?? [];
    if (intervals.length > 1 && !intervals.some(([a, b]) => a <= best && best <= b)) {
      const ends = intervals.flat();
      best = ends.reduce((a, b) => (Math.abs(b - best) < Math.abs(a - best) ? b : a));
    }
    return best;
  }

  private seek(frame: number, byHand = true): void {
    const target = this.nearest(frame);
    if (byHand) this.isFollowing = target === this.span.last;
    this.clock.rebase(target, performance.now());
    this.request(target);
    if (byHand && !this.clock.playing) this.shell.announce(`Frame ${target}`);
  }

  private step(by: number): void {
    this.pause();
    this.seek(this.wanted + by);
  }

  private request(frame: number): void {
    this.wanted = frame;
    this.timeline.setFrame(frame, this.shown?.grains.header ?? null);
    this.plots.setFrame(frame);
    this.state.frame = frame;
    this.shell.writeHash();
    const here = this.frames.get(frame);
    if (here) this.display(here);
    else element("loading").hidden = this.clock.playing && this.shown !== null;
    this.frames.want(this.ahead(frame));
    this.showDamage();
  }

  /** This frame, and those that come next. */
  private ahead(frame: number): number[] {
    const { first, last } = this.span;
    const step = this.clock.playing ? Math.max(1, Math.round((this.result.frame_rate * this.state.speed) / 60)) : 1;
    const isHuge = (this.shown?.grains.header.grains ?? 0) > HUGE;
    const count = isHuge ? 0 : this.clock.playing ? AHEAD : 1;
    const frames = [frame];
    for (let i = 1; i <= count; i++) {
      const next = frame + i * step;
      if (next <= last) frames.push(next);
      else if (this.state.loop && this.clock.playing) frames.push(first + ((next - first) % (last - first + 1)));
    }
    return [...new Set(frames)];
  }

  private loaded(loaded: Loaded): void {
    this.shell.banners.clear(`frame-${loaded.frame}`);
    if (loaded.frame === this.wanted) this.display(loaded);
    // Too late for its moment, but newer than what is shown: better than nothing when it is slow.
    else if (this.clock.playing && this.shown && loaded.frame > this.shown.frame && loaded.frame < this.wanted) this.display(loaded);
  }

  private display(loaded: Loaded): void {
    const isSame = this.shown?.grains === loaded.grains && this.shown.colors === loaded.colors;
    this.shown = loaded;
    element("loading").hidden = true;
    if (!isSame) this.scene.show(loaded);
    this.timeline.setFrame(loaded.frame === this.wanted ? this.wanted : loaded.frame, loaded.grains.header);
    this.showDamage();
    this.updateLegend();
    if (this.state.grain !== null) void this.refreshGrain();
  }

  private failed(frame: number, error: unknown): void {
    if (frame !== this.wanted && this.clock.playing) return;
    element("loading").hidden = true;
    const message = error instanceof Error ? error.message : String(error);
    const help = error instanceof Error && "help" in error ? String(error.help) : "reload the page";
    if (frame === this.wanted) this.shell.banners.show(`frame-${frame}`, message, help);
  }

  /** Banners of damaged frames: that of the frame that is asked for. */
  private showDamage(): void {
    if (this.live?.damage.some((d) => d.frame === this.wanted)) element("loading").hidden = true;
    for (const key of this.shell.banners.keys()) {
      if (key.startsWith("frame-") && key !== `frame-${this.wanted}`) this.shell.banners.clear(key);
    }
    const damage = this.live?.damage.find((d) => d.frame === this.wanted);
    if (damage) this.shell.banners.show(`frame-${damage.frame}`, damage.error, damage.help);
  }

  // ---- playing ------------------------------------------------------------------------------------------------------

  private togglePlay(): void {
    if (this.clock.playing) {
      this.pause();
      this.shell.announce(`Paused at frame ${this.wanted}`);
      return;
    }
    const { first, last } = this.span;
    this.clock.play(this.wanted >= last ? first : this.wanted, performance.now());
    this.timeline.setPlaying(true);
    this.shell.announce("Playing");
  }

  private pause(): void {
    this.clock.pause();
    this.timeline.setPlaying(false);
  }

  private setSpeed(speed: number): void {
    this.state.speed = this.clock.speed = speed;
    this.clock.rebase(this.wanted, performance.now());
    this.shell.writeHash();
  }

  private setLoop(loop: boolean): void {
    this.state.loop = this.clock.loop = loop;
    this.timeline.setLoop(loop);
    this.clock.rebase(this.wanted, performance.now());
    this.shell.writeHash();
  }

  private tick(now: number): void {
    requestAnimationFrame((later) => this.tick(later));
    if (!this.clock.playing || !this.live) return;
    const due = this.clock.due(now, this.span);
    if (due === null) {
      this.pause();
      this.seek(this.span.last, false);
    } else if (due !== this.wanted) {
      this.request(this.nearest(due));
    }
  }

  // ---- what the server says -----------------------------------------------------------------------------------------

  /** While the page is seen: browsers allow a server only a few connections, and many pages may be open. */
  private listenToServer(): void {
    let events: EventSource | null = null;
    const listenWhenSeen = () => {
      if (document.hidden) {
        events?.close();
        events = null;
        return;
      }
      if (events) return;
      events = new EventSource("/api/events");
      events.addEventListener("message", (event) => this.update(JSON.parse(event.data as string) as Live));
      events.addEventListener("open", () => this.shell.banners.clear("server"));
      events.addEventListener("error", () =>
        this.shell.banners.show("server", "the viewer does not answer", "start `barchan view` again; the page goes on by itself"),
      );
    };
    document.addEventListener("visibilitychange", listenWhenSeen);
    listenWhenSeen();
  }

  private update(live: Live): void {
    const before = this.live;
    this.live = live;
    const { first, last } = this.span;
    if (last < (before?.frames.at(-1)?.[1] ?? 0)) this.frames.forget();
    this.timeline.setSpan(first, last, live);
    this.showLive(live);
    if (live.trouble) this.shell.banners.show("trouble", live.trouble.error, live.trouble.help);
    else this.shell.banners.clear("trouble");
    if (live.frames.length === 0) {
      this.shell.banners.show("empty", "this result has no frames yet", "they appear here as the run writes them", false);
      element("loading").hidden = true;
      return;
    }
    this.shell.banners.clear("empty");
    if (!before || before.frames.length === 0) {
      this.seek(this.state.frame ?? (last < live.planned ? last : first), false);
      this.isFollowing = this.wanted === last;
    } else if (this.isFollowing && !this.clock.playing && last > (before.frames.at(-1)?.[1] ?? 0)) {
      this.seek(last, false);
    } else if (this.nearest(this.wanted) !== this.wanted) {
      this.seek(this.wanted, false);
    }
    if (before && before.damage.length > live.damage.length) {
      this.frames.forgetFailures();
      this.request(this.wanted);
    }
    this.showDamage();
    if (this.frames.coloring?.range && last > GROWTH * this.rangeFrom) void this.applyColor();
    if (live.statistics !== this.statisticsKnown) this.askStatistics();
  }

  private showLive(live: Live): void {
    const badge = element("live");
    const last = this.span.last;
    badge.hidden = last >= live.planned;
    badge.textContent = `frame ${last} of ${live.planned}`;
    badge.title = "The run is not complete; new frames appear by themselves";
  }

  private async fetchStatistics(): Promise<void> {
    this.statisticsKnown = this.live?.statistics ?? 0;
    try {
      const statistics: Statistics = await api.statistics();
      this.plots.update(statistics, this.span.last);
      this.plots.setFrame(this.wanted);
    } catch {
      // The banner of the lost connection says it already.
    }
  }

  // ---- colors, clip plane, sizes -----------------------------------------------------------------------------------

  private applyAll(): void {
    this.clock.speed = this.state.speed;
    this.clock.loop = this.state.loop;
    this.timeline.setLoop(this.state.loop);
    this.timeline.setSpeed(this.state.speed);
    for (const what of CHANGES) this.apply(what);
  }

  private apply(what: Change): void {
    if (what === "color") void this.applyColor();
    this.shell.apply(what, this.panel);
  }

  private async applyColor(): Promise<void> {
    const color = this.state.color;
    const column = columnOf(this.result, color);
    const part = color?.split(".")[1] ?? "";
    if (!column) {
      this.frames.coloring = null;
      this.scene.grains.setColors("own", null);
    } else if (column.kind === "category") {
      // Steps of one, so that the number of a category comes as it is.
      this.rangeFrom = Infinity;
      this.frames.coloring = { column: column.name, part, range: { min: 0, max: 65534 } };
      this.scene.grains.setColors("category", categoryTable());
    } else {
      const range = this.state.range === "all" ? await this.range(column.name, part) : null;
      if (this.state.color !== color) return;
      this.frames.coloring = { column: column.name, part, range };
      this.scene.grains.setColors("quantity", table(this.mapFor(range)));
    }
    this.scene.refresh();
    if (this.live?.frames.length) this.request(this.wanted);
    this.updateLegend();
  }

  private async range(column: string, part: string): Promise<{ min: number; max: number } | null> {
    this.rangeFrom = Math.max(1, this.span.last);
    try {
      const range = await api.range({ column, part });
      // Both signs: as far to one side as to the other, so that the middle of the map is zero.
      const size = Math.max(-range.min, range.max);
      return hasBothSigns(range) ? { min: -size, max: size } : range;
    } catch {
      return null;
    }
  }

  private mapFor(range: { min: number; max: number } | null): string {
    // Unless another was chosen on purpose.
    return range && hasBothSigns(range) && this.state.map === USUAL_MAP ? BOTH_SIGNS : this.state.map;
  }

  private updateLegend(): void {
    const column = columnOf(this.result, this.state.color);
    const header = this.shown?.colors?.header;
    if (!column || !header || header.column !== column.name) {
      this.shell.legend.set(null);
      return;
    }
    const part = this.state.color?.split(".")[1] ?? "";
    const categories = column.name === "material" ? this.result.materials.map((m) => m.name) : CATEGORIES.map((_, i) => String(i));
    const isCategory = column.kind === "category";
    const shownCategories = isCategory ? (column.name === "material" ? categories : this.categoriesShown(categories)) : null;
    this.shell.legend.set({
      title: colorName(column, part),
      unit: column.unit,
      min: header.min,
      max: header.max,
      map: this.mapFor(this.frames.coloring?.range ?? null),
      categories: shownCategories,
    });
  }

  /** Categories up to the highest that was seen in this frame. */
  private categoriesShown(names: string[]): string[] {
    let highest = 0;
    for (const value of this.shown?.colors?.data ?? []) if (value > highest && value < 65535) highest = value;
    return names.slice(0, Math.min(names.length, highest + 1));
  }

  // ---- the address -------------------------------------------------------------------------------------

  private readHash(): void {
    const state = fromHash(location.hash);
    Object.assign(this.state, state);
    if (state.camera) this.scene.cameraState = state.camera;
    this.panel.update();
    this.applyAll();
    if (state.frame !== null) this.seek(state.frame, false);
    void this.refreshGrain();
  }

  // ---- one grain ----------------------------------------------------------------------------------------------------

  private wirePicking(): void {
    const { canvas } = this.scene;
    let down: { x: number; y: number } | null = null;
    canvas.addEventListener("pointerdown", (event) => (down = event.button === 0 ? { x: event.clientX, y: event.clientY } : null));
    canvas.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4) {
        const box = canvas.getBoundingClientRect();
        this.pickAt(event.clientX - box.left, event.clientY - box.top, false);
      }
      down = null;
    });
  }

  private pickMiddle(): void {
    this.pickAt(this.scene.canvas.clientWidth / 2, this.scene.canvas.clientHeight / 2, true);
  }

  /** Picks the grain at a point of the canvas; with `wide`, the nearest one to it. */
  private pickAt(x: number, y: number, wide: boolean): void {
    if (!this.shown) return;
    const ray = this.scene.ray(x, y);
    const clip = this.scene.clip;
    const options = {
      radius: this.result.grain_radius * this.state.size,
      slack: ray.slack,
      isHidden: (material: number) => this.state.hiddenMaterials.includes(material),
      clip: clip ? (px: number, py: number, pz: number) => clip.x * px + clip.y * py + clip.z * pz + clip.w : null,
    };
    let index = pick(this.shown.grains, ray, options);
    for (let i = 0; wide && index === null && i < 12; i++) {
      options.radius *= 2;
      index = pick(this.shown.grains, ray, options);
    }
    if (index === null) this.follow(null);
    else void this.choose(this.shown.frame, index);
  }

  private async choose(frame: number, index: number): Promise<void> {
    const request = ++this.grainRequest;
    try {
      const grain = await api.grainAt(frame, index);
      if (request !== this.grainRequest) return;
      this.state.grain = grain.id;
      this.panel.showGrain(grain, false);
      this.scene.grains.picked = grain.index;
      this.scene.refresh();
      this.shell.announce(`Grain ${grain.id ?? grain.index} picked`);
      this.shell.writeHash();
    } catch (error) {
      this.failed(frame, error);
    }
  }

  private follow(id: number | null): void {
    this.grainRequest++;
    this.state.grain = id;
    if (id === null) {
      this.panel.showGrain(null, false);
      this.scene.grains.picked = null;
      this.scene.refresh();
    } else {
      void this.refreshGrain();
    }
    this.shell.writeHash();
  }

  /** The same grain in the frame that is shown now. One request at a time: what was missed is not asked for later. */
  private async refreshGrain(): Promise<void> {
    const id = this.state.grain;
    const frame = this.shown?.frame;
    if (id === null || frame === undefined) return this.state.grain === null ? this.follow(null) : undefined;
    if (this.grainUnderWay) return;
    this.grainUnderWay = true;
    const request = this.grainRequest;
    this.scene.grains.picked = null;
    try {
      const grain = await api.grainWithId(frame, id);
      if (request === this.grainRequest && this.shown?.frame === frame) {
        this.panel.showGrain(grain, grain === null, id);
        this.scene.grains.picked = grain?.index ?? null;
        this.scene.refresh();
      }
    } catch {
      // The frame itself says what is wrong with it.
    } finally {
      this.grainUnderWay = false;
    }
    if (this.shown?.frame !== frame) void this.refreshGrain();
  }
  private grainUnderWay = false;

  /** What tests and measurements look at. */
  private forTests(): object {
    return {
      frame: () => this.shown?.frame ?? null,
      last: () => this.span.last,
      pictures: () => this.scene.pace.drawn,
      level: () => this.scene.pace.now,
      turn: (x: number) => this.scene.nudge("turn", x, 0),
      onScreen: (index: number) => {
        const grains = this.shown?.grains;
        if (!grains) return null;
        return this.scene.project(position(grains.data, index, grains.header.lower, grains.header.upper) as Vector);
      },
    };
  }
}

function hasBothSigns(range: { min: number; max: number }): boolean {
  return range.min < 0 && range.max > 0 && Math.min(-range.min, range.max) > 0.05 * Math.max(-range.min, range.max);
}
