// Soil at rest: a height field. The heights are a texture that the vertex shader displaces a grid by, so a new frame
// costs one upload.

import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  DoubleSide,
  FloatType,
  Group,
  Mesh,
  NearestFilter,
  RedFormat,
  Sphere,
  Vector2,
  Vector3,
  type IUniform,
} from "three";
import { api, type TerrainHeader } from "./api";
import type { Decoded } from "./decode";
import { SHADOW_LAYER } from "./light";
import { LIGHT, depthFragment, linear, shaded } from "./shaders";

/** Most points along the longer side of the mesh. */
const POINTS = 640;

const vertexShader = /* glsl */ `
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
  // Grains smaller than pixels become an even tone.
  float seen = 1.0 - smoothstep(0.5, 2.0, length(fwidth(world)) / grain);
  float tone = mix(0.5, chance(floor(world / grain)), seen);
  color = vec4(toScreen(lit(tint * (0.75 + 0.4 * tone), n, sunlight(world + n * grain))), 1.0);
}
`;

export class Terrain {
  readonly group = new Group();
  /** Called when a surface was loaded. */
  onChanged: () => void = () => {};
  private readonly uniforms: ReturnType<typeof uniformsOf>;
  private geometry = new BufferGeometry();
  private shown = "";
  private wanted = "";
  private isBusy = false;

  constructor(shared: Record<string, IUniform>, grainRadius: number) {
    this.uniforms = uniformsOf(shared, grainRadius);
  }

  /** Shows the terrain at an address of the server, one request at a time; outdated ones are skipped. */
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
        this.set(await api.terrain(address));
      } catch {
        // The request of the same frame's grains reports the error.
      }
      this.isBusy = false;
      this.shown = address;
    }
  }

  private set({ header, buffer, offset }: Decoded<TerrainHeader>): void {
    const [width, depth] = header.columns;
    if (width < 2 || depth < 2) return;
    const sent = new Float32Array(buffer, offset, width * depth);
    const texture = this.textureOf(width, depth);
    (texture.image.data as Float32Array).set(sent);
    texture.needsUpdate = true;
    const { origin, cell, tint } = this.uniforms;
    origin.value.set(...header.origin);
    cell.value = header.cell;
    tint.value = linear(header.color);
    this.onChanged();
  }

  /** The texture of the heights; it and the mesh are created when the number of columns changes. */
  private textureOf(width: number, depth: number): DataTexture {
    const { heights, columns, points, stride } = this.uniforms;
    const old = heights.value;
    if (old?.image.width === width && old.image.height === depth) return old;
    old?.dispose();
    this.geometry.dispose();
    this.group.clear();
    const texture = new DataTexture(new Float32Array(width * depth), width, depth, RedFormat, FloatType);
    texture.minFilter = texture.magFilter = NearestFilter;
    heights.value = texture;
    columns.value = [width, depth];
    stride.value = Math.max(1, Math.ceil(Math.max(width, depth) / POINTS));
    points.value = [Math.ceil((width - 1) / stride.value) + 1, Math.ceil((depth - 1) / stride.value) + 1];
    this.geometry = new BufferGeometry();
    this.geometry.setIndex(new BufferAttribute(gridTriangles(...points.value), 1));
    this.geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
    const mesh = (fragment: string) => new Mesh(this.geometry, shaded(vertexShader, fragment, this.uniforms, { side: DoubleSide }));
    const [surface, shadow] = [mesh(fragmentShader), mesh(depthFragment)];
    shadow.layers.set(SHADOW_LAYER);
    surface.frustumCulled = shadow.frustumCulled = false;
    this.group.add(surface, shadow);
    return texture;
  }
}

function uniformsOf(shared: Record<string, IUniform>, grainRadius: number) {
  return {
    ...shared,
    heights: { value: null as DataTexture | null },
    origin: { value: new Vector2() },
    cell: { value: 1 },
    columns: { value: [1, 1] as [number, number] },
    points: { value: [1, 1] as [number, number] },
    stride: { value: 1 },
    tint: { value: new Vector3() },
    grain: { value: Math.max(2 * grainRadius, 1e-4) },
  };
}

/** Two triangles per cell of a grid, as indices of its points in row order. */
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
