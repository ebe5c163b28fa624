// Bodies around the grains: solid, glass, or cut away to show their inside; and the ground.

import {
  BackSide,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  FrontSide,
  Group,
  Mesh,
  PlaneGeometry,
  Quaternion,
  Vector3,
  type Raycaster,
  type Side,
  type Vector4,
} from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { api, type Body, type BodyRecord, troubleOf, type Vector } from "./api";
import { SHADOW_LAYER, type Light } from "./light";
import { bodyFragment, bodyVertex, depthFragment, groundFragment, linear, shaded } from "./shaders";

const SOLID: Vector = [164, 168, 174];
const GLASS: Vector = [190, 215, 225];
const GROUND: Vector = [214, 211, 205];
const GROUND_IN_THE_DARK: Vector = [58, 60, 66];
const CREASE = 0.6;

export class Bodies {
  readonly group = new Group();
  /** Uniforms that all bodies share. */
  readonly shared: ReturnType<typeof uniformsOf>;
  private readonly groups: Group[];
  /** Color of the ground, as the shaders use it. */
  private readonly groundTint = linear(GROUND);
  private readonly middles: Vector[] = [];

  constructor(
    private readonly bodies: Body[],
    light: Light,
    private readonly center: Vector3,
    private readonly reach: number,
    private readonly depth: number,
    clip: Vector4,
  ) {
    this.shared = uniformsOf(light, clip);
    this.groups = bodies.map(() => new Group());
    this.group.add(...this.groups);
  }

  /** Fetches the surfaces; `changed` is called after each. Returns what could not be loaded, and why. */
  async load(changed: () => void): Promise<string[]> {
    const problems: string[] = [];
    await Promise.all(
      this.bodies.map(async (body, i) => {
        try {
          if (body.plane) this.groups[i]!.add(this.ground(body.plane.point, body.plane.normal));
          else if (body.surface && body.look !== "hidden") this.addSurface(i, body, await fetchSurface(i));
          changed();
        } catch (error) {
          problems.push(`${body.name}: ${troubleOf(error).error}`);
        }
      }),
    );
    return problems;
  }

  /** A ground below everything, where no body is a plane. */
  addGrid(height: number): void {
    this.group.add(this.ground([0, height, 0], [0, 1, 0]));
  }

  pose(poses: BodyRecord[]): void {
    poses.forEach((pose, i) => {
      this.groups[i]?.position.set(...pose.position);
      this.groups[i]?.quaternion.copy(new Quaternion(...pose.rotation));
    });
  }

  /** The nearest of the wanted bodies that a ray hits, and where [m]. */
  pick(ray: Raycaster, wanted: readonly boolean[]): { body: number; point: Vector } | null {
    let best: { body: number; point: Vector } | null = null;
    let nearest = Infinity;
    this.groups.forEach((group, body) => {
      if (!wanted[body] || !group.visible) return;
      group.updateWorldMatrix(true, true);
      const hit = ray.intersectObject(group, true)[0];
      if (!hit || hit.distance >= nearest) return;
      nearest = hit.distance;
      best = { body, point: hit.point.toArray() };
    });
    return best;
  }

  /** A point of the world in the frame of a body [m]. */
  toBody(body: number, point: Vector): Vector {
    return this.groups[body]!.worldToLocal(new Vector3(...point)).toArray();
  }

  /** A point of a body in the world [m]. */
  toWorld(body: number, point: Vector): Vector3 {
    const group = this.groups[body]!;
    group.updateWorldMatrix(true, false);
    return group.localToWorld(new Vector3(...point));
  }

  /** Center of a body's surface, in its own frame [m]; null until it is loaded, and for planes. */
  middle(body: number): Vector | null {
    return this.middles[body] ?? null;
  }

  setHidden(hidden: readonly number[]): void {
    this.groups.forEach((group, i) => (group.visible = !hidden.includes(i)));
  }

  setTheme(isDark: boolean): void {
    this.groundTint.copy(linear(isDark ? GROUND_IN_THE_DARK : GROUND));
  }

  private addSurface(i: number, body: Body, geometry: BufferGeometry): void {
    geometry.computeBoundingBox();
    this.middles[i] = geometry.boundingBox!.getCenter(new Vector3()).toArray();
    const isGlass = body.look === "glass";
    const isCut = body.look === "cutaway";
    const tint = { value: linear(body.color ?? (isGlass ? GLASS : SOLID)) };
    const material = (opacity: number, side: Side) => {
      const uniforms = { ...this.shared, tint, opacity: { value: opacity } };
      return shaded(bodyVertex, bodyFragment, uniforms, { side, transparent: opacity < 1, depthWrite: opacity === 1 });
    };
    // In two dimensions, bodies lie behind the grains.
    const shift = new Group();
    shift.position.z = this.depth;
    this.groups[i]!.add(shift);
    if (isGlass) {
      // The far wall before the grains, the near wall after them.
      const far = new Mesh(geometry, material(0.1, BackSide));
      const near = new Mesh(geometry, material(0.1, FrontSide));
      far.renderOrder = -1;
      near.renderOrder = 2;
      shift.add(far, near);
      return;
    }
    shift.add(new Mesh(geometry, material(1, isCut ? BackSide : DoubleSide)));
    if (isCut) return;
    const caster = new Mesh(geometry, shaded(bodyVertex, depthFragment, {}, { side: BackSide }));
    caster.layers.set(SHADOW_LAYER);
    shift.add(caster);
  }

  private ground(point: Vector, normal: Vector): Mesh {
    const n = new Vector3(...normal).normalize();
    const tangent = Math.abs(n.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 0, 1);
    tangent.addScaledVector(n, -tangent.dot(n)).normalize();
    const uniforms = {
      ...this.shared,
      center: { value: this.center },
      reach: { value: this.reach },
      cell: { value: gridCell(this.reach) },
      tint: { value: this.groundTint },
      tangent: { value: tangent },
    };
    const material = shaded(bodyVertex, groundFragment, uniforms, { side: DoubleSide, transparent: true, depthWrite: false });
    const mesh = new Mesh(new PlaneGeometry(2, 2), material);
    mesh.scale.setScalar(this.reach * 1.2);
    mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), n);
    // Centered on the point of the plane nearest to the scene.
    const p = new Vector3(...point);
    mesh.position.copy(this.center).addScaledVector(n, p.sub(this.center).dot(n));
    mesh.renderOrder = -2;
    return mesh;
  }
}

function uniformsOf(light: Light, clip: Vector4) {
  return {
    ...light.uniforms,
    clip: { value: clip },
    viewDirection: { value: new Vector3(0, 0, -1) },
    orthographic: { value: false },
  };
}

/** Cell size of the grid, some ten to fifty across the view: 1, 2 or 5 times a power of ten [m]. */
function gridCell(reach: number): number {
  const rough = reach / 60;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((m) => m * power >= rough) ?? 10) * power;
}

async function fetchSurface(body: number): Promise<BufferGeometry> {
  const { header, buffer, offset } = await api.surface(body);
  const geometry = new BufferGeometry();
  const vertices = new Float32Array(buffer, offset, 3 * header.vertices);
  geometry.setAttribute("position", new BufferAttribute(vertices, 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(buffer, offset + vertices.byteLength, 3 * header.triangles), 1));
  return toCreasedNormals(geometry, CREASE);
}
