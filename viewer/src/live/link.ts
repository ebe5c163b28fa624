// The connection to a live scene: pictures come in, orders go out. The page confirms each picture that it has drawn,
// and the server sends at most two beyond that, so a slow page gets fewer pictures instead of late ones.

import type { GrainsHeader, JointRecord, Range, Trouble, Vector } from "../api";
import { decode, words } from "../decode";
import type { Grains } from "../frames";

export interface Rates {
  /** Simulated seconds in a second. */
  ratio: number;
  steps_per_s: number;
  step_ms: number;
}

export interface Pull {
  body: number;
  /** In the body's frame [m]. */
  point: Vector;
  /** [m] */
  target: Vector;
}

/** Everything that changes besides the grains. */
export interface LiveHeader extends GrainsHeader {
  playing: boolean;
  speed: number;
  rates: Rates;
  trouble: Trouble | null;
  drag: Pull | null;
  joints: JointRecord[];
  /** Values of the parameters of each material. */
  parameters: number[][];
  /** Range of the speeds [m/s], where they were requested. */
  colors: Range | null;
}

export interface LivePicture {
  header: LiveHeader;
  grains: Grains;
  /** Speeds as 16-bit steps of their range. */
  speeds: Uint16Array | null;
}

export type Order =
  | { type: "play"; on: boolean }
  | { type: "step" }
  | { type: "reset" }
  | { type: "speed"; factor: number }
  | { type: "parameter"; material: number; key: string; value: number }
  | { type: "motor"; joint: number; velocity: number }
  | ({ type: "drag" } & Pull)
  | { type: "drop" }
  | { type: "color"; speed: boolean }
  | { type: "seen" };

/** Time between two attempts to connect [ms]. */
const AGAIN_MS = 700;

export function read(buffer: ArrayBuffer): LivePicture {
  const decoded = decode<LiveHeader>(buffer);
  const { header } = decoded;
  const all = words(decoded, (header.colors ? 5 : 4) * header.grains);
  return {
    header,
    grains: { header, data: all.subarray(0, 4 * header.grains) },
    speeds: header.colors ? all.subarray(4 * header.grains) : null,
  };
}

export class Link {
  onPicture: (picture: LivePicture) => void = () => {};
  /** Called when connected or disconnected. */
  onChange: (isOpen: boolean) => void = () => {};
  onRefusal: (refusal: Trouble) => void = () => {};
  private socket: WebSocket | null = null;

  open(): void {
    const socket = new WebSocket(`ws://${location.host}/api/live`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.onChange(true));
    socket.addEventListener("message", (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.onRefusal(JSON.parse(event.data) as Trouble);
      else this.onPicture(read(event.data));
    });
    socket.addEventListener("close", () => {
      if (this.socket !== socket) return;
      this.onChange(false);
      setTimeout(() => this.open(), AGAIN_MS);
    });
    this.socket = socket;
  }

  /** Closes without connecting again. */
  close(): void {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  send(order: Order): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(order));
  }
}
