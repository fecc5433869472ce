// What is shown large: the car from behind, from its seat, from around or above, or what its pilot sees; that is small
// beside all others.
//
// Where nobody draws the car, only the pilot's picture is there and nothing can be chosen.

import { Asking } from "/shared/asking.js";
import { byId } from "/shared/elements.js";
import { PicturePane } from "/shared/picture.js";
import { Drawing } from "/shared/viewer/drawing.js";

const VIEWS = ["chase", "seat", "orbit", "top", "camera"];
const DRAWN_HERE = ["orbit", "top"]; // by the browser only
const KEPT_AS = "donkeysim-view";
const INTERVAL_MS = 33;
const LARGEST_SIDE = 720; // pixels; a larger picture does not fit into what the drive lets wait for a viewer
const OWN = 0; // the car that this page drives, whatever its number

export class Views {
  constructor() {
    this.view = readChoice();
    this.pane = null;
    this.isOffered = this.isDrawn = false;
    const onResult = (error) => this.follow(error === null);
    this.drawing = new Drawing(byId("screen"), byId("drawing"), { onResult, onChange: () => this.watch() });
    byId("view_select").addEventListener("change", (event) => {
      this.choose(event.target.value);
      event.target.blur(); // arrows drive again
    });
    byId("film").addEventListener("click", () => { if (this.isDrawn) this.choose("camera"); });
  }

  /** Ask for views if somebody draws them. */
  offer(isOffered) {
    this.isOffered = isOffered;
    if (isOffered && !this.pane) {
      const asking = new Asking("/picture", () => this.pane?.run());
      const onResult = (error) => this.follow(error === null);
      this.pane = new PicturePane(byId("picture"), asking, { interval: INTERVAL_MS, largest: LARGEST_SIDE, onResult });
    }
    this.watch();
    if (!isOffered) this.follow(false);
  }

  choose(view) {
    this.view = view;
    try { localStorage.setItem(KEPT_AS, view); } catch { /* kept for this page only */ }
    this.watch();
    this.show();
  }

  get choices() { return VIEWS.filter((view) => this.drawing.isOn || !DRAWN_HERE.includes(view)); }

  next() { if (this.isDrawn) this.choose(this.choices[(this.choices.indexOf(this.view) + 1) % this.choices.length]); }

  /** Once it is known that views are drawn, none is asked for while the pilot's picture is shown. */
  watch() {
    if (!this.drawing) return; // it is being made
    if (!this.choices.includes(this.view)) this.view = "chase";
    const isWanted = this.isOffered && (this.view !== "camera" || !this.isDrawn);
    const view = this.view === "camera" ? "chase" : this.view;
    const drawn = this.drawing.show(isWanted ? [{ view, car: OWN, box: byId("screen"), label: byId("picture").getAttribute("aria-label") }] : []);
    this.pane?.watch(view, isWanted && !drawn.size ? undefined : null);
    for (const option of byId("view_select").options) option.hidden = option.disabled = !this.choices.includes(option.value);
  }

  follow(isDrawn) {
    if (this.isDrawn === isDrawn) return;
    this.isDrawn = isDrawn;
    this.watch();
    this.show();
  }

  show() {
    byId("screen").dataset.view = this.isDrawn ? this.view : "camera";
    byId("view").hidden = !this.isDrawn;
    byId("view_select").value = this.view;
  }
}

function readChoice() {
  try {
    const view = localStorage.getItem(KEPT_AS);
    return VIEWS.includes(view) ? view : "chase";
  } catch {
    return "chase";
  }
}
