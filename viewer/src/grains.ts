// The grains: one draw call of points that are shaded as spheres. The data of a frame is uploaded as it was received;
// moving the camera uploads nothing.

import {
  BufferGeometry,
  DataTexture,
  GLBufferAttribute,
  Points,
  Sphere,
  Vector3,
  Vector4,
  type IUniform,
  type OrthographicCamera,
  type PerspectiveCamera,
  type WebGLRenderer,
} from "three";
import { CATEGORIES, table } from "./colormaps";
import type { Vector } from "./api";
import type { Grains } from "./frames";
import { SHADOW_LAYER, type Light } from "./light";
import { depthFragment, grainFragment, grainShadowVertex, grainVertex, shaded } from "./shaders";

/** A plane `n · x + w` that cuts nothing away. */
export const NO_CLIP = new Vector4(0, 0, 0, 1);

const UP = new Vector3(0, 1, 0);

export class GrainCloud {
  readonly points: Points;
  readonly shadow: Points;
  private readonly gl: WebGL2RenderingContext;
  private readonly geometry = new BufferGeometry();
  private readonly uniforms: ReturnType<typeof uniformsOf>;
  private readonly shadowUniforms: ReturnType<typeof uniformsOf>;
  private positions: GLBufferAttribute;
  private values: GLBufferAttribute;
  private shown: { grains: Grains; values: Uint16Array | null } | null = null;
  private fullRadius = 0.01;
  private every = 1;
  private pickedIndex: number | null = null;

  constructor(renderer: WebGLRenderer, light: Light, clip: Vector4, palette: Vector[]) {
    this.gl = renderer.getContext() as WebGL2RenderingContext;
    this.positions = new GLBufferAttribute(this.gl.createBuffer(), this.gl.UNSIGNED_SHORT, 4, 2, 0);
    this.values = new GLBufferAttribute(this.gl.createBuffer(), this.gl.UNSIGNED_SHORT, 1, 2, 0);
    // Not used, but three.js warns when it cannot compute it.
    this.geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
    this.geometry.setAttribute("position", this.positions as never);
    this.geometry.setAttribute("value", this.values as never);
    this.uniforms = uniformsOf(light, clip, palette);
    this.shadowUniforms = { ...this.uniforms, pixels: { value: 1 }, orthographic: { value: true } };
    this.points = this.object(grainVertex, grainFragment, this.uniforms);
    this.shadow = this.object(grainShadowVertex, depthFragment, this.shadowUniforms);
    this.shadow.layers.set(SHADOW_LAYER);
  }

  /** Shows grains; `values` are the numbers that color them, null for their own colors. */
  show(grains: Grains, values: Uint16Array | null): void {
    this.shown = { grains, values };
    const { lower, span } = this.uniforms;
    lower.value.set(...grains.header.lower);
    span.value.set(...grains.header.upper).sub(lower.value);
    this.uploadShown();
  }

  /** Creates the buffers again after the WebGL context was lost. */
  restore(): void {
    this.positions.setBuffer(this.gl.createBuffer());
    this.values.setBuffer(this.gl.createBuffer());
    this.uploadShown();
  }

  /** Colors grains by their own colors, a quantity (with a color map) or a category. */
  setColors(mode: "own" | "quantity" | "category", map: string): void {
    const { colorTable } = this.uniforms;
    this.uniforms.mode.value = { own: 0, quantity: 1, category: 2 }[mode];
    colorTable.value.dispose();
    colorTable.value = mode === "quantity" ? texture(table(map)) : paletteTexture(CATEGORIES);
  }

  set radius(value: number) {
    this.fullRadius = value;
    this.thin(this.every);
  }

  /** Draws one grain in `every`, enlarged to fill the gaps. */
  thin(every: number): void {
    this.uniforms.radius.value = this.fullRadius * every ** 0.4;
    if (every === this.every) return;
    this.every = every;
    this.uploadShown();
  }

  set picked(index: number | null) {
    this.pickedIndex = index;
    const isThere = index !== null && index % this.every === 0;
    this.uniforms.picked.value = isThere ? index / this.every : -1;
  }

  /** Materials to hide. */
  set hidden(materials: Iterable<number>) {
    let bits = 0;
    for (const material of materials) if (material < 32) bits |= 1 << material;
    this.uniforms.hidden.value = bits >>> 0;
  }

  /** Sets what depends on the camera: the size of grains on the screen, the directions of light in view space. */
  aim(camera: PerspectiveCamera | OrthographicCamera, heightInPixels: number): void {
    const isOrthographic = "isOrthographicCamera" in camera;
    const perMeter = isOrthographic
      ? (heightInPixels * camera.zoom) / (camera.top - camera.bottom)
      : heightInPixels / (2 * Math.tan((camera.fov * Math.PI) / 360) / camera.zoom);
    this.uniforms.pixels.value = perMeter;
    this.uniforms.orthographic.value = isOrthographic;
    camera.updateMatrixWorld();
    this.uniforms.sunInView.value.copy(this.uniforms.sunDirection.value).transformDirection(camera.matrixWorldInverse);
    this.uniforms.upInView.value.copy(UP).transformDirection(camera.matrixWorldInverse);
  }

  /** The same for the shadow map. */
  aimShadow(pixelsPerMeter: number): void {
    this.shadowUniforms.pixels.value = pixelsPerMeter;
  }

  private object(vertexShader: string, fragmentShader: string, uniforms: Record<string, IUniform>): Points {
    const points = new Points(this.geometry, shaded(vertexShader, fragmentShader, uniforms));
    points.frustumCulled = false;
    return points;
  }

  private uploadShown(): void {
    if (!this.shown) return;
    const { grains, values } = this.shown;
    const count = Math.ceil(grains.header.grains / this.every);
    this.upload(this.positions, thinned(grains.data, 4, this.every), count);
    // All attributes must have the same length.
    this.upload(this.values, values ? thinned(values, 1, this.every) : new Uint16Array(count), count);
    this.geometry.setDrawRange(0, count);
    this.picked = this.pickedIndex;
  }

  private upload(attribute: GLBufferAttribute, data: Uint16Array, count: number): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, attribute.buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.DYNAMIC_DRAW);
    attribute.count = count;
  }
}

/** Keeps one item in `every`; an item has `size` words. */
export function thinned(data: Uint16Array, size: number, every: number): Uint16Array {
  if (every === 1) return data;
  const out = new Uint16Array(size * Math.ceil(data.length / size / every));
  for (let from = 0, to = 0; to < out.length; from += size * every, to += size) {
    for (let k = 0; k < size; k++) out[to + k] = data[from + k]!;
  }
  return out;
}

function uniformsOf(light: Light, clip: Vector4, palette: Vector[]) {
  return {
    ...light.uniforms,
    lower: { value: new Vector3() },
    span: { value: new Vector3(1, 1, 1) },
    radius: { value: 0.01 },
    clip: { value: clip },
    hidden: { value: 0 },
    pixels: { value: 1 },
    orthographic: { value: false },
    mode: { value: 0 },
    paletteTable: { value: paletteTexture(palette) },
    colorTable: { value: paletteTexture(CATEGORIES) },
    missingColor: { value: new Vector3(0.55, 0.55, 0.58) },
    picked: { value: -1 },
    sunInView: { value: new Vector3() },
    upInView: { value: new Vector3() },
  };
}

function texture(table: Uint8Array): DataTexture {
  const made = new DataTexture(table, table.length / 4, 1);
  made.needsUpdate = true;
  return made;
}

function paletteTexture(colors: readonly (readonly [number, number, number])[]): DataTexture {
  const table = new Uint8Array(256 * 4).fill(255);
  colors.slice(0, 256).forEach((color, i) => table.set(color, 4 * i));
  return texture(table);
}
