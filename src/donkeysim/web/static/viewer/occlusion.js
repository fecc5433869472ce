// How much of the sky, or of a hall's lamps, the ground sees between what stands on it: found once, from above.

import * as three from "./three.js";

const SIDE = 512; // texels
const REACH = 6; // metres around the path
const HEIGHT = 1.2; // metres above the path; what begins higher leaves the ground its light
const TAPS = 6; // to either side
const NEAR = 0.09, FAR = 0.5; // standard deviations of the two blurs, m

const FILL = "varying vec2 at; void main() { at = uv; gl_Position = vec4(position.xy, 0.0, 1.0); }";

// The first pass takes the map of classes, of which props and cars stand in the way; the second what the first has blurred.
const BLUR = `
  uniform sampler2D picture; uniform vec2 near, far; uniform bool hasClasses; varying vec2 at;
  vec2 take(vec2 p) { vec2 value = texture2D(picture, p).rg; return hasClasses ? vec2(step(3.5 / 255.0, value.r)) : value; }
  void main() {
    vec2 sum = vec2(0.0); float weights = 0.0;
    for (int tap = -${TAPS}; tap <= ${TAPS}; tap++) {
      float away = 2.5 * float(tap) / ${TAPS}.0, weight = exp(-0.5 * away * away);
      sum += weight * vec2(take(at + away * near).r, take(at + away * far).g);
      weights += weight;
    }
    gl_FragColor = vec4(sum / weights, 0.0, 1.0);
  }`;

/** For shaders: the light that is left at a place of the plane. */
export const OPENNESS = `
  uniform sampler2D occlusion; uniform vec4 occlusionBox;
  float opennessAt(vec2 p) {
    vec2 stands = texture2D(occlusion, (p - occlusionBox.xy) / occlusionBox.zw).rg;
    return max(1.0 - 0.5 * stands.r - 0.4 * stands.g, 0.2);
  }
`;

/**
 * Returns what a place's uniforms `occlusion` and `occlusionBox` are to be: how much stands near, and around; and where
 * the map lies: x, y, width and height [m].
 */
export function findOcclusion(renderer, place) {
  const [x, y, z] = [0, 1, 2].map((axis) => place.notes.path.map((node) => node[axis]));
  const [left, low] = [Math.min(...x) - REACH, Math.min(...y) - REACH];
  const [width, height] = [Math.max(...x) + REACH - left, Math.max(...y) + REACH - low];
  const [classes, blurred, map] = [0, 1, 2].map(() => new three.WebGLRenderTarget(SIDE, SIDE, { depthBuffer: true }));
  const eye = new three.OrthographicCamera(-width / 2, width / 2, height / 2, -height / 2, 0, 100);
  eye.position.set(left + width / 2, low + height / 2, Math.max(...z) + HEIGHT);
  place.showClasses(true);
  place.props.forEach((prop) => { prop.visible = false; }); // they may be pushed away
  draw(renderer, classes, place.scene, eye);
  place.props.forEach((prop) => { prop.visible = true; });
  place.showClasses(false);
  const uniforms = { picture: { value: null }, near: { value: null }, far: { value: null }, hasClasses: { value: true } };
  const material = new three.ShaderMaterial({ uniforms, vertexShader: FILL, fragmentShader: BLUR, depthTest: false });
  const sheet = new three.Mesh(new three.PlaneGeometry(2, 2), material);
  sheet.frustumCulled = false;
  const scene = new three.Scene().add(sheet);
  for (const [from, onto, deviations, hasClasses] of [
    [classes, blurred, [[NEAR / width, 0], [FAR / width, 0]], true],
    [blurred, map, [[0, NEAR / height], [0, FAR / height]], false],
  ]) {
    uniforms.picture.value = from.texture;
    [uniforms.near.value, uniforms.far.value] = deviations;
    uniforms.hasClasses.value = hasClasses;
    draw(renderer, onto, scene, eye);
    from.dispose();
  }
  sheet.geometry.dispose();
  material.dispose();
  return { map, box: [left, low, width, height] };
}

function draw(renderer, target, scene, eye) {
  renderer.setRenderTarget(target);
  renderer.clear();
  renderer.render(scene, eye);
  renderer.setRenderTarget(null);
}
