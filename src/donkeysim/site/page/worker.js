// Drives: the simulator's clock, who drives, what is recorded, and what the page is told of it. It knows no document.

import { Expert } from "./expert.js";
import { findGhost, replay, Run, STEPS } from "./laps.js";
import { Machine } from "./machine.js";
import { Pilot } from "./pilot.js";
import { Arrival } from "./place_file.js";
import { Recorder } from "./recorder.js";
import { blendCar } from "./shared/viewer/moments.js";

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
  /** @param {Map<string, Recorder>} recorders what was recorded, by place: it stays when one drives elsewhere */
  constructor(machine, recorders) {
    this.machine = machine;
    this.run = new Run();
    this.expert = new Expert(machine.header);
    this.pilot = null;
    this.end = machine.end; // of memory without a pilot's
    this.recorders = recorders;
    this.who = "user";
    [this.angle, this.throttle] = [0, 0];
    this.isRecording = false;
    this.best = { user: null, pilot: null, expert: null };
    this.rival = null; // a lap that a link has brought
    const count = machine.header.arrays.prop_position?.shape[0] ?? 0;
    this.props = Array.from({ length: count }, (_, index) => this.readProp(index));
    this.frames = 0;
    this.turn = null;
  }

  get recorder() {
    const { name } = this.machine.header;
    if (!this.recorders.has(name)) this.recorders.set(name, new Recorder(name));
    return this.recorders.get(name);
  }

  /** Let a person or the expert drive, or a network. */
  choose(who, content = null) {
    if (who === "pilot") {
      this.who = "user"; // until the network has shown that it can
      this.machine.release(this.end);
      this.pilot = new Pilot(content, this.machine);
    }
    this.who = who;
  }

  /** Record from now on, or no more; what was saved before does not begin the next tub. */
  record(isRecording) {
    if (isRecording && this.recorder.count && this.recorder.isSaved) this.recorders.delete(this.machine.header.name);
    this.isRecording = isRecording;
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
    const lap = this.run.note(angle, throttle, machine, this.who);
    if (lap) this.note(lap);
    this.frames += 1;
    this.beaten = performance.now();
    self.postMessage({ kind: "frame", picture: shown, moment: this.describe(), ...this.tell(angle / STEPS, throttle / STEPS) }, [shown.buffer]);
  }

  /** Angle and throttle of whoever drives. */
  decide(picture) {
    if (this.who === "user") return [this.angle, this.throttle];
    return this.who === "pilot" ? this.pilot.drive(picture) : this.expert.drive(this.machine);
  }

  /** Whether a record of now is worth keeping: a person or the expert drives, on the road. */
  isWorth() { return this.who !== "pilot" && Math.abs(this.machine.array("forward_speed")[0]) > STANDS && this.machine.array("on_road")[0] !== 0; }

  /** Keep the best lap of each who drives; one that several drove is nobody's. */
  note(lap) {
    const { who, time, controls } = lap;
    const isBest = who in this.best && (!this.best[who] || time < this.best[who].time);
    if (isBest) this.best[who] = lap;
    self.postMessage({ kind: "lap", who, time, isBest, controls });
  }

  tell(angle, throttle) {
    const { machine } = this;
    return {
      angle, throttle, who: this.who,
      speed: machine.array("forward_speed")[0],
      onRoad: machine.array("on_road")[0] !== 0,
      lapTime: this.run.begun === null ? null : this.frames / 20 - this.run.begun,
      best: this.best[this.who]?.time ?? null,
      records: this.recorder.count,
      isSaved: [...this.recorders.values()].every((recorder) => recorder.isSaved),
      isRecording: this.isRecording,
    };
  }

  findGhost(seconds) {
    const lap = this.rival ?? this.best.user ?? this.best.pilot ?? this.best.expert;
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
    const car = blendCar(machine.before, machine.after, share);
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
let arrival = null; // of a place
const recorders = new Map();
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
    try {
      drive.beat();
    } catch (error) {
      drive.choose("user");
      tellFault("pilot", error);
    }
    due += PERIOD;
  }
  timer = setTimeout(go, Math.max(due - performance.now(), 0));
}

function tellFault(task, error, number = null) {
  console.warn(error);
  self.postMessage({ kind: "fault", task, number, name: error.name === "PageError" ? error.message : null, layer: error.layer, sentence: String(error) });
}

const TASKS = {
  async open({ number, module, kernels, lap, best }) {
    arrival?.cancel();
    arrival = Object.assign(new Arrival(), { number });
    const machine = await Machine.open(arrival, module, kernels);
    if (arrival.number !== number) return; // another was asked for meanwhile
    const next = new Drive(machine, recorders);
    next.rival = lap ? replay(machine, lap) : null;
    next.best.user = best ? replay(machine, best) : null;
    drive = next;
    const model = machine.model;
    machine.model = null;
    self.postMessage({ kind: "open", number, header: machine.header, model, rival: next.rival?.time ?? null }, [model.buffer]);
    due = performance.now();
    go();
  },
  /** The next part of the place that is being opened; null: there is no more. */
  part({ number, bytes }) { if (arrival.number === number) arrival.add(bytes); },
  tell({ message }) {
    if (!drive) return;
    if ("angle" in message) [drive.angle, drive.throttle] = [message.angle, message.throttle];
    if ("recording" in message) drive.record(message.recording);
    if (message.reset) drive.restart();
  },
  choose({ who, content }) { drive?.choose(who, content); },
  pause({ isHidden }) {
    isPaused = isHidden;
    due = performance.now();
    go();
  },
  draw({ view, aspect }) {
    if (drive && !isPaused) drive.draw(view, aspect);
    else self.postMessage({ kind: "drawn", picture: null });
  },
  drop({ seconds }) { drive?.recorder.drop(seconds * 20); },
  async save() { if (drive?.recorder.count) self.postMessage({ kind: "tub", name: drive.machine.header.name, file: await drive.recorder.save() }); },
};

self.onmessage = async ({ data }) => {
  try {
    await TASKS[data.task](data);
  } catch (error) {
    if (error.name === "PageError" && error.message === "another") return;
    tellFault(data.task === "choose" ? "pilot" : data.task, error, data.number);
  }
};
