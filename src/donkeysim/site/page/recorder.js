// Records a drive as a tub, the folder that `donkey train` learns from, and hands it out as a ZIP file.

import { writeZip } from "./zip.js";

const QUALITY = 0.92;
const PER_CATALOG = 1000;
const MOST = 60_000; // records: a ZIP file of this kind holds no more
const INPUTS = { "cam/image_array": "image_array", "user/angle": "float", "user/throttle": "float", "user/mode": "str" };

export class Recorder {
  constructor(place) {
    this.place = place;
    this.records = [];
    this.begun = Date.now();
    this.isSaved = true; // there is nothing to be lost
  }

  get isFull() { return this.count >= MOST; }

  get count() { return this.records.length; }

  /** Add what was seen (red, green, blue, alpha of each pixel) and what was done then. */
  add(pixels, width, height, angle, throttle) {
    if (this.isFull) return;
    this.isSaved = false;
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
    this.records.push({ picture: canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY }), angle, throttle, time: Date.now() });
  }

  /** Forget the last records. */
  drop(count) { this.records.splice(Math.max(this.count - count, 0)); }

  /** The tub in a ZIP file, in a folder `data`. */
  async save() {
    const records = [...this.records];
    this.isSaved = true;
    const session = `${new Date(this.begun).toISOString().slice(2, 10)}_0`;
    const files = [], paths = [];
    const add = (name, lines) => files.push({ name: `data/${name}`, bytes: new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")) });
    for (let first = 0; first < records.length; first += PER_CATALOG) {
      const lines = records.slice(first, first + PER_CATALOG).map((record, index) => JSON.stringify({
        _index: first + index,
        _session_id: session,
        _timestamp_ms: record.time,
        "cam/image_array": nameImage(first + index),
        "user/angle": record.angle,
        "user/mode": "user",
        "user/throttle": record.throttle,
      }));
      const name = `catalog_${first / PER_CATALOG}.catalog`;
      add(name, lines);
      add(`${name}_manifest`, [JSON.stringify({ created_at: this.begun / 1000, line_lengths: lines.map((line) => line.length + 1), path: `${name}_manifest`, start_index: first })]);
      paths.push(name);
    }
    const own = { created_at: this.begun / 1000, sessions: { all_full_ids: [session], last_id: 0, last_full_id: session }, places: [this.place], places_format: 2 };
    add("manifest.json", [Object.keys(INPUTS), Object.values(INPUTS), {}, own,
      { paths, current_index: records.length, max_len: PER_CATALOG, deleted_indexes: [] }].map((line) => JSON.stringify(line)));
    for (const [index, { picture }] of records.entries()) {
      files.push({ name: `data/images/${nameImage(index)}`, bytes: new Uint8Array(await (await picture).arrayBuffer()) });
    }
    return writeZip(files);
  }
}

function nameImage(index) { return `${index}_cam_image_array_.jpg`; }
