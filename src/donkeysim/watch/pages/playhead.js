// Which moment of the race is shown: now, or one of the past that moves on by this page's own clock. Moments in s.

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5];

const FRAME_S = 0.05; // of the simulation
const LEAD_S = 3; // an incident is shown from so long before it
const SLOW = 0.5;

export class Playhead {
  /** @param {() => number} readClock wall time [s] */
  constructor(readClock = () => performance.now() / 1000) {
    this.readClock = readClock;
    this.line = null;
    this.hasNow = true;
    this.at = null; // where the clock was read last; null: now
    this.since = 0;
    this.speed = 1;
    this.isPlaying = true;
  }

  get isLive() { return this.at === null; }

  /** The moment to show; null: now. */
  now() {
    if (this.at === null) return null;
    const passed = this.isPlaying ? this.speed * (this.readClock() - this.since) : 0;
    return Math.round(1000 * this.clamp(this.at + passed)) / 1000;
  }

  clamp(at) { return this.line ? Math.min(Math.max(at, this.line.begin), this.line.end) : at; }

  /**
   * Take what can be shown.
   * @param {{begin: number, end: number} | null} line null: nothing but now
   * @param {boolean} hasNow whether there is a now beside it; a race's file has none, and is shown from its beginning
   */
  update(line, hasNow = true) {
    const isNew = this.line === null && line !== null;
    this.line = line;
    this.hasNow = hasNow;
    if (line === null) this.goLive();
    else if (isNew && !hasNow) this.set(line.begin, 1, true);
    else if (this.at !== null && this.isPlaying && this.now() >= line.end) {
      if (hasNow) this.goLive();
      else this.set(line.end, this.speed, false);
    }
  }

  set(at, speed = this.speed, isPlaying = this.isPlaying) {
    this.at = this.clamp(at);
    this.since = this.readClock();
    this.speed = speed;
    this.isPlaying = isPlaying;
  }

  /** Back to now; where there is none, to the end. */
  goLive() {
    if (this.line && !this.hasNow) this.set(this.line.end, 1, false);
    else { this.at = null; this.speed = 1; this.isPlaying = true; }
  }

  seek(at) { if (this.line) this.set(at); }

  /** From where it is shown now, faster or slower. */
  setSpeed(speed) { if (this.line) this.set(this.now() ?? this.line.end, speed, true); }

  /** Stop, or go on; at the end of what does not go on, from the beginning. */
  toggle() {
    if (!this.line) return;
    const at = this.now() ?? this.line.end;
    if (this.isPlaying) this.set(at, this.speed, false);
    else this.set(!this.hasNow && at >= this.line.end ? this.line.begin : at, this.speed, true);
  }

  /** Stop, and go so many frames on, or back. */
  step(frames) { if (this.line) this.set((this.now() ?? this.line.end) + frames * FRAME_S, this.speed, false); }

  /** Go so many seconds on, or back. */
  skip(seconds) { if (this.line) this.seek((this.now() ?? this.line.end) + seconds); }

  /** Show what happened at a moment, slowly, from a little before it. */
  jump(at) { if (this.line) this.set(at - LEAD_S, SLOW, true); }

  /** Stand still while nobody looks. */
  rest() { if (this.at !== null) { this.at = this.now(); this.since = Infinity; } }

  wake() { if (this.since === Infinity) this.since = this.readClock(); }
}
