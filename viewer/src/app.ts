// The page of a result: playback, colors, and the picked grain.

import { api, type Column, type Live, type Range, type Result, troubleOf } from "./api";
import { Clock, type Span } from "./clock";
import { BOTH_SIGNS, CATEGORIES, DEFAULT_MAP } from "./colormaps";
import { element, everyFrame, pointIn, throttled } from "./dom";
import { position } from "./decode";
import { Frames, type Loaded } from "./frames";
import type { Binding } from "./keys";
import { Page } from "./page";
import { Panel } from "./panel";
import { pick } from "./pick";
import { Plots } from "./plots";
import { fromHash } from "./state";
import { Timeline } from "./timeline";

/** Frames to fetch ahead while playing. */
const AHEAD = 4;
/** Frames of more grains than this are not fetched ahead. */
const HUGE = 5e6;
/** The range of the colors is fetched again when a run has this many times as many frames. */
const GROWTH = 1.25;

export class App extends Page {
  protected readonly panel: Panel;
  private readonly frames = new Frames();
  private readonly clock: Clock;
  private readonly timeline = new Timeline();
  private readonly plots: Plots;
  private live: Live | null = null;
  private shown: Loaded | null = null;
  private wanted = 0;
  private isFollowing = true;
  private statisticsKnown = 0;
  private grainRequest = 0;
  private isGrainUnderWay = false;
  /** Last frame when the range of the colors was fetched. */
  private rangeFrom = 1;
  private readonly askStatistics = throttled(700, () => void this.fetchStatistics());

  constructor(result: Result) {
    super(result);
    this.clock = new Clock(result.frame_rate);
    this.plots = new Plots(result.bodies.map((body) => body.name));
    const events = { changed: this.apply.bind(this), pickNearest: () => this.pickMiddle(), forgetGrain: () => this.letGo() };
    this.panel = new Panel(element("panel"), result, this.state, events, this.plots.root);
  }

  protected connect(): void {
    this.timeline.onSeek = (frame) => this.seek(frame);
    this.timeline.onSpeed = (speed) => this.setSpeed(speed);
    this.plots.onSeek = (frame) => this.seek(frame);
    this.frames.onLoaded = (loaded) => this.loaded(loaded);
    this.frames.onFailed = (frame, error) => this.failed(frame, error);
    this.listenToPointer();
    addEventListener("hashchange", () => this.readHash());
    this.listenToServer();
    everyFrame((now) => this.tick(now));
  }

  protected override bindings(): Binding[] {
    return [
      { keys: [" ", "k"], label: "Space", means: "play or pause", button: "play", run: () => this.togglePlay() },
      { keys: ["ArrowLeft", ","], label: "←", means: "one frame back", button: "back", run: () => this.step(-1) },
      { keys: ["ArrowRight", "."], label: "→", means: "one frame on", button: "forward", run: () => this.step(1) },
      { keys: ["PageUp"], label: "Page up", means: "ten frames back", run: () => this.step(-10) },
      { keys: ["PageDown"], label: "Page down", means: "ten frames on", run: () => this.step(10) },
      { keys: ["Home"], label: "Home", means: "first frame", button: "first", run: () => this.seek(this.span.first) },
      { keys: ["End"], label: "End", means: "last frame", button: "last", run: () => this.seek(this.span.last) },
      { keys: ["l"], label: "L", means: "loop", button: "loop", run: () => this.setLoop(!this.state.loop) },
      { keys: ["p"], label: "P", means: "pick the grain in the middle", run: () => this.pickMiddle() },
      { keys: ["Escape"], label: "Esc", means: "let go of the grain", run: () => this.letGo() },
      ...super.bindings(),
    ];
  }

  protected override themeChanged(): void {
    super.themeChanged();
    this.plots.draw();
  }

  protected override pictureName(): string {
    return `${this.result.scene}-${String(this.wanted).padStart(6, "0")}`;
  }

  // ---- frames -------------------------------------------------------------------------------------------------------

  private get span(): Span {
    const frames = this.live?.frames ?? [];
    return { first: frames[0]?.[0] ?? 0, last: frames.at(-1)?.[1] ?? 0 };
  }

  /** The nearest frame that exists. */
  private nearest(frame: number): number {
    const { first, last } = this.span;
    const inside = Math.min(last, Math.max(first, frame));
    const intervals = this.live?.frames ?? [];
    if (!intervals.length || intervals.some(([a, b]) => a <= inside && inside <= b)) return inside;
    return intervals.flat().reduce((a, b) => (Math.abs(b - inside) < Math.abs(a - inside) ? b : a));
  }

  private seek(frame: number, byHand = true): void {
    const target = this.nearest(frame);
    if (byHand) this.isFollowing = target === this.span.last;
    this.clock.rebase(target, performance.now());
    this.request(target);
    if (byHand && !this.clock.playing) this.announce(`Frame ${target}`);
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
    this.writeHash();
    const here = this.frames.get(frame);
    if (here) this.display(here);
    else element("loading").hidden = this.clock.playing && this.shown !== null;
    this.frames.want(this.ahead(frame));
    this.showDamage();
  }

  /** This frame and the next ones to fetch. */
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
    this.banners.clear(`frame-${loaded.frame}`);
    // Late, but newer than the frame on the screen.
    const isNewer = this.clock.playing && this.shown && loaded.frame > this.shown.frame && loaded.frame < this.wanted;
    if (loaded.frame === this.wanted || isNewer) this.display(loaded);
  }

  private display(loaded: Loaded): void {
    const isSame = this.shown?.grains === loaded.grains && this.shown.colors === loaded.colors;
    this.shown = loaded;
    element("loading").hidden = true;
    if (!isSame) this.scene.show(loaded.grains, loaded.colors?.data ?? null);
    this.timeline.setFrame(loaded.frame, loaded.grains.header);
    this.showDamage();
    this.updateLegend();
    if (this.state.grain !== null) void this.refreshGrain();
  }

  private failed(frame: number, thrown: unknown): void {
    if (frame !== this.wanted && this.clock.playing) return;
    element("loading").hidden = true;
    const { error, help } = troubleOf(thrown);
    if (frame === this.wanted) this.banners.show(`frame-${frame}`, error, help);
  }

  /** Shows the error of a damaged frame, and clears those of others. */
  private showDamage(): void {
    this.banners.clearOthers("frame-", `frame-${this.wanted}`);
    const damage = this.live?.damage.find((d) => d.frame === this.wanted);
    if (!damage) return;
    element("loading").hidden = true;
    this.banners.show(`frame-${damage.frame}`, damage.error, damage.help);
  }

  // ---- playing ------------------------------------------------------------------------------------------------------

  private togglePlay(): void {
    if (this.clock.playing) {
      this.pause();
      this.announce(`Paused at frame ${this.wanted}`);
      return;
    }
    const { first, last } = this.span;
    this.clock.play(this.wanted >= last ? first : this.wanted, performance.now());
    this.timeline.setPlaying(true);
    this.announce("Playing");
  }

  private pause(): void {
    this.clock.pause();
    this.timeline.setPlaying(false);
  }

  private setSpeed(speed: number): void {
    this.state.speed = this.clock.speed = speed;
    this.clock.rebase(this.wanted, performance.now());
    this.writeHash();
  }

  private setLoop(loop: boolean): void {
    this.state.loop = this.clock.loop = loop;
    this.timeline.setLoop(loop);
    this.clock.rebase(this.wanted, performance.now());
    this.writeHash();
  }

  private tick(now: number): void {
    if (!this.clock.playing || !this.live) return;
    const due = this.clock.due(now, this.span);
    if (due === null) {
      this.pause();
      this.seek(this.span.last, false);
    } else if (due !== this.wanted) {
      this.request(this.nearest(due));
    }
  }

  // ---- events of the server -----------------------------------------------------------------------------------------

  /** Only while the page is visible: browsers allow few connections to a server, and many pages may be open. */
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
      events.addEventListener("open", () => this.banners.clear("server"));
      events.addEventListener("error", () =>
        this.banners.show("server", "the viewer does not answer", "start `barchan view` again; the page goes on by itself"),
      );
    };
    document.addEventListener("visibilitychange", listenWhenSeen);
    listenWhenSeen();
  }

  private update(live: Live): void {
    const before = this.live;
    const lastBefore = this.span.last;
    this.live = live;
    const { first, last } = this.span;
    if (last < lastBefore) this.frames.forget();
    this.timeline.setSpan(first, last, live);
    this.showLive(live);
    this.banners.set("trouble", live.trouble);
    if (live.frames.length === 0) {
      this.banners.show("empty", "this result has no frames yet", "they appear here as the run writes them", false);
      element("loading").hidden = true;
      return;
    }
    this.banners.clear("empty");
    if (!before || before.frames.length === 0) {
      this.seek(this.state.frame ?? (last < live.planned ? last : first), false);
      this.isFollowing = this.wanted === last;
    } else if (this.isFollowing && !this.clock.playing && last > lastBefore) {
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
      this.plots.update(await api.statistics(), this.span.last);
      this.plots.setFrame(this.wanted);
    } catch {
      // The banner of the lost connection reports it.
    }
  }

  // ---- colors and the address ---------------------------------------------------------------------------------------

  protected override applyAddress(): void {
    this.clock.speed = this.state.speed;
    this.clock.loop = this.state.loop;
    this.timeline.setLoop(this.state.loop);
    this.timeline.setSpeed(this.state.speed);
    super.applyAddress();
  }

  private readHash(): void {
    Object.assign(this.state, fromHash(location.hash));
    const { frame } = this.state;
    this.panel.update();
    this.applyAddress();
    if (frame !== null) this.seek(frame, false);
    if (this.state.grain === null) this.letGo();
    else void this.refreshGrain();
  }

  protected async applyColor(): Promise<void> {
    const { color } = this.state;
    const by = this.colorBy;
    const kind = by?.column.kind ?? "own";
    let range: Range | null = null;
    if (kind === "category") {
      // A step of one: the values are the numbers of the categories.
      this.rangeFrom = Infinity;
      range = { min: 0, max: 65534 };
    } else if (by && this.state.range === "all") {
      range = await this.range(by.column.name, by.part);
      if (this.state.color !== color) return;
    }
    this.frames.coloring = by && { column: by.column.name, part: by.part, range };
    this.scene.grains.setColors(kind, this.mapFor(range));
    this.scene.refresh();
    if (this.live?.frames.length) this.request(this.wanted);
    this.updateLegend();
  }

  private async range(column: string, part: string): Promise<Range | null> {
    this.rangeFrom = Math.max(1, this.span.last);
    try {
      const range = await api.range({ column, part });
      // Symmetric for values of both signs, so that zero is the middle of the map.
      const size = Math.max(-range.min, range.max);
      return hasBothSigns(range) ? { min: -size, max: size } : range;
    } catch {
      return null;
    }
  }

  private mapFor(range: Range | null): string {
    // Unless the user has chosen another map.
    return range && hasBothSigns(range) && this.state.map === DEFAULT_MAP ? BOTH_SIGNS : this.state.map;
  }

  private updateLegend(): void {
    const header = this.shown?.colors?.header;
    const isOfColumn = header?.column === this.colorBy?.column.name;
    this.showLegend(isOfColumn ? header : null, this.mapFor(this.frames.coloring?.range ?? null));
  }

  /** Categories without names are numbered, up to the highest in this frame. */
  protected override categories(column: Column): string[] {
    if (column.name === "material") return super.categories(column);
    let highest = 0;
    for (const value of this.shown?.colors?.data ?? []) if (value > highest && value < 65535) highest = value;
    return CATEGORIES.slice(0, highest + 1).map((_, i) => String(i));
  }

  // ---- one grain ----------------------------------------------------------------------------------------------------

  private listenToPointer(): void {
    const { canvas } = this.scene;
    let down: { x: number; y: number } | null = null;
    canvas.addEventListener("pointerdown", (event) => (down = event.button === 0 ? { x: event.clientX, y: event.clientY } : null));
    canvas.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4) this.pickAt(...pointIn(canvas, event), false);
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
    if (index === null) this.letGo();
    else void this.choose(this.shown.frame, index);
  }

  private async choose(frame: number, index: number): Promise<void> {
    const request = ++this.grainRequest;
    try {
      const grain = await api.grainAt(frame, index);
      if (request !== this.grainRequest) return;
      this.state.grain = grain.id;
      this.panel.showGrain(grain);
      this.mark(grain.index);
      this.announce(`Grain ${grain.id ?? grain.index} picked`);
      this.writeHash();
    } catch (error) {
      this.failed(frame, error);
    }
  }

  private letGo(): void {
    this.grainRequest++;
    this.state.grain = null;
    this.panel.showGrain(null);
    this.mark(null);
    this.writeHash();
  }

  private mark(index: number | null): void {
    this.scene.grains.picked = index;
    this.scene.refresh();
  }

  /** Shows the picked grain in the current frame. One request at a time; frames passed meanwhile are skipped. */
  private async refreshGrain(): Promise<void> {
    const id = this.state.grain;
    const frame = this.shown?.frame;
    if (id === null || frame === undefined || this.isGrainUnderWay) return;
    this.isGrainUnderWay = true;
    const request = this.grainRequest;
    this.scene.grains.picked = null;
    try {
      const grain = await api.grainWithId(frame, id);
      if (request === this.grainRequest && this.shown?.frame === frame) {
        this.panel.showGrain(grain, id);
        this.mark(grain?.index ?? null);
      }
    } catch {
      // The request of the frame's grains reports the error.
    } finally {
      this.isGrainUnderWay = false;
    }
    if (this.shown?.frame !== frame) void this.refreshGrain();
  }

  protected forTests(): object {
    return {
      frame: () => this.shown?.frame ?? null,
      last: () => this.span.last,
      pictures: () => this.scene.pace.drawn,
      level: () => this.scene.pace.now,
      turn: (x: number) => this.scene.nudge("turn", x, 0),
      onScreen: (index: number) => {
        const grains = this.shown?.grains;
        return grains ? this.scene.project(position(grains.data, index, grains.header.lower, grains.header.upper)) : null;
      },
    };
  }
}

function hasBothSigns(range: Range): boolean {
  return range.min < 0 && range.max > 0 && Math.min(-range.min, range.max) > 0.05 * Math.max(-range.min, range.max);
}
