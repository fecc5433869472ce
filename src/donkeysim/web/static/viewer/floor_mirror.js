// What a sealed floor mirrors: the place once more, from where the eye's own mirror image is, below the floor.

import * as three from "./three.js";

const SHARE = 0.5; // of a pane's sides
const BLUR = 2; // levels of detail that the floor's roughness takes away
export const UNMIRRORED = 1; // layer of names and marks, which no floor shows

/** For the floor's shader: what it adds to a place of itself. */
export const SHEEN = `
  uniform sampler2D mirrored; uniform mat4 mirrorMatrix; uniform float floorHeight, floorGloss;
  vec3 mirrorAt(vec3 place, vec3 light, float facing, float worn) {
    if (floorGloss <= 0.0 || abs(place.z - floorHeight) > 0.01) return light;
    vec4 at = mirrorMatrix * vec4(place, 1.0);
    float share = floorGloss * (0.05 + 0.7 * pow(1.0 - clamp(facing, 0.0, 1.0), 3.0)) * (1.0 - worn);
    return mix(light, textureLod(mirrored, at.xy / at.w, ${BLUR}.0).rgb, clamp(share, 0.0, 0.7));
  }
`;

/** A level floor's. `uniforms` are those of its shader. */
export class FloorMirror {
  constructor(height, gloss) {
    this.gloss = gloss;
    this.targets = new Map(); // of each camera: panes differ in size
    this.eye = new three.PerspectiveCamera();
    this.matrix = new three.Matrix4();
    this.uniforms = {
      mirrored: { value: null }, mirrorMatrix: { value: this.matrix }, floorHeight: { value: height }, floorGloss: { value: 0 },
    };
  }

  /** Mirror what a camera sees in so many pixels. */
  look(renderer, scene, camera, width, height) {
    const { mirrored, floorHeight, floorGloss } = this.uniforms;
    const target = this.findTarget(camera);
    target.setSize(Math.ceil(SHARE * width), Math.ceil(SHARE * height));
    this.aim(camera, floorHeight.value);
    mirrored.value = null; // nothing may be read that is being written
    floorGloss.value = 0;
    const { autoUpdate } = renderer.shadowMap;
    renderer.shadowMap.autoUpdate = false; // those of the picture before
    renderer.setRenderTarget(target);
    renderer.clear();
    renderer.render(scene, this.eye);
    renderer.setRenderTarget(null);
    renderer.shadowMap.autoUpdate = autoUpdate;
    mirrored.value = target.texture;
    floorGloss.value = this.gloss;
  }

  findTarget(camera) {
    if (!this.targets.has(camera)) {
      const options = { type: three.HalfFloatType, generateMipmaps: true, minFilter: three.LinearMipmapLinearFilter };
      this.targets.set(camera, new three.WebGLRenderTarget(8, 8, options));
    }
    return this.targets.get(camera);
  }

  /** Mirror nothing until the next look. */
  rest() { this.uniforms.floorGloss.value = 0; }

  aim(camera, height) {
    camera.updateMatrixWorld();
    const [up, back] = [1, 2].map((column) => new three.Vector3().setFromMatrixColumn(camera.matrixWorld, column));
    for (const axis of [up, back]) axis.z = -axis.z;
    this.eye.position.copy(camera.position).setZ(2 * height - camera.position.z);
    this.eye.up.copy(up);
    this.eye.lookAt(this.eye.position.clone().sub(back));
    this.eye.updateMatrixWorld();
    this.eye.projectionMatrix.copy(camera.projectionMatrix);
    this.eye.projectionMatrixInverse.copy(camera.projectionMatrixInverse);
    this.matrix.set(0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 1);
    this.matrix.multiply(this.eye.projectionMatrix).multiply(this.eye.matrixWorldInverse);
  }

  dispose() { for (const target of this.targets.values()) target.dispose(); }
}
