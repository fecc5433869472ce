// The scene from above with all cars, drawn from its outline; positions in m, x to the right, y up.

import { nameCar } from "/pages/cars.js";
import { drawTags } from "/pages/map_tags.js";
import { colours, fitCanvas } from "/shared/elements.js";
import { drawRoad, fitOutline, measureOutline } from "/shared/outline.js";

const DELAY_MS = 100;
const LARGEST_NAMED = 6;
const SMALL_LETTER = 12;
const STANDING_S = 2;
const LEAST_WAY_M = 0.05;

export class TrackMap {
  /** @param {(car: number) => void} onPick called with the car that was clicked */
  constructor(canvas, onPick) {
    this.canvas = canvas;
    this.outline = null;
    this.poses = new Map();
    this.stands = new Map();
    this.places = new Map();
    this.race = null;
    this.cars = [];
    this.watched = null;
    this.isOnScreen = true;
    this.isDrawing = false;
    this.place = null;
    canvas.addEventListener("click", (event) => this.pick(event, onPick));
    new IntersectionObserver((entries) => { this.isOnScreen = entries.at(-1).isIntersecting; this.start(); }).observe(canvas);
    document.addEventListener("visibilitychange", () => this.start());
  }

  /** Show this scene; null: nothing. */
  setOutline(outline) {
    this.outline = outline;
    if (outline) {
      const [x0, x1, y0, y1] = measureOutline(outline);
      this.canvas.style.setProperty("--shape", String((x1 - x0) / Math.max(y1 - y0, 1e-6)));
    }
    this.start();
  }

  /** Take the cars' newest places; between two of them they are drawn on the way. */
  update(cars, watched, race = null) {
    const now = performance.now();
    for (const car of cars) {
      const known = this.poses.get(car.id);
      this.poses.set(car.id, { from: known?.to ?? car.pose, to: car.pose, at: now });
    }
    for (const id of this.poses.keys()) if (!cars.some((car) => car.id === id)) this.poses.delete(id);
    this.cars = cars;
    this.watched = watched;
    this.race = race;
    this.places = new Map(race?.tower.map((line, index) => [line.car, { line, index }]) ?? []);
    this.noteStanding();
    this.updatedAt = now;
    this.start();
  }

  /** Find the cars that have not moved for a while, of those that should drive. */
  noteStanding() {
    const isDriving = ["practice", "qualifying", "race"].includes(this.race?.session) && !this.race.is_held;
    if (!isDriving) { this.stands.clear(); return; }
    for (const car of this.cars) {
      const known = this.stands.get(car.id);
      const isStill = known && this.race.at >= known.at && Math.hypot(car.pose[0] - known.x, car.pose[1] - known.y) < LEAST_WAY_M;
      if (!isStill) this.stands.set(car.id, { x: car.pose[0], y: car.pose[1], at: this.race.at });
    }
    for (const id of this.stands.keys()) if (!this.poses.has(id)) this.stands.delete(id);
  }

  isStanding(car) {
    const known = this.stands.get(car.id);
    const { line } = this.places.get(car.id) ?? {};
    return line?.status === "racing" && line.flag === "" && this.race.at - (known?.at ?? this.race.at) > STANDING_S;
  }

  start() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.isDrawing = false;
    if (!this.isOnScreen || document.visibilityState !== "visible") return;
    this.draw();
    if (performance.now() - (this.updatedAt ?? 0) < 2 * DELAY_MS) this.start();
  }

  draw() {
    const { pen, width, height } = fitCanvas(this.canvas);
    if (!this.outline || !width) return;
    this.place = fitOutline(this.outline, width, height);
    drawRoad(pen, this.outline, this.place, colours().danger);
    const ordered = [...this.cars].sort((a, b) => (a.id === this.watched) - (b.id === this.watched));
    // As large as the style sheet says, which knows how far away people are.
    this.letter = this.race ? parseFloat(getComputedStyle(this.canvas).fontSize) : SMALL_LETTER;
    for (const car of ordered) this.drawCar(pen, car, width);
    if (this.race) drawTags(pen, this.listTags(), width, height, this.letter, colours());
  }

  /** A tag for each car in the order of the race, the watched one first. */
  listTags() {
    const tags = this.cars.map((car) => {
      const { line, index } = this.places.get(car.id) ?? { index: Infinity };
      const [column, row] = this.place.point(...this.poseNow(car.id));
      const flag = line?.flag || (this.isStanding(car) ? "yellow" : "");
      return { column, row, index, flag, place: line?.place ?? 0, name: nameCar(car), isWatched: car.id === this.watched };
    });
    return tags.sort((a, b) => b.isWatched - a.isWatched || a.index - b.index);
  }

  drawCar(pen, car, width) {
    const ink = colours();
    const [x, y, yaw] = this.poseNow(car.id);
    const [column, row] = this.place.point(x, y);
    const isWatched = car.id === this.watched;
    pen.save();
    pen.translate(column, row);
    pen.rotate(-yaw);
    pen.scale(this.letter / SMALL_LETTER, this.letter / SMALL_LETTER);
    pen.beginPath();
    pen.moveTo(9, 0); pen.lineTo(-6, 6); pen.lineTo(-3, 0); pen.lineTo(-6, -6); pen.closePath();
    pen.lineJoin = "round";
    for (const [colour, thickness] of [[ink["text-soft"], isWatched ? 7 : 4.5], [isWatched ? ink.accent : ink.surface, isWatched ? 5 : 3]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = thickness;
      pen.stroke();
    }
    pen.fillStyle = `rgb(${car.colour.join(" ")})`;
    pen.fill();
    pen.restore();
    if (!this.race && (isWatched || this.cars.length <= LARGEST_NAMED)) drawName(pen, nameCar(car), column, row, width, ink);
  }

  poseNow(id) {
    const { from, to, at } = this.poses.get(id);
    const share = Math.min((performance.now() - at) / DELAY_MS, 1);
    const jump = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (jump > 1.5) return to;
    const turn = Math.atan2(Math.sin(to[2] - from[2]), Math.cos(to[2] - from[2]));
    return [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]), from[2] + share * turn];
  }

  pick(event, onPick) {
    if (!this.place) return;
    const near = this.cars
      .map((car) => {
        const [column, row] = this.place.point(...this.poseNow(car.id));
        return { id: car.id, distance: Math.hypot(column - event.offsetX, row - event.offsetY) };
      })
      .sort((a, b) => a.distance - b.distance)[0];
    if (near && near.distance < 30) onPick(near.id);
  }
}

function drawName(pen, name, column, row, width, ink) {
  const text = name.slice(0, 18);
  pen.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  const half = pen.measureText(text).width / 2;
  const middle = Math.min(Math.max(column, half + 4), width - half - 4);
  pen.textAlign = "center";
  pen.lineWidth = 4;
  pen.strokeStyle = ink.surface;
  pen.strokeText(text, middle, row - 14);
  pen.fillStyle = ink.text;
  pen.fillText(text, middle, row - 14);
}
