// The joints over the view: keys, positions, and buttons for touch screens.

import type { Joint, JointRecord } from "../api";
import { make } from "../dom";
import { type Drive } from "./drive";

const NAMES: Record<string, string> = { arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓", " ": "Space" };

function label(key: string): string {
  return NAMES[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Position of a joint as text. */
export function standing(joint: Joint, position: number): string {
  if (joint.kind === "revolute") return `${((position * 180) / Math.PI).toFixed(1)}°`;
  if (joint.kind === "prismatic") return `${position.toFixed(3)} m`;
  return "";
}

export class Machine {
  private readonly shown: ((position: number) => void)[] = [];
  private readonly pad = make("p", { class: "hint", hidden: true });

  constructor(
    root: HTMLElement,
    joints: Joint[],
    private readonly drive: Drive,
  ) {
    const rows = joints.map((joint, i) => this.row(joint, i));
    root.hidden = rows.every((row) => row === null);
    root.replaceChildren(make("h2", {}, "Joints"), ...rows.filter((row) => row !== null), this.pad);
  }

  update(joints: readonly JointRecord[]): void {
    joints.forEach(({ position }, i) => this.shown[i]?.(position));
  }

  /** Shows the name of the gamepad, if there is one. */
  showPad(name: string | null): void {
    this.pad.hidden = name === null;
    this.pad.textContent = name ? `Gamepad: ${name.replace(/\(.*/, "").trim()}` : "";
  }

  private row(joint: Joint, i: number): HTMLElement | null {
    const { control, limits } = joint;
    if (!standing(joint, 0) && !control) return null;
    const name = control?.label || joint.name;
    const output = make("output", { "data-joint": joint.name });
    const mark = limits ? make("i") : null;
    this.shown[i] = (position) => {
      output.value = standing(joint, position);
      if (!mark || !limits) return;
      const [low, high] = limits;
      const part = high > low ? Math.min(1, Math.max(0, (position - low) / (high - low))) : 0;
      mark.style.left = `${100 * part}%`;
    };
    const head = make("div", { class: "joint-head" }, make("span", {}, name), output);
    const middle = make("div", { class: "joint-middle" }, head, make("div", { class: "joint-scale" }, mark));
    if (!control) return make("div", { class: "joint" }, middle);
    const [back, on] = control.keys ?? [];
    return make("div", { class: "joint" }, this.button(i, -1, `${name} back`, back, "−"), middle, this.button(i, 1, `${name} on`, on, "+"));
  }

  /** A button that drives a joint one way while pressed. */
  private button(joint: number, direction: -1 | 1, name: string, key: string | undefined, sign: string): HTMLElement {
    const button = make("button", { type: "button", class: "joint-button", "aria-label": name }, key ? make("kbd", {}, label(key)) : sign);
    const press = (isDown: boolean) => {
      button.classList.toggle("held", isDown);
      this.drive.hold(joint, direction, "button", isDown);
    };
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      press(true);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, () => press(false));
    return button;
  }
}
