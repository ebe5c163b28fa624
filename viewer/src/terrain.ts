// Soil at rest: a surface of heights. The heights are a texture; the graphics card makes the surface of them, so that a
// new frame costs one upload.

import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  DoubleSide,
  FloatType,
  GLSL3,
  Group,
  Mesh,
  NearestFilter,
  RawShaderMaterial,
  RedFormat,
  Sphere,
  Vector2,
  Vector3,
  type IUniform,
} from "three";
import { decode } from "./decode";
import type { Vector } from "./api";
import { SHADOW_LAYER } from "./light";
import { LIGHT, depthFragment } from "./shaders";

export interface TerrainHeader {
  /** Corner with the smallest x and z [m]. */
  origin: [number, number];
  /** Side of a column [m]. */
  cell: number;
  /** Along x and along z. */
  columns: [number, number];
  floor: number;
  /** sRGB, 0 to 255. */
  color: Vector;
}

/** Points along the longer side of the surface, at most. */
const POINTS = 640;

const vertexShader = /* glsl */ `
precision highp float;
precision highp int;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform highp sampler2D heights;
uniform vec2 origin;
uniform float cell;
uniform ivec2 columns;
uniform ivec2 points;
uniform int stride;
out vec3 world;
out vec3 worldNormal;

float height(ivec2 k) {
  return texelFetch(heights, clamp(k, ivec2(0), columns - 1), 0).r;
}

void main() {
  ivec2 k = min(ivec2(gl_VertexID % points.x, gl_VertexID / points.x) * stride, columns - 1);
  vec2 p = origin + (vec2(k) + 0.5) * cell;
  world = vec3(p.x, height(k), p.y);
  float along = height(k + ivec2(1, 0)) - height(k - ivec2(1, 0));
  float across = height(k + ivec2(0, 1)) - height(k - ivec2(0, 1));
  worldNormal = vec3(-along, 2.0 * cell, -across);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
`;

const fragmentShader = /* glsl */ `
precision highp float;
precision highp int;
in vec3 world;
in vec3 worldNormal;
uniform vec3 tint;
uniform float grain;       // diameter [m]
uniform vec4 clip;
${LIGHT}
out vec4 color;

float chance(vec3 k) {
  uvec3 n = uvec3(ivec3(k)) * uvec3(1597334673u, 3812015801u, 2798796415u);
  uint h = (n.x ^ n.y ^ n.z) * 1597334673u;
  return float(h >> 8) / 16777216.0;
}

void main() {
  if (dot(clip.xyz, world) + clip.w < 0.0) discard;
  vec3 n = normalize(worldNormal);
  // Grains that are smaller than pixels become an even tone.
  float seen = 1.0 - smoothstep(0.5, 2.0, length(fwidth(world)) / grain);
  float tone = mix(0.5, chance(floor(world / grain)), seen);
  color = vec4(toScreen(lit(tint * (0.75 + 0.4 * tone), n, sunlight(world + n * grain))), 1.0);
}
`;

export class Terrain {
  readonly group = new Group();
  /** Called when a surface has come. */
  onChanged: () => void = () => {};
  private readonly uniforms: Record<string, IUniform>;
  private geometry: BufferGeometry | null = null;
  private texture: DataTexture | null = null;
  private size = "";
  private shown = "";
  private wanted = "";
  private isBusy = false;

  constructor(shared: Record<string, IUniform>, grainRadius: number) {
    this.uniforms = {
      ...shared,
      heights: { value: null },
      origin: { value: new Vector2() },
      cell: { value: 1 },
      columns: { value: new Int32Array([1, 1]) },
      points: { value: new Int32Array([1, 1]) },
      stride: { value: 1 },
      tint: { value: new Vector3() },
      grain: { value: Math.max(2 * grainRadius, 1e-4) },
    };
  }

  /** Shows the terrain at an address of the server; what was asked for meanwhile and is outdated is left out. */
  show(address: string | null | undefined): void {
    this.wanted = address ?? "";
    this.group.visible = this.wanted !== "";
    if (!this.isBusy) void this.fetch();
  }

  private async fetch(): Promise<void> {
    while (this.wanted !== "" && this.wanted !== this.shown) {
      const address = this.wanted;
      this.isBusy = true;
      try {
        const response = await fetch(address);
        const isBinary = response.headers.get("content-type") === "application/octet-stream";
        if (response.ok && isBinary) this.set(await response.arrayBuffer());
      } catch {
        // The grains of the same frame tell what is wrong with it.
      }
      this.isBusy = false;
      this.shown = address;
    }
  }

  /** A terrain as the server sends it. */
  set(buffer: ArrayBuffer): void {
    const { header, offset } = decode<TerrainHeader>(buffer);
    const [width, depth] = header.columns;
    if (width < 2 || depth < 2 || offset + 4 * width * depth > buffer.byteLength) return;
    const heights = new Float32Array(buffer, offset, width * depth);
    this.resize(width, depth);
    if (this.texture) {
      (this.texture.image.data as Float32Array).set(heights);
      this.texture.needsUpdate = true;
    }
    (this.uniforms["origin"]!.value as Vector2).set(...header.origin);
    this.uniforms["cell"]!.value = header.cell;
    const tint = header.color.map((c) => (c / 255) ** 2) as Vector;
    (this.uniforms["tint"]!.value as Vector3).set(...tint);
    this.onChanged();
  }

  /** Surface and texture for that many columns. */
  private resize(width: number, depth: number): void {
    if (this.size === `${width} ${depth}`) return;
    this.size = `${width} ${depth}`;
    this.geometry?.dispose();
    this.texture?.dispose();
    this.group.clear();
    const stride = Math.max(1, Math.ceil(Math.max(width, depth) / POINTS));
    const points: [number, number] = [Math.ceil((width - 1) / stride) + 1, Math.ceil((depth - 1) / stride) + 1];
    this.texture = new DataTexture(new Float32Array(width * depth), width, depth, RedFormat, FloatType);
    this.texture.minFilter = this.texture.magFilter = NearestFilter;
    this.uniforms["heights"]!.value = this.texture;
    this.uniforms["columns"]!.value = new Int32Array([width, depth]);
    this.uniforms["points"]!.value = new Int32Array(points);
    this.uniforms["stride"]!.value = stride;
    this.geometry = new BufferGeometry();
    this.geometry.setIndex(new BufferAttribute(gridTriangles(...points), 1));
    this.geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
    const material = (fragment: string) =>
      new RawShaderMaterial({ glslVersion: GLSL3, vertexShader, fragmentShader: fragment, uniforms: this.uniforms, side: DoubleSide });
    const surface = new Mesh(this.geometry, material(fragmentShader));
    const shadow = new Mesh(this.geometry, material(depthFragment));
    shadow.layers.set(SHADOW_LAYER);
    surface.frustumCulled = shadow.frustumCulled = false;
    this.group.add(surface, shadow);
  }
}

/** Two triangles for each square of a lattice, as numbers of its points row by row. */
export function gridTriangles(width: number, depth: number): Uint32Array {
  const indices = new Uint32Array(6 * Math.max(0, width - 1) * Math.max(0, depth - 1));
  let at = 0;
  for (let j = 0; j + 1 < depth; j++) {
    for (let i = 0; i + 1 < width; i++) {
      const a = j * width + i;
      indices.set([a, a + width, a + 1, a + 1, a + width, a + width + 1], at);
      at += 6;
    }
  }
  return indices;
}
