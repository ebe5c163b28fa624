// The light, and the sun's shadow map. The map is drawn when grains or bodies move, not when the camera does.

import {
  DepthTexture,
  LessEqualCompare,
  LinearFilter,
  Matrix4,
  OrthographicCamera,
  UnsignedIntType,
  Vector3,
  WebGLRenderTarget,
  type Scene,
  type WebGLRenderer,
} from "three";

const SIZE = 1024;
export const SHADOW_LAYER = 1;

export class Light {
  readonly uniforms = {
    sunDirection: { value: new Vector3(-0.62, 0.66, 0.42).normalize() },
    dark: { value: 0 },
    shadowMap: { value: null as DepthTexture | null },
    shadowMatrix: { value: new Matrix4() },
    shadowBias: { value: 0.002 },
    isQuick: { value: false },
  };
  readonly camera = new OrthographicCamera(-1, 1, 1, -1, 0, 4);
  private readonly target: WebGLRenderTarget;
  private isStale = true;

  constructor() {
    const depth = new DepthTexture(SIZE, SIZE, UnsignedIntType);
    depth.compareFunction = LessEqualCompare;
    depth.magFilter = LinearFilter;
    depth.minFilter = LinearFilter;
    this.target = new WebGLRenderTarget(SIZE, SIZE, { depthTexture: depth });
    this.uniforms.shadowMap.value = depth;
    this.camera.layers.set(SHADOW_LAYER);
  }

  /** Pixels of the map per meter. */
  get pixelsPerMeter(): number {
    return SIZE / (this.camera.top - this.camera.bottom);
  }

  /** Covers a sphere [m]; the bias keeps grains of radius `grain` [m] from shadowing themselves. */
  frame(center: Vector3, radius: number, grain: number): void {
    Object.assign(this.camera, { left: -radius, right: radius, top: radius, bottom: -radius, near: 0, far: 4 * radius });
    this.camera.position.copy(center).addScaledVector(this.uniforms.sunDirection.value, 2 * radius);
    this.camera.lookAt(center);
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    const texture = new Matrix4().set(0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 1);
    this.uniforms.shadowMatrix.value.multiplyMatrices(texture, this.camera.projectionMatrix).multiply(this.camera.matrixWorldInverse);
    this.uniforms.shadowBias.value = Math.max(2 * grain, (3 * radius) / SIZE) / (4 * radius);
    this.isStale = true;
  }

  /** Requests a redraw of the map. */
  stale(): void {
    this.isStale = true;
  }

  draw(renderer: WebGLRenderer, scene: Scene): void {
    if (!this.isStale) return;
    this.isStale = false;
    const { shadowMap } = this.uniforms;
    const map = shadowMap.value;
    // A texture cannot be sampled while it is rendered to.
    shadowMap.value = null;
    renderer.setRenderTarget(this.target);
    renderer.clear();
    renderer.render(scene, this.camera);
    renderer.setRenderTarget(null);
    shadowMap.value = map;
  }
}
