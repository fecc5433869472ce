// Runs networks that were read from ONNX files: what is slow by the module's kernels, all else here.

import { PageError } from "./place_file.js";

/** A tensor is {shape, data}. */
export class Network {
  constructor(model, machine) {
    Object.assign(this, model);
    this.machine = machine;
    this.kept = new Map(); // weights in the module's memory, by name
    const missing = this.nodes.find((node) => !(node.kind in LAYERS));
    if (missing) refuse(missing.kind);
    this.room = new Room(machine);
  }

  /** The outputs for some inputs, by name. */
  run(inputs) {
    const values = new Map([...this.constants, ...Object.entries(inputs)]);
    this.room.empty();
    for (const node of this.nodes) {
      const given = node.inputs.map((name) => (name ? values.get(name) : undefined));
      values.set(node.outputs[0], LAYERS[node.kind](given, node.settings, this, node));
    }
    return this.outputs.map((name) => values.get(name));
  }

  /** Keep weights in the module's memory, made once. */
  keep(name, make) {
    if (!this.kept.has(name)) {
      const { shape, data } = make();
      const at = this.machine.allocate(4 * data.length);
      new Float32Array(this.machine.memory.buffer, at, data.length).set(data);
      this.kept.set(name, { at, shape });
    }
    return this.kept.get(name);
  }
}

/** Memory of the module for what lies between layers, and for the arguments of kernels. */
class Room {
  constructor(machine) {
    this.machine = machine;
    this.size = 0;
    this.block = machine.allocate(512);
    this.empty();
  }

  empty() { this.used = 0; }

  take(count) {
    const size = Math.ceil(4 * count / 64) * 64;
    if (this.used + size > this.size) {
      this.size = Math.max(2 * this.size, this.used + size, 1 << 20);
      [this.at, this.used] = [this.machine.allocate(this.size), 0];
    }
    const at = this.at + this.used;
    this.used += size;
    return at;
  }

  put(data) {
    const at = this.take(data.length);
    new Float32Array(this.machine.memory.buffer, at, data.length).set(data);
    return at;
  }

  /** Run a kernel; arguments are whole numbers and arrays {at, shape} of 32-bit floats. */
  run(kernel, ...values) {
    const words = values.flatMap((value) => (typeof value === "number" ? [value] : describe(value)));
    new BigInt64Array(this.machine.memory.buffer, this.block, words.length).set(words.map(BigInt));
    this.machine.run(kernel, this.block);
  }
}

/** An array as kernels are given it, see `site/memory.py`. */
function describe({ at, shape }) {
  const strides = shape.map((_, axis) => 4 * count(shape.slice(axis + 1)));
  return [0, 0, count(shape), 4, at, ...shape, ...strides];
}

/** Say that pages cannot run a layer, or not as this network wants it. */
function refuse(layer) { throw Object.assign(new PageError("no_layer"), { layer }); }

const count = (shape) => shape.reduce((product, side) => product * side, 1);
const each = (change) => ([{ shape, data }]) => ({ shape, data: Float32Array.from(data, change) });

const LAYERS = {
  Identity: ([value]) => value,
  Cast: ([{ shape, data }]) => ({ shape, data: Float32Array.from(data) }),
  Dropout: ([value]) => value,
  Constant: (_, { value }) => value,
  Relu: each((value) => Math.max(value, 0)),
  LeakyRelu: ([value], { alpha = 0.01 }) => each((one) => (one < 0 ? alpha * one : one))([value]),
  Elu: ([value], { alpha = 1 }) => each((one) => (one < 0 ? alpha * Math.expm1(one) : one))([value]),
  Tanh: each(Math.tanh),
  Sigmoid: each((value) => 1 / (1 + Math.exp(-value))),
  HardSigmoid: ([value], { alpha = 0.2, beta = 0.5 }) => each((one) => Math.min(Math.max(alpha * one + beta, 0), 1))([value]),
  Softmax: ([{ shape, data }], { axis = -1 }) => {
    if (count(shape.slice(0, -1)) !== 1 || (axis !== -1 && axis !== shape.length - 1)) refuse("Softmax");
    const most = Math.max(...data), powers = data.map((value) => Math.exp(value - most)); // of one row: pictures come one by one
    const sum = powers.reduce((total, value) => total + value, 0);
    return { shape, data: powers.map((value) => value / sum) };
  },
  Add: (pair) => combine(pair, (one, other) => one + other),
  Sub: (pair) => combine(pair, (one, other) => one - other),
  Mul: (pair) => combine(pair, (one, other) => one * other),
  Div: (pair) => combine(pair, (one, other) => one / other),
  Transpose: ([value], { perm }) => transpose(value, perm ?? value.shape.map((_, axis) => value.shape.length - 1 - axis)),
  Reshape: ([value, { data }]) => reshape(value, data.map((side, axis) => (side === 0 ? value.shape[axis] : side))),
  Flatten: ([value], { axis = 1 }) => reshape(value, [count(value.shape.slice(0, axis)), -1]),
  Squeeze: ([value], _, network, node) => reshape(value, dropSides(value, network.constants.get(node.inputs[1])?.data)),
  Concat: (values, { axis }) => concatenate(values, axis),
  Slice: ([value, begins, ends, axes, steps]) => slice(value, begins.data, ends.data, axes?.data, steps?.data),
  Pad: ([value, pads, filling, axes], settings) => {
    if ((settings.mode ?? "constant") !== "constant" || filling?.data[0] || settings.value || axes) refuse("Pad");
    return pad(value, pads?.data ?? settings.pads);
  },
  Clip: ([{ shape, data }, low, high]) => {
    const [least, most] = [low?.data[0] ?? -Infinity, high?.data[0] ?? Infinity];
    return { shape, data: Float32Array.from(data, (value) => Math.min(Math.max(value, least), most)) };
  },
  Conv: convolve,
  Gemm: multiply,
  MatMul: (given, settings, network, node) => multiply([...given, undefined], settings, network, node),
  MaxPool: ([value], settings) => pool(value, settings, true),
  AveragePool: ([value], settings) => pool(value, settings, false),
  GlobalAveragePool: ([{ shape, data }]) => {
    const [, channels, ...sides] = shape, size = count(sides);
    const means = Array.from({ length: channels }, (_, at) => data.subarray(at * size, (at + 1) * size).reduce((sum, one) => sum + one, 0) / size);
    return { shape: [1, channels, ...sides.map(() => 1)], data: Float32Array.from(means) };
  },
  BatchNormalization: ([{ shape, data }, scale, bias, mean, variance], { epsilon = 1e-5 }) => {
    const size = count(shape.slice(2));
    const change = (value, at) => {
      const channel = Math.floor(at / size) % shape[1];
      return (value - mean.data[channel]) / Math.sqrt(variance.data[channel] + epsilon) * scale.data[channel] + bias.data[channel];
    };
    return { shape, data: data.map(change) };
  },
};

function reshape({ shape, data }, sides) {
  const known = count(sides.filter((side) => side !== -1));
  return { shape: sides.map((side) => (side === -1 ? count(shape) / known : side)), data };
}

function dropSides({ shape }, axes) {
  const dropped = axes?.map((axis) => (axis < 0 ? axis + shape.length : axis));
  return shape.filter((side, axis) => (dropped ? !dropped.includes(axis) : side !== 1));
}

/** Two tensors, number by number; a side of one is repeated. */
function combine([one, other], change) {
  const rank = Math.max(one.shape.length, other.shape.length);
  const full = [one, other].map(({ shape }) => [...Array(rank - shape.length).fill(1), ...shape]);
  const shape = full[0].map((side, axis) => Math.max(side, full[1][axis]));
  const strides = full.map((sides) => sides.map((side, axis) => (side === 1 ? 0 : count(sides.slice(axis + 1)))));
  const data = new Float32Array(count(shape));
  for (let at = 0; at < data.length; at++) {
    let rest = at;
    const places = [0, 0];
    for (let axis = rank - 1; axis >= 0; axis--) {
      const index = rest % shape[axis];
      rest = (rest - index) / shape[axis];
      places[0] += index * strides[0][axis];
      places[1] += index * strides[1][axis];
    }
    data[at] = change(one.data[places[0]], other.data[places[1]]);
  }
  return { shape, data };
}

/** A tensor with its axes in another order. */
export function transpose({ shape, data }, order) {
  const sides = order.map((axis) => shape[axis]);
  const strides = order.map((axis) => count(shape.slice(axis + 1)));
  const turned = new Float32Array(data.length), last = sides.length - 1;
  const index = sides.map(() => 0);
  for (let at = 0, from = 0; at < turned.length; at += sides[last]) {
    for (let k = 0; k < sides[last]; k++) turned[at + k] = data[from + k * strides[last]];
    for (let axis = last - 1; axis >= 0; axis--) {
      index[axis] += 1;
      from += strides[axis];
      if (index[axis] < sides[axis]) break;
      from -= strides[axis] * sides[axis];
      index[axis] = 0;
    }
  }
  return { shape: sides, data: turned };
}

function concatenate(values, axis) {
  const at = axis < 0 ? axis + values[0].shape.length : axis;
  const outer = count(values[0].shape.slice(0, at));
  const shape = values[0].shape.map((side, index) => (index === at ? values.reduce((sum, value) => sum + value.shape[at], 0) : side));
  const data = new Float32Array(count(shape));
  let begin = 0;
  for (let row = 0; row < outer; row++) {
    for (const value of values) {
      const size = value.data.length / outer;
      data.set(value.data.slice(row * size, (row + 1) * size), begin);
      begin += size;
    }
  }
  return { shape, data };
}

function slice(value, begins, ends, axes = begins.map((_, axis) => axis), steps = begins.map(() => 1)) {
  if (steps.some((step) => step !== 1)) refuse("Slice");
  return axes.reduce((part, axis, index) => {
    const at = axis < 0 ? axis + part.shape.length : axis, side = part.shape[at];
    const place = (number) => Math.min(Math.max(number < 0 ? number + side : number, 0), side);
    const [begin, end] = [place(begins[index]), place(ends[index])];
    const [outer, inner] = [count(part.shape.slice(0, at)), count(part.shape.slice(at + 1))];
    const data = new Float32Array(outer * (end - begin) * inner);
    for (let row = 0; row < outer; row++) {
      data.set(part.data.slice((row * side + begin) * inner, (row * side + end) * inner), row * (end - begin) * inner);
    }
    return { shape: part.shape.map((one, index2) => (index2 === at ? end - begin : one)), data };
  }, value);
}

/** Zeros around a tensor; `pads`: before each axis, then behind each. */
function pad(value, pads) {
  const rank = value.shape.length;
  return value.shape.reduce((part, _, axis) => {
    const border = (width) => ({ shape: part.shape.map((side, at) => (at === axis ? width : side)), data: new Float32Array(count(part.shape) / part.shape[axis] * width) });
    const parts = [border(pads[axis]), part, border(pads[rank + axis])].filter((one) => one.data.length);
    return parts.length > 1 ? concatenate(parts, axis) : part;
  }, value);
}

/** Zeros around a picture as a layer's settings say; `field`: how much the layer looks at. */
function padPicture(value, settings, field, steps) {
  const pads = settings.pads ?? [0, 0, 0, 0];
  const automatic = settings.auto_pad ?? "NOTSET";
  if (automatic.startsWith("SAME")) {
    const missing = [0, 1].map((axis) => {
      const side = value.shape[2 + axis];
      return Math.max((Math.ceil(side / steps[axis]) - 1) * steps[axis] + field[axis] - side, 0);
    });
    const first = missing.map((width) => (automatic === "SAME_LOWER" ? Math.ceil(width / 2) : Math.floor(width / 2)));
    return pad(value, [0, 0, ...first, 0, 0, ...missing.map((width, axis) => width - first[axis])]);
  }
  return pads.some((width) => width) ? pad(value, [0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3]]) : value;
}

function convolve([value, weight, bias], settings, network, node) {
  const { strides = [1, 1], dilations = [1, 1], group = 1 } = settings;
  if (value.shape.length !== 4 || group !== 1 || dilations.some((step) => step !== 1)) refuse(node.kind);
  const kept = network.keep(node.inputs[1], () => transpose(weight, [2, 3, 1, 0]));
  const offset = network.keep(node.inputs[2] || `${node.outputs[0]} bias`, () => bias ?? { shape: [weight.shape[0]], data: new Float32Array(weight.shape[0]) });
  const { shape, data } = transpose(padPicture(value, settings, weight.shape.slice(2), strides), [0, 2, 3, 1]);
  const source = { at: network.room.put(data), shape: shape.slice(1) };
  const sides = [0, 1].map((axis) => Math.floor((shape[1 + axis] - kept.shape[axis]) / strides[axis]) + 1);
  const target = { shape: [...sides, kept.shape[3]] };
  target.at = network.room.take(count(target.shape));
  network.room.run("convolve", source, kept, offset, ...strides, target);
  const result = new Float32Array(network.machine.memory.buffer, target.at, count(target.shape)).slice();
  return transpose({ shape: [1, ...target.shape], data: result }, [0, 3, 1, 2]);
}

function multiply([value, weight, bias], { transB = 0, alpha = 1, beta = 1 }, network, node) {
  if (!weight || alpha !== 1 || beta !== 1 || count(value.shape.slice(0, -1)) !== 1) refuse(node.kind);
  const kept = network.keep(node.inputs[1], () => (transB ? transpose(weight, [1, 0]) : weight));
  const width = kept.shape.at(-1);
  const offset = network.keep(node.inputs[2] || `${node.outputs[0]} bias`, () => (bias ? { shape: [width], data: bias.data } : { shape: [width], data: new Float32Array(width) }));
  const source = { at: network.room.put(value.data), shape: [value.data.length] };
  const target = { at: network.room.take(width), shape: [width] };
  network.room.run("multiply", source, kept, { ...offset, shape: [width] }, target);
  return { shape: [...value.shape.slice(0, -1), width], data: new Float32Array(network.machine.memory.buffer, target.at, width).slice() };
}

function pool(value, settings, isMost) {
  const field = settings.kernel_shape, steps = settings.strides ?? field.map(() => 1);
  const [, channels, height, width] = value.shape;
  const before = settings.pads ?? [0, 0, 0, 0];
  if (before.some((side) => side) || (settings.auto_pad ?? "NOTSET").startsWith("SAME") || settings.ceil_mode) refuse("Pool");
  const [rows, columns] = [[height, 0], [width, 1]].map(([side, axis]) => Math.floor((side - field[axis]) / steps[axis]) + 1);
  const data = new Float32Array(channels * rows * columns);
  for (let channel = 0, at = 0; channel < channels; channel++) {
    for (let y = 0; y < rows; y++) {
      for (let x = 0; x < columns; x++, at++) {
        let total = isMost ? -Infinity : 0;
        for (let i = 0; i < field[0]; i++) {
          for (let j = 0; j < field[1]; j++) {
            const one = value.data[(channel * height + y * steps[0] + i) * width + x * steps[1] + j];
            total = isMost ? Math.max(total, one) : total + one;
          }
        }
        data[at] = isMost ? total : total / (field[0] * field[1]);
      }
    }
  }
  return { shape: [1, channels, rows, columns], data };
}
