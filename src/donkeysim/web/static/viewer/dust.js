// Dust that sliding tyres raise: puffs that drift, grow and fade.

import * as three from "./three.js";
import { UNMIRRORED } from "./floor_mirror.js";
import { NOISE } from "./noise.js";

const MOST = 240; // puffs; the oldest go first
const LIFE = 1.1; // s
const SMALL = 0.05, LARGE = 0.34; // across, at its beginning and end, m
const RISE = 0.16; // m/s
const THICK = 0.5; // of a new puff

const VERTEX = `
  attribute float born; uniform float seconds, height; varying float age, kind;
  void main() {
    age = (seconds - born) / ${LIFE.toFixed(2)};
    kind = fract(born * 7.31);
    float away = 6.2831853 * kind;
    vec3 place = position + vec3(0.09 * cos(away), 0.09 * sin(away), ${RISE.toFixed(2)}) * age * ${LIFE.toFixed(2)};
    gl_Position = projectionMatrix * modelViewMatrix * vec4(place, 1.0);
    gl_PointSize = mix(${SMALL.toFixed(2)}, ${LARGE.toFixed(2)}, sqrt(clamp(age, 0.0, 1.0))) * projectionMatrix[1][1] * 0.5 * height / gl_Position.w;
    if (age < 0.0 || age >= 1.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // outside of every picture
  }`;

const FRAGMENT = `
  uniform vec3 colour; varying float age, kind;
  ${NOISE}
  void main() {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float ragged = 0.6 + 0.8 * noiseAt(3.0 * at + 40.0 * kind) * noiseAt(7.0 * at - 20.0 * kind);
    float cover = smoothstep(1.0, 0.0, length(at) / ragged) * ${THICK.toFixed(2)} * (1.0 - age) * (1.0 - age);
    gl_FragColor = vec4(colour, cover);
    #include <tonemapping_fragment>
    #include <colorspace_fragment>
  }`;

export class Dust {
  constructor(place) {
    this.next = 0;
    this.from = new three.BufferAttribute(new Float32Array(3 * MOST), 3).setUsage(three.DynamicDrawUsage);
    this.born = new three.BufferAttribute(new Float32Array(MOST).fill(-LIFE), 1).setUsage(three.DynamicDrawUsage);
    const geometry = new three.BufferGeometry().setAttribute("position", this.from).setAttribute("born", this.born);
    const [red, green, blue] = place.notes.ambient_colour.map((value, index) => (0.55 * value + 0.35 * place.notes.sun_colour[index]));
    this.uniforms = { seconds: { value: 0 }, height: { value: 1 }, colour: { value: new three.Color(red, 0.92 * green, 0.8 * blue) } };
    const material = new three.ShaderMaterial({
      uniforms: this.uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false, fog: false,
    });
    this.points = new three.Points(geometry, material);
    this.points.frustumCulled = false;
    this.points.renderOrder = 3;
    this.points.layers.set(UNMIRRORED);
    this.points.onBeforeRender = (renderer) => {
      this.uniforms.seconds.value = this.findSeconds();
      this.uniforms.height.value = renderer.domElement.height;
    };
    this.began = performance.now();
    place.scene.add(this.points);
  }

  /** Since this was made: numbers of a shader are not fine enough for more. */
  findSeconds() { return (performance.now() - this.began) / 1000; }

  /** Raise a puff at a place. */
  raise(place) {
    place.toArray(this.from.array, 3 * this.next);
    this.born.array[this.next] = this.findSeconds();
    this.next = (this.next + 1) % MOST;
    this.from.needsUpdate = this.born.needsUpdate = true;
  }
}
