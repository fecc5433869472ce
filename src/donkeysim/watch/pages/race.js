// The race's side of the watching page: everything that is there only while a race is on.

import { nameCar } from "/pages/cars.js";
import { Engineer } from "/pages/engineer.js";
import { offerCopies, showJoining } from "/pages/joining.js";
import { Journal } from "/pages/journal.js";
import { LapChart } from "/pages/lap_chart.js";
import { hasBegun } from "/pages/moments.js";
import { Playhead, SPEEDS } from "/pages/playhead.js";
import { offerPodium, showHead, showLights, showPodium } from "/pages/race_head.js";
import { PANE_COUNT } from "/pages/screens.js";
import { TimeLine } from "/pages/time_line.js";
import { Tower } from "/pages/tower.js";
import { byId, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

/** Instead of a car: the one that the race's own direction of pictures shows. */
export const AUTOMATIC = -1;

const SKIP_S = 5;
const FEW = 8; // cars

/** Whether this is a race from its file: nobody joins it, and nobody changes it. */
export function isFile(state) { return state.joining === null && state.time_line !== null && !state.time_line.is_live; }

export class RaceSide {
  /**
   * @param {{choose: (car: number) => void, act: (path: string, body: object, button: HTMLElement) => Promise<boolean>,
   *   refresh: () => void}} page what the page does: watch a car, post, show its state again
   */
  constructor({ choose, act, refresh }) {
    Object.assign(this, { choose, refresh, race: null, watched: AUTOMATIC, mode: "gap", isSplit: false, marked: 0, isBorrowed: false, awaited: null });
    this.isAskedToJoin = new URLSearchParams(location.search).has("join"); // by the code on the wall
    this.picks = Array(PANE_COUNT).fill(null); // rows of the tower; null: by place
    this.playhead = new Playhead();
    this.tower = new Tower(byId("tower-lines"), { onPick: (line) => this.pick(line.car) });
    this.chart = new LapChart(byId("lap-chart"), byId("lap-table"), (line) => this.pick(line.car));
    this.timeLine = new TimeLine(this.playhead, (mark) => this.jump(mark));
    this.journal = new Journal((mark) => this.jump(mark), (mark) => act("/race/act", { type: "undo", number: mark.number }));
    this.engineer = new Engineer(act);
    offerPodium();
    offerCopies();
    this.offerTabs();
    byId("gap-mode").addEventListener("click", () => this.toggleMode());
    byId("automatic").addEventListener("click", () => this.goAutomatic());
    byId("split").addEventListener("click", () => this.toggleSplit());
    document.addEventListener("visibilitychange", () => (document.visibilityState === "visible" ? this.playhead.wake() : this.playhead.rest()));
  }

  /** The moment to ask for; null: now. */
  get at() { return this.playhead.now(); }

  /** Whether a car is on the track now, by its id. */
  has(car) { return this.race.tower.some((line) => line.car === car && car >= 0); }

  /** Row of the first car; null: the race has not begun. */
  get first() { return hasBegun(this.race) ? this.race.tower[0]?.row ?? null : null; }

  /** Cars on the track in the order of the race. */
  listCars() { return this.race.tower.filter((line) => line.car >= 0); }

  /** Take what goes on now. */
  follow(state) {
    this.state = state;
    this.race = state.race;
    document.body.toggleAttribute("data-race", this.race !== null);
    document.body.dataset.session = this.race?.session ?? "";
    this.playhead.update(this.race && state.time_line, !isFile(state));
    if (this.race === null) return;
    if (Math.abs(this.race.at - (this.at ?? this.race.at)) < 1) this.awaited = null;
    this.makeRoom(this.race.tower.length <= FEW);
  }

  /** With few cars the lap chart stands below the tower. */
  makeRoom(hasFew) {
    if (document.body.hasAttribute("data-few") === hasFew) return;
    document.body.toggleAttribute("data-few", hasFew);
    if (hasFew) byId("left").append(byId("chart"));
    else byId("main").insertBefore(byId("chart"), byId("readings"));
  }

  /** Whether a car was chosen for a moment that has not come from the server yet. */
  awaits(car) { return this.awaited === car && car >= 0; }

  /** Show it, if it is a race. */
  show(watched) {
    const { race, state } = this;
    this.watched = watched;
    if (race === null) return;
    const line = race.tower.find((entry) => entry.car === watched && watched >= 0) ?? null;
    showHead(race);
    showLights(race);
    showPodium(race);
    this.tower.update(race, (entry) => this.isShown(entry), this.mode);
    setText(byId("gap-mode"), texts.say(this.mode));
    byId("no-racers").hidden = race.tower.length > 0;
    byId("chart").hidden = Object.keys(race.lap_chart).length === 0;
    this.chart.update(race, (entry) => this.isShown(entry));
    this.timeLine.update(race, state.time_line);
    this.journal.update(race, (mark) => state.time_line !== null && mark.at >= state.time_line.begin && mark.at <= state.time_line.end);
    this.engineer.update(race, line?.row ?? null);
    showJoining(state.joining, state.environment);
    this.showButtons(state);
  }

  isShown(entry) {
    if (entry.car < 0) return false;
    return this.isSplit ? this.picks.includes(entry.row) : entry.car === this.watched;
  }

  showButtons(state) {
    byId("automatic").setAttribute("aria-pressed", String(!this.isSplit && this.watched === AUTOMATIC));
    setText(byId("automatic"), texts.say(this.isSplit ? "by_place" : "automatic"));
    if (this.isSplit) byId("automatic").setAttribute("aria-pressed", String(this.picks.every((row) => row === null)));
    byId("split").setAttribute("aria-pressed", String(this.isSplit));
    byId("tab-engineer").hidden = !state.may_change || isFile(state);
    byId("tab-join").hidden = state.joining === null;
    byId("replay-sign").hidden = this.playhead.isLive || isFile(state);
    const isJoining = this.isAskedToJoin || this.race.session === "paddock";
    const tab = this.tab ?? (isJoining && state.joining ? "join" : "journal");
    const isThere = !byId(`tab-${tab}`).hidden;
    this.showTab(isThere ? tab : "journal");
    if (this.isAskedToJoin && tab === "join" && !this.tab) { this.tab = tab; byId("panel-join").scrollIntoView({ block: "center" }); }
  }

  offerTabs() {
    const tabs = [...document.querySelectorAll("[data-tab]")];
    for (const tab of tabs) tab.addEventListener("click", () => { this.tab = tab.dataset.tab; this.showTab(this.tab); });
    byId("tabs").addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.stopPropagation();
      const there = tabs.filter((tab) => !tab.hidden);
      const next = there[(there.indexOf(document.activeElement) + step + there.length) % there.length];
      next.focus();
      next.click();
    });
  }

  showTab(name) {
    for (const tab of document.querySelectorAll("[data-tab]")) {
      const isOpen = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      byId(`panel-${tab.dataset.tab}`).hidden = !isOpen;
    }
  }

  // -- what is watched ------------------------------------------------------------------------------------------------

  /** What each picture shows. */
  listPictures(view) {
    const cars = this.listCars();
    if (!cars.length) return [{ view: "place", car: 0, label: texts.say("of_place") }];
    if (!this.isSplit) {
      const isNeeded = view === "camera" && this.watched === AUTOMATIC; // nobody chooses among the cars' own cameras
      return [describePicture(view, isNeeded ? cars[0] : cars.find((line) => line.car === this.watched) ?? null)];
    }
    return this.listPanes().map((line) => (line ? describePicture(view, line) : { view, car: null, label: "" }));
  }

  listPanes() {
    const free = this.listCars();
    return this.picks.map((row, index) => (row === null ? free[index] : free.find((line) => line.row === row)) ?? null);
  }

  /** The lines of the tower whose plates stand below the pictures. */
  listPlates(view) {
    if (this.isSplit) return this.listPanes();
    const car = this.watched === AUTOMATIC ? (view === "camera" ? this.listCars()[0]?.car : this.race.on_air) : this.watched;
    return [this.race.tower.find((line) => line.car === car && car >= 0) ?? null];
  }

  /** The car of which a step goes to the next one: with four pictures the one in the marked picture. */
  get chosen() { return this.isSplit ? this.listPanes()[this.marked]?.car : this.watched; }

  /** Watch a car; with four pictures in the marked one, and the next car goes to the next picture, unless it is a step. */
  pick(car, { isStep = false } = {}) {
    if (!this.race || !this.has(car)) return;
    this.isBorrowed = false;
    if (this.isSplit) {
      this.picks[this.marked] = this.race.tower.find((line) => line.car === car).row;
      if (!isStep) do this.marked = (this.marked + 1) % PANE_COUNT; while (!this.listPanes()[this.marked]);
      this.refresh();
    } else this.choose(car === this.watched ? AUTOMATIC : car);
  }

  mark(index) {
    if (!this.isSplit) return;
    this.marked = index;
    this.refresh();
  }

  goAutomatic() {
    this.picks.fill(null);
    this.marked = 0;
    this.choose(AUTOMATIC);
  }

  toggleSplit() {
    this.isSplit = !this.isSplit;
    this.refresh();
  }

  toggleMode() {
    this.mode = this.mode === "gap" ? "interval" : "gap";
    this.refresh();
  }

  /** Show what happened, and to whom: the car is given back when the page goes on live. */
  jump(mark) {
    this.timeLine.press(() => this.playhead.jump(mark.at));
    if (this.isSplit || this.watched !== AUTOMATIC || mark.car < 0) return;
    this.awaited = mark.car; // it may be off the track at the moment that is shown now
    this.choose(mark.car);
    this.isBorrowed = true;
  }

  /** Whether a car was watched only for the sake of a moment that is over. */
  takeBack() {
    const isOver = this.isBorrowed && this.playhead.isLive;
    if (isOver) this.isBorrowed = false;
    return isOver;
  }

  /** What keys do while a race is on. */
  keys() {
    const press = (change) => () => this.timeLine.press(change);
    const shift = (step) => press(() => {
      const next = SPEEDS[SPEEDS.indexOf(this.playhead.speed) + step];
      if (next) this.playhead.setSpeed(next);
    });
    return {
      a: () => this.goAutomatic(),
      q: () => this.toggleSplit(),
      g: () => this.toggleMode(),
      l: press(() => this.playhead.goLive()),
      " ": press(() => this.playhead.toggle()),
      ",": press(() => this.playhead.step(-1)),
      ".": press(() => this.playhead.step(1)),
      arrowleft: press(() => this.playhead.skip(-SKIP_S)),
      arrowright: press(() => this.playhead.skip(SKIP_S)),
      j: () => this.timeLine.jumpNear(-1),
      k: () => this.timeLine.jumpNear(1),
      "-": shift(-1),
      "+": shift(1),
      "=": shift(1),
      1: () => this.mark(0),
      2: () => this.mark(1),
      3: () => this.mark(2),
      4: () => this.mark(3),
    };
  }
}

function describePicture(view, line) {
  const car = line?.car ?? AUTOMATIC;
  const name = line ? nameCar({ name: line.name, id: line.row + 1 }) : texts.say("chosen_car");
  return { view, car, label: texts.say(`of_${view}`, { car: name }) };
}
