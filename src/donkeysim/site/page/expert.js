// A driver that follows the place's line at the speed that was planned for it.

const LOOK = 0.3, LOOK_TIME = 0.3; // m and s: how far ahead it aims
const PULL = 5; // 1/s, acceleration per missing speed
const FAR = 40; // points of the line that are looked through around the last one
const LOST = 0.6; // m from the line: look through all of it
const CAREFUL = 0.8; // m/s, far from the line

export class Expert {
  constructor({ line, is_closed: isClosed, car }) {
    Object.assign(this, { line, isClosed, car });
    this.reset();
  }

  reset() { this.index = null; }

  /** What to do now: angle and throttle, -1 to 1, + = right and forward. */
  drive(machine) {
    const [x, y] = machine.array("position");
    const yaw = machine.array("yaw")[0], speed = machine.array("forward_speed")[0];
    const away = this.locate(x, y);
    const aim = this.find(LOOK + LOOK_TIME * Math.max(speed, 0));
    const [dx, dy] = [aim[0] - x, aim[1] - y];
    const distance = Math.max(Math.hypot(dx, dy), 0.1);
    const turn = wrap(Math.atan2(dy, dx) - yaw);
    const base = this.car.axles[0] + this.car.axles[1];
    const wheel = Math.abs(turn) > 1.6 ? Math.sign(turn) * this.car.steer_limit : Math.atan(2 * base * Math.sin(turn) / distance);
    const angle = -limit(wheel, this.car.steer_limit) / this.car.steer_gain;
    return [limit(angle, 1), this.hold(speed, away)];
  }

  hold(speed, away) {
    const [, , , planned, acceleration] = this.find(Math.max(speed, 0) * 0.05);
    const wanted = away > LOST ? Math.min(planned, CAREFUL) : planned;
    const { mass, loss, force, curve } = this.car;
    const needed = mass * ((wanted === planned ? acceleration : 0) + PULL * (wanted - speed)) + loss * speed;
    return limit(needed / (force * factor(curve, Math.abs(speed))), 1);
  }

  /** Note the point of the line that is nearest, and return how far away it is, m. */
  locate(x, y) {
    const count = this.line.length;
    const measure = (index) => Math.hypot(this.line[index][0] - x, this.line[index][1] - y);
    let best = this.index;
    if (best !== null) {
      const last = this.index;
      for (let step = -FAR; step <= FAR; step++) {
        const index = this.isClosed ? (last + step + count) % count : limitIndex(last + step, count);
        if (measure(index) < measure(best)) best = index;
      }
    }
    if (best === null || measure(best) > LOST) {
      best ??= 0;
      for (let index = 0; index < count; index++) if (measure(index) < measure(best)) best = index;
    }
    this.index = best;
    return measure(best);
  }

  /** The point of the line this far ahead, m. */
  find(ahead) {
    let [index, gone] = [this.index, 0];
    for (let step = 0; step < this.line.length && gone < ahead; step++) {
      const next = this.isClosed ? (index + 1) % this.line.length : Math.min(index + 1, this.line.length - 1);
      gone += Math.hypot(this.line[next][0] - this.line[index][0], this.line[next][1] - this.line[index][1]);
      index = next;
    }
    return this.line[index];
  }
}

/** The motor's share of its torque at a speed: between the curve's rows, each of speed, factor and slope. */
function factor(curve, speed) {
  const after = curve.findIndex(([begin]) => begin > speed);
  if (after === 0) return curve[0][1];
  if (after < 0) return Math.max(curve.at(-1)[1], 0.05);
  const [[begin, first, rise], [end, second, fall]] = [curve[after - 1], curve[after]];
  const span = end - begin, t = (speed - begin) / span, u = 1 - t;
  const value = u * u * (1 + 2 * t) * first + t * t * (3 - 2 * t) * second + span * (u * u * t * rise - t * t * u * fall);
  return Math.max(value, 0.05);
}

function limitIndex(index, count) { return Math.max(0, Math.min(index, count - 1)); }
function limit(value, most) { return Math.max(-most, Math.min(most, value)); }
function wrap(angle) { return Math.atan2(Math.sin(angle), Math.cos(angle)); }
