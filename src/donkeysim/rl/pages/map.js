// Where episodes ended on a track: marks that fade with the steps that were made since.

import { byId, colours, fitCanvas, setText } from "/shared/elements.js";
import { drawRoad, fitOutline } from "/shared/outline.js";

const MOST_MARKS = 8000;
const LASTING_SHARE = 0.2; // of all steps: after so many a mark has faded to a third
const BANDS = 8; // of age; marks of one do not add up where they lie on each other, so many old ones stay faint
const [FAINTEST, STRONGEST] = [0.12, 0.9];

export class EndMap {
  constructor(texts) {
    this.texts = texts;
    this.clear();
    byId("place").addEventListener("change", () => { this.index = Number(byId("place").value); this.draw(); });
    new ResizeObserver(() => this.draw()).observe(byId("map"));
  }

  clear() {
    this.marks = [];
    this.places = [];
    this.steps = 0;
    this.index = 0;
  }

  /** Offer these tracks, each with its name and outline. */
  setPlaces(places) {
    this.places = places;
    const select = byId("place");
    select.hidden = places.length < 2;
    select.replaceChildren(...places.map(({ name }, index) => new Option(name, index)));
  }

  /** Add marks (after how many steps, index of the track, x, y), and take how many steps there are now. */
  add(rows, steps) {
    for (const [at, place, x, y] of rows) this.marks.push({ at, place, x, y });
    this.marks.splice(0, this.marks.length - MOST_MARKS);
    this.steps = steps;
  }

  draw() {
    const { pen, width, height } = fitCanvas(byId("map"));
    const outline = this.places[this.index]?.outline;
    if (!outline || !width) return;
    const ink = colours();
    const place = fitOutline(outline, width, height);
    drawRoad(pen, outline, place, ink.text);
    const lasting = Math.max(LASTING_SHARE * this.steps, 1);
    const bands = Array.from({ length: BANDS }, () => []);
    let recent = 0;
    for (const mark of this.marks) {
      if (mark.place !== this.index) continue;
      const age = (this.steps - mark.at) / lasting;
      if (age <= 1) recent += 1;
      bands[Math.round((BANDS - 1) * Math.exp(-age))].push(mark);
    }
    pen.fillStyle = ink.danger;
    bands.forEach((marks, band) => drawMarks(pen, marks, place, band / (BANDS - 1)));
    pen.globalAlpha = 1;
    setText(byId("mark-count"), this.texts.say("mark_count", { count: recent.toLocaleString(this.texts.code) }));
  }
}

function drawMarks(pen, marks, place, strength) {
  pen.globalAlpha = FAINTEST + (STRONGEST - FAINTEST) * strength;
  const radius = 2.2 + 1.3 * strength;
  pen.beginPath();
  for (const { x, y } of marks) {
    const [column, row] = place.point(x, y);
    pen.moveTo(column + radius, row);
    pen.arc(column, row, radius, 0, 2 * Math.PI);
  }
  pen.fill();
}
