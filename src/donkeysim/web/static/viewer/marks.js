// Skid marks: what the rear wheels leave where a car slides sideways or brakes hard; and under the sky the dust of it.

import * as three from "./three.js";
import { Dust } from "./dust.js";
import { UNMIRRORED } from "./floor_mirror.js";

const MOST = 1500; // pieces; the oldest go first
const WIDTH = 0.026; // of a tyre, m
const SIDEWAYS = 0.22; // m/s: slower, a tyre only works
const BRAKING = 3.5; // m/s²
const LONGEST = 0.3; // of a piece, m: what was put elsewhere has not slid
const ABOVE = 0.0015; // the ground, m

export class Marks {
  constructor(place) {
    this.place = place;
    this.dust = place.isIndoor ? null : new Dust(place);
    this.next = 0;
    this.last = new Map(); // of each car: where its rear wheels were, and whether they slid
    this.corners = new Float32Array(MOST * 12);
    const corner = new three.BufferAttribute(this.corners, 3).setUsage(three.DynamicDrawUsage);
    const geometry = new three.BufferGeometry().setAttribute("position", corner);
    geometry.setIndex(Array.from({ length: MOST }, (_, piece) => [0, 1, 2, 1, 3, 2].map((index) => 4 * piece + index)).flat());
    const material = new three.MeshBasicMaterial({
      color: 0x0c0b0a, transparent: true, opacity: 0.34, depthWrite: false, side: three.DoubleSide,
      polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -4,
    });
    material.userData = { segment: "none" };
    this.mesh = new three.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 1;
    this.mesh.layers.set(UNMIRRORED);
    place.scene.add(this.mesh);
  }

  /** Follow the cars of a moment that has just come. */
  add(moment) {
    for (const car of moment.cars) {
      const wheels = this.findWheels(car);
      const past = this.last.get(car.id);
      const seconds = past ? moment.time - past.time : 0;
      const isSliding = seconds > 0 && this.isSliding(car, past, seconds);
      if (isSliding && past.isSliding) {
        wheels.forEach((wheel, index) => { this.draw(past.wheels[index], wheel); this.dust?.raise(wheel); });
      }
      this.last.set(car.id, { wheels, isSliding, time: moment.time, pose: car.pose });
    }
    for (const id of this.last.keys()) if (!moment.cars.some((car) => car.id === id)) this.last.delete(id);
  }

  isSliding(car, past, seconds) {
    const [dx, dy] = [car.pose[0] - past.pose[0], car.pose[1] - past.pose[1]];
    if (Math.hypot(dx, dy) > LONGEST) return false;
    const [, , , w, x, y, z] = car.pose;
    const [left, ahead] = [2 * (x * y - w * z), 1 - 2 * (x * x + z * z)]; // the body's left, seen from above
    return Math.abs(dx * left + dy * ahead) / seconds > SIDEWAYS || car.braking > BRAKING;
  }

  /** Where the rear tyres touch the ground. */
  findWheels({ pose: [x, y, z, w, a, b, c], extensions }) {
    const turn = new three.Quaternion(a, b, c, w);
    const { wheel_position: anchors, wheel_radius: radius } = this.place.carNotes;
    return [2, 3].map((index) => {
      const [front, left, up] = anchors[index];
      return new three.Vector3(front, left, up - extensions[index] - radius + ABOVE).applyQuaternion(turn).add(new three.Vector3(x, y, z));
    });
  }

  draw(from, to) {
    const across = new three.Vector3(from.y - to.y, to.x - from.x, 0);
    if (across.lengthSq() < 1e-8) return;
    across.setLength(WIDTH / 2);
    const corners = [from.clone().add(across), from.clone().sub(across), to.clone().add(across), to.clone().sub(across)];
    corners.forEach((corner, index) => corner.toArray(this.corners, 12 * this.next + 3 * index));
    this.next = (this.next + 1) % MOST;
    this.mesh.geometry.attributes.position.needsUpdate = true;
  }
}
