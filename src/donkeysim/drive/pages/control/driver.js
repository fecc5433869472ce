// What the person at this page wants of the car; knows no document and no network.

const THROTTLE_STEP = 0.05;
const STEERING_STEP = 0.1;
const POST_INTERVAL_MS = 40;

export const MODES = ["user", "local_angle", "local"];

export class Driver {
  /**
   * @param {(message: object) => void} send hands a message to the car
   * @param {() => void} onChange called after every change
   */
  constructor(send, onChange) {
    Object.assign(this, { send, onChange });
    this.angle = 0;
    this.throttle = 0;
    this.isBraked = true;
    this.isDrivenByOthers = false; // by another page, while this one asks for nothing
    this.isConstant = false;
    this.maxThrottle = 0.3;
    this.mode = "user";
    this.isRecording = false;
    this.changedAt = -Infinity;
    this.postedAt = -Infinity;
    this.timer = 0;
  }

  /** Steer and give throttle, both -1 to 1; a throttle ends the brake. */
  drive(angle, throttle) {
    if (throttle) this.isBraked = false;
    this.angle = limit(angle, 1);
    this.throttle = this.isConstant ? this.constantThrottle() : limit(throttle, this.maxThrottle);
    this.post();
  }

  steer(steps) { this.drive(tidy(this.angle + steps * STEERING_STEP), this.throttle); }

  accelerate(steps) { this.drive(this.angle, tidy(this.throttle + steps * THROTTLE_STEP)); }

  /** Stop: the car, the recording and the pilot. */
  brake() {
    this.standStill();
    this.mode = "user";
    this.isRecording = false;
    this.say({ angle: 0, throttle: 0, brake: true, recording: false, drive_mode: "user" });
  }

  toggleBrake() {
    if (!this.isStopped) { this.brake(); return; }
    this.isBraked = false;
    this.throttle = this.isConstant ? this.maxThrottle : 0;
    this.post();
  }

  /** Ask for nothing any more, without a word to the car: it has stopped, or nobody can be told. */
  standStill() {
    this.angle = 0;
    this.throttle = 0;
    this.isBraked = true;
    this.changed();
  }

  setMode(mode) {
    this.mode = mode;
    if (mode !== "user") this.isBraked = false;
    this.say({ drive_mode: mode });
  }

  nextMode() { this.setMode(MODES[(MODES.indexOf(this.mode) + 1) % MODES.length]); }

  setRecording(isRecording) {
    if (this.isRecording === isRecording) return;
    this.isRecording = isRecording;
    this.say({ recording: isRecording });
  }

  setThrottleMode(isConstant) {
    this.isConstant = isConstant;
    this.throttle = isConstant ? this.constantThrottle() : 0;
    this.post();
  }

  setMaxThrottle(maxThrottle) {
    this.maxThrottle = maxThrottle;
    this.drive(this.angle, this.throttle);
  }

  /** Put the car back to its start, at a standstill. */
  reset() {
    this.angle = 0;
    this.throttle = 0;
    if (this.mode === "user") this.isBraked = true;
    this.say({ reset: true, angle: 0, throttle: 0, brake: this.isBraked });
  }

  /** Take over what the car reports, as others drive it too. */
  follow({ mode, recording, user }) {
    if (mode !== this.mode && mode !== "user") this.isBraked = false;
    this.isDrivenByOthers = this.isBraked && user.some(Boolean);
    this.mode = mode;
    this.isRecording = recording;
  }

  /** Whether there is nothing to stop. */
  get isStopped() { return this.isBraked && !this.isDrivenByOthers; }

  constantThrottle() { return this.isBraked ? 0 : this.maxThrottle; }

  changed() {
    this.isDrivenByOthers = false;
    this.changedAt = performance.now();
    this.onChange();
  }

  say(message) {
    this.send(message);
    this.changed();
  }

  /** Send angle and throttle, at once or soon after the last time. */
  post() {
    this.changed();
    if (this.timer) return;
    const rest = POST_INTERVAL_MS - (performance.now() - this.postedAt);
    const go = () => {
      this.timer = 0;
      this.postedAt = performance.now();
      this.send({ angle: this.angle, throttle: this.throttle, brake: this.isBraked });
    };
    if (rest <= 0) go();
    else this.timer = setTimeout(go, rest);
  }
}

function limit(value, most) { return Math.max(-most, Math.min(most, value)); }

function tidy(value) { return Math.round(value * 1e6) / 1e6; }
