// The list of cars. Names come from clients: they are only ever set as text.

import { byId, make, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

const DIRECTION_MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** What a car is called on the page: its name's first line without marks that turn text around, or its number. */
export function nameCar(car) {
  return car.name.replace(DIRECTION_MARKS, "").trim().split("\n")[0].trim() || texts.say("car", { id: car.id });
}

/** A lap time in words. */
export function formatLap(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const minutes = Math.floor(seconds / 60);
  return minutes ? `${minutes}:${(seconds % 60).toFixed(2).padStart(5, "0")}` : seconds.toFixed(2);
}

/** A square in the car's paint. */
export function makeChip(colour) {
  const chip = make("i", "chip");
  paintChip(chip, colour);
  return chip;
}

function paintChip(chip, colour) {
  chip.style.setProperty("--paint", `rgb(${colour.join(" ")})`);
}

export class CarList {
  /** @param {(car: number) => void} onPick called with the car that was chosen */
  constructor(onPick) {
    this.list = byId("cars");
    this.onPick = onPick;
    this.rows = new Map();
  }

  /** Show these cars, the watched one marked and in sight. */
  update(cars, watched) {
    for (const [id, row] of this.rows) {
      if (!cars.some((car) => car.id === id)) { row.item.remove(); this.rows.delete(id); }
    }
    cars.forEach((car, index) => {
      const row = this.rows.get(car.id) ?? this.add(car);
      if (this.list.children[index] !== row.item) this.list.insertBefore(row.item, this.list.children[index] ?? null);
      this.fill(row, car, car.id === watched);
    });
    if (watched !== this.watched) this.scrollTo(this.rows.get(watched)?.item);
    this.watched = watched;
    byId("no-cars").hidden = cars.length > 0;
    byId("car-head").hidden = cars.length === 0;
    setText(byId("cars-title"), cars.length ? texts.say("cars_counted", { count: cars.length }) : texts.say("cars"));
  }

  scrollTo(item) {
    if (!item) return;
    const top = item.offsetTop - this.list.offsetTop;
    const lowest = top + item.offsetHeight - this.list.clientHeight;
    this.list.scrollTop = Math.min(Math.max(this.list.scrollTop, lowest), top);
  }

  add(car) {
    const row = { chip: makeChip(car.colour), name: make("bdi"), badge: make("span", "badge") };
    row.label = make("span", "car-name", "", row.chip, row.name, row.badge);
    [row.lap, row.last, row.best] = [make("span"), make("span"), make("span")];
    row.button = make("button", "car", "", row.label, row.lap, row.last, row.best);
    row.button.type = "button";
    row.button.addEventListener("click", () => this.onPick(car.id));
    row.item = make("li", "", "", row.button);
    this.list.append(row.item);
    this.rows.set(car.id, row);
    return row;
  }

  fill(row, car, isWatched) {
    paintChip(row.chip, car.colour);
    setText(row.name, nameCar(car));
    row.label.classList.toggle("unnamed", !car.name.trim());
    row.badge.hidden = !car.is_pace_car;
    setText(row.badge, texts.say("auto"));
    row.badge.title = texts.say("auto_title");
    row.button.title = `${car.name.trim() || nameCar(car)}, ${car.style}`;
    row.button.setAttribute("aria-pressed", String(isWatched));
    setText(row.lap, car.lap ? String(car.lap) : "–");
    setText(row.last, formatLap(car.last_lap));
    setText(row.best, formatLap(car.best_lap));
  }
}
