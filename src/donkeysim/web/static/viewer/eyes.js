// Where the eye is: behind a car, in its seat, above it, around it, beside the track, or on a flight along the road.

import * as three from "./three.js";
import { UNMIRRORED } from "./floor_mirror.js";

const BEHIND = 0.62, ABOVE = 0.32, DOWN = 16 * Math.PI / 180; // as the simulator's own view from behind, m and rad
const FIELD = 60; // degrees, vertical
const TOP_HEIGHT = 3.5;
const CALM = 0.14; // s: the eye behind a car follows its turns so much later
const FLIGHT_SPEED = 0.6, FLIGHT_HEIGHT = 0.7, FLIGHT_AHEAD = 2.5; // m/s, m
const LOWEST = 0.06; // of a free eye above the car's origin, m

/** One eye, for one pane. */
export class Eye {
  constructor() {
    this.camera = new three.PerspectiveCamera(FIELD, 16 / 9, 0.03, 500);
    this.camera.layers.enable(UNMIRRORED);
    this.turn = null;
    this.orbit = null;
    this.before = 0;
  }

  /**
   * Move to where a view is from.
   * @param {string} view "chase", "seat", "top", "orbit", "tv" or "place"; "road": from a seat that nobody sits in
   * @param {object | null} car of a moment
   * @param {{position: number[], rotation: number[], fov: number, aspect: number} | null} seat the car's camera
   */
  look(view, car, seat, place, seconds, share = 0) {
    const passed = Math.min(seconds - this.before, 0.2);
    this.before = seconds;
    if (view !== "orbit") this.release();
    if (view === "road" && seat) this.ride(place.notes, share, seat);
    else if (!car) this.fly(place.notes, seconds);
    else if (view === "seat" && seat) this.sit(car, seat);
    else if (view === "top") this.place([car.pose[0], car.pose[1], car.pose[2] + TOP_HEIGHT], [0, Math.PI / 2, 0]);
    else if (view === "tv" && car.tv) this.place(car.tv.slice(0, 3), car.tv.slice(3, 6), car.tv[6] * 180 / Math.PI);
    else if (view === "orbit") this.circle(car);
    else this.follow(car, passed);
  }

  /** Move to a place and look along roll, pitch and yaw: x forward, pitch down. */
  place([x, y, z], [roll, pitch, yaw], field = FIELD) {
    const turn = new three.Matrix4().makeRotationFromEuler(new three.Euler(roll, pitch, yaw, "ZYX"));
    this.set(new three.Vector3(x, y, z), turn, field);
  }

  /** `turn` has the axes forward, left and up; a camera of three.js has right, up and backward. */
  set(position, turn, field) {
    const [forward, left, up] = [0, 1, 2].map((column) => new three.Vector3().setFromMatrixColumn(turn, column));
    const axes = new three.Matrix4().makeBasis(left.negate(), up, forward.negate());
    this.camera.position.copy(position);
    this.camera.quaternion.setFromRotationMatrix(axes);
    this.camera.fov = field;
  }

  follow(car, passed) {
    const yaw = findYaw(car.pose);
    if (this.turn === null || this.followed !== car.id) this.turn = yaw;
    this.followed = car.id;
    const late = Math.atan2(Math.sin(yaw - this.turn), Math.cos(yaw - this.turn));
    this.turn += late * (1 - Math.exp(-passed / CALM));
    const [x, y, z] = car.pose;
    this.place([x - BEHIND * Math.cos(this.turn), y - BEHIND * Math.sin(this.turn), z + ABOVE], [0, DOWN, this.turn]);
  }

  sit(car, seat) {
    const [x, y, z, w, a, b, c] = car.pose;
    const body = new three.Matrix4().makeRotationFromQuaternion(new three.Quaternion(a, b, c, w));
    const [roll, pitch, yaw] = seat.rotation;
    const mount = new three.Matrix4().makeRotationFromEuler(new three.Euler(roll, pitch, yaw, "ZYX"));
    const at = new three.Vector3(...seat.position).applyMatrix4(body).add(new three.Vector3(x, y, z));
    // Where the pane is narrower than the camera's own picture, all of its width is shown.
    const tangent = Math.tan(seat.fov / 2) * Math.max(1, seat.aspect / this.camera.aspect);
    this.set(at, body.multiply(mount), 2 * Math.atan(tangent) * 180 / Math.PI);
  }

  /** Let a person turn around the car and come nearer; the eye moves along with it. */
  circle(car) {
    const target = new three.Vector3(car.pose[0], car.pose[1], car.pose[2] + 0.06);
    if (!this.orbit) {
      const yaw = findYaw(car.pose) + 0.6;
      this.camera.fov = FIELD * 0.75;
      this.camera.position.set(target.x - 0.7 * Math.cos(yaw), target.y - 0.7 * Math.sin(yaw), target.z + 0.3);
      this.orbit = new three.OrbitControls(this.camera, this.canvas);
      Object.assign(this.orbit, { enablePan: false, minDistance: 0.22, maxDistance: 12, maxPolarAngle: Math.PI / 2 - 0.02 });
      this.orbit.target.copy(target);
    }
    this.camera.position.add(target.clone().sub(this.orbit.target));
    this.orbit.target.copy(target);
    this.orbit.update();
    this.camera.position.z = Math.max(this.camera.position.z, car.pose[2] + LOWEST);
  }

  /** Sit in a car at a share of the path. */
  ride({ path, is_closed: isClosed }, share, seat) {
    const last = path.length - 1;
    const index = Math.min(Math.floor(share * path.length), last);
    const [here, there] = [path[isClosed ? index : Math.min(index, last - 1)], path[isClosed ? (index + 1) % path.length : Math.min(index + 1, last)]];
    const [x, y, z] = [0, 1, 2].map((axis) => there[axis] - here[axis]);
    const turn = new three.Quaternion().setFromEuler(new three.Euler(0, -Math.atan2(z, Math.hypot(x, y)), Math.atan2(y, x), "ZYX"));
    this.sit({ pose: [...path[index], turn.w, turn.x, turn.y, turn.z] }, seat);
  }

  release() {
    this.orbit?.dispose();
    this.orbit = null;
  }

  fly({ path }, seconds) {
    this.lengths ??= measure(path);
    const total = this.lengths.at(-1);
    const eye = find(path, this.lengths, seconds * FLIGHT_SPEED % total);
    const ahead = find(path, this.lengths, (seconds * FLIGHT_SPEED + FLIGHT_AHEAD) % total);
    const [x, y, z] = [0, 1, 2].map((axis) => ahead[axis] - eye[axis]);
    this.place([eye[0], eye[1], eye[2] + FLIGHT_HEIGHT], [0, Math.atan2(FLIGHT_HEIGHT - z, Math.hypot(x, y)), Math.atan2(y, x)]);
  }
}

function findYaw([, , , w, x, y, z]) { return Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)); }

/** Where each node of a path lies along it, and how long it is, m. */
function measure(path) {
  const lengths = [0];
  path.forEach((node, index) => {
    const next = path[(index + 1) % path.length];
    lengths.push(lengths[index] + Math.hypot(next[0] - node[0], next[1] - node[1], next[2] - node[2]));
  });
  return lengths;
}

function find(path, lengths, along) {
  const index = Math.max(0, lengths.findIndex((length) => length > along) - 1);
  const [first, last] = [path[index], path[(index + 1) % path.length]];
  const share = (along - lengths[index]) / Math.max(lengths[index + 1] - lengths[index], 1e-9);
  return first.map((value, axis) => value + share * (last[axis] - value));
}
