// The grains: one draw call of points that are shaded as spheres. The bytes of a frame go to the graphics card as they
// came; turning the camera touches none of them.

import {
  BufferGeometry,
  DataTexture,
  GLBufferAttribute,
  GLSL3,
  Points,
  RawShaderMaterial,
  Sphere,
  Vector3,
  Vector4,
  type IUniform,
  type OrthographicCamera,
  type PerspectiveCamera,
  type WebGLRenderer,
} from "three";
import { CATEGORIES } from "./colourmaps";
import type { Vector } from "./api";
import type { Loaded } from "./frames";
import { SHADOW_LAYER, type Light } from "./light";
import { depthFragment, grainFragment, grainShadowVertex, grainVertex } from "./shaders";

/** `n · x + w` that is never negative. */
export const NO_CLIP = new Vector4(0, 0, 0, 1);

const UP = new Vector3(0, 1, 0);

export class GrainCloud {
  readonly points: Points;
  readonly shadow: Points;
  private readonly gl: WebGL2RenderingContext;
  private readonly geometry = new BufferGeometry();
  private readonly uniforms: Record<string, IUniform>;
  private readonly shadowUniforms: Record<string, IUniform>;
  private positions: GLBufferAttribute;
  private values: GLBufferAttribute;
  private shown: Loaded | null = null;
  private fullRadius = 0.01;

  constructor(renderer: WebGLRenderer, light: Light, palette: Vector[]) {
    this.gl = renderer.getContext() as WebGL2RenderingContext;
    this.positions = new GLBufferAttribute(this.newBuffer(), this.gl.UNSIGNED_SHORT, 4, 2, 0);
    this.values = new GLBufferAttribute(this.newBuffer(), this.gl.UNSIGNED_SHORT, 1, 2, 0);
    // Nobody asks how large it is, but three.js warns when it cannot find out.
    this.geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
    this.geometry.setAttribute("position", this.positions as never);
    this.geometry.setAttribute("value", this.values as never);
    const common = {
      lower: { value: new Vector3() },
      span: { value: new Vector3(1, 1, 1) },
      radius: { value: 0.01 },
      clip: { value: NO_CLIP.clone() },
      hidden: { value: 0 },
      every: { value: 1 },
    };
    this.uniforms = {
      ...light.uniforms,
      ...common,
      pixels: { value: 1 },
      orthographic: { value: false },
      mode: { value: 0 },
      paletteTable: { value: paletteTexture(palette) },
      colourTable: { value: paletteTexture(CATEGORIES) },
      missingColour: { value: new Vector3(0.55, 0.55, 0.58) },
      picked: { value: -1 },
      sunInView: { value: new Vector3() },
      upInView: { value: new Vector3() },
    };
    this.shadowUniforms = { ...common, pixels: { value: 1 }, orthographic: { value: true } };
    this.points = this.object(grainVertex, grainFragment, this.uniforms);
    this.shadow = this.object(grainShadowVertex, depthFragment, this.shadowUniforms);
    this.shadow.layers.set(SHADOW_LAYER);
  }

  /** Uploads a frame. */
  show(loaded: Loaded): void {
    this.shown = loaded;
    const { header, data } = loaded.grains;
    this.upload(this.positions, data, header.grains);
    (this.uniforms["lower"]!.value as Vector3).set(...header.lower);
    const span = this.uniforms["span"]!.value as Vector3;
    span.set(...header.upper).sub(this.uniforms["lower"]!.value as Vector3);
    // Every attribute that a shader names must be as long as the others.
    const values = loaded.colours?.data ?? new Uint16Array(header.grains);
    this.upload(this.values, values, header.grains);
    this.geometry.setDrawRange(0, header.grains);
  }

  /** After the context was lost: the buffers are gone. */
  restore(): void {
    this.positions.setBuffer(this.newBuffer());
    this.values.setBuffer(this.newBuffer());
    if (this.shown) this.show(this.shown);
  }

  /** Own colours, or those of a table. */
  setColours(mode: "own" | "quantity" | "category", table: Uint8Array | null): void {
    this.uniforms["mode"]!.value = { own: 0, quantity: 1, category: 2 }[mode];
    const old = this.uniforms["colourTable"]!.value as DataTexture;
    this.uniforms["colourTable"]!.value = table ? texture(table) : paletteTexture(CATEGORIES);
    old.dispose();
  }

  set radius(value: number) {
    this.fullRadius = value;
    this.thin(1);
  }

  /** Draws one grain in `every`, larger, so that they still cover each other. */
  thin(every: number): void {
    this.uniforms["every"]!.value = every;
    this.uniforms["radius"]!.value = this.fullRadius * every ** 0.4;
  }

  set picked(index: number | null) {
    this.uniforms["picked"]!.value = index ?? -1;
  }

  set clip(plane: Vector4) {
    (this.uniforms["clip"]!.value as Vector4).copy(plane);
  }

  /** Materials that are not shown. */
  set hidden(materials: Iterable<number>) {
    let bits = 0;
    for (const material of materials) if (material < 32) bits |= 1 << material;
    this.uniforms["hidden"]!.value = bits >>> 0;
  }

  /** Size of grains on the screen. */
  aim(camera: PerspectiveCamera | OrthographicCamera, heightInPixels: number): void {
    const isOrthographic = "isOrthographicCamera" in camera;
    const perMetre = isOrthographic
      ? (heightInPixels * camera.zoom) / (camera.top - camera.bottom)
      : heightInPixels / (2 * Math.tan((camera.fov * Math.PI) / 360) / camera.zoom);
    this.uniforms["pixels"]!.value = perMetre;
    this.uniforms["orthographic"]!.value = isOrthographic;
    const toView = (direction: Vector3, world: Vector3) => direction.copy(world).transformDirection(camera.matrixWorldInverse);
    camera.updateMatrixWorld();
    toView(this.uniforms["sunInView"]!.value as Vector3, this.uniforms["sunDirection"]!.value as Vector3);
    toView(this.uniforms["upInView"]!.value as Vector3, UP);
  }

  /** The same for the shadow map. */
  aimShadow(pixelsPerMetre: number): void {
    this.shadowUniforms["pixels"]!.value = pixelsPerMetre;
  }

  private object(vertexShader: string, fragmentShader: string, uniforms: Record<string, IUniform>): Points {
    const material = new RawShaderMaterial({ glslVersion: GLSL3, vertexShader, fragmentShader, uniforms });
    const points = new Points(this.geometry, material);
    points.frustumCulled = false;
    return points;
  }

  private upload(attribute: GLBufferAttribute, data: Uint16Array, count: number): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, attribute.buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.DYNAMIC_DRAW);
    attribute.count = count;
  }

  private newBuffer(): WebGLBuffer {
    return this.gl.createBuffer();
  }
}

function texture(table: Uint8Array): DataTexture {
  const made = new DataTexture(table, table.length / 4, 1);
  made.needsUpdate = true;
  return made;
}

function paletteTexture(colours: readonly (readonly [number, number, number])[]): DataTexture {
  const table = new Uint8Array(256 * 4).fill(255);
  colours.slice(0, 256).forEach((colour, i) => table.set(colour, 4 * i));
  return texture(table);
}
