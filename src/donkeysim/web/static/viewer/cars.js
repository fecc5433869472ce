// The cars of a place: bodies with their paint, wheels that turn and steer, brake lamps, names above them.

import * as three from "./three.js";
import { UNMIRRORED } from "./floor_mirror.js";

const PLATE_HEIGHT = 0.34; // above the car's origin, m
const PLATE_SIZE = 0.055; // of a line, m
const BRAKING = 1.2; // m/s²: from there on brake lamps are lit
const GHOST = 0.38; // how much of a ghost is seen
const CONTACT = 0.55; // how dark it is below a car

/** All cars of one place. */
export class Cars {
  constructor(place) {
    this.place = place;
    this.byId = new Map();
  }

  /** Put cars where they are; those that have left go. */
  show(cars) {
    const known = new Set(cars.map((car) => car.id));
    for (const [id, car] of this.byId) if (!known.has(id)) { car.leave(); this.byId.delete(id); }
    for (const car of cars) {
      let shown = this.byId.get(car.id);
      const looks = JSON.stringify([car.style, car.colour, car.name]);
      if (shown && shown.looks !== looks) { shown.leave(); shown = null; }
      if (!shown) this.byId.set(car.id, shown = new Car(this.place, car, looks));
      shown.pose(car);
    }
  }

  /** Hide one car's name, and its body where somebody sits in it. */
  hide(id, isSeat) {
    for (const [other, car] of this.byId) {
      car.plate.visible = car.hasName && other !== id;
      car.group.visible = !(isSeat && other === id);
    }
  }
}

class Car {
  constructor(place, car, looks) {
    this.looks = looks;
    this.place = place;
    this.group = new three.Group();
    const { body, wheels } = place.dress(car.style);
    this.wheels = wheels.map((wheel) => {
      const steered = new three.Group();
      steered.add(wheel);
      this.group.add(steered);
      return { steered, wheel };
    });
    this.group.add(body);
    this.materials = new Set();
    const paint = new three.Color().setRGB(...car.colour.map((value) => value / 255), three.SRGBColorSpace);
    body.traverse((node) => { if (node.isMesh) node.material = this.paint(node.material, paint); });
    this.group.traverse((node) => { node.castShadow = node.isMesh && !car.is_ghost; });
    if (car.is_ghost) this.group.traverse((node) => { if (node.isMesh) node.material = this.fade(node.material); });
    this.group.add(this.contact = makeContact(body));
    this.hasName = car.name.trim() !== "";
    this.plate = makePlate(car.name);
    this.plate.layers.set(UNMIRRORED);
    place.scene.add(this.group, this.plate);
  }

  paint(material, colour) {
    if (isLamp(material)) return this.lamp ??= this.keep(material.clone());
    if (!material.userData.is_paint) return material;
    const painted = new three.MeshPhysicalMaterial({ map: material.map, side: material.side, roughness: 0.42, clearcoat: 1, clearcoatRoughness: 0.06 });
    painted.color.copy(material.color).multiply(colour);
    painted.userData = material.userData;
    return this.keep(painted);
  }

  /** A material of this car through which one sees. */
  fade(material) {
    this.faded ??= new Map();
    if (!this.faded.has(material)) {
      this.faded.set(material, Object.assign(material.clone(), { transparent: true, opacity: GHOST, depthWrite: false }));
      this.keep(this.faded.get(material));
    }
    return this.faded.get(material);
  }

  keep(material) {
    this.materials.add(material);
    return material;
  }

  pose({ pose: [x, y, z, w, a, b, c], steer, wheels, extensions, braking }) {
    this.group.position.set(x, y, z);
    this.group.quaternion.set(a, b, c, w);
    this.plate.position.set(x, y, z + PLATE_HEIGHT);
    const { wheel_position: anchors, wheel_steered: isSteered, wheel_radius: radius } = this.place.carNotes;
    this.contact.position.z = Math.min(...anchors.map((anchor, index) => anchor[2] - extensions[index])) - radius;
    this.wheels.forEach(({ steered, wheel }, index) => {
      const [front, left, up] = anchors[index];
      steered.position.set(front, left, up - extensions[index]);
      steered.rotation.z = isSteered[index] ? steer : 0;
      wheel.rotation.y = wheels[index];
    });
    this.lamp?.color.setRGB(braking > BRAKING ? 1 : 0.3, 0.01, 0.01);
  }

  leave() {
    this.group.removeFromParent();
    this.plate.removeFromParent();
    this.plate.material.map?.dispose();
    this.plate.material.dispose();
    for (const material of this.materials) material.dispose();
  }
}

/** The shade under a body, where no light from the sky comes to. */
function makeContact(body) {
  const box = measure(body);
  const size = 128;
  const image = new ImageData(size, size);
  for (let row = 0; row < size; row++) for (let column = 0; column < size; column++) {
    const [x, y] = [column, row].map((at) => Math.max(0, Math.abs((at + 0.5) / size - 0.5) * 2 - 0.55) / 0.45);
    image.data[4 * (row * size + column) + 3] = 255 * CONTACT * Math.max(0, 1 - Math.hypot(x, y)) ** 1.6;
  }
  const material = new three.MeshBasicMaterial({ map: new three.CanvasTexture(image), transparent: true, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -4, polygonOffsetUnits: -8 });
  material.userData = { segment: "none" };
  const shade = new three.Mesh(new three.PlaneGeometry(1.5 * box.size.x, 1.7 * box.size.y), material);
  shade.position.set(box.centre.x, box.centre.y, 0);
  shade.renderOrder = 2;
  return shade;
}

/** Whether this is the glass of rear lamps: nothing else of a body is as red, whatever its paint. */
function isLamp({ color, userData }) { return !userData.is_paint && color.r > 0.3 && color.g < 0.05 && color.b < 0.05; }

function measure(body) {
  const low = new three.Vector3(Infinity, Infinity, Infinity);
  const high = low.clone().negate();
  body.traverse((node) => {
    if (!node.isMesh) return;
    node.geometry.computeBoundingBox();
    low.min(node.geometry.boundingBox.min);
    high.max(node.geometry.boundingBox.max);
  });
  return { low, size: high.clone().sub(low), centre: high.clone().add(low).multiplyScalar(0.5) };
}

/** A car's name above it, always facing the eye. */
function makePlate(name) {
  const lines = name.split("\n").slice(0, 3).map((line) => line.slice(0, 40));
  const canvas = new OffscreenCanvas(8, 8);
  const pen = canvas.getContext("2d");
  const font = "600 44px system-ui, sans-serif";
  pen.font = font;
  canvas.width = Math.ceil(Math.max(8, ...lines.map((line) => pen.measureText(line).width)) + 24);
  canvas.height = 56 * lines.length + 8;
  Object.assign(pen, { font, textAlign: "center", textBaseline: "middle", lineWidth: 8, lineJoin: "round", strokeStyle: "rgb(16 20 24 / 0.75)", fillStyle: "#fff" });
  lines.forEach((line, index) => {
    const at = [canvas.width / 2, 56 * index + 32];
    pen.strokeText(line, ...at);
    pen.fillText(line, ...at);
  });
  const map = new three.CanvasTexture(canvas);
  map.colorSpace = three.SRGBColorSpace;
  const plate = new three.Sprite(new three.SpriteMaterial({ map, transparent: true, depthWrite: false, toneMapped: false, fog: false }));
  plate.material.userData = { segment: "none" };
  plate.scale.set(PLATE_SIZE * canvas.width / 56, PLATE_SIZE * lines.length, 1);
  plate.center.set(0.5, 0);
  return plate;
}
