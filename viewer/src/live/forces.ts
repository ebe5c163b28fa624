// Forces of the grains on the bodies: numbers in the panel, arrows in the view.

import { ArrowHelper, type LineBasicMaterial, type MeshBasicMaterial, Vector3 } from "three";
import type { Body, BodyRecord } from "../api";
import { make, tableRow } from "../dom";
import { text } from "../scales";
import type { Scene3d } from "../scene3d";

/** Weight of the past in the moving average, which keeps the numbers readable. */
const CALM = 0.85;
/** Length of the longest arrow, as a fraction of the radius of the scene. */
const LENGTH = 0.35;
/** Forces below this fraction of the largest have no arrow. */
const SMALL = 0.02;
const COLOR = 0xc8351f;

export class Forces {
  readonly section: HTMLElement | null;
  private readonly mean: Vector3[];
  private readonly torques: number[];
  private readonly arrows: ArrowHelper[];
  private readonly cells: HTMLElement[];
  private largest = 0;
  private drawn = 0;

  constructor(
    private readonly scene: Scene3d,
    private readonly bodies: Body[],
  ) {
    this.mean = bodies.map(() => new Vector3());
    this.torques = bodies.map(() => 0);
    this.arrows = bodies.map(() => this.arrow());
    this.cells = bodies.map(() => make("td", {}, "–"));
    const rows = bodies.map(({ name }, i) => tableRow({ "data-body": name }, name, this.cells[i]!));
    this.section = rows.length
      ? make("section", { "aria-label": "Forces" }, make("h2", {}, "Force of the grains"), make("table", { class: "grain-table", id: "forces" }, make("tbody", {}, ...rows)))
      : null;
  }

  update(poses: BodyRecord[], isStill: boolean): void {
    // Every sixth picture: numbers that change faster cannot be read.
    const isDue = isStill || this.drawn++ % 6 === 0;
    const keep = isStill ? 0 : CALM;
    poses.forEach((pose, i) => {
      const mean = this.mean[i];
      if (!mean) return;
      mean.multiplyScalar(keep).addScaledVector(new Vector3(...pose.force), 1 - keep);
      this.torques[i] = keep * this.torques[i]! + (1 - keep) * Math.hypot(...pose.torque);
      if (isDue) this.write(i, mean);
    });
    const now = Math.max(0, ...this.mean.filter((_, i) => !this.bodies[i]!.plane).map((force) => force.length()));
    this.largest = Math.max(now, 0.995 * this.largest);
    this.mean.forEach((force, i) => this.point(i, force));
  }

  private write(i: number, force: Vector3): void {
    const cell = this.cells[i]!;
    const size = force.length();
    const value = size < 1e-6 ? "0 N" : text(size, "N", 3);
    const parts = force.toArray().map((x) => text(Math.abs(x) < 1e-3 * size ? 0 : x, "N", 3)).join(", ");
    cell.textContent = value;
    cell.title = `(${parts}), turning with ${text(this.torques[i]!, "N m", 3)} about its origin`;
  }

  private point(i: number, force: Vector3): void {
    const arrow = this.arrows[i]!;
    const middle = this.scene.bodies.middle(i);
    const size = force.length();
    arrow.visible = middle !== null && this.largest > 0 && size > SMALL * this.largest && size > 1e-6;
    if (!arrow.visible || !middle) return;
    const length = LENGTH * this.scene.size * (size / this.largest);
    arrow.position.copy(this.scene.bodies.toWorld(i, middle));
    arrow.setDirection(force.clone().normalize());
    arrow.setLength(length, Math.min(0.3 * length, 0.08 * this.scene.size), Math.min(0.2 * length, 0.05 * this.scene.size));
  }

  private arrow(): ArrowHelper {
    const arrow = new ArrowHelper(new Vector3(0, 1, 0), new Vector3(), 1, COLOR);
    for (const part of [arrow.line, arrow.cone]) {
      // Transparent, so that it is drawn after the ground, which is transparent too.
      Object.assign(part.material as LineBasicMaterial | MeshBasicMaterial, { depthTest: false, transparent: true });
      part.renderOrder = 9;
      part.frustumCulled = false;
    }
    arrow.visible = false;
    this.scene.add(arrow);
    return arrow;
  }
}
