// Drives: the simulator's clock, who drives, what is recorded, and what the page is told of it. It knows no document.

import { Expert } from "./expert.js";
import { findGhost, mix, replay, Run, STEPS } from "./laps.js";
import { Machine } from "./machine.js";
import { Pilot } from "./pilot.js";
import { Arrival, PageError } from "./place_file.js";
import { Recorder } from "./recorder.js";

const PERIOD = 50; // ms
const MOST_LATE = 250; // ms; what is missed by more is not made up for
const BEHIND = 0.62, ABOVE = 0.32, DOWN = 16 * Math.PI / 180; // the eye behind the car, m and rad
const HIGH = 3.5; // the eye above it, m
const CALM = 0.14; // s: the eye behind the car follows its turns so much later
const STANDS = 0.05; // m/s
const HIDING = 0.9; // m
const OWN = 1, GHOST = 2; // ids of the cars of a moment
const GHOST_PAINT = [150, 165, 180];

class Drive {
  constructor(machine) {
    this.machine = machine;
    this.run = new Run();
    this.expert = new Expert(machine.header);
    this.pilot = null;
    this.recorder = new Recorder(machine.header.name);
    this.mode = "user";
    [this.angle, this.throttle] = [0, 0];
    this.isRecording = false;
    this.best = null;
    this.shown = null; // a lap of the expert
    this.begun = null; // of the lap, on the world's clock
    this.period = 0;
    const count = machine.header.arrays.prop_position?.shape[0] ?? 0;
    this.props = Array.from({ length: count }, (_, index) => this.readProp(index));
    this.frames = 0;
    this.turn = null;
  }

  /** Let one frame pass. */
  beat() {
    const { machine } = this;
    const picture = machine.drawPilot();
    const shown = addAlpha(picture);
    const [angle, throttle] = this.decide(picture).map((value) => Math.round(STEPS * Math.max(-1, Math.min(1, value))));
    const [width, height] = machine.header.car.picture;
    if (this.isRecording && this.isWorth()) this.recorder.add(shown.slice(), width, height, angle / STEPS, throttle / STEPS);
    machine.step(-angle / STEPS, throttle / STEPS, 0);
    const lap = this.run.note(angle, throttle, machine, this.mode !== "user" && !this.pilot);
    if (lap) this.note(lap);
    this.frames += 1;
    this.beaten = performance.now();
    self.postMessage({ kind: "frame", picture: shown, moment: this.describe(), ...this.tell(angle / STEPS, throttle / STEPS) }, [shown.buffer]);
  }

  /** Angle and throttle of whoever drives. */
  decide(picture) {
    const mine = [this.angle, this.throttle];
    if (this.mode === "user") return mine;
    const [angle, throttle] = this.pilot ? this.pilot.drive(picture) : this.expert.drive(this.machine);
    return [angle, this.mode === "local_angle" ? this.throttle : throttle];
  }

  /** Whether a record of now is worth keeping: the car is driven, on the road. */
  isWorth() { return Math.abs(this.machine.array("forward_speed")[0]) > STANDS && this.machine.array("on_road")[0] !== 0; }

  /** Keep the best lap, and one of the expert's to race against where there is none. */
  note(lap) {
    if (lap.isShown) this.shown = lap;
    else if (!this.best || lap.time < this.best.time) this.best = lap;
    self.postMessage({ kind: "lap", time: lap.time, isBest: this.best === lap, isShown: lap.isShown, controls: lap.controls });
  }

  tell(angle, throttle) {
    const { machine } = this;
    return {
      angle, throttle, mode: this.mode,
      speed: machine.array("forward_speed")[0],
      onRoad: machine.array("on_road")[0] !== 0,
      lapTime: this.run.begun === null ? null : this.frames / 20 - this.run.begun,
      best: this.best?.time ?? null,
      records: this.recorder.count,
      isRecording: this.isRecording,
    };
  }

  findGhost(seconds) {
    const lap = this.best ?? this.shown;
    return lap && this.run.begun !== null ? findGhost(lap, seconds - this.run.begun) : null;
  }

  /** Everything that moves, as pages of moments are told it. */
  describe() {
    const { header, after } = this.machine;
    const ghost = this.findGhost(this.frames / 20);
    const about = { style: header.car.style, name: "", tv: null };
    const cars = [{ ...about, id: OWN, colour: header.car.colour, is_ghost: false, ...after }];
    if (ghost) cars.push({ ...about, id: GHOST, colour: GHOST_PAINT, is_ghost: true, ...ghost });
    const props = this.props.map((first, index) => [index, ...this.readProp(index), first]).filter((row) => row[8].some((value, axis) => Math.abs(value - row[axis + 1]) > 1e-4));
    return {
      time: this.frames / 20, period: 1 / 20, place: header.name, is_still: false, cars, own: OWN, chosen: OWN,
      seats: { [OWN]: header.seat }, props: props.map((row) => row.slice(0, 8)),
    };
  }

  readProp(index) {
    return [...this.machine.array("prop_position").subarray(3 * index, 3 * index + 3), ...this.machine.array("prop_orientation").subarray(4 * index, 4 * index + 4)];
  }

  restart() {
    this.machine.restart();
    this.run.clear();
    this.frames = 0;
    this.turn = null;
    this.expert.reset();
    this.pilot?.reset();
  }

  /** Draw what people see, between the last two frames. */
  draw(view, aspect) {
    const { machine } = this;
    const share = Math.min((performance.now() - (this.beaten ?? 0)) / PERIOD, 1);
    const car = mix(machine.before, machine.after, share);
    const [width, height] = machine.header.car.view;
    const there = this.findGhost((this.frames - 1 + share) / 20);
    const isNear = there && Math.hypot(there.pose[0] - car.pose[0], there.pose[1] - car.pose[1]) < HIDING;
    const ghost = isNear ? null : there; // it is not drawn as one can look through, and would hide the car
    const picture = machine.drawView(car, ghost, this.look(view, car), Math.min(width / height / aspect, 1));
    const shown = addAlpha(picture);
    self.postMessage({ kind: "drawn", picture: shown }, [shown.buffer]);
  }

  /** Where people look from; null: from the car's seat. */
  look(view, { pose: [x, y, z, w, a, b, c] }) {
    if (view === "seat") return null;
    const yaw = Math.atan2(2 * (w * c + a * b), 1 - 2 * (b * b + c * c));
    if (view === "top") return aim([x, y, z + HIGH], Math.PI / 2, 0);
    const now = performance.now() / 1000;
    this.turn ??= yaw;
    const late = Math.atan2(Math.sin(yaw - this.turn), Math.cos(yaw - this.turn));
    this.turn += late * (1 - Math.exp(-Math.min(now - (this.looked ?? now), 0.2) / CALM));
    this.looked = now;
    return aim([x - BEHIND * Math.cos(this.turn), y - BEHIND * Math.sin(this.turn), z + ABOVE], DOWN, this.turn);
  }
}

/** An eye that looks along a pitch (+ = down) and a yaw: the axes are right, down and forward. */
function aim(eye, pitch, yaw) {
  const [cp, sp, cy, sy] = [Math.cos(pitch), Math.sin(pitch), Math.cos(yaw), Math.sin(yaw)];
  return { eye, axes: [sy, -cy, 0, -sp * cy, -sp * sy, -cp, cp * cy, cp * sy, -sp] };
}

/** Red, green, blue and alpha of pixels that have no alpha. */
function addAlpha(picture) {
  const words = new Uint32Array(picture.length / 3);
  for (let at = 0, from = 0; at < words.length; at++, from += 3) {
    words[at] = picture[from] | picture[from + 1] << 8 | picture[from + 2] << 16 | 0xff000000;
  }
  return new Uint8ClampedArray(words.buffer);
}

let drive = null;
let arrival = null; // of the place
let isPaused = false;
let timer = 0;
let due = 0;

/** Beat 20 times a second for as long as the page is seen. */
function go() {
  clearTimeout(timer);
  if (!drive || isPaused) return;
  const now = performance.now();
  if (now - due > MOST_LATE) due = now;
  if (now >= due) {
    drive.beat();
    due += PERIOD;
  }
  timer = setTimeout(go, Math.max(due - performance.now(), 0));
}

const TASKS = {
  async open({ number, module, kernels, lap, best }) {
    clearTimeout(timer);
    drive = null;
    arrival?.cancel(new PageError("another"));
    arrival = Object.assign(new Arrival(), { number });
    const machine = await Machine.open(arrival, module, kernels);
    const next = new Drive(machine);
    const shared = lap ? replay(machine, lap) : null;
    const own = best ? replay(machine, best) : null;
    next.best = shared ?? own;
    drive = next;
    const model = machine.model;
    machine.model = null;
    self.postMessage({ kind: "open", header: machine.header, model, shared: shared?.time ?? null, best: own?.time ?? null }, [model.buffer]);
    due = performance.now();
    go();
  },
  /** The next part of the place that is being opened; null: there is no more. */
  part({ number, bytes }) { if (arrival.number === number) arrival.add(bytes); },
  tell({ message }) {
    if (!drive) return;
    if ("angle" in message) [drive.angle, drive.throttle] = [message.angle, message.throttle];
    if ("drive_mode" in message) drive.mode = message.drive_mode;
    if ("recording" in message) drive.isRecording = message.recording;
    if (message.reset) drive.restart();
  },
  pilot({ content }) {
    if (drive) drive.pilot = content ? new Pilot(content, drive.machine) : null;
    self.postMessage({ kind: "pilot", isNetwork: content !== null });
  },
  pause({ isHidden }) {
    isPaused = isHidden;
    due = performance.now();
    go();
  },
  draw({ view, aspect }) { if (drive && !isPaused) drive.draw(view, aspect); },
  drop({ seconds }) { drive?.recorder.drop(seconds * 20); },
  clear() { if (drive) drive.recorder = new Recorder(drive.machine.header.name); },
  async save() { if (drive?.recorder.count) self.postMessage({ kind: "tub", file: await drive.recorder.save() }); },
};

self.onmessage = async ({ data }) => {
  try {
    await TASKS[data.task](data);
  } catch (error) {
    console.warn(error);
    self.postMessage({ kind: "fault", task: data.task, name: error.name === "PageError" ? error.message : null, layer: error.layer, sentence: String(error) });
  }
};
