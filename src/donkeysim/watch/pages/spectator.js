// The watching page: keeps asking for the state, shows it, and passes on what people press.

import { Asking, post } from "/shared/asking.js";
import { byId, make, setText, showToast } from "/shared/elements.js";
import { CarList, makeChip, nameCar } from "/pages/cars.js";
import { TrackMap } from "/pages/map.js";
import { formatClock } from "/pages/moments.js";
import { AUTOMATIC, RaceSide, isFile } from "/pages/race.js";
import { Readings } from "/pages/readings.js";
import { Screens } from "/pages/screens.js";
import { showWaiting, isThisMachine } from "/pages/waiting.js";
import { texts } from "/pages/words.js";

const STATE_INTERVAL_MS = 100;
const PATIENCE_MS = 600; // without cars before the page says what to do

let state = null;
let view = "chase";
let isViewChosen = false;
let watched = null;
let isChosen = false; // by a person, who may well want to watch the pace car
const ownName = new URLSearchParams(location.search).get("car");
let outlineScene = null;
let isAskingState = false;
let emptySince = Infinity;

document.body.classList.toggle("wall", location.pathname === "/wall");
await texts.start();
texts.offer(byId("language"), showLanguage);

const stateLink = new Asking("/state", (isOpen) => { if (!isOpen) loseConnection(); keepAsking(); });
const race = new RaceSide({ choose: chooseOne, act, refresh: () => { if (state) showState(state); } });
const screens = new Screens(() => race.at, showPictureError, showDrawing, (index) => race.mark(index));
const carList = new CarList(chooseOne);
const map = new TrackMap(byId("map"), (car) => (state.race ? race.pick(car) : chooseOne(car)));
const readings = new Readings();

screens.drawing.say(texts.code);
document.title = texts.say("title");
document.addEventListener("visibilitychange", keepAsking);

async function keepAsking() {
  if (isAskingState) return;
  isAskingState = true;
  while (stateLink.isOpen && document.visibilityState === "visible") {
    const began = performance.now();
    const answer = await stateLink.ask({ car: watched, at: race.at });
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
  byId("link-text").dataset.text = !isLive ? "not_connected" : race.at === null ? "live" : "replay";
  setText(byId("link-text"), texts.say(byId("link-text").dataset.text));
}

function showDrawing() {
  for (const element of document.querySelectorAll("[data-drawn-here]")) element.hidden = !screens.drawing.isOn;
  if (state) showState(state);
}

function showLanguage() {
  screens.drawing.say(texts.code);
  document.title = texts.say("title");
  for (const id of ["scenes", "watched"]) delete byId(id).dataset.key;
  map.start();
  if (state) showState(state);
}

function showState(next) {
  const before = state;
  state = next;
  byId("watch-only").hidden = next.may_change;
  document.body.dataset.mayChange = next.may_change && !isFile(next);
  race.follow(next);
  showLink(true);
  if (next.race) chooseRacer(before);
  else chooseCar(before);
  const section = next.is_loading ? "loading" : next.scene === null ? "menu" : "stage";
  if (byId(section).hidden) scrollTo(0, 0); // the menu may have been scrolled
  showSection(section);
  if (section === "menu") showMenu();
  if (section === "loading") showLoading();
  showFaults();
  if (section === "stage") { race.show(watched); showStage(); } else outlineScene = null;
}

function showFaults() {
  const kinds = Object.entries(state.faults);
  const key = JSON.stringify(kinds);
  if (byId("faults").dataset.key === key) return;
  byId("faults").dataset.key = key;
  byId("faults").hidden = kinds.length === 0;
  setText(byId("fault-count"), kinds.reduce((sum, [, count]) => sum + count, 0).toLocaleString(texts.code));
  byId("fault-kinds").replaceChildren(...kinds.sort(([, a], [, b]) => b - a).map(([kind, count]) =>
    make("div", "", "", make("dt", "", kind), make("dd", "", count.toLocaleString(texts.code)))));
}

function showSection(name) {
  document.body.dataset.state = name;
  for (const id of ["offline", "loading", "menu", "stage"]) byId(id).hidden = id !== name;
  const isStage = name === "stage";
  // A race stays in its scene.
  byId("exit").hidden = !isStage || state.wire_port === null || !state.may_change || state.race !== null;
  byId("road").hidden = byId("exit").hidden || state.road === null;
  byId("scene-name").hidden = !isStage;
  byId("clock").hidden = !isStage || !state?.readings?.telemetry;
  byId("control").hidden = !isThisMachine() || !state?.control;
  if (state?.control) byId("control").href = state.control;
  if (!isStage) watchNothing();
}

function watchNothing() {
  emptySince = Infinity;
  screens.rest();
}

function showPictureError(error) {
  byId("stale").hidden = error === null;
  if (error) setText(byId("stale"), texts.say("no_picture"));
}

function showLoading() {
  setText(byId("loading-name"), texts.say("loading", { scene: state.scene ? nameScene(state.scene) : texts.say("the_scene") }));
  setText(byId("loading-stage"), describeStage(state.stage));
}

function describeStage(stage) {
  const kernels = stage.match(/^(compiling|loading) kernels, (\d+) of (\d+)/);
  if (kernels) return texts.say(`stage_${kernels[1]}`, { done: kernels[2], total: kernels[3] });
  const known = stage.match(/^(starting|building) the (simulator|track)$/);
  return known ? texts.say(`stage_${known[1]}`) : stage;
}

function showMenu() {
  const key = JSON.stringify([state.scenes, state.may_change]);
  if (byId("scenes").dataset.key === key) return;
  byId("scenes").dataset.key = key;
  setText(byId("menu-title"), texts.say(state.may_change ? "choose" : "none_chosen"));
  setText(byId("menu-lead"), texts.say("menu_lead", { port: state.wire_port }));
  byId("menu-lead").hidden = !state.may_change;
  const groups = [...new Set(state.scenes.map((scene) => scene.group))];
  byId("scenes").replaceChildren(...groups.flatMap((group) => [
    ...(groups.length > 1 ? [make("li", "group", "", make("h2", "", texts.say(`places_${group}`)))] : []),
    ...state.scenes.filter((scene) => scene.group === group).map(makeSceneCard),
  ]));
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

/** Watch the reader's own car: the one that the address names, else one that somebody drives, else the pace car. */
function chooseCar(before) {
  if (view === "tv" || (view === "orbit" && !screens.drawing.isOn)) chooseView("chase");
  const cars = state.cars;
  const current = cars.find((car) => car.id === watched);
  if (isChosen && current) return;
  const best = Math.min(...cars.map(rankCar));
  if (current && rankCar(current) === best) return;
  const gone = before?.cars.findIndex((car) => car.id === watched) ?? -1;
  const near = isChosen && gone >= 0 ? cars[Math.min(gone, cars.length - 1)] : null;
  isChosen = isChosen && near !== undefined && near !== null;
  watchCar((near ?? cars.find((car) => rankCar(car) === best))?.id ?? null);
}

/** Watch the race as it is directed, unless a car was chosen, or the address names one that is there. */
function chooseRacer(before) {
  if (!before?.race && !isViewChosen) { chooseView("tv"); isViewChosen = false; }
  if (race.takeBack()) isChosen = false;
  const own = ownName === null || isChosen || before?.race ? undefined : race.listCars().find((line) => line.name === ownName);
  if (own) { isChosen = true; watched = own.car; }
  if (!isChosen || !(race.has(watched) || race.awaits(watched))) { isChosen = false; watched = AUTOMATIC; }
}

function rankCar(car) {
  return car.is_pace_car ? 2 : ownName === null || car.name === ownName ? 0 : 1;
}

function showStage() {
  const car = state.cars.find((entry) => entry.id === watched) ?? null;
  setText(byId("scene-name"), nameScene(state.scene));
  const time = state.readings?.telemetry?.time;
  byId("clock").hidden = time === undefined || state.race !== null; // a race has its own
  if (time !== undefined) setText(byId("clock"), formatClock(time));
  if (car !== null) emptySince = Infinity;
  else emptySince = Math.min(emptySince, performance.now());
  const isEmpty = car === null && !state.race;
  showWaiting(state, isEmpty && performance.now() - emptySince >= PATIENCE_MS);
  byId("screen").classList.toggle("vacant", isEmpty);
  showPaceCar();
  byId("controls").hidden = isEmpty;
  byId("reset").hidden = car === null || state.race !== null; // race control puts cars back
  byId("readings").hidden = car === null || (state.race !== null && !state.readings?.telemetry); // the past has none
  showWatched(car);
  showPictures(car);
  carList.update(state.cars, watched);
  map.update(state.cars, watched, state.race);
  readings.update(state.readings, car);
  const place = JSON.stringify([state.scene, state.road]);
  if (outlineScene !== place) fetchOutline(place);
}

function showPictures(car) {
  const shown = car === null ? "place" : view;
  const alone = { view: shown, car: watched ?? 0, label: texts.say(`of_${shown}`, { car: car ? nameCar(car) : "" }) };
  const wanted = state.race ? race.listPictures(view) : [alone];
  const hasInset = car !== null && wanted.length === 1 && !["camera", "tv"].includes(view);
  byId("inset").hidden = !hasInset;
  if (wanted[0].view === "place") byId("stale").hidden = true;
  const marked = state.race && race.isSplit ? race.marked : null;
  screens.show(wanted, hasInset ? watched : null, marked);
  if (state.race) screens.caption(race.listPlates(view), race.first, race.mode, marked);
  else screens.caption([], null, "gap", null);
}

function showWatched(car) {
  const key = JSON.stringify(car && [car.id, car.name, car.colour]);
  if (byId("watched").dataset.key === key) return;
  byId("watched").dataset.key = key;
  byId("watched").replaceChildren(...(car ? [makeChip(car.colour), make("bdi", "", nameCar(car))] : []));
}

function showPaceCar() {
  byId("pace-car").hidden = state.pace_car === null || !state.cars.length; // an empty scene offers it elsewhere
  setText(byId("pace-car"), texts.say(state.pace_car ? "remove_pace_car" : "add_pace_car"));
}

function changePaceCar() {
  act("/pace_car", { drives: !state.pace_car }, byId("pace-car"));
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

function watchCar(car) {
  watched = car;
}

function chooseOne(car) {
  isChosen = car !== AUTOMATIC;
  watchCar(car);
  if (state.race) showState(state);
}

function chooseView(name) {
  isViewChosen = true;
  view = name;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === name));
  }
  if (document.body.dataset.state === "stage") showStage();
}

function stepCar(step) {
  const ids = state?.race ? race.listCars().map((line) => line.car) : state?.cars.map((car) => car.id);
  if (!ids?.length) return;
  const index = ids.indexOf(state.race ? race.chosen : watched);
  const next = ids[(Math.max(index, step > 0 ? -1 : 0) + step + ids.length) % ids.length];
  if (state.race) race.pick(next, { isStep: true });
  else chooseOne(next);
}

/** Post; returns whether it was done, and tells people why not. */
async function act(path, body, button) {
  if (button) button.disabled = true;
  const error = await post(path, body, texts.say("unreachable"));
  if (button) button.disabled = false;
  if (error) showToast(error);
  return error === null;
}

function resetCar() {
  if (watched !== null && state.may_change && !state.race) act(`/cars/${watched}/reset`);
}

function askExit() {
  const others = state?.cars.filter((car) => !car.is_pace_car).length ?? 0;
  const clients = others === 1 ? texts.say("exit_one") : texts.say("exit_some", { count: others });
  setText(byId("exit-text"), others ? clients : texts.say("exit_all"));
  byId("exit-dialog").returnValue = "";
  byId("exit-dialog").showModal();
}

const REPEATED = [",", ".", "arrowleft", "arrowright"];
const raceKeys = race.keys();
const KEYS = {
  c: () => chooseView("chase"),
  t: () => chooseView("top"),
  v: () => chooseView("camera"),
  o: () => { if (screens.drawing.isOn) chooseView("orbit"); },
  s: () => chooseView("seat"),
  b: () => { if (state.race) chooseView("tv"); },
  n: () => stepCar(1),
  p: () => stepCar(-1),
  r: resetCar,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase();
  if (document.body.dataset.state !== "stage" || isTyping(event.target, key)) return;
  if (event.repeat && !REPEATED.includes(key)) return;
  if (key === " " && event.target.matches("button, a, summary")) return;
  const press = KEYS[key] ?? (state.race ? raceKeys[key] : undefined);
  if (!press) return;
  press();
  event.preventDefault();
});
/** Whether a key means something to what has the keyboard. */
function isTyping(element, key) {
  if (element.matches('[type="range"]')) return key.startsWith("arrow");
  return element.matches("input, select, textarea");
}

for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => chooseView(button.dataset.view));
}
byId("inset").addEventListener("click", () => chooseView("camera"));
byId("reset").addEventListener("click", resetCar);
for (const id of ["pace-car", "pace-offer"]) byId(id).addEventListener("click", changePaceCar);
byId("road").addEventListener("click", () => {
  if (state?.road) act("/road", { ...state.road, style: state.road.style + 1, seed: state.road.seed + 1 }, byId("road"));
});
byId("exit").addEventListener("click", askExit);
byId("exit-dialog").addEventListener("close", () => {
  if (byId("exit-dialog").returnValue === "exit") act("/exit");
});
