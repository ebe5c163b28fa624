// The joints over the picture: which key drives which, where each stands, and buttons for those who have no keyboard.

import type { Joint } from "../api";
import { make } from "../dom";
import { type Drive } from "./drive";

const NAMES: Record<string, string> = { arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓", " ": "Space" };

function label(key: string): string {
  return NAMES[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Where a joint stands. */
export function standing(joint: Joint, position: number): string {
  if (joint.kind === "revolute") return `${((position * 180) / Math.PI).toFixed(1)}°`;
  if (joint.kind === "prismatic") return `${position.toFixed(3)} m`;
  return "";
}

export class Machine {
  private readonly outputs: HTMLOutputElement[] = [];
  private readonly marks: HTMLElement[] = [];
  private readonly pad = make("p", { class: "hint", hidden: true });

  constructor(
    root: HTMLElement,
    private readonly joints: Joint[],
    drive: Drive,
  ) {
    const rows = joints.map((joint, i) => this.row(joint, i, drive));
    root.hidden = !rows.some((row) => row !== null);
    root.replaceChildren(make("h2", {}, "Joints"), ...rows.filter((row) => row !== null), this.pad);
  }

  update(states: readonly (readonly number[])[]): void {
    states.forEach(([position = 0], i) => {
      const joint = this.joints[i];
      const output = this.outputs[i];
      if (!joint || !output) return;
      output.value = standing(joint, position);
      const mark = this.marks[i];
      if (!mark || !joint.limits) return;
      const [low, high] = joint.limits;
      const part = high > low ? Math.min(1, Math.max(0, (position - low) / (high - low))) : 0;
      mark.style.left = `${100 * part}%`;
    });
  }

  /** Says that a gamepad is there. */
  showPad(name: string | null): void {
    this.pad.hidden = name === null;
    this.pad.textContent = name ? `Gamepad: ${name.replace(/\(.*/, "").trim()}` : "";
  }

  private row(joint: Joint, i: number, drive: Drive): HTMLElement | null {
    if (!standing(joint, 0) && !joint.control) return null;
    const name = joint.control?.label || joint.name;
    const output = make("output", { "data-joint": joint.name });
    this.outputs[i] = output;
    const scale = make("div", { class: "joint-scale" });
    if (joint.limits) {
      const mark = make("i");
      this.marks[i] = mark;
      scale.append(mark);
    }
    const { control } = joint;
    const side = (direction: -1 | 1) => {
      if (!control) return null;
      const key = control.keys?.[direction === -1 ? 0 : 1];
      const button = make("button", { type: "button", class: "joint-button", "aria-label": `${name} ${direction === -1 ? "back" : "on"}` }, key ? make("kbd", {}, label(key)) : direction === -1 ? "−" : "+");
      const press = (isDown: boolean) => {
        button.classList.toggle("held", isDown);
        drive.hold(i, direction, "button", isDown);
      };
      button.addEventListener("pointerdown", (event) => {
        button.setPointerCapture(event.pointerId);
        press(true);
      });
      for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, () => press(false));
      return button;
    };
    const middle = make("div", { class: "joint-middle" }, make("div", { class: "joint-head" }, make("span", {}, name), output), scale);
    return make("div", { class: "joint" }, side(-1), middle, side(1));
  }
}
