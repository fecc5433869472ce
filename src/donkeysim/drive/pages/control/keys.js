// Driving with keys: held ones drive and let go of they coast, or, as on the original's page, each press is a step.

const INTERVAL_MS = 40;
const LONGEST_PAUSE_MS = 400;
const SECONDS_TO_FULL_THROTTLE = 0.6;
const SECONDS_TO_FULL_LOCK = 0.5;
const SECONDS_TO_STRAIGHT = 0.15;

const AHEAD = { w: 1, i: 1, arrowup: 1, s: -1, k: -1, arrowdown: -1 };
const ASIDE = { d: 1, l: 1, arrowright: 1, a: -1, j: -1, arrowleft: -1 };

/** The key of an event in small letters; of another alphabet the letter in its place. */
export function readKey(event) {
  const place = /^Key([A-Z])$/.exec(event.code);
  return (place && !/^[a-z]$/i.test(event.key) ? place[1] : event.key).toLowerCase();
}

export class Keys {
  /** @param {import("/static/driver.js").Driver} driver */
  constructor(driver) {
    this.driver = driver;
    this.held = new Set();
    this.areHolding = false;
    this.timer = 0;
    this.movedAt = -Infinity;
  }

  drives(key) { return key in AHEAD || key in ASIDE; }

  /** A key is down; `isRepeat`: it has been for a while. */
  press(key, isRepeat) {
    if (this.areHolding) this.step(key);
    else if (!isRepeat) {
      this.held.add(key);
      this.movedAt = performance.now();
      this.move();
      this.timer ||= setInterval(() => this.move(), INTERVAL_MS);
    }
  }

  release(key) {
    if (this.held.delete(key)) this.move();
  }

  /** Nobody can tell any more which keys are down. */
  releaseAll() {
    this.held.clear();
    if (this.timer) this.move();
  }

  /** Something else stops the car: keys that are still down count again when they are pressed anew. */
  forget() {
    this.held.clear();
    this.rest();
  }

  step(key) {
    if (key in AHEAD) this.driver.accelerate(AHEAD[key]);
    else this.driver.steer(ASIDE[key]);
  }

  /** Bring throttle and steering nearer to what is held. */
  move() {
    const { driver, held } = this;
    if (performance.now() - this.movedAt > LONGEST_PAUSE_MS) held.clear(); // the page hung: who knows what is down
    this.movedAt = performance.now();
    const [ahead, aside] = [AHEAD, ASIDE].map((signs) => Math.sign([...held].reduce((sum, key) => sum + (signs[key] ?? 0), 0)));
    const most = driver.maxThrottle;
    const begun = driver.throttle * ahead > 0 ? driver.throttle : 0;
    const throttle = ahead && approach(begun, ahead * most, most * share(SECONDS_TO_FULL_THROTTLE));
    const isTurning = aside && driver.angle * aside >= 0;
    const angle = approach(driver.angle, aside, share(isTurning ? SECONDS_TO_FULL_LOCK : SECONDS_TO_STRAIGHT));
    driver.drive(angle, throttle);
    if (!held.size && !angle) this.rest();
  }

  rest() {
    clearInterval(this.timer);
    this.timer = 0;
  }
}

/** The part of a way that takes so many seconds which is gone in one interval. */
function share(seconds) { return INTERVAL_MS / 1000 / seconds; }

function approach(value, goal, step) {
  const next = value + Math.max(-step, Math.min(step, goal - value));
  return Math.round(next * 1e6) / 1e6;
}
