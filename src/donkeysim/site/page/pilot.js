// A network that drives: what it is shown, and what its numbers mean.

import { Network, transpose } from "./network.js";
import { readOnnx } from "./onnx.js";
import { PageError } from "./place_file.js";

const GREY = [19595, 38470, 7471]; // of 65536, ITU-R BT.601

export class Pilot {
  /**
   * @param {ArrayBuffer} content an ONNX file
   * @param {import("./machine.js").Machine} machine where it drives
   */
  constructor(content, machine) {
    const model = readOnnx(content);
    const { car } = machine.header;
    const [picture, ...others] = model.inputs;
    const [width, height] = car.picture;
    const sides = picture?.shape.slice(1) ?? [];
    const isFirst = sides.length === 3 && ![1, 3].includes(sides[2]); // files of PyTorch have the channels first
    const [rows, columns, channels] = isFirst ? [sides[1], sides[2], sides[0]] : sides;
    const isFit = sides.length === 3 && rows === height && columns === width && (channels === 3 || channels === 1);
    if (sides.length === 4) throw new PageError("pilot_inputs"); // several pictures
    if (!isFit) throw new PageError("pilot_picture");
    if (others.length > 1 || (others.length && model.header.kind !== "memory")) throw new PageError("pilot_inputs");
    if (model.header.transformations?.length || model.header.post_transformations?.length) throw new PageError("pilot_transformations");
    Object.assign(this, { isGrey: channels === 1, isFirst, hasBytes: picture.hasBytes, name: picture.name });
    this.shape = [1, rows, columns, channels];
    this.memory = others[0]?.name;
    this.length = (others[0]?.shape[1] ?? 0) / 2;
    this.range = model.header.throttle_range ?? 0.8;
    this.network = new Network(model, machine);
    this.reset();
    this.drive(new Uint8Array(3 * width * height)); // what fails fails now
    this.reset();
  }

  reset() { this.commands = Array.from({ length: this.length }, () => [0, 0]); }

  /** What to do when this is seen: angle and throttle, -1 to 1, + = right and forward. */
  drive(picture) {
    const bytes = this.isGrey ? makeGrey(picture) : picture;
    const seen = { shape: this.shape, data: this.hasBytes ? Float32Array.from(bytes) : Float32Array.from(bytes, (value) => value / 255) };
    const inputs = { [this.name]: this.isFirst ? transpose(seen, [0, 3, 1, 2]) : seen };
    if (this.memory) inputs[this.memory] = { shape: [1, 2 * this.length], data: Float32Array.from(this.commands.flat()) };
    const command = this.decode(this.network.run(inputs).map(({ data: numbers }) => Array.from(numbers)));
    if (command.length !== 2 || !command.every(Number.isFinite)) throw new PageError("no_command");
    if (this.memory) this.commands = [...this.commands.slice(1), command];
    return command.map((value) => Math.max(-1, Math.min(1, value)));
  }

  decode([first, second]) {
    if (second === undefined && first.length === 1) return [first[0], inferThrottle(first[0])];
    if (second === undefined) return first.slice(0, 2);
    if (first.length === 1) return [first[0], second[0]];
    const angle = findMost(first) * 2 / (first.length - 1) - 1;
    return [angle, second.length === 1 ? second[0] : findMost(second) * this.range / second.length];
  }
}

function inferThrottle(angle) {
  const magnitude = (Math.max(-1, Math.min(1, angle)) + 1) / 2;
  return Math.exp(-0.5 * magnitude) - 0.05 * magnitude;
}

function findMost(values) { return values.indexOf(Math.max(...values)); }

function makeGrey(picture) {
  const [red, green, blue] = GREY;
  return Float32Array.from({ length: picture.length / 3 }, (_, at) => (
    (red * picture[3 * at] + green * picture[3 * at + 1] + blue * picture[3 * at + 2] + 0x8000) >>> 16));
}
