// The simulator in a page: compiled kernels, their memory, and the order in which they are called.
//
// Kernels and places are those of every other donkeysim; what stands here is what `Simulator.step` and
// `Renderer.render_group` do around them.

import { PageError, PlaceFile } from "./place_file.js";
import { decodePicture, makeHoledLevels, makeLevels, makeSkyFace } from "./texels.js";

const PAGE = 65536; // bytes
const FOG_FREE_HEIGHT = 3; // m; eyes higher than this look through thinner fog
const ARRAYS = {
  float64: Float64Array, float32: Float32Array, int64: BigInt64Array, int32: Int32Array, uint32: Uint32Array, uint8: Uint8Array,
};
const FOCAL = 0, FOG = 5; // columns of a lens
export const EVENTS = { crossing: 0, lap: 1, hit: 4, left: 5, back: 6 };

export class Machine {
  /**
   * Make a place ready to be driven in.
   * @param {import("./place_file.js").Arrival} arrival the place's file, which may be on its way
   * @param {WebAssembly.Module} module the kernels
   * @param {string} kernels the name of that module
   */
  static async open(arrival, module, kernels) {
    const place = await PlaceFile.open(arrival);
    if (place.header.kernels !== kernels) throw new PageError("other_place");
    const machine = new Machine(place, module);
    await machine.fill();
    return machine;
  }

  constructor(place, module) {
    this.place = place;
    this.header = place.header;
    this.end = this.header.size + 64; // of what is used
    this.memory = new WebAssembly.Memory({ initial: Math.ceil(this.end / PAGE) + 1 });
    this.kernels = new WebAssembly.Instance(module, { env: { memory: this.memory } }).exports;
    this.views = new Map();
  }

  /** Write everything that does not begin as zero. */
  async fill() {
    const memory = await this.place.unpack("memory");
    const bytes = new Uint8Array(this.memory.buffer);
    let begin = 0;
    for (const [at, length] of this.header.parts) {
      bytes.set(memory.subarray(begin, begin + length), at);
      begin += length;
    }
    this.beginning = this.header.changing.map(([at, length]) => bytes.slice(at, at + length));
    const pictures = new Map();
    for (const { picture } of this.header.textures) {
      if (!pictures.has(picture)) pictures.set(picture, this.place.findPicture(picture).then(decodePicture));
    }
    await Promise.all(this.header.textures.map(async (texture) => this.fillTexture(texture, await pictures.get(texture.picture))));
    this.model = await this.place.findModel();
    this.remember();
    this.remember();
  }

  async fillTexture(texture, given) {
    const picture = texture.face === undefined ? given : makeSkyFace(given, texture.face, texture.width);
    const levels = texture.alpha ? makeHoledLevels(picture, await this.place.unpack(texture.alpha)) : makeLevels(picture);
    for (const at of texture.levels) {
      const { value } = levels.next();
      new Uint8Array(this.memory.buffer, at, value.length).set(value);
    }
  }

  /** Numbers by name, see `Header.arrays`. */
  array(name) {
    let view = this.views.get(name);
    if (!view || view.buffer !== this.memory.buffer) {
      const { at, type, shape } = this.header.arrays[name];
      view = new ARRAYS[type](this.memory.buffer, at, shape.reduce((count, side) => count * side, 1));
      this.views.set(name, view);
    }
    return view;
  }

  /** Give back all room that was asked for since `end` was this. */
  release(end) { this.end = end; }

  /** Room for so many bytes, given back by `release` only; addresses stay, arrays from before must be asked for again. */
  allocate(size) {
    const at = this.end;
    this.end += Math.ceil(size / 64) * 64;
    const missing = Math.ceil((this.end - this.memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.memory.grow(missing);
    return at;
  }

  run(kernel, block) {
    const status = this.kernels[kernel](block);
    if (status !== 0) throw new Error(`the kernel ${kernel} ended with ${status}`);
  }

  call(name) {
    const [kernel, block, counter] = this.header.calls[name];
    if (counter) new BigInt64Array(this.memory.buffer, counter, 1)[0] = 0n;
    this.run(kernel, block);
  }

  /** Put everything back to how it began. */
  restart() {
    const bytes = new Uint8Array(this.memory.buffer);
    this.header.changing.forEach(([at], index) => bytes.set(this.beginning[index], at));
    this.remember();
    this.remember();
  }

  /** Let a frame pass with these controls: -1 to 1, + = left and forward; `brake` 0 to 1. */
  step(steer, throttle, brake) {
    [this.array("steer")[0], this.array("throttle")[0], this.array("brake")[0]] = [steer, throttle, brake];
    this.call("step");
    this.remember();
  }

  /** What happened in the last frame: [{time, kind, value}]. */
  listEvents() {
    const rows = this.array("events.row");
    return Array.from({ length: Number(this.array("events.noted")[0]) }, (_, index) => (
      { time: rows[4 * index], kind: rows[4 * index + 2], value: rows[4 * index + 3] }));
  }

  /** Keep where the car is: what people see lies between the last two. */
  remember() {
    this.before = this.after;
    this.after = this.read();
    this.before ??= this.after;
  }

  read() {
    const take = (name, count) => Array.from(this.array(name).subarray(0, count));
    return {
      pose: [...take("position", 3), ...take("orientation", 4)],
      steer: this.array("steer_angle")[0],
      wheels: take("wheel_angle", 4),
      extensions: take("wheel_extension", 4),
    };
  }

  /** What the pilot's camera sees now: red, green and blue of each pixel, valid until the next call. */
  drawPilot() {
    this.call("place pilot");
    this.call("render pilot");
    return this.array("pilot.picture");
  }

  /**
   * What people see, as `drawPilot`.
   * @param {object} car where it is, as `read` tells it
   * @param {object | null} ghost likewise
   * @param {{eye: number[], axes: number[]} | null} look where from; null: from the seat
   * @param {number} share of the picture's height that is shown: the field of view is that of this part
   */
  drawView(car, ghost, look, share = 1) {
    [car, ghost].forEach((shown, row) => this.show(shown, row));
    const lens = this.array("view.lens");
    const height = this.header.car.view[1];
    lens[FOCAL] = 0.5 * share * height / Math.tan(0.5 * this.header.fields[look ? "chase" : "seat"]);
    lens[FOG] = look ? FOG_FREE_HEIGHT / Math.max(look.eye[2], FOG_FREE_HEIGHT) : 1;
    if (look) {
      this.array("view.eye").set(look.eye);
      this.array("view.axes").set(look.axes);
    } else this.call("place view");
    this.call("render view");
    return this.array("view.picture");
  }

  show(car, row) {
    this.array("moment.present")[row] = car ? 1 : 0;
    if (!car) return;
    this.array("moment.position").set(car.pose.slice(0, 3), 3 * row);
    this.array("moment.orientation").set(car.pose.slice(3), 4 * row);
    this.array("moment.steer_angle")[row] = car.steer;
    this.array("moment.wheel_angle").set(car.wheels, 4 * row);
    this.array("moment.wheel_extension").set(car.extensions, 4 * row);
  }
}
