// The lap chart: a line for each car, its places lap by lap; for who cannot see it, a table of the same numbers.

import { nameCar } from "/pages/cars.js";
import { colours, fitCanvas, make } from "/shared/elements.js";
import { texts } from "/pages/words.js";

const BOTTOM = 8;
const MOST_IN_TABLE = 60; // laps

export class LapChart {
  /** @param {(line: object) => void} onPick called with the line of the tower whose car was clicked */
  constructor(canvas, table, onPick) {
    Object.assign(this, { canvas, table, key: "", lines: [] });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => requestAnimationFrame(() => this.draw()));
    canvas.addEventListener("click", (event) => this.pick(event, onPick));
  }

  /** Show a race; some cars may be marked. */
  update(race, isChosen) {
    const lines = race.tower.map((entry) => ({ entry, name: nameCar({ name: entry.name, id: entry.row + 1 }), isChosen: isChosen(entry), places: race.lap_chart[entry.row] ?? [] }));
    const key = JSON.stringify([texts.code, race.laps, lines.map((line) => [line.name, line.entry.colour, line.entry.status, line.isChosen, line.places])]);
    if (key === this.key) return;
    this.key = key;
    this.lines = lines;
    this.laps = Math.max(race.laps, 1, ...lines.map((line) => line.places.length - 1));
    this.draw();
    this.fillTable();
  }

  draw() {
    const { pen, width, height } = fitCanvas(this.canvas);
    if (width < 50 || !this.lines.length) return;
    const places = Math.max(...this.lines.flatMap((line) => line.places), this.lines.length, 2);
    const letter = parseFloat(getComputedStyle(this.canvas).fontSize); // the style sheet knows how far away people are
    this.top = 6 + 1.1 * letter;
    const gap = (height - this.top - BOTTOM) / places;
    const size = Math.max(8, Math.min(letter, gap * 0.92));
    this.left = 12 + 1.3 * size;
    const nameWidth = Math.min(8.6 * size, width / 3);
    this.column = (lap) => this.left + (lap / this.laps) * (width - this.left - nameWidth - 12);
    this.row = (place) => this.top + (place - 0.5) * gap;
    pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
    this.drawScale(pen, places, height);
    const someone = this.lines.some((line) => line.isChosen);
    for (const line of [...this.lines].sort((a, b) => a.isChosen - b.isChosen)) this.drawLine(pen, line, someone && !line.isChosen, gap, nameWidth);
  }

  drawScale(pen, places, height) {
    const ink = colours();
    pen.fillStyle = ink["text-soft"];
    pen.strokeStyle = ink.line;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (let place = 1; place <= places; place += 1) pen.fillText(String(place), this.left - 9, this.row(place));
    pen.textAlign = "center";
    const step = [1, 2, 5, 10, 20, 50, 100].find((size) => this.laps / size <= 14) ?? 200;
    for (let lap = 0; lap <= this.laps; lap += step) {
      pen.beginPath();
      pen.moveTo(this.column(lap), this.top);
      pen.lineTo(this.column(lap), height - BOTTOM);
      pen.stroke();
      pen.fillText(lap ? String(lap) : texts.say("grid"), this.column(lap), this.top / 2);
    }
  }

  drawLine(pen, line, isDim, gap, nameWidth) {
    const ink = colours();
    const { places, entry } = line;
    if (!places.length) return;
    pen.globalAlpha = isDim ? 0.35 : 1;
    pen.lineJoin = pen.lineCap = "round";
    const thickness = Math.max(2, Math.min(line.isChosen ? 5 : 3.5, gap * 0.45));
    for (const [colour, width] of [[ink["text-soft"], thickness + 1.5], [`rgb(${entry.colour.join(" ")})`, thickness]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.beginPath();
      places.forEach((place, lap) => pen.lineTo(this.column(lap), this.row(place)));
      if (places.length === 1) pen.lineTo(this.column(0) + 0.1, this.row(places[0]));
      pen.stroke();
    }
    const [x, y] = [this.column(places.length - 1), this.row(places.at(-1))];
    pen.fillStyle = ink.text;
    pen.globalAlpha = isDim ? 0.6 : 1;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    const isOut = entry.status.startsWith("did not") || entry.status === "disqualified";
    const name = isOut ? `× ${line.name}` : line.name;
    pen.fillText(shorten(pen, name, nameWidth), x + 9, y);
    pen.globalAlpha = 1;
  }

  pick(event, onPick) {
    if (!this.row) return;
    const near = this.lines
      .filter((line) => line.places.length)
      .map((line) => {
        const lap = Math.min(Math.max(((event.offsetX - this.left) / (this.column(1) - this.left || 1)), 0), line.places.length - 1);
        const [one, other] = [line.places[Math.floor(lap)], line.places[Math.ceil(lap)]];
        return { line, distance: Math.abs(this.row(one + (other - one) * (lap % 1)) - event.offsetY) };
      })
      .sort((a, b) => a.distance - b.distance)[0];
    if (near && near.distance < 14) onPick(near.line.entry);
  }

  /** Of a long race the last laps that were driven. */
  fillTable() {
    const driven = Math.max(0, ...this.lines.map((line) => line.places.length - 1));
    const last = Math.min(Math.max(driven, MOST_IN_TABLE), this.laps);
    const laps = [...Array(last + 1).keys()].slice(Math.max(last - MOST_IN_TABLE, 0));
    const head = make("tr", "", "", makeHead("", "col"), ...laps.map((lap) => makeHead(lap ? texts.say("lap_number", { lap }) : texts.say("grid"), "col")));
    const rows = this.lines.map((line) => make("tr", "", "", makeHead(line.name, "row"), ...laps.map((lap) => make("td", "", String(line.places[lap] ?? "")))));
    this.table.replaceChildren(make("caption", "", texts.say("lap_chart")), make("thead", "", "", head), make("tbody", "", "", ...rows));
  }
}

function makeHead(text, scope) {
  const head = make("th", "", text);
  head.scope = scope;
  return head;
}

function shorten(pen, text, width) {
  const letters = [...text].slice(0, 40);
  while (letters.length > 1 && pen.measureText(letters.join("")).width > width) letters.pop();
  return letters.length < [...text].length ? `${letters.slice(0, -1).join("")}…` : text;
}
