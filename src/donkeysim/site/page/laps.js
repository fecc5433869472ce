// Laps: what was driven since the start, the best lap as a ghost, and a lap as a few characters of a link.
//
// A lap is kept as its controls. The simulator is repeatable, so driving them again is the lap, on any machine.

import { EVENTS } from "./machine.js";
import { blendCar } from "./shared/viewer/moments.js";

export const STEPS = 127; // controls have so many steps to each side
const MOST_FRAMES = 20 * 60 * 15; // of a run whose laps are kept

/** Drive controls from the start: where the car was in each frame, and the last lap; null: there was none. */
export function replay(machine, controls) {
  machine.restart();
  const run = new Run();
  for (let frame = 0; frame < controls.length / 2; frame++) {
    machine.step(-controls[2 * frame] / STEPS, controls[2 * frame + 1] / STEPS, 0);
    run.note(controls[2 * frame], controls[2 * frame + 1], machine);
  }
  machine.restart();
  return run.last;
}

/** What has been driven since the start. */
export class Run {
  constructor() { this.clear(); }

  clear() {
    this.controls = []; // of all frames since the start
    this.poses = []; // of those since the lap began
    this.first = 0; // frames before these
    this.begun = null; // of the lap, s
    this.who = null; // has driven in this lap; "several": one after the other
    this.last = null;
  }

  /** Note a frame that has passed and who drove, and return the lap that ended in it, or null. */
  note(angle, throttle, machine, who = "user") {
    this.who = this.who === null || this.who === who ? who : "several";
    if (this.controls.length <= 2 * MOST_FRAMES) this.controls.push(angle, throttle);
    this.poses.push(machine.after);
    let finished = null;
    for (const { time, kind, value } of machine.listEvents()) {
      if (kind === EVENTS.lap && this.begun !== null) finished = this.last = this.keep(value);
      if (kind === EVENTS.crossing || kind === EVENTS.lap) this.begin(time, who);
    }
    return finished;
  }

  /** The lap that has just ended; without controls where too much was driven before. */
  keep(time) {
    const isShort = this.controls.length <= 2 * MOST_FRAMES;
    return { time, who: this.who, poses: this.poses.slice(), begin: this.begun * 20 - this.first, controls: isShort ? Int8Array.from(this.controls) : null };
  }

  begin(time, who) {
    const first = Math.max(Math.floor(time * 20) - 1, 0);
    this.poses.splice(0, first - this.first);
    [this.begun, this.who, this.first] = [time, who, first];
  }
}

/** Where a ghost is so long after its lap began, s; null: it has arrived. */
export function findGhost(lap, seconds) {
  const at = lap.begin + seconds * 20 - 1; // the first pose is that after the first frame
  const index = Math.max(Math.floor(at), 0);
  if (index + 1 >= lap.poses.length) return null;
  return blendCar(lap.poses[index], lap.poses[index + 1], Math.max(at - index, 0));
}

/** A lap as text for a link. */
export async function writeLap(place, controls) {
  const stream = new Blob([controls]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  return `${encodeURIComponent(place)}.${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The place and the controls of a link's lap; null: it is none. */
export async function readLap(text) {
  try {
    const [, place, packed] = /^(.*)\.([^.]*)$/.exec(text);
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const controls = new Int8Array(await new Response(stream).arrayBuffer());
    return controls.length && controls.length % 2 === 0 && controls.length <= 2 * MOST_FRAMES ? { place: decodeURIComponent(place), controls } : null;
  } catch {
    return null;
  }
}
