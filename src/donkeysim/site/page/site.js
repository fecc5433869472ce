// The page: what people see and press. Whoever drives and draws is `worker.js`, or the browser's own view of the place.

import { Driver } from "./control/driver.js";
import { readGamepad } from "./control/gamepad.js";
import { Joystick } from "./control/joystick.js";
import { Keys, readKey } from "./control/keys.js";
import { Tilt } from "./control/tilt.js";
import { readLap, writeLap } from "./laps.js";
import { fetchFile, listParts, openModule } from "./loading.js";
import { byId, setText, showToast } from "./shared/elements.js";
import { Texts } from "./shared/languages.js";
import { Drawing } from "./shared/viewer/drawing.js";
import { Told } from "./told.js";

const KEPT = `donkeysim-best-${location.pathname}-`; // and the place: other sites of this server have others
const DROPPED_SECONDS = 5;
const SAID_SECONDS = 10; // into a lap: by then a person knows the keys

const HAS_THUMBS = matchMedia("(pointer: coarse)"); // instead of keys

const texts = new Texts("texts");
const spoken = texts.start(); // settled when there are texts
const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const told = new Told();
const driver = new Driver((message) => worker.postMessage({ task: "tell", message }), show);
const keys = new Keys(driver);
const tilt = new Tilt((angle, throttle) => driver.drive(angle, throttle));
driver.maxThrottle = Number(byId("limit").value);

let site = null;
let place = null; // entry of the site, or of a file that was dropped, where one is
let opened = 0; // places, so far
let network = null; // {name, content} of a pilot that was dropped
let asked = 0; // who shall drive, so often
let driven = "expert"; // by whom
let hasDriven = false; // a person
let frame = null;
let drawing = null;
let isDrawing = false; // a picture of the worker is under way
let covered = "loading"; // what the cover says
let pad = null; // what the gamepad said last
const bests = {}; // {time, controls} of this place, by who drove
const dropped = new Map(); // files of places, by name

/** Begin: the site's list, the kernels, and the place that the link names, else the first. */
async function start() {
  byId("stuck").remove();
  spoken.then(() => { texts.offer(byId("language"), say); say(); });
  const list = await (await fetchFile("site.json")).json();
  site = { ...list, module: openModule(list.kernels) };
  byId("place").replaceChildren(...site.places.map(({ name }) => new Option(nameOf(name), name)));
  await followLink();
  navigator.serviceWorker?.register("sw.js").catch(() => { /* without it each visit needs a network */ });
}

/** Go where the page's address says. */
async function followLink() {
  const said = new URLSearchParams(location.hash.slice(1));
  const lap = await readLap(said.get("lap") ?? "");
  const wanted = lap?.place ?? said.get("place");
  const entry = site.places.find(({ name }) => name === wanted);
  await open(entry ?? site.places[0], lap && entry ? lap.controls : null);
  if (said.has("lap") && !lap) tell("no_lap");
  else if (wanted && !entry) tell("not_here", { name: nameOf(wanted) });
}

/** Go to a place; `lap`: controls of a lap that is to be raced against. */
async function open(entry, lap = null) {
  const number = ++opened;
  cover("loading");
  byId("progress").value = 0;
  byId("place").value = entry.name;
  try {
    const file = dropped.get(entry.name);
    const [parts, module] = await Promise.all([file?.stream() ?? fetchFile(entry.file).then((answer) => answer.body), site.module]);
    if (number !== opened) { parts.cancel(); return; }
    worker.postMessage({ task: "open", number, module, kernels: site.kernels, lap, best: readBest(entry.name)?.controls ?? null });
    let count = 0;
    for await (const bytes of listParts(parts)) {
      if (number !== opened) return;
      count += bytes.length;
      byId("progress").value = count / (file ?? entry).size;
      worker.postMessage({ task: "part", number, bytes }, [bytes.buffer]);
    }
    worker.postMessage({ task: "part", number, bytes: null });
  } catch (error) {
    if (number === opened) stay(error.name === "PageError" ? error.message : "no_network");
  }
}

/** Another place could not be opened: stay where one is, if one is anywhere. */
function stay(name) {
  opened += 1;
  if (!place) { cover(name, true); return; }
  byId("cover").hidden = true;
  byId("place").value = place.name;
  tell(name);
}

/** Let the service worker keep the place and its pilot, which may have come before it was there. */
async function keepFiles() {
  const files = [place.file, findPilot()?.file].filter(Boolean);
  const registration = await navigator.serviceWorker?.ready;
  registration?.active.postMessage({ keep: files });
}

const ANSWERS = {
  open({ number, header, model, rival }) {
    if (number !== opened) return;
    place = site.places.find(({ name }) => name === header.name && !dropped.has(byId("place").value)) ?? { name: byId("place").value };
    for (const who of Object.keys(bests)) delete bests[who];
    const best = readBest(place.name);
    if (best) bests.user = best;
    told.setPlace(header.name, model);
    if (rival !== null) tell("shared_lap", { time: format(rival) });
    byId("cover").hidden = true;
    driver.setRecording(false);
    choose(hasDriven || rival !== null ? "user" : "expert", false); // who comes first sees a car that drives
    showSight();
    show();
    keepFiles();
  },
  frame(news) {
    frame = news;
    told.tell(news.moment);
    const [width, height] = [byId("camera").width, byId("camera").height];
    byId("camera").getContext("2d").putImageData(new ImageData(news.picture, width, height), 0, 0);
    document.body.dataset.frames = Number(document.body.dataset.frames ?? 0) + 1;
    show();
  },
  drawn({ picture }) {
    isDrawing = false;
    if (!picture) return;
    const canvas = byId("view");
    canvas.getContext("2d").putImageData(new ImageData(picture, canvas.width, canvas.height), 0, 0);
    document.body.dataset.drawn = Number(document.body.dataset.drawn ?? 0) + 1;
  },
  lap({ who, time, isBest, controls }) {
    tell(who === "expert" ? "expert_lap" : isBest ? "best_lap" : "lap_done", { time: format(time) });
    if (isBest && controls && who !== "expert") bests[who] = { time, controls };
    if (isBest && controls && who === "user") keepBest();
    document.body.dataset.laps = Number(document.body.dataset.laps ?? 0) + 1;
    show();
  },
  tub({ name, file }) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `donkeysim-${name}.zip`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  },
  fault({ task, number, name, layer, sentence }) {
    isDrawing = false;
    if (task === "open") { if (number === opened) stay(name ?? sentence); return; }
    if (task === "pilot") { network = null; choose("user"); }
    if (name) tell(name, { layer }); else showToast(sentence);
  },
};
worker.onmessage = ({ data }) => ANSWERS[data.kind](data);
worker.onerror = (event) => cover(event.message ?? "worker.js", true);

/** Let somebody drive: "user", "pilot" or "expert"; `isAsked`: a person wants it so. */
async function choose(who, isAsked = true) {
  const number = ++asked;
  let content = null;
  try {
    if (who === "pilot") content = network?.content.slice(0) ?? await fetchPilot();
  } catch {
    tell("no_network");
    return;
  }
  if (number !== asked) return; // somebody else shall, meanwhile
  if (who === "pilot" && !content) { tell("no_pilot_here"); return; }
  worker.postMessage({ task: "choose", who, content }, content ? [content] : []);
  for (const button of document.querySelectorAll("[data-driver]")) button.setAttribute("aria-pressed", String(button.dataset.driver === who));
  driven = who;
  hasDriven ||= isAsked;
  if (who === "user") driver.drive(0, 0);
}

/** The site's pilot for this place; undefined: there is none. */
function findPilot() { return site.pilots.find(({ places }) => !places.length || places.includes(place.name)); }

async function fetchPilot() {
  const pilot = findPilot();
  return pilot ? (await fetchFile(pilot.file)).arrayBuffer() : null;
}

/** What is to be shared: the best lap of whoever drives, else a person's. */
function findBest() { return bests[driven] ?? bests.user; }

function show() {
  if (!frame) return;
  setText(byId("lap"), frame.lapTime === null ? "–" : format(frame.lapTime));
  setText(byId("best"), frame.best === null ? "" : texts.say("best", { time: format(frame.best) }));
  setText(byId("speed"), Math.abs(frame.speed).toFixed(1));
  byId("record").setAttribute("aria-pressed", String(frame.isRecording));
  byId("rec").hidden = !frame.isRecording && !frame.records;
  setText(byId("rec"), texts.say(frame.isRecording ? "recording" : "recorded", { count: frame.records }));
  byId("save").hidden = byId("drop").hidden = !frame.records;
  byId("share").hidden = !findBest();
  if (frame.lapTime > SAID_SECONDS) byId("keys").hidden = true;
  const isShown = !hasDriven && driven === "expert";
  const note = !frame.onRoad ? "off_road" : driven === "pilot" && network ? "pilot_dropped" : isShown ? (HAS_THUMBS.matches ? "take_over_by_thumb" : "take_over") : "";
  setText(byId("who-note"), note && texts.say(note, { name: network?.name }));
}

function say() {
  for (const option of byId("place").options) option.text = nameOf(option.value);
  drawing?.say(texts.code);
  setText(byId("cover-text"), texts.say(covered));
  show();
}

function showSight() {
  const view = byId("sight").value;
  drawing?.show([{ box: byId("stage"), view, car: 0, label: texts.say("view_alt") }]);
  byId("sight").querySelector('[value="orbit"]').hidden = !drawing?.isOn;
}

/** Ask the worker for pictures where this browser does not draw by itself, and look at the gamepad. */
function run() {
  requestAnimationFrame(run);
  followGamepad();
  if (drawing?.isOn || isDrawing || !byId("cover").hidden || document.hidden) return;
  isDrawing = true;
  worker.postMessage({ task: "draw", view: byId("sight").value, aspect: innerWidth / innerHeight });
}

/** Show a text for a few seconds. */
async function tell(name, values = {}) {
  await spoken;
  showToast(texts.say(name, values));
}

/** Drive as the gamepad says, when it says something new: one that lies there leaves the car to others. */
function followGamepad() {
  const now = readGamepad();
  if (!now || (now.angle === (pad?.angle ?? 0) && now.throttle === (pad?.throttle ?? 0))) return;
  pad = now;
  if (driven !== "user") choose("user");
  driver.drive(now.angle, now.throttle);
}

/** Cover the stage with a sentence: the name of a text, or what somebody else said. */
function cover(name, isFailed = false) {
  covered = name;
  byId("cover").hidden = false;
  byId("cover").classList.toggle("failed", isFailed);
  setText(byId("cover-text"), texts.say(name));
}

function seeNext() {
  const sight = byId("sight");
  const views = [...sight.options].filter((view) => !view.hidden);
  sight.value = views[(views.findIndex((view) => view.selected) + 1) % views.length].value;
  sight.dispatchEvent(new Event("change"));
}

function restart() { driver.reset(); keys.forget(); }

function record() { driver.setRecording(!driver.isRecording); }

function drop() {
  worker.postMessage({ task: "drop", seconds: DROPPED_SECONDS });
  if (frame?.records) tell("dropped", { seconds: DROPPED_SECONDS });
}

async function share() {
  const best = findBest();
  const address = new URL(location.href);
  address.hash = `lap=${await writeLap(place.name, best.controls)}`;
  try {
    await navigator.clipboard.writeText(address.href);
    tell("copied", { time: format(best.time) });
  } catch {
    history.replaceState(null, "", address.hash);
    tell("in_address");
  }
}

/** Take a file that was dropped or chosen: a pilot or a place. */
async function take(file) {
  if (/\.onnx$/i.test(file.name)) {
    network = { name: file.name, content: await file.arrayBuffer() };
    await choose("pilot");
  } else if (/\.place$/i.test(file.name)) {
    const name = file.name.replace(/\.place$/i, "").replace(/-[0-9a-f]{8}$/, "");
    dropped.set(name, file);
    if (![...byId("place").options].some((option) => option.value === name)) byId("place").append(new Option(nameOf(name), name));
    await open({ name });
  } else tell(/\.(h5|keras|tflite)$/i.test(file.name) ? "convert_first" : "what_to_drop");
}

function readBest(name) {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT + name));
    return kept?.controls ? { time: kept.time, controls: Int8Array.from(atob(kept.controls), (one) => one.charCodeAt(0)) } : null;
  } catch {
    return null;
  }
}

function keepBest() {
  const { time, controls: bytes } = bests.user;
  const controls = btoa(Array.from(new Uint8Array(bytes.buffer), (byte) => String.fromCharCode(byte)).join(""));
  try { localStorage.setItem(KEPT + place.name, JSON.stringify({ time, controls })); } catch { /* for this visit only */ }
}

function nameOf(name) { return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " "); }

function format(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - 60 * minutes).toFixed(2);
  return minutes ? `${minutes}:${rest.padStart(5, "0")}` : rest;
}

// -- what people do ---------------------------------------------------------------------------------------------------

const PRESSED = { r: record, delete: drop, backspace: restart, v: seeNext }; // as on the control page

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("select, input")) return;
  const key = readKey(event);
  if (keys.drives(key)) {
    event.preventDefault();
    if (driven !== "user") choose("user");
    keys.press(key, event.repeat);
  } else if (!event.repeat && key in PRESSED) PRESSED[key]();
});
document.addEventListener("keyup", (event) => keys.release(readKey(event)));
window.addEventListener("blur", () => keys.releaseAll());
document.addEventListener("visibilitychange", () => {
  keys.releaseAll();
  worker.postMessage({ task: "pause", isHidden: document.hidden });
});
for (const button of document.querySelectorAll("[data-driver]")) button.addEventListener("click", () => { choose(button.dataset.driver); button.blur(); });
for (const [id, act] of Object.entries({ restart, record, share, drop, file: () => byId("chosen").click(), again: () => location.reload(), save: () => worker.postMessage({ task: "save" }) })) {
  byId(id).addEventListener("click", () => { act(); byId(id).blur(); });
}
byId("limit").addEventListener("input", () => driver.setMaxThrottle(Number(byId("limit").value)));
byId("limit").addEventListener("change", () => byId("limit").blur());
byId("place").addEventListener("change", () => {
  const name = byId("place").value;
  byId("place").blur();
  history.replaceState(null, "", `#place=${encodeURIComponent(name)}`);
  open(site.places.find((entry) => entry.name === name && !dropped.has(name)) ?? { name });
});
byId("chosen").addEventListener("change", () => { for (const file of byId("chosen").files) take(file); byId("chosen").value = ""; });
window.addEventListener("hashchange", followLink);
window.addEventListener("beforeunload", (event) => { if (frame && !frame.isSaved) event.preventDefault(); });
byId("sight").addEventListener("change", () => { showSight(); byId("sight").blur(); });
new Joystick(byId("stick"), byId("thumb"), {
  onTouch: () => { if (driven !== "user") choose("user"); },
  onMove: (angle, throttle) => driver.drive(angle, throttle),
  onRelease: () => driver.drive(0, 0),
});
if ("DeviceOrientationEvent" in window && HAS_THUMBS.matches) byId("tilt").hidden = false;
byId("tilt").addEventListener("click", async () => {
  const obstacle = tilt.isOn ? null : await Tilt.findObstacle();
  if (obstacle) { tell("no_tilt"); return; }
  if (tilt.isOn) { tilt.turnOff(); driver.drive(0, 0); } else tilt.turnOn();
  byId("tilt").setAttribute("aria-pressed", String(tilt.isOn));
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  for (const file of event.dataTransfer.files) take(file);
});
drawing = new Drawing(byId("stage"), byId("drawing"), {
  open: (onChange) => told.listen(onChange),
  findPlace: () => told.address,
  onChange: showSight,
});
requestAnimationFrame(run);
start().catch((error) => cover(error.name === "PageError" ? error.message : "no_network", true));
