// A place as one file: a header, and sections behind it; see `site/place_file.py`. What has come is used at once.

const MAGIC = "DONKEYPL";
const FORMAT = 1;
const HEAD = 16; // bytes

/** A fault that a page has a sentence for, under this name. */
export class PageError extends Error {
  constructor(name) {
    super(name);
    this.name = "PageError";
  }
}

/** Bytes on their way. */
export class Arrival {
  constructor() {
    this.parts = [];
    this.count = 0;
    this.isWhole = false;
    this.waiting = [];
  }

  /** @param {Uint8Array | null} part null: there is no more */
  add(part) {
    if (part) { this.parts.push(part); this.count += part.length; } else this.isWhole = true;
    for (const wake of this.waiting.splice(0)) wake();
  }

  /** Nobody will send the rest. */
  cancel() {
    this.isCancelled = true;
    this.add(null);
  }

  /** The bytes [begin, end), as soon as they are there. */
  async take(begin, end) {
    while (this.count < end && !this.isWhole) await new Promise((done) => { this.waiting.push(done); });
    if (this.isCancelled) throw new PageError("another");
    if (this.count < end) throw new PageError("no_place");
    if (this.parts.length > 1) this.parts = [join(this.parts, this.count)];
    return this.parts[0].slice(begin, end);
  }
}

function join(parts, count) {
  const whole = new Uint8Array(count);
  let at = 0;
  for (const part of parts) { whole.set(part, at); at += part.length; }
  return whole;
}

export class PlaceFile {
  /** Read the header. */
  static async open(arrival) {
    const head = await arrival.take(0, HEAD);
    const numbers = new DataView(head.buffer);
    if (String.fromCharCode(...head.subarray(0, 8)) !== MAGIC) throw new PageError("no_place");
    if (numbers.getUint32(8, true) > FORMAT) throw new PageError("newer_place");
    const begin = HEAD + numbers.getUint32(12, true);
    const header = JSON.parse(new TextDecoder().decode(await arrival.take(HEAD, begin)));
    return new PlaceFile(arrival, header, begin);
  }

  constructor(arrival, header, begin) {
    Object.assign(this, { arrival, header, begin });
  }

  /** A section as it lies in the file. */
  take(name) {
    const [begin, length] = this.header.sections[name];
    return this.arrival.take(this.begin + begin, this.begin + begin + length);
  }

  /** A section that was packed. */
  async unpack(name) {
    const stream = new Blob([await this.take(name)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** The model, a GLB file. */
  findModel() { return this.model ??= this.unpack("model"); }

  /** A picture of this name, of the file's own or of the model. */
  async findPicture(name) {
    if (name in this.header.sections) return this.take(name);
    const model = await this.findModel();
    this.pictures ??= listPictures(model);
    return this.pictures.get(name);
  }
}

/** The pictures of a GLB file, by name. */
function listPictures(model) {
  const length = new DataView(model.buffer, model.byteOffset).getUint32(12, true);
  const document = JSON.parse(new TextDecoder().decode(model.subarray(20, 20 + length)));
  const begin = 20 + length + 8;
  return new Map(document.images.map(({ name, bufferView }) => {
    const view = document.bufferViews[bufferView];
    return [name, model.subarray(begin + view.byteOffset, begin + view.byteOffset + view.byteLength)];
  }));
}
