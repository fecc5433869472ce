// The sky: the place's own panorama, with a sun that dazzles a little, and where it is empty with thin clouds that drift.

import * as three from "./three.js";
import { NOISE } from "./noise.js";

const DISTANCE = 300; // metres; it moves with the eye
const CLOUD_SPEED = 0.004;

const VERTEX = `
  varying vec3 towards;
  void main() {
    towards = position;
    gl_Position = projectionMatrix * viewMatrix * vec4(position + cameraPosition, 1.0);
    gl_Position.z = gl_Position.w * 0.99999;
  }`;

const FRAGMENT = `
  uniform sampler2D panorama; uniform vec3 sun; uniform bool isEmpty; uniform float seconds;
  varying vec3 towards;
  ${NOISE}
  float cloudsAt(vec2 p) {
    float sum = 0.0, weight = 0.5;
    for (int octave = 0; octave < 5; octave++) { sum += weight * noiseAt(p); p = mat2(1.6, 1.2, -1.2, 1.6) * p; weight *= 0.5; }
    return sum;
  }
  void main() {
    vec3 d = normalize(towards);
    vec2 at = vec2(atan(d.y, d.x) / 6.2831853, acos(clamp(d.z, -1.0, 1.0)) / 3.1415927);
    vec3 colour = textureGrad(panorama, at, vec2(0.0), vec2(0.0)).rgb;
    if (isEmpty && d.z > 0.01) {
      vec2 plane = d.xy / (d.z + 0.12);
      float cover = cloudsAt(plane * 0.7 + seconds * ${CLOUD_SPEED});
      float thick = smoothstep(0.52, 0.86, cover) * smoothstep(0.03, 0.3, d.z);
      float lit = 0.86 + 0.14 * smoothstep(0.0, 0.25, cover - cloudsAt(plane * 0.7 + sun.xy * 0.15 + seconds * ${CLOUD_SPEED}));
      colour = mix(colour, vec3(1.0, 0.99, 0.97) * lit, thick * 0.85);
    }
    float near = max(dot(d, sun), 0.0);
    colour += vec3(1.0, 0.9, 0.7) * (0.12 * pow(near, 24.0) + 0.5 * pow(near, 400.0) + 3.0 * smoothstep(0.9994, 0.9998, near));
    gl_FragColor = vec4(colour, 1.0);
    #include <tonemapping_fragment>
    #include <colorspace_fragment>
  }`;

/** A mesh that is the sky wherever the eye is. */
export function makeSky(panorama, sun, isEmpty) {
  panorama.generateMipmaps = false;
  panorama.minFilter = panorama.magFilter;
  const uniforms = { panorama: { value: panorama }, sun: { value: sun }, isEmpty: { value: isEmpty }, seconds: { value: 0 } };
  const material = new three.ShaderMaterial({
    uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: three.BackSide, depthWrite: false, fog: false,
  });
  const sky = new three.Mesh(new three.SphereGeometry(DISTANCE, 48, 24), material);
  sky.frustumCulled = false;
  sky.renderOrder = 1; // after what hides it
  sky.onBeforeRender = () => { uniforms.seconds.value = performance.now() / 1000; };
  return sky;
}
