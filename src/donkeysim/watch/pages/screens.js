// The pictures: one, or four side by side; each with a plate that names the car.

import { nameCar } from "/pages/cars.js";
import { tellGap } from "/pages/moments.js";
import { Asking } from "/shared/asking.js";
import { byId, make, setText } from "/shared/elements.js";
import { PicturePane } from "/shared/picture.js";
import { Drawing } from "/shared/viewer/drawing.js";

const INTERVAL_MS = 1000 / 30;
const INSET_INTERVAL_MS = 50;
export const PANE_COUNT = 4;

export class Screens {
  /**
   * @param {() => number | null | undefined} findMoment which moment pictures show
   * @param {(error: string | null) => void} onResult of the first picture
   * @param {() => void} onDrawing told when the browser draws from now on, or the simulator
   * @param {(index: number) => void} onPick called with the pane that was clicked, while there are four
   */
  constructor(findMoment, onResult, onDrawing, onPick) {
    this.findMoment = findMoment;
    this.onPick = onPick;
    this.panes = [this.makePane(byId("picture"), INTERVAL_MS, onResult)];
    const blind = (error) => byId("inset").classList.toggle("blind", error !== null); // not every car has a camera
    this.inset = this.makePane(byId("inset-picture"), INSET_INTERVAL_MS, blind);
    this.boxes = [byId("picture").parentElement];
    this.addPlate(this.boxes[0], 0);
    this.drawing = new Drawing(byId("panes"), byId("drawing"), { findMoment, onResult, onChange: onDrawing });
  }

  makePane(canvas, interval, onResult) {
    const asking = new Asking("/picture", () => pane?.run());
    const pane = new PicturePane(canvas, asking, { interval, onResult, findMoment: this.findMoment });
    return pane;
  }

  get canvas() { return this.panes[0].canvas; }

  addPlate(box, index) {
    const plate = make("button", "plate", "", make("b", "place"), make("i", "paint"), make("bdi"), make("span", "gap"));
    plate.type = "button";
    plate.hidden = true;
    plate.addEventListener("click", () => this.onPick(index));
    box.append(plate);
  }

  /** There are as many panes as ever were needed. */
  grow(count) {
    while (this.panes.length < count) {
      const canvas = make("canvas");
      Object.assign(canvas, { width: 480, height: 270 });
      canvas.setAttribute("role", "img");
      const box = make("div", "pane", "", canvas);
      this.boxes[0].parentElement.append(box);
      this.addPlate(box, this.panes.length);
      this.boxes.push(box);
      this.panes.push(this.makePane(canvas, INTERVAL_MS));
    }
  }

  /**
   * Show these.
   * @param {{view: string, car: number, label: string}[]} wanted one, or `PANE_COUNT`; a car of null: nothing
   * @param {number | null} insetCar whose camera the small picture shows
   * @param {number | null} marked which pane the next car that is chosen goes to, seen also without a car
   */
  show(wanted, insetCar, marked) {
    this.grow(wanted.length);
    byId("panes").classList.toggle("split", wanted.length > 1);
    const isSeen = ({ car }, index) => car !== null || (index === marked && wanted.length > 1);
    byId("panes").dataset.count = wanted.filter(isSeen).length; // fewer cars have larger pictures
    const panes = wanted.map(({ view, car, label }, index) => ({ view, car, label, box: this.boxes[index] }));
    const drawn = this.drawing.show(panes);
    this.panes.forEach((pane, index) => {
      const { view, car, label } = wanted[index] ?? { view: "chase", car: null, label: "" };
      this.boxes[index].hidden = !isSeen({ car }, index);
      this.boxes[index].classList.toggle("empty", car === null);
      const isDrawn = drawn.has(panes[index]);
      this.boxes[index].classList.toggle("seen-through", isDrawn);
      if (pane.canvas.getAttribute("aria-label") !== label) pane.canvas.setAttribute("aria-label", label);
      watch(pane, view === "orbit" ? "chase" : view, isDrawn ? null : car);
    });
    watch(this.inset, "camera", insetCar);
  }

  /** Show nothing. */
  rest() {
    this.drawing.show([]);
    for (const pane of [...this.panes, this.inset]) watch(pane, "chase", null);
  }

  /**
   * Caption the pictures.
   * @param {(object | null)[]} lines of the tower; null: no plate
   * @param {number | null} first row of the tower's first car; null: the race has not begun
   * @param {number | null} marked which pane the next car that is chosen goes to
   */
  caption(lines, first, mode, marked) {
    this.boxes.forEach((box, index) => {
      const line = lines[index] ?? null;
      const plate = box.lastElementChild;
      plate.hidden = line === null;
      box.classList.toggle("marked", marked === index);
      if (line === null) return;
      plate.tabIndex = marked === null ? -1 : 0;
      plate.style.setProperty("--paint", `rgb(${line.colour.join(" ")})`);
      const [place, , name, gap] = plate.children;
      setText(place, line.place ? String(line.place) : "–");
      setText(name, nameCar({ name: line.name, id: line.row + 1 }));
      setText(gap, tellGap(line, first, mode));
    });
  }
}

function watch(pane, view, car) {
  const isSame = car === null ? pane.wanted === null : pane.wanted?.car === car && pane.wanted.view === view;
  if (!isSame) pane.watch(view, car);
}
