// The watching page: keeps asking for the state, shows it, and passes on what people press.

import { Asking, post } from "/shared/asking.js";
import { byId, make, setText, showToast } from "/shared/elements.js";
import { CarList, makeChip, nameCar } from "/pages/cars.js";
import { TrackMap } from "/pages/map.js";
import { PicturePane } from "/shared/picture.js";
import { Readings } from "/pages/readings.js";

const STATE_INTERVAL_MS = 100;
const PICTURE_INTERVAL_MS = 33;
const INSET_INTERVAL_MS = 50;
const PATIENCE_MS = 600; // without cars before the page says what to do

let state = null;
let view = "chase";
let watched = null;
let outlineScene = null;
let isAskingState = false;
let emptySince = Infinity;

const stateLink = new Asking("/state", (isOpen) => { if (!isOpen) loseConnection(); keepAsking(); });
const picture = new PicturePane(byId("picture"), new Asking("/picture", () => picture?.run()), {
  interval: PICTURE_INTERVAL_MS,
  onResult: (error) => { byId("stale").hidden = error === null; if (error) setText(byId("stale"), error); },
});
const inset = new PicturePane(byId("inset-picture"), new Asking("/picture", () => inset?.run()), { interval: INSET_INTERVAL_MS });
const carList = new CarList(watchCar);
const map = new TrackMap(byId("map"), watchCar);
const readings = new Readings();

document.addEventListener("visibilitychange", keepAsking);

async function keepAsking() {
  if (isAskingState) return;
  isAskingState = true;
  while (stateLink.isOpen && document.visibilityState === "visible") {
    const began = performance.now();
    const answer = await stateLink.ask({ car: watched });
    if (answer !== null) showState(JSON.parse(answer));
    const rest = STATE_INTERVAL_MS - (performance.now() - began);
    await new Promise((done) => setTimeout(done, Math.max(rest, 0)));
  }
  isAskingState = false;
}

function loseConnection() {
  state = null;
  outlineScene = null;
  showSection("offline");
  showLink(false);
}

function showLink(isLive) {
  byId("link").classList.toggle("live", isLive);
  setText(byId("link-text"), isLive ? "Live" : "Not connected");
}

function showState(next) {
  const before = state;
  state = next;
  showLink(true);
  byId("watch-only").hidden = next.may_change;
  document.body.dataset.mayChange = next.may_change;
  chooseCar(before);
  const section = next.is_loading ? "loading" : next.scene === null ? "menu" : "stage";
  showSection(section);
  for (const element of document.querySelectorAll(".wire-port")) setText(element, String(next.wire_port));
  if (section === "menu") showMenu();
  if (section === "loading") showLoading();
  showFaults();
  if (section === "stage") showStage();
  else outlineScene = null;
}

function showFaults() {
  const kinds = Object.entries(state.faults);
  const key = JSON.stringify(kinds);
  if (byId("faults").dataset.key === key) return;
  byId("faults").dataset.key = key;
  byId("faults").hidden = kinds.length === 0;
  setText(byId("fault-count"), kinds.reduce((sum, [, count]) => sum + count, 0).toLocaleString("en"));
  byId("fault-kinds").replaceChildren(...kinds.sort(([, a], [, b]) => b - a).map(([kind, count]) =>
    make("div", "", "", make("dt", "", kind), make("dd", "", count.toLocaleString("en")))));
}

function showSection(name) {
  document.body.dataset.state = name;
  for (const id of ["offline", "loading", "menu", "stage"]) byId(id).hidden = id !== name;
  const isStage = name === "stage";
  byId("exit").hidden = !isStage || state.wire_port === null || !state.may_change;
  byId("road").hidden = byId("exit").hidden || state.road === null;
  byId("scene-name").hidden = !isStage;
  byId("clock").hidden = !isStage || !state?.readings?.telemetry;
  if (!isStage) watchNothing();
}

function watchNothing() {
  emptySince = Infinity;
  picture.watch(view, null);
  inset.watch("camera", null);
}

function showLoading() {
  setText(byId("loading-name"), state.scene ? nameScene(state.scene) : "the scene");
  setText(byId("loading-stage"), state.stage);
}

function showMenu() {
  const key = JSON.stringify([state.scenes, state.may_change]);
  if (byId("scenes").dataset.key === key) return;
  byId("scenes").dataset.key = key;
  setText(byId("menu-title"), state.may_change ? "Choose a scene" : "No scene has been chosen yet");
  byId("menu-lead").hidden = !state.may_change;
  byId("scenes").replaceChildren(...state.scenes.map(makeSceneCard));
}

function makeSceneCard(scene) {
  const preview = scene.has_preview ? make("img", "preview") : make("span", "preview", "", makeRoadSign());
  if (scene.has_preview) Object.assign(preview, { src: `/shared/scenes/${encodeURIComponent(scene.name)}.jpg`, alt: "" });
  const button = make("button", "scene-card card", "", preview, make("span", "title", nameScene(scene.name)));
  button.type = "button";
  button.dataset.scene = scene.name;
  button.disabled = !state.may_change;
  button.addEventListener("click", () => act("/scene", { name: scene.name }, button));
  return make("li", "", "", button);
}

function makeRoadSign() {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", "0 0 100 60");
  drawing.setAttribute("aria-hidden", "true");
  const road = document.createElementNS(space, "path");
  for (const [name, value] of Object.entries({
    d: "M18 38c0-16 12-26 26-22s14 12 24 8 18 2 16 14-14 12-28 10-38 8-38-10z",
    fill: "none", stroke: "currentColor", "stroke-width": "7", "stroke-linejoin": "round",
  })) road.setAttribute(name, value);
  drawing.append(road);
  return drawing;
}

function chooseCar(before) {
  const ids = state.cars.map((car) => car.id);
  if (watched !== null && ids.includes(watched)) return;
  const gone = before?.cars.findIndex((car) => car.id === watched) ?? -1;
  watchCar(ids.length ? ids[Math.min(Math.max(gone, 0), ids.length - 1)] : null);
}

function showStage() {
  const car = state.cars.find((entry) => entry.id === watched) ?? null;
  setText(byId("scene-name"), nameScene(state.scene));
  const time = state.readings?.telemetry?.time;
  byId("clock").hidden = time === undefined;
  if (time !== undefined) setText(byId("clock"), formatClock(time));
  if (car !== null) emptySince = Infinity;
  else emptySince = Math.min(emptySince, performance.now());
  byId("waiting").hidden = performance.now() - emptySince < PATIENCE_MS || car !== null;
  byId("screen").classList.toggle("empty", car === null);
  byId("controls").hidden = car === null;
  byId("readings").hidden = car === null;
  byId("inset").hidden = car === null || view === "camera";
  if (car === null) { byId("stale").hidden = true; showHint(); }
  showWatched(car);
  picture.canvas.setAttribute("aria-label", car ? `${view} view of ${nameCar(car)}` : "No car");
  if (picture.wanted?.car !== watched || picture.wanted?.view !== view) picture.watch(view, watched);
  const insetCar = view === "camera" ? null : watched;
  if ((inset.wanted?.car ?? null) !== insetCar) inset.watch("camera", insetCar);
  carList.update(state.cars, watched);
  map.update(state.cars, watched);
  readings.update(state.readings, car);
  const place = JSON.stringify([state.scene, state.road]);
  if (outlineScene !== place) fetchOutline(place);
}

function showWatched(car) {
  const key = JSON.stringify(car && [car.id, car.name, car.colour]);
  if (byId("watched").dataset.key === key) return;
  byId("watched").dataset.key = key;
  byId("watched").replaceChildren(...(car ? [makeChip(car.colour), make("bdi", "", nameCar(car))] : []));
}

function showHint() {
  setText(byId("hint"), [
    "import gymnasium, gym_donkeycar",
    "",
    'env = gymnasium.make("donkey-generated-track-v0",',
    `    conf={"exe_path": "remote", "host": "${location.hostname}", "port": ${state.wire_port}})`,
    "env.reset()",
  ].join("\n"));
}

async function fetchOutline(place) {
  outlineScene = place;
  map.setOutline(null);
  try {
    const outline = await (await fetch("/outline")).json();
    if (outlineScene !== place) return;
    if (outline === null) outlineScene = null;
    else map.setOutline(outline);
  } catch {
    outlineScene = null;
  }
}

function nameScene(scene) {
  return scene.replaceAll("_", " ");
}

function formatClock(seconds) {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;
}

function watchCar(car) {
  watched = car;
}

function chooseView(name) {
  view = name;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === name));
  }
  if (document.body.dataset.state === "stage") showStage();
}

function stepCar(step) {
  if (!state?.cars.length) return;
  const index = state.cars.findIndex((car) => car.id === watched);
  watchCar(state.cars[(index + step + state.cars.length) % state.cars.length].id);
}

async function act(path, body, button) {
  if (button) button.disabled = true;
  const error = await post(path, body);
  if (button) button.disabled = false;
  if (error) showToast(error);
}

function resetCar() {
  if (watched !== null && state?.may_change) act(`/cars/${watched}/reset`);
}

function askExit() {
  const others = state?.cars.filter((car) => !car.is_pace_car).length ?? 0;
  const clients = others === 1 ? "One client goes" : `${others} clients go`;
  setText(byId("exit-text"), others ? `${clients} back to the menu with it.` : "Everybody goes back to the menu.");
  byId("exit-dialog").returnValue = "";
  byId("exit-dialog").showModal();
}

const KEYS = {
  c: () => chooseView("chase"),
  t: () => chooseView("top"),
  v: () => chooseView("camera"),
  n: () => stepCar(1),
  p: () => stepCar(-1),
  r: resetCar,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || byId("exit-dialog").open) return;
  if (document.body.dataset.state === "stage") KEYS[event.key.toLowerCase()]?.();
});
for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => chooseView(button.dataset.view));
}
byId("inset").addEventListener("click", () => chooseView("camera"));
byId("reset").addEventListener("click", resetCar);
byId("road").addEventListener("click", () => {
  if (state?.road) act("/road", { ...state.road, style: state.road.style + 1, seed: state.road.seed + 1 }, byId("road"));
});
byId("exit").addEventListener("click", askExit);
byId("exit-dialog").addEventListener("close", () => {
  if (byId("exit-dialog").returnValue === "exit") act("/exit");
});
