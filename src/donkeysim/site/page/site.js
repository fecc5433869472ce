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

const KEPT = "donkeysim-best-"; // and the place
const DROPPED_SECONDS = 5;
const SAID_SECONDS = 10; // into a lap: by then a person knows the keys

const texts = new Texts("texts");
const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const told = new Told();
const driver = new Driver((message) => worker.postMessage({ task: "tell", message }), show);
const keys = new Keys(driver);
const tilt = new Tilt((angle, throttle) => driver.drive(angle, throttle));
driver.maxThrottle = Number(byId("limit").value);

let site = null;
let place = null; // entry of the site, or of a file that was dropped
let best = null; // {time, controls}
let network = null; // {name, content} of a pilot that was dropped
let frame = null;
let drawing = null;
let isDrawing = false; // a picture of the worker is under way
let hasPad = false;
let opened = 0; // places, so far
let driven = "user"; // by whom
let hasDriven = false; // a person
let covered = "loading"; // what the cover says

/** Begin: the site's list, the kernels, and the place that the link, or the last visit, names. */
async function start() {
  texts.start().then(say);
  const list = await (await fetchFile("site.json")).json();
  site = { ...list, module: openModule(list.kernels) };
  byId("place").replaceChildren(...site.places.map(({ name }) => new Option(nameOf(name), name)));
  const asked = new URLSearchParams(location.hash.slice(1));
  const lap = await readLap(asked.get("lap") ?? "");
  const wanted = lap?.place ?? asked.get("place");
  await open(site.places.find(({ name }) => name === wanted) ?? site.places[0], lap?.controls);
  navigator.serviceWorker?.register("sw.js").catch(() => { /* without it the page needs a network each time */ });
}

/** Go to a place; `lap`: controls of a lap that is to be raced against; `stream`: of a file that was dropped. */
async function open(entry, lap = null, stream = null) {
  cover("loading");
  place = entry;
  best = readBest(entry.name);
  byId("place").value = entry.name;
  const number = ++opened;
  const [parts, module] = await Promise.all([stream ?? fetchFile(entry.file).then((answer) => answer.body), site.module]);
  worker.postMessage({ task: "open", number, module, kernels: site.kernels, lap, best: best?.controls ?? null });
  let count = 0;
  for await (const bytes of listParts(parts)) {
    count += bytes.length;
    byId("progress").value = count / entry.size;
    if (number !== opened) return;
    worker.postMessage({ task: "part", number, bytes }, [bytes.buffer]);
  }
  worker.postMessage({ task: "part", number, bytes: null });
}

const ANSWERS = {
  open({ header, model, shared, best: own }) {
    told.setPlace(header.name, model);
    best = own === null ? null : { ...best, time: own };
    if (shared !== null) showToast(texts.say("shared_lap", { time: format(shared) }));
    byId("cover").hidden = true;
    choose(hasDriven || shared !== null ? "user" : "expert", false); // who comes first sees a car that drives
    showSight();
    show();
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
    const canvas = byId("view");
    canvas.getContext("2d").putImageData(new ImageData(picture, canvas.width, canvas.height), 0, 0);
    document.body.dataset.drawn = Number(document.body.dataset.drawn ?? 0) + 1;
  },
  lap({ time, isBest, isShown, controls }) {
    const text = isShown ? "expert_lap" : isBest ? "best_lap" : "lap_done";
    showToast(texts.say(text, { time: format(time) }));
    if (isBest && (!best || time < best.time)) { best = { time, controls }; keepBest(); }
    document.body.dataset.laps = Number(document.body.dataset.laps ?? 0) + 1;
    show();
  },
  tub({ file }) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `donkeysim-${place.name}.zip`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  },
  pilot() { show(); },
  fault({ task, name, layer, sentence }) {
    isDrawing = false;
    if (name === "another") return; // place is on its way
    if (task === "open") { cover(name ?? sentence, true); return; }
    if (task === "pilot") { network = null; choose("user"); }
    showToast(name ? texts.say(name, { layer }) : sentence);
  },
};
worker.onmessage = ({ data }) => ANSWERS[data.kind](data);
worker.onerror = (event) => cover(event.message ?? "worker.js", true);

/** Let somebody drive: "user", "pilot" or "expert"; `isAsked`: a person wants it so. */
async function choose(who, isAsked = true) {
  if (who === "pilot") {
    const content = network?.content.slice(0) ?? await fetchPilot();
    if (!content) { showToast(texts.say("no_pilot_here")); return; }
    worker.postMessage({ task: "pilot", content }, [content]);
  } else if (who === "expert") worker.postMessage({ task: "pilot", content: null });
  for (const button of document.querySelectorAll("[data-driver]")) button.setAttribute("aria-pressed", String(button.dataset.driver === who));
  driven = who;
  hasDriven ||= isAsked;
  driver.setMode(who === "user" ? "user" : "local");
  if (who === "user") driver.drive(0, 0);
}

/** The site's pilot that knows this place, else one that knows all; null: there is none. */
async function fetchPilot() {
  const known = site.pilots.find((pilot) => pilot.places.includes(place.name)) ?? site.pilots.find((pilot) => !pilot.places.length);
  return known ? (await fetchFile(known.file)).arrayBuffer() : null;
}

function show() {
  if (!frame) return;
  setText(byId("lap"), frame.lapTime === null ? "–" : format(frame.lapTime));
  setText(byId("best"), frame.best === null ? "" : texts.say("best", { time: format(frame.best) }));
  setText(byId("speed"), Math.abs(frame.speed).toFixed(1));
  byId("record").setAttribute("aria-pressed", String(frame.isRecording));
  byId("rec").hidden = !frame.isRecording && !frame.records;
  setText(byId("rec"), texts.say(frame.isRecording ? "recording" : "recorded", { count: frame.records }));
  byId("save").hidden = !frame.records;
  byId("share").hidden = !best;
  if (frame.lapTime > SAID_SECONDS) byId("keys").hidden = true;
  const note = !frame.onRoad ? "off_road" : driven === "pilot" && network ? "pilot_dropped" : !hasDriven && driven === "expert" ? "take_over" : "";
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
  const pad = readGamepad();
  if (pad && (hasPad || pad.angle || pad.throttle)) { hasPad = true; driver.drive(pad.angle, pad.throttle); }
  if (drawing?.isOn || isDrawing || !byId("cover").hidden || document.hidden) return;
  isDrawing = true;
  worker.postMessage({ task: "draw", view: byId("sight").value, aspect: innerWidth / innerHeight });
}

/** Cover the stage with a sentence: the name of a text, or what somebody else said. */
function cover(name, isFailed = false) {
  covered = name;
  byId("cover").hidden = false;
  byId("cover").classList.toggle("failed", isFailed);
  setText(byId("cover-text"), texts.say(name));
}

function fail(error) { cover(error.name === "PageError" ? error.message : "no_network", true); }

function restart() { driver.reset(); keys.forget(); frame = null; }

function record() { driver.setRecording(!driver.isRecording); }

async function share() {
  const address = new URL(location.href);
  address.hash = `lap=${await writeLap(place.name, best.controls)}`;
  try {
    await navigator.clipboard.writeText(address.href);
    showToast(texts.say("copied", { time: format(best.time) }));
  } catch {
    location.hash = address.hash;
    showToast(texts.say("in_address"));
  }
}

/** Take a file that was dropped: a pilot or a place. */
async function take(file) {
  if (/\.onnx$/i.test(file.name)) {
    network = { name: file.name, content: await file.arrayBuffer() };
    await choose("pilot");
  } else if (/\.place$/i.test(file.name)) {
    const name = file.name.replace(/\.place$/i, "");
    if (![...byId("place").options].some((option) => option.value === name)) byId("place").append(new Option(nameOf(name), name));
    await open({ name, size: file.size }, null, file.stream()).catch(fail);
  } else showToast(texts.say(/\.(h5|keras|tflite)$/i.test(file.name) ? "convert_first" : "what_to_drop"));
}

function readBest(name) {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT + name));
    return kept ? { time: kept.time, controls: Int8Array.from(atob(kept.controls), (one) => one.charCodeAt(0)) } : null;
  } catch {
    return null;
  }
}

function keepBest() {
  const controls = btoa(Array.from(new Uint8Array(best.controls.buffer), (byte) => String.fromCharCode(byte)).join(""));
  try { localStorage.setItem(KEPT + place.name, JSON.stringify({ time: best.time, controls })); } catch { /* for this visit only */ }
}

function nameOf(name) { return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " "); }

function format(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - 60 * minutes).toFixed(2);
  return minutes ? `${minutes}:${rest.padStart(5, "0")}` : rest;
}

// -- what people do ---------------------------------------------------------------------------------------------------

const PRESSED = { r: restart, c: record, Backspace: restart };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("select, input")) return;
  const key = readKey(event);
  if (keys.drives(key)) {
    event.preventDefault();
    if (driver.mode !== "user") choose("user");
    keys.press(key, event.repeat);
  } else if (!event.repeat && key in PRESSED) PRESSED[key]();
  else if (key === "x" && !event.repeat) worker.postMessage({ task: "drop", seconds: DROPPED_SECONDS });
});
document.addEventListener("keyup", (event) => keys.release(readKey(event)));
window.addEventListener("blur", () => keys.releaseAll());
document.addEventListener("visibilitychange", () => {
  keys.releaseAll();
  worker.postMessage({ task: "pause", isHidden: document.hidden });
});
for (const button of document.querySelectorAll("[data-driver]")) button.addEventListener("click", () => { choose(button.dataset.driver); button.blur(); });
for (const [id, act] of Object.entries({ restart, record, share, save: () => worker.postMessage({ task: "save" }) })) {
  byId(id).addEventListener("click", () => { act(); byId(id).blur(); });
}
byId("limit").addEventListener("input", () => driver.setMaxThrottle(Number(byId("limit").value)));
byId("limit").addEventListener("change", () => byId("limit").blur());
byId("place").addEventListener("change", () => {
  const entry = site.places.find(({ name }) => name === byId("place").value);
  history.replaceState(null, "", `#place=${byId("place").value}`);
  byId("place").blur();
  if (entry) open(entry).catch(fail);
});
byId("sight").addEventListener("change", () => { showSight(); byId("sight").blur(); });
new Joystick(byId("stick"), byId("thumb"), {
  onTouch: () => { if (driver.mode !== "user") choose("user"); },
  onMove: (angle, throttle) => driver.drive(angle, throttle),
  onRelease: () => driver.drive(0, 0),
});
if ("DeviceOrientationEvent" in window && matchMedia("(pointer: coarse)").matches) byId("tilt").hidden = false;
byId("tilt").addEventListener("click", async () => {
  const obstacle = tilt.isOn ? null : await Tilt.findObstacle();
  if (obstacle) { showToast(texts.say("no_tilt")); return; }
  if (tilt.isOn) { tilt.turnOff(); driver.drive(0, 0); } else tilt.turnOn();
  byId("tilt").setAttribute("aria-pressed", String(tilt.isOn));
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  for (const file of event.dataTransfer.files) take(file);
});
texts.offer(byId("language"), say);

drawing = new Drawing(byId("stage"), byId("drawing"), {
  open: (onChange) => told.listen(onChange),
  findPlace: () => told.address,
  onChange: showSight,
});
requestAnimationFrame(run);
start().catch(fail);
