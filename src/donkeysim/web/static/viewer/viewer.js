// The view for people, drawn by the browser: it loads the place, asks where everything is, and draws at the screen's rate.

import * as three from "./three.js";
import { Asking } from "../asking.js";
import { Cars } from "./cars.js";
import { Eye } from "./eyes.js";
import { Marks } from "./marks.js";
import { Moments } from "./moments.js";
import { loadPlace } from "./place.js";
import { Quality } from "./quality.js";

const SHORTEST_ASK_MS = 15; // answers wait until there is something new
const STILL_ASK_MS = 50; // but for those of the past

export class Viewer {
  /**
   * @param {HTMLElement} box the pictures are drawn over it
   * @param {string} choice of `quality.CHOICES`
   * @param {{findMoment?: () => number | null | undefined, onResult?: (error: string | null) => void,
   *   onLost?: () => void, open?: (onChange: () => void) => object, findPlace?: (key: string) => string}} options which
   *   moment to show (null or undefined: now); told when a moment was drawn, or why not; told when the graphics chip was
   *   taken away; who is asked for moments; and at which address a place's file is
   */
  constructor(box, choice, { findMoment = () => null, onResult = () => {}, onLost = () => {},
    open = (onChange) => new Asking("/moments", onChange), findPlace = (key) => `/place.glb?${encodeURIComponent(key)}` } = {}) {
    this.box = box;
    this.findPlace = findPlace;
    this.findMoment = findMoment;
    this.onResult = onResult;
    this.panes = [];
    this.asking = open(() => this.ask()); // before all else: from now on the server writes the place's file
    this.canvas = document.createElement("canvas");
    this.canvas.className = "drawn-here";
    this.canvas.setAttribute("role", "img");
    this.canvas.viewer = this; // for whoever looks into the page from outside
    // Without alpha: where leaves and wires cover a part of a pixel, the page would shine through.
    const context = this.canvas.getContext("webgl2", { alpha: false, antialias: true, powerPreference: "high-performance" });
    this.renderer = new three.WebGLRenderer({ canvas: this.canvas, context });
    this.renderer.toneMapping = three.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.15;
    this.renderer.shadowMap.type = three.PCFShadowMap;
    this.renderer.autoClear = false;
    this.quality = new Quality(choice, (level) => this.apply(level));
    this.moments = new Moments();
    this.eyes = [];
    this.place = null;
    this.key = null;
    this.isLoading = false;
    this.count = 0;
    this.last = performance.now();
    box.prepend(this.canvas);
    document.addEventListener("visibilitychange", () => this.ask());
    this.canvas.addEventListener("webglcontextlost", () => { if (!this.isClosed) onLost(); });
    this.run = this.run.bind(this);
    requestAnimationFrame(this.run);
  }

  /**
   * Show these panes from now on; none: rest.
   * @param {{box: HTMLElement, view: string, car: number | null, label?: string, findShare?: () => number}[]} panes
   *   `label`: says what is to be seen; `findShare`: of the path, for "road"
   */
  show(panes) {
    this.panes = panes;
    this.canvas.setAttribute("aria-label", panes.map((pane) => pane.label ?? "").join(", "));
    this.canvas.hidden = !panes.length;
    while (this.eyes.length < panes.length) this.eyes.push(Object.assign(new Eye(), { canvas: this.canvas }));
    this.canvas.classList.toggle("held", panes.some((pane) => pane.view === "orbit"));
    this.ask();
  }

  /** Draw no more. */
  close() {
    this.isClosed = true;
    this.panes = [];
    this.asking.close();
    this.eyes.forEach((eye) => eye.release());
    this.place?.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }

  /** Of the place that is drawn, for names of files. */
  get placeName() { return this.place?.notes.name ?? "nowhere"; }

  choose(choice) { this.quality.choose(choice); }

  get isWatched() { return this.panes.length > 0 && document.visibilityState === "visible" && this.asking.isOpen; }

  async ask() {
    if (this.isAsking || !this.asking) return;
    this.isAsking = true;
    while (this.isWatched) {
      const began = performance.now();
      const at = this.findMoment() ?? null;
      if (at !== null && at === this.at) { await pause(SHORTEST_ASK_MS); continue; } // a moment of the past never changes
      const answer = await this.asking.ask({ at });
      if (answer === null) continue;
      const moment = JSON.parse(typeof answer === "string" ? answer : await answer.text());
      if (moment.error) { this.onResult(moment.error); await pause(400); continue; }
      this.at = at;
      this.moments.add(moment, performance.now() / 1000);
      if (moment.place !== this.key) this.load(moment.place);
      else if (!moment.is_still) this.marks.add(moment);
      await pause((moment.is_still ? STILL_ASK_MS : SHORTEST_ASK_MS) - (performance.now() - began));
    }
    this.isAsking = false;
  }

  async load(key) {
    if (this.isLoading) return;
    this.isLoading = true;
    try {
      const place = await loadPlace(this.findPlace(key));
      this.place?.dispose();
      this.place = place;
      this.key = key;
      this.cars = new Cars(place);
      this.marks = new Marks(place);
      this.eyes.forEach((eye) => { eye.release(); eye.lengths = undefined; });
      if (this.quality.level.hasShadows) place.occlude(this.renderer);
      place.mirror(this.renderer);
      this.renderer.compile(place.scene, new three.PerspectiveCamera());
    } catch (error) {
      this.onResult(String(error));
      await pause(1000);
    }
    this.isLoading = false;
  }

  apply({ ratio, hasShadows }) {
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, ratio));
    this.renderer.shadowMap.enabled = hasShadows;
    if (hasShadows && this.place && !this.place.occlusionMap) this.place.occlude(this.renderer);
    if (this.place) this.place.scene.traverse((node) => { if (node.material) node.material.needsUpdate = true; });
  }

  /** Draw for as long as the page lives. */
  run(now) {
    if (this.isClosed) return;
    requestAnimationFrame(this.run);
    this.draw(now);
  }

  draw(now) {
    if (!this.isWatched || !this.place || this.canvas.hidden) return;
    const moment = this.moments.at(now / 1000);
    if (!moment) return;
    if (moment.place !== this.key) { this.renderer.setScissorTest(false); this.renderer.clear(); return; } // it is loading
    this.quality.note(now - this.last);
    this.last = now;
    this.fit();
    this.cars.show(moment.cars);
    this.moveProps(moment.props);
    this.renderer.setScissorTest(this.panes.length > 1);
    this.panes.forEach((pane, index) => this.drawPane(pane, this.eyes[index], moment, now / 1000));
    this.count += 1;
    this.canvas.dataset.count = this.count;
    this.onResult(null);
  }

  drawPane({ box, view, car: id, findShare }, eye, moment, seconds) {
    const [frame, pane] = [this.box.getBoundingClientRect(), box.getBoundingClientRect()];
    if (pane.width < 1 || pane.height < 1) return;
    const [left, bottom] = [Math.floor(pane.left - frame.left), Math.floor(frame.bottom - pane.bottom)];
    const at = [left, bottom, Math.ceil(pane.right - frame.left) - left, Math.ceil(frame.bottom - pane.top) - bottom];
    this.renderer.setViewport(...at);
    this.renderer.setScissor(...at);
    const car = view === "place" ? null : findCar(moment, id);
    eye.camera.aspect = pane.width / pane.height;
    eye.look(view, car, moment.seats[car?.id ?? 0] ?? null, this.place, seconds, findShare?.());
    eye.camera.updateProjectionMatrix();
    this.cars.hide(view === "tv" ? null : car?.id, view === "seat");
    this.place.follow(car ? new three.Vector3(...car.pose) : eye.camera.position);
    if (this.quality.level.hasMirror) this.place.floorMirror?.look(this.renderer, this.place.scene, eye.camera, at[2], at[3]);
    else this.place.floorMirror?.rest();
    this.renderer.clear();
    this.renderer.render(this.place.scene, eye.camera);
  }

  moveProps(props) {
    for (const [index, x, y, z, w, a, b, c] of props) {
      const prop = this.place.props[index];
      prop.position.set(x, y, z);
      prop.quaternion.set(a, b, c, w);
    }
  }

  fit() {
    const box = this.box.getBoundingClientRect();
    const [width, height] = [Math.ceil(box.width), Math.ceil(box.height)];
    if (width !== this.width || height !== this.height) this.renderer.setSize(width, height, true);
    [this.width, this.height] = [width, height];
  }

  /** The picture that is shown now, as a PNG file. */
  photograph() {
    return new Promise((done) => {
      requestAnimationFrame((now) => { this.draw(now); this.canvas.toBlob(done, "image/png"); });
    });
  }
}

/** The car of a pane; -1: the one that is worth watching; 0: the one that this page drives. */
function findCar(moment, id) {
  const wanted = id === -1 ? moment.chosen : id === 0 ? moment.own : id;
  return moment.cars.find((car) => car.id === wanted) ?? null;
}

function pause(milliseconds) { return new Promise((done) => setTimeout(done, Math.max(milliseconds, 0))); }
