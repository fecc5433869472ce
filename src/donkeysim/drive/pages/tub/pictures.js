// Pictures of the tub, fetched in stretches and kept for a while, so that scrubbing and playing stay smooth.

const STRETCH = 32;
const KEPT_STRETCHES = 160;

export class Pictures {
  constructor() {
    this.stretches = new Map();
  }

  /** Forget everything; the tub has changed. */
  clear() { this.stretches.clear(); }

  /** @returns {Promise<ImageBitmap | null>} the picture at a position, null where there is none */
  async get(position) {
    const blobs = await this.fetchStretch(Math.floor(position / STRETCH));
    const blob = blobs[position % STRETCH];
    try {
      return blob ? await createImageBitmap(blob) : null;
    } catch {
      return null; // a broken file
    }
  }

  /** Have the pictures behind a position at hand before they are needed. */
  prepare(position) {
    const stretch = Math.floor(position / STRETCH);
    for (const next of [stretch, stretch + 1, stretch + 2]) this.fetchStretch(next);
  }

  fetchStretch(stretch) {
    const known = this.stretches.get(stretch);
    this.stretches.delete(stretch);
    const found = known ?? this.load(stretch);
    this.stretches.set(stretch, found); // the last asked for is the last to be dropped
    if (this.stretches.size > KEPT_STRETCHES) this.stretches.delete(this.stretches.keys().next().value);
    return found;
  }

  async load(stretch) {
    try {
      const response = await fetch(`/pictures?first=${stretch * STRETCH}&count=${STRETCH}`);
      if (!response.ok) throw new Error(response.statusText);
      return split(await response.arrayBuffer());
    } catch {
      this.stretches.delete(stretch);
      return [];
    }
  }
}

function split(buffer) {
  const view = new DataView(buffer);
  const blobs = [];
  for (let at = 0; at + 4 <= buffer.byteLength;) {
    const length = view.getUint32(at, true);
    at += 4;
    blobs.push(length ? new Blob([new Uint8Array(buffer, at, length)], { type: "image/jpeg" }) : null);
    at += length;
  }
  return blobs;
}
