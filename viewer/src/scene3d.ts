// The 3D view: renderer, camera, and when to draw. Nothing is drawn unless something has changed.

import {
  MOUSE,
  type Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  Raycaster,
  Scene,
  TOUCH,
  Vector2,
  Vector3,
  Vector4,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Result, Vector } from "./api";
import { Bodies } from "./bodies";
import { everyFrame } from "./dom";
import type { Grains } from "./frames";
import { GrainCloud, NO_CLIP } from "./grains";
import { Light } from "./light";
import type { Ray } from "./pick";
import { Pace } from "./pace";
import type { ClipState, ViewState } from "./state";
import { Terrain } from "./terrain";

const FIELD_OF_VIEW = 32;

const UP = new Vector3(0, 1, 0);
/** Directions from the scene to the camera. */
const DIRECTIONS: Record<ViewName, Vector> = { reset: [0.55, 0.42, 1], front: [0, 0, 1], side: [1, 0, 0], top: [0, 1, 0.0001] };

export type ViewName = "reset" | "front" | "side" | "top";

export class Scene3d {
  readonly canvas: HTMLCanvasElement;
  readonly grains: GrainCloud;
  readonly bodies: Bodies;
  readonly terrain: Terrain;
  /** Radius of the scene [m]. */
  readonly size: number;
  /** Called after the camera was moved by hand. */
  onMoved: () => void = () => {};
  /** How many frames were drawn, and how fast. */
  readonly pace = new Pace();

  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly light = new Light();
  private readonly camera: PerspectiveCamera | OrthographicCamera;
  private readonly controls: OrbitControls;
  private readonly center: Vector3;
  private readonly clipPlane = NO_CLIP.clone();
  private readonly isSlow: boolean;
  private isStale = true;
  private settle = 0;

  constructor(canvas: HTMLCanvasElement, private readonly result: Result) {
    this.canvas = canvas;
    this.isSlow = drawsInSoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.isSlow, powerPreference: "high-performance" });
    this.renderer.autoClear = false;
    const [lower, upper] = [new Vector3(...result.bounds[0]), new Vector3(...result.bounds[1])];
    this.center = lower.clone().add(upper).multiplyScalar(0.5);
    this.size = Math.max(upper.distanceTo(lower) / 2, 2 * result.grain_radius, 1e-4);
    this.camera = result.dimensions === 2 ? new OrthographicCamera() : new PerspectiveCamera(result.camera?.field_of_view ?? FIELD_OF_VIEW);
    this.camera.layers.enable(0);
    this.grains = new GrainCloud(this.renderer, this.light, this.clipPlane, result.palette);
    this.bodies = new Bodies(result.bodies, this.light, this.center, 14 * this.size, result.dimensions === 2 ? -result.dx : 0, this.clipPlane);
    this.terrain = new Terrain(this.bodies.shared, result.grain_radius);
    this.terrain.onChanged = () => this.refresh(true);
    this.scene.add(this.terrain.group, this.grains.points, this.grains.shadow, this.bodies.group);
    this.light.frame(this.center, 1.7 * this.size, result.grain_radius);
    this.grains.aimShadow(this.light.pixelsPerMeter);
    this.controls = this.makeControls();
    this.look("reset");
    this.watchContext();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement ?? canvas);
    this.resize();
    everyFrame((now) => this.tick(now));
  }

  /** Requests a redraw; with `castsShadow`, also of the shadow map. */
  refresh(castsShadow = false): void {
    this.isStale = true;
    if (castsShadow) this.light.stale();
  }

  /** Shows a frame: its grains, the numbers that color them, bodies and terrain. */
  show(grains: Grains, values: Uint16Array | null): void {
    const { grains: count, bodies, terrain } = grains.header;
    if (this.isSlow && this.pace.grains === 0) this.pace.expectSlow(count);
    this.pace.grains = count;
    this.grains.show(grains, values);
    this.bodies.pose(bodies);
    this.terrain.show(terrain);
    this.busy();
    this.refresh(true);
  }

  /** The view is moving: for a moment, speed matters more than sharpness. */
  private busy(): void {
    this.settle = performance.now() + 250;
  }

  setTheme(isDark: boolean): void {
    this.renderer.setClearColor(isDark ? 0x17181c : 0xf2f0ec);
    this.light.uniforms.dark.value = isDark ? 1 : 0;
    this.bodies.setTheme(isDark);
    this.refresh();
  }

  /** Cuts away one side of a plane; returns its position [m]. */
  setClip(clip: ClipState | null): number | null {
    let at: number | null = null;
    this.clipPlane.copy(NO_CLIP);
    if (clip) {
      const axis = { x: 0, y: 1, z: 2 }[clip.axis] as 0 | 1 | 2;
      const { bounds, grain_radius: margin } = this.result;
      const [low, high] = [bounds[0][axis] - margin, bounds[1][axis] + margin];
      at = low + clip.at * (high - low);
      const sign = clip.flip ? 1 : -1;
      this.clipPlane.set(0, 0, 0, -sign * at).setComponent(axis, sign);
    }
    this.refresh(true);
    return at;
  }

  /** n · x + w of the plane; null when nothing is cut away. */
  get clip(): Vector4 | null {
    return this.clipPlane.equals(NO_CLIP) ? null : this.clipPlane;
  }

  look(view: ViewName): void {
    const given = view === "reset" && !this.isFlat ? this.result.camera : null;
    const angle = ((this.result.camera?.field_of_view ?? FIELD_OF_VIEW) * Math.PI) / 360;
    const distance = (this.size / Math.sin(angle)) * Math.max(1, 0.95 / Math.max(this.aspect, 0.2)) * 1.02;
    const offset = new Vector3(...DIRECTIONS[this.isFlat ? "front" : view]).setLength(distance);
    const target = given?.target ? new Vector3(...given.target) : this.center;
    this.controls.target.copy(target);
    if (given?.position) this.camera.position.set(...given.position);
    else this.camera.position.copy(target).add(offset);
    this.camera.zoom = 1;
    this.moved();
  }

  get cameraState(): NonNullable<ViewState["camera"]> {
    return {
      position: this.camera.position.toArray(),
      target: this.controls.target.toArray(),
      zoom: this.camera.zoom,
    };
  }

  set cameraState(state: NonNullable<ViewState["camera"]>) {
    this.camera.position.set(...state.position);
    this.controls.target.set(...state.target);
    this.camera.zoom = state.zoom;
    this.moved();
  }

  private moved(): void {
    this.frameCamera();
    this.controls.update();
    this.refresh();
  }

  /** Turns, pans or zooms the camera from the keyboard. */
  nudge(kind: "turn" | "pan" | "zoom", x: number, y: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    if (kind === "zoom") {
      if (this.isFlat) this.camera.zoom *= 1 - y;
      else offset.multiplyScalar(1 + y);
    } else if (kind === "pan" || this.isFlat) {
      const size = (0.6 * this.size) / this.camera.zoom;
      const [right, up] = [0, 1].map((axis) => new Vector3().setFromMatrixColumn(this.camera.matrixWorld, axis)) as [Vector3, Vector3];
      this.controls.target.addScaledVector(right, x * size).addScaledVector(up, y * size);
    } else {
      offset.applyAxisAngle(UP, -x);
      const right = new Vector3().crossVectors(UP, offset).normalize();
      const tilted = offset.clone().applyAxisAngle(right, -y);
      const polar = tilted.angleTo(UP);
      if (polar > 0.02 && polar < Math.PI - 0.02) offset.copy(tilted);
    }
    this.camera.position.copy(this.controls.target).add(offset);
    this.moved();
    this.onMoved();
  }

  /** The ray through a point of the canvas [CSS pixels]; `slack` is the size of three pixels per meter of distance. */
  ray(x: number, y: number): Ray & { slack: number } {
    const { origin, direction } = this.caster(x, y).ray;
    const slack = this.camera instanceof PerspectiveCamera ? (3 * 2 * Math.tan((this.camera.fov * Math.PI) / 360)) / this.canvas.clientHeight : 0;
    return { origin: origin.toArray(), direction: direction.toArray(), slack };
  }

  private caster(x: number, y: number): Raycaster {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.camera);
    return caster;
  }

  /** Projects a point of the world to the canvas [CSS pixels]. */
  project(point: Vector): { x: number; y: number } {
    this.camera.updateMatrixWorld();
    const p = new Vector3(...point).project(this.camera);
    return { x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight };
  }

  /** Adds an object that is neither grain nor body. */
  add(object: Object3D): void {
    this.scene.add(object);
  }

  /** The nearest of the wanted bodies at a point of the canvas [CSS pixels], and where the ray hits it [m]. */
  pickBody(x: number, y: number, wanted: readonly boolean[]): { body: number; point: Vector } | null {
    return this.bodies.pick(this.caster(x, y), wanted);
  }

  /** Whether dragging turns the view. */
  set isTurning(isTurning: boolean) {
    this.controls.enabled = isTurning;
  }

  /** Draws immediately, at full quality. */
  drawNow(): void {
    this.use({ ratio: 1, every: 1 });
    this.draw();
  }

  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableRotate = !this.isFlat;
    controls.screenSpacePanning = true;
    controls.zoomToCursor = true;
    controls.maxPolarAngle = Math.PI * 0.98;
    if (this.isFlat) {
      controls.mouseButtons.LEFT = MOUSE.PAN;
      controls.touches.ONE = TOUCH.PAN;
    }
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    const calm = () => (controls.enableDamping = !still.matches);
    still.addEventListener("change", calm);
    calm();
    controls.dampingFactor = 0.12;
    controls.addEventListener("change", () => {
      this.busy();
      this.frameCamera();
      this.refresh();
      this.onMoved();
    });
    return controls;
  }

  /** Updates the projection; near and far planes enclose the scene. */
  private frameCamera(): void {
    const { aspect } = this;
    const distance = this.camera.position.distanceTo(this.center);
    if (this.camera instanceof PerspectiveCamera) {
      this.camera.aspect = aspect;
      this.camera.near = Math.max(distance / 2000, distance - 6 * this.size > 0 ? (distance - 6 * this.size) * 0.3 : 0);
      this.camera.far = distance + 20 * this.size;
    } else {
      const half = 1.08 * this.size * Math.max(0.8, 1 / Math.max(aspect, 0.2));
      Object.assign(this.camera, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
      this.camera.near = 0;
      this.camera.far = distance + 10 * this.size;
    }
    this.camera.updateProjectionMatrix();
  }

  private get aspect(): number {
    return this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
  }

  private get isFlat(): boolean {
    return this.result.dimensions === 2;
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(Math.max(1, width), Math.max(1, height), false);
    this.frameCamera();
    this.refresh();
  }

  private use(level: { ratio: number; every: number }): void {
    const wanted = Math.min(devicePixelRatio, 2) * level.ratio;
    if (Math.abs(this.renderer.getPixelRatio() - wanted) > 1e-6) this.renderer.setPixelRatio(wanted);
    this.grains.thin(level.every);
    this.light.uniforms.isQuick.value = level.ratio < 1;
  }

  private tick(now: number): void {
    this.controls.update();
    if (this.isStale) {
      this.use(this.pace.step(now, now < this.settle));
      this.draw();
      this.isStale = false;
    } else if (this.settle > 0 && now >= this.settle) {
      // At rest again: once more at full quality.
      this.settle = 0;
      const { ratio, every } = this.pace.now;
      if (every > 1) this.light.stale();
      if (ratio < 1 || every > 1) this.drawNow();
    }
  }

  private draw(): void {
    this.grains.aim(this.camera, this.renderer.domElement.height);
    this.camera.getWorldDirection(this.bodies.shared.viewDirection.value);
    this.bodies.shared.orthographic.value = this.camera instanceof OrthographicCamera;
    this.light.draw(this.renderer, this.scene);
    this.renderer.clear();
    this.renderer.render(this.scene, this.camera);
    this.pace.drawn += 1;
  }

  private watchContext(): void {
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.grains.restore();
      this.refresh(true);
    });
  }
}

/** Whether WebGL is rendered in software, which is too slow for antialiasing. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const extension = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && extension ? String(gl.getParameter(extension.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
