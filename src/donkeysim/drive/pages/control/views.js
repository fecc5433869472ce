// What is shown large: the car from behind, the view from its seat, or what its pilot sees; the last is small beside both.
//
// Where nobody draws the car, only the pilot's picture is there and nothing can be chosen.

import { Asking } from "/shared/asking.js";
import { byId } from "/shared/elements.js";
import { PicturePane } from "/shared/picture.js";

const VIEWS = ["chase", "seat", "camera"];
const KEPT_AS = "donkeysim-view";
const INTERVAL_MS = 33;
const LARGEST_SIDE = 720; // pixels; a larger picture does not fit into what the drive lets wait for a viewer

export class Views {
  constructor() {
    this.view = readChoice();
    this.pane = null;
    this.isDrawn = false;
    byId("view_select").addEventListener("change", (event) => {
      this.choose(event.target.value);
      event.target.blur(); // arrows drive again
    });
    byId("film").addEventListener("click", () => { if (this.isDrawn) this.choose("camera"); });
  }

  /** Ask for drawn views if somebody draws them. */
  offer(isOffered) {
    if (isOffered && !this.pane) {
      const asking = new Asking("/picture", () => this.pane?.run());
      const onResult = (error) => this.follow(error === null);
      this.pane = new PicturePane(byId("picture"), asking, { interval: INTERVAL_MS, largest: LARGEST_SIDE, onResult });
    }
    if (isOffered) this.watch();
    else if (this.pane) { this.pane.watch(null, null); this.follow(false); }
  }

  choose(view) {
    this.view = view;
    try { localStorage.setItem(KEPT_AS, view); } catch { /* kept for this page only */ }
    this.watch();
    this.show();
  }

  next() { if (this.isDrawn) this.choose(VIEWS[(VIEWS.indexOf(this.view) + 1) % VIEWS.length]); }

  /** Once it is known that views are drawn, none is asked for while the pilot's picture is shown. */
  watch() {
    const isWanted = this.view !== "camera" || !this.isDrawn;
    this.pane.watch(this.view === "camera" ? "chase" : this.view, isWanted ? undefined : null);
  }

  follow(isDrawn) {
    if (this.isDrawn === isDrawn) return;
    this.isDrawn = isDrawn;
    if (isDrawn) this.watch();
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
