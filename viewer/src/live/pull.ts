// Pulling a body with the pointer: a spring from the grabbed point to the pointer, drawn as a line.

import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial, Plane, Ray, Vector3 } from "three";
import { pointIn } from "../dom";
import type { Scene3d } from "../scene3d";
import type { Pull } from "./link";

export class Puller {
  private held: { pull: Pull; plane: Plane; pointer: number } | null = null;
  private readonly line: Line;

  constructor(
    private readonly scene: Scene3d,
    private readonly free: readonly boolean[],
    private readonly send: (pull: Pull | null) => void,
  ) {
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(6), 3));
    // Transparent, so that it is drawn after the ground, which is transparent too.
    this.line = new Line(geometry, new LineBasicMaterial({ color: 0xd2691e, depthTest: false, transparent: true }));
    this.line.frustumCulled = false;
    this.line.renderOrder = 10;
    this.line.visible = false;
    scene.add(this.line);
    if (free.some(Boolean)) this.listen();
  }

  /** Draws the spring of a pull from the current pose of its body. */
  show(pull: Pull | null): void {
    this.line.visible = pull !== null;
    if (!pull) return;
    const ends = this.line.geometry.getAttribute("position") as BufferAttribute;
    const from = this.scene.bodies.toWorld(pull.body, pull.point);
    // The own pointer is ahead of the server.
    const { target } = this.held?.pull ?? pull;
    ends.setXYZ(0, from.x, from.y, from.z);
    ends.setXYZ(1, ...target);
    ends.needsUpdate = true;
  }

  private listen(): void {
    const { canvas } = this.scene;
    // Before the camera controls.
    const first = { capture: true };
    const stage = canvas.parentElement ?? canvas;
    stage.addEventListener("pointerdown", (event) => this.down(event), first);
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"] as const) addEventListener(end, (event) => this.up(event));
  }

  private at(event: PointerEvent): [number, number] {
    return pointIn(this.scene.canvas, event);
  }

  private down(event: PointerEvent): void {
    if (event.target !== this.scene.canvas || event.button !== 0 || this.held) return;
    const [x, y] = this.at(event);
    const hit = this.scene.pickBody(x, y, this.free);
    if (!hit) return;
    this.scene.isTurning = false;
    this.scene.canvas.setPointerCapture(event.pointerId);
    const { direction } = this.scene.ray(x, y);
    const plane = new Plane().setFromNormalAndCoplanarPoint(new Vector3(...direction).negate(), new Vector3(...hit.point));
    const pull = { body: hit.body, point: this.scene.bodies.toBody(hit.body, hit.point), target: hit.point };
    this.held = { pull, plane, pointer: event.pointerId };
    this.pull(pull);
  }

  private move(event: PointerEvent): void {
    if (!this.held) {
      if (event.buttons === 0) this.scene.canvas.classList.toggle("over-body", this.scene.pickBody(...this.at(event), this.free) !== null);
      return;
    }
    if (event.pointerId !== this.held.pointer) return;
    const { origin, direction } = this.scene.ray(...this.at(event));
    const target = new Ray(new Vector3(...origin), new Vector3(...direction)).intersectPlane(this.held.plane, new Vector3());
    if (target) this.pull((this.held.pull = { ...this.held.pull, target: target.toArray() }));
  }

  private up(event: PointerEvent): void {
    if (this.held?.pointer !== event.pointerId) return;
    this.held = null;
    this.scene.isTurning = true;
    this.pull(null);
  }

  private pull(pull: Pull | null): void {
    this.send(pull);
    this.show(pull);
    this.scene.refresh();
  }
}
