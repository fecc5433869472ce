// Reads ONNX files: just enough of their protocol buffers for the networks that drive donkey cars.

import { PageError } from "./place_file.js";

const ELSEWHERE = 1; // where a tensor's numbers are: in another file
const FLOAT = 1, UINT8 = 2, INT32 = 6, INT64 = 7, DOUBLE = 11; // kinds of numbers

/**
 * Read a model.
 * @returns {{nodes: object[], constants: Map<string, object>, inputs: object[], outputs: string[], header: object}}
 *   tensors are {shape, data}; `header`: what donkeysim wrote into it
 */
export function readOnnx(content) {
  try {
    const model = new Message(new Uint8Array(content));
    const graph = model.message(7);
    const constants = new Map(graph.messages(5).map((tensor) => [tensor.text(8), readTensor(tensor)]));
    const inputs = graph.messages(11).filter((value) => !constants.has(value.text(1))).map(readValue);
    const notes = new Map(model.messages(14).map((entry) => [entry.text(1), entry.text(2)]));
    return {
      nodes: graph.messages(1).map(readNode),
      constants,
      inputs,
      outputs: graph.messages(12).map((value) => value.text(1)),
      header: JSON.parse(notes.get("donkeysim") ?? "{}"),
    };
  } catch (error) {
    console.warn(error);
    throw new PageError("no_pilot");
  }
}

function readNode(node) {
  return { inputs: node.texts(1), outputs: node.texts(2), kind: node.text(4), settings: Object.fromEntries(node.messages(5).map(readSetting)) };
}

function readSetting(setting) {
  const kind = setting.number(20);
  const values = { 1: () => setting.float(2), 2: () => setting.number(3), 3: () => setting.text(4), 4: () => readTensor(setting.message(5)),
    6: () => setting.floats(7), 7: () => setting.numbers(8) };
  return [setting.text(1), values[kind]?.()];
}

/** Name and shape of an input, and whether it takes bytes; -1 where a side is free. */
function readValue(value) {
  const tensor = value.message(2).message(1);
  const sides = tensor.message(2).messages(1);
  return { name: value.text(1), hasBytes: tensor.number(1) === UINT8, shape: sides.map((side) => (side.has(1) ? side.number(1) : -1)) };
}

function readTensor(tensor) {
  const { shape, data } = readNumbers(tensor);
  if (data.length !== shape.reduce((product, side) => product * side, 1)) throw new Error("numbers that are not there");
  return { shape, data };
}

function readNumbers(tensor) {
  const shape = tensor.numbers(1), kind = tensor.number(2);
  if (tensor.number(14) === ELSEWHERE) throw new Error("numbers in another file");
  const raw = tensor.has(9) ? tensor.bytes(9).slice().buffer : null;
  if (kind === FLOAT) return { shape, data: raw ? new Float32Array(raw) : Float32Array.from(tensor.floats(4)) };
  if (kind === DOUBLE && raw) return { shape, data: Float32Array.from(new Float64Array(raw)) };
  if (kind === INT64) return { shape, data: raw ? Array.from(new BigInt64Array(raw), Number) : tensor.numbers(7) };
  if (kind === INT32) return { shape, data: raw ? Array.from(new Int32Array(raw)) : tensor.numbers(5) };
  if (kind === UINT8 && raw) return { shape, data: Array.from(new Uint8Array(raw)) };
  throw new Error(`numbers of kind ${kind}`);
}

/** One message: its fields by number. */
class Message {
  constructor(bytes) {
    this.fields = new Map();
    const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    const readNumber = () => {
      let [value, scale, byte] = [0n, 0n, 0];
      do { byte = bytes[at++]; value |= BigInt(byte & 127) << scale; scale += 7n; } while (byte & 128);
      return Number(BigInt.asIntN(64, value));
    };
    while (at < bytes.length) {
      const key = readNumber(), field = key >>> 3;
      let value;
      if ((key & 7) === 0) value = readNumber();
      else if ((key & 7) === 1) { value = numbers.getFloat64(at, true); at += 8; }
      else if ((key & 7) === 5) { value = numbers.getFloat32(at, true); at += 4; }
      else if ((key & 7) === 2) { const length = readNumber(); if (length < 0) throw new Error("a length below 0"); value = bytes.subarray(at, at + length); at += length; }
      else throw new Error(`a field of kind ${key & 7}`);
      if (at > bytes.length) throw new Error("a field that does not end");
      this.fields.set(field, [...(this.fields.get(field) ?? []), value]);
    }
  }

  has(field) { return this.fields.has(field); }
  all(field) { return this.fields.get(field) ?? []; }
  number(field) { return this.all(field)[0] ?? 0; }
  float(field) { return this.number(field); }
  bytes(field) { return this.all(field)[0]; }
  text(field) { return this.texts(field)[0] ?? ""; }
  texts(field) { return this.all(field).map((bytes) => new TextDecoder().decode(bytes)); }
  message(field) { return new Message(this.bytes(field)); }
  messages(field) { return this.all(field).map((bytes) => new Message(bytes)); }

  /** Whole numbers, one by one or packed. */
  numbers(field) {
    return this.all(field).flatMap((value) => {
      if (typeof value === "number") return [value];
      const packed = [];
      for (let at = 0; at < value.length;) {
        let [number, scale, byte] = [0n, 0n, 0];
        do { byte = value[at++]; number |= BigInt(byte & 127) << scale; scale += 7n; } while (byte & 128);
        packed.push(Number(BigInt.asIntN(64, number)));
      }
      return packed;
    });
  }

  floats(field) {
    return this.all(field).flatMap((value) => (typeof value === "number" ? [value] : Array.from(new Float32Array(value.slice().buffer))));
  }
}
