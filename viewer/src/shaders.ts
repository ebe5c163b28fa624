// GLSL of grains, bodies and ground. All share one light: a sun that casts shadows and a sky that is brighter above.

import { GLSL3, RawShaderMaterial, type IUniform, type ShaderMaterialParameters, Vector3 } from "three";
import type { Vector } from "./api";

const PRECISION = "precision highp float;\nprecision highp int;\n";

/** A material from a vertex and a fragment shader. */
export function shaded(vertex: string, fragment: string, uniforms: Record<string, IUniform> = {}, more: ShaderMaterialParameters = {}): RawShaderMaterial {
  const [vertexShader, fragmentShader] = [PRECISION + vertex, PRECISION + fragment];
  return new RawShaderMaterial({ glslVersion: GLSL3, vertexShader, fragmentShader, uniforms, ...more });
}

/** An sRGB color, 0 to 255, as the shaders use it: nearly linear, see `toScreen`. */
export function linear(color: Vector): Vector3 {
  return new Vector3(...(color.map((c) => (c / 255) ** 2) as Vector));
}

/** Light in world space: colors are linear. */
export const LIGHT = /* glsl */ `
uniform vec3 sunDirection;
uniform float dark;
uniform highp sampler2DShadow shadowMap;
uniform mat4 shadowMatrix;
uniform float shadowBias;
uniform bool isQuick;      // a single sample of the shadow map

// Fraction of the sun visible from a point: the mean over a small part of the shadow map.
float sunlight(vec3 world) {
  vec4 p = shadowMatrix * vec4(world, 1.0);
  vec3 q = p.xyz / p.w;
  if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) return 1.0;
  q.z -= shadowBias;
  float sum = texture(shadowMap, q);
  if (isQuick) return sum;
  const float texel = 1.0 / 1024.0;
  for (int i = 0; i < 8; i++) {
    float angle = float(i) * 2.4;
    float away = 0.9 + 0.32 * float(i);
    sum += texture(shadowMap, q + vec3(cos(angle) * away, sin(angle) * away, 0.0) * texel);
  }
  return sum / 9.0;
}

// Matte: the sun from its direction, the sky from above, a little light back from the ground.
vec3 lit(vec3 albedo, vec3 normal, float sun) {
  float facing = clamp(dot(normal, sunDirection) * 0.9 + 0.1, 0.0, 1.0);
  vec3 sky = mix(vec3(0.30, 0.27, 0.24), vec3(0.62, 0.68, 0.78), 0.5 + 0.5 * normal.y);
  return albedo * (sky * 0.66 + vec3(0.82, 0.77, 0.69) * (facing * sun));
}

// The sRGB curve is close to a square, whose inverse costs a square root instead of a power.
vec3 toScreen(vec3 linear) {
  return sqrt(clamp(linear, 0.0, 1.0));
}

vec3 fromScreen(vec3 c) {
  return c * c;
}
`;

const GRAIN_PLACE = /* glsl */ `
in vec4 position;   // 16-bit steps of the bounds; palette + 256 material
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
uniform vec3 lower;
uniform vec3 span;
uniform float radius;
uniform float pixels;      // of a length of 1 at a distance of 1
uniform bool orthographic;
uniform vec4 clip;         // n · x + w < 0 is cut away
uniform uint hidden;       // a bit for each material that is hidden

// Position of the grain; false when it is hidden or cut away.
bool place(out vec3 world, out vec4 view, out int palette) {
  int code = int(position.w + 0.5);
  int material = code >> 8;
  palette = code & 255;
  world = lower + position.xyz / 65535.0 * span;
  view = modelViewMatrix * vec4(world, 1.0);
  bool isHidden = material == 255 || (material < 32 && ((hidden >> uint(material)) & 1u) == 1u);
  return !isHidden && dot(clip.xyz, world) + clip.w >= 0.0;
}

float pointSize(float size, vec4 view) {
  return 2.0 * size * pixels / (orthographic ? 1.0 : max(1e-6, -view.z));
}
`;

export const grainVertex = /* glsl */ `
${GRAIN_PLACE}
in float value;            // 16-bit step of the range of the colors, 65535: none
uniform int mode;          // 0 own colors, 1 quantity, 2 category
uniform sampler2D paletteTable;
uniform sampler2D colorTable;
uniform vec3 missingColor;
uniform int picked;
${LIGHT}
out vec3 albedo;
flat out float sun;
flat out float sharpness;

void main() {
  vec3 world;
  vec4 view;
  int palette;
  if (!place(world, view, palette)) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 0.0;
    return;
  }
  gl_Position = projectionMatrix * view;
  bool isPicked = gl_VertexID == picked;
  float size = pointSize(isPicked ? radius * 1.6 : radius, view);
  gl_PointSize = max(isPicked ? 9.0 : 1.0, size);
  sharpness = clamp(size / 3.0 - 0.3, 0.0, 1.0);
  sun = sunlight(world);
  vec3 c;
  if (mode == 0) {
    c = texelFetch(paletteTable, ivec2(palette, 0), 0).rgb;
  } else if (value > 65534.5) {
    c = missingColor;
  } else if (mode == 1) {
    c = texelFetch(colorTable, ivec2(int(value / 65534.0 * 255.0 + 0.5), 0), 0).rgb;
  } else {
    c = texelFetch(colorTable, ivec2(int(value + 0.5) & 7, 0), 0).rgb;
  }
  albedo = fromScreen(c);
  if (isPicked) { albedo = vec3(0.95, 0.05, 0.5); sun = 1.0; }
}
`;

export const grainFragment = /* glsl */ `
in vec3 albedo;
flat in float sun;
flat in float sharpness;
uniform vec3 sunInView;
uniform vec3 upInView;
uniform int mode;
uniform bool orthographic;
out vec4 color;

void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float r2 = dot(p, p);
  if (r2 > 1.0) discard;
  if (orthographic) {
    // In the plane there is neither sun nor sky: disks with a rim.
    color = vec4(sqrt(albedo * mix(1.0, 0.7, sharpness * smoothstep(0.6, 1.0, r2))), 1.0);
    return;
  }
  vec3 n = vec3(p.x, -p.y, sqrt(1.0 - r2));
  // Grains smaller than a few pixels are shaded as if they faced the sky; otherwise single pixels flicker.
  float up = mix(0.75, dot(n, upInView), sharpness);
  float facing = clamp(mix(0.75, dot(n, sunInView), sharpness) * 0.9 + 0.1, 0.0, 1.0);
  vec3 light = mix(vec3(0.21, 0.19, 0.17), vec3(0.43, 0.46, 0.51), 0.5 + 0.5 * up) + vec3(0.86, 0.81, 0.72) * (facing * sun);
  // Less shading where the color stands for a number, so that it can be read.
  if (mode != 0) light = mix(vec3(0.55 + 0.35 * sun), light, 0.6);
  // Grains lie close together: their rims are shaded by their neighbors.
  color = vec4(sqrt(albedo * light * (1.0 - 0.42 * sharpness * r2 * r2)), 1.0);
}
`;

/** Depth only, for the shadow map: disks as large as the grains. */
export const grainShadowVertex = /* glsl */ `
${GRAIN_PLACE}
void main() {
  vec3 world;
  vec4 view;
  int palette;
  bool seen = place(world, view, palette);
  gl_Position = seen ? projectionMatrix * view : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = seen ? clamp(pointSize(radius * 0.9, view), 1.0, 64.0) : 0.0;
}
`;

export const depthFragment = /* glsl */ `
out vec4 color;
void main() { color = vec4(1.0); }
`;

export const bodyVertex = /* glsl */ `
in vec3 position;
in vec3 normal;
uniform mat4 modelMatrix;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
out vec3 world;
out vec3 worldNormal;

void main() {
  vec4 w = modelMatrix * vec4(position, 1.0);
  world = w.xyz;
  worldNormal = mat3(modelMatrix) * normal;
  gl_Position = projectionMatrix * viewMatrix * w;
}
`;

export const bodyFragment = /* glsl */ `
in vec3 world;
in vec3 worldNormal;
uniform vec3 cameraPosition;
uniform vec3 viewDirection;
uniform bool orthographic;
uniform vec3 tint;
uniform float opacity;     // 1 solid; less: glass, clearer where it is looked through straight
uniform vec4 clip;
${LIGHT}
out vec4 color;

void main() {
  if (dot(clip.xyz, world) + clip.w < 0.0) discard;
  vec3 toEye = orthographic ? -viewDirection : normalize(cameraPosition - world);
  vec3 n = normalize(worldNormal);
  if (dot(n, toEye) < 0.0) n = -n;
  float sun = opacity < 1.0 ? 1.0 : sunlight(world + n * shadowBias * 2.0);
  vec3 shaded = orthographic ? tint : lit(tint, n, sun);
  float rim = pow(1.0 - clamp(dot(n, toEye), 0.0, 1.0), 2.5);
  float alpha = opacity < 1.0 ? mix(opacity, min(1.0, opacity * 4.5), rim) : 1.0;
  color = vec4(toScreen(shaded), alpha);
}
`;

/** The ground: an endless plane with a grid in meters that fades out far away. */
export const groundFragment = /* glsl */ `
in vec3 world;
in vec3 worldNormal;
uniform vec3 cameraPosition;
uniform vec3 center;
uniform float reach;       // where it has faded out [m]
uniform float cell;        // of the grid [m]
uniform vec3 tint;
uniform vec3 tangent;
${LIGHT}
out vec4 color;

float line(vec2 q, float width) {
  vec2 d = fwidth(q) * width;
  vec2 away = abs(fract(q - 0.5) - 0.5);
  vec2 on = 1.0 - smoothstep(d * 0.5, d * 1.5, away);
  // Lines closer together than pixels become an even tone.
  vec2 even = smoothstep(0.08, 0.5, fwidth(q));
  on = mix(on, vec2(0.12), even);
  return max(on.x, on.y);
}

void main() {
  vec3 n = normalize(worldNormal);
  vec3 bitangent = cross(n, tangent);
  vec2 q = vec2(dot(world, tangent), dot(world, bitangent)) / cell;
  float away = length(world - center) / reach;
  float fade = 1.0 - smoothstep(0.35, 1.0, away);
  if (fade <= 0.0) discard;
  float sun = sunlight(world);
  vec3 facing = dot(n, cameraPosition - world) < 0.0 ? -n : n;
  vec3 base = lit(tint, facing, sun);
  float lines = max(line(q, 0.8) * 0.45, line(q / 5.0, 1.0)) * 0.5;
  vec3 drawn = mix(base, dark > 0.5 ? base * 1.7 + 0.006 : base * 0.72, lines);
  color = vec4(toScreen(drawn), fade * (dot(n, cameraPosition - world) < 0.0 ? 0.25 : 1.0));
}
`;
