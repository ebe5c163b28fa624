// Driving joints: keys, buttons and gamepads add up to the velocity of each joint, which is sent when it changes.

import type { Joint } from "../api";

/** Deflection of a stick below which it counts as centered. */
export const DEAD_ZONE = 0.15;

/** Deflection of a stick, −1 to 1: zero in the dead zone, linear beyond. */
export function deflection(value: number): number {
  const size = Math.abs(value);
  if (!(size > DEAD_ZONE)) return 0;
  return (Math.sign(value) * Math.min(1, size - DEAD_ZONE)) / (1 - DEAD_ZONE) || 0;
}

/** Name of a key as the scene writes it, in lower case. */
export function keyName(key: string): string {
  return key === " " ? "space" : key.toLowerCase();
}

export class Drive {
  private readonly held: Set<string>[];
  private readonly sticks: number[];
  private readonly sent: number[];

  constructor(
    private readonly joints: Joint[],
    private readonly send: (joint: number, velocity: number) => void,
  ) {
    this.held = joints.map(() => new Set());
    this.sticks = joints.map(() => 0);
    this.sent = joints.map(() => 0);
  }

  /** Whether a key drives a joint. */
  takes(key: string): boolean {
    return this.joints.some((joint) => joint.control?.keys?.some((own) => keyName(own) === keyName(key)));
  }

  /** A key goes down or up. */
  key(key: string, isDown: boolean): void {
    this.joints.forEach((joint, i) => {
      joint.control?.keys?.forEach((own, side) => {
        if (keyName(own) === keyName(key)) this.hold(i, side === 0 ? -1 : 1, "key", isDown);
      });
    });
  }

  /** An input, named `by`, begins or stops to drive a joint one way. */
  hold(joint: number, direction: -1 | 1, by: string, isDown: boolean): void {
    const name = `${direction}${by}`;
    if (isDown) this.held[joint]?.add(name);
    else this.held[joint]?.delete(name);
    this.update(joint);
  }

  /** Reads the axes of a gamepad; empty where there is none. */
  axes(axes: readonly number[]): void {
    this.joints.forEach((joint, i) => {
      const axis = joint.control?.gamepad_axis;
      const stick = axis === null || axis === undefined ? 0 : deflection(axes[axis] ?? 0);
      // Ignores jitter.
      if (stick === this.sticks[i] || (stick !== 0 && Math.abs(stick - this.sticks[i]!) < 0.02)) return;
      this.sticks[i] = stick;
      this.update(i);
    });
  }

  /** Releases all inputs. */
  release(): void {
    this.held.forEach((held, i) => {
      held.clear();
      this.sticks[i] = 0;
      this.update(i);
    });
  }

  /** Commanded velocity of a joint, as a fraction of its full speed: −1 to 1. */
  push(joint: number): number {
    const held = [...(this.held[joint] ?? [])];
    const side = (sign: string) => (held.some((name) => name.startsWith(sign)) ? 1 : 0);
    return Math.min(1, Math.max(-1, side("1") - side("-1") + this.sticks[joint]!));
  }

  private update(joint: number): void {
    const control = this.joints[joint]?.control;
    if (!control) return;
    const velocity = this.push(joint) * control.speed;
    if (velocity === this.sent[joint]) return;
    this.sent[joint] = velocity;
    this.send(joint, velocity);
  }
}
