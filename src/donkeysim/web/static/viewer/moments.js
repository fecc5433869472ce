// Where everything is: moments as the server tells them, and what lies between two of them at the screen's own rate.

const LEAP = 0.5; // m; what moves farther from one moment to the next was put elsewhere and has not driven
const KEPT = 6;
const LONGEST_WAY = 0.2; // s
const LATE = 0.15; // of a moment's lateness is forgotten with each one that comes

/** The last moments, told by the server's clock and shown one period later by ours. */
export class Moments {
  constructor() { this.clear(); }

  clear() {
    this.list = [];
    this.offset = null;
  }

  /** Note a moment that has just come; `now`: our clock [s]. */
  add(moment, now) {
    const last = this.newest;
    moment.came = now;
    if (moment.is_still) { this.list = last?.place === moment.place ? [last, moment] : [moment]; return; }
    if (last && (moment.place !== last.place || moment.time < last.time)) this.clear();
    if (last && moment.time === last.time) { this.list[this.list.length - 1] = moment; return; }
    note(this.newest, moment);
    this.list = [...this.list.slice(1 - KEPT), moment];
    const offset = now - moment.time;
    // The quickest way here counts; a network that has become slower is believed slowly.
    this.offset = this.offset === null || offset < this.offset ? offset : this.offset + LATE * (offset - this.offset);
  }

  get newest() { return this.list.at(-1) ?? null; }

  /** What is to be drawn now; null: nothing is known. */
  at(now) {
    const { list } = this;
    if (!list.length) return null;
    if (this.newest.is_still) return this.between(now);
    const shown = now - this.offset - list.at(-1).period;
    let after = list.findIndex((moment) => moment.time >= shown);
    if (after < 0) after = list.length - 1;
    const before = list[Math.max(0, after - 1)];
    const span = list[after].time - before.time;
    return blend(before, list[after], span > 0 ? Math.min(Math.max((shown - before.time) / span, 0), 1) : 1);
  }

  /** Of moments that no clock tells apart, the way from one to the next takes as long as the last one took to come. */
  between(now) {
    const [before, after] = [this.list[0], this.newest];
    const span = Math.min(after.came - before.came, LONGEST_WAY);
    return blend(before, after, span > 0 ? Math.min((now - after.came) / span, 1) : 1);
  }
}

/** Write how fast each car is and how hard it brakes, m/s and m/s². */
function note(before, moment) {
  const former = new Map((before?.cars ?? []).map((car) => [car.id, car]));
  for (const car of moment.cars) {
    const past = former.get(car.id);
    const moved = past ? findDistance(past, car) : LEAP;
    car.speed = moved < LEAP ? moved / (moment.time - before.time) : 0;
    car.braking = moved < LEAP ? (past.speed - car.speed) / (moment.time - before.time) : 0;
  }
}

function findDistance(past, car) { return Math.hypot(...[0, 1, 2].map((axis) => car.pose[axis] - past.pose[axis])); }

/** A moment between two: the later one, with everything on its way to where it is then. */
export function blend(before, after, share) {
  const former = new Map(before.cars.map((car) => [car.id, car]));
  const cars = after.cars.map((car) => {
    const past = former.get(car.id);
    return past ? blendCar(past, car, share) : car;
  });
  const places = new Map(before.props.map(([index, ...pose]) => [index, pose]));
  const props = after.props.map(([index, ...pose]) => [index, ...mixPose(places.get(index) ?? pose, pose, share)]);
  return { ...after, cars, props };
}

/** A car on its way from one moment to another; one that was put elsewhere is there. */
export function blendCar(past, car, share) {
  if (findDistance(past, car) >= LEAP) return car;
  return { ...car,
    pose: mixPose(past.pose, car.pose, share),
    tv: mixAim(past.tv, car.tv, share),
    steer: past.steer + share * (car.steer - past.steer),
    wheels: car.wheels.map((angle, index) => past.wheels[index] + share * (angle - past.wheels[index])),
    extensions: car.extensions.map((length, index) => past.extensions[index] + share * (length - past.extensions[index])) };
}

/** Place, roll, pitch, yaw and field of a camera beside the track, while it is the same one. */
function mixAim(first, last, share) {
  if (!first || !last || [0, 1, 2].some((axis) => first[axis] !== last[axis])) return last;
  return last.map((value, index) => {
    const turn = value - first[index];
    return first[index] + share * (index === 5 ? Math.atan2(Math.sin(turn), Math.cos(turn)) : turn);
  });
}

/** x, y, z and a rotation (w, x, y, z), on the shorter way from one to the other. */
function mixPose(first, last, share) {
  const sign = first[3] * last[3] + first[4] * last[4] + first[5] * last[5] + first[6] * last[6] < 0 ? -1 : 1;
  const mixed = last.map((value, index) => { const from = index < 3 ? first[index] : sign * first[index]; return from + share * (value - from); });
  const norm = Math.hypot(mixed[3], mixed[4], mixed[5], mixed[6]);
  for (let index = 3; index < 7; index++) mixed[index] /= norm;
  return mixed;
}
