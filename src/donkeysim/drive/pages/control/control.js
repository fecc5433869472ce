// The control page: joins the person's hands, the car's reports and the document.

import { byId, make, setText, showToast } from "/shared/elements.js";
import { Texts } from "/shared/languages.js";
import { Driver } from "/static/driver.js";
import { readGamepad } from "/static/gamepad.js";
import { Joystick } from "/static/joystick.js";
import { Keys, readKey } from "/static/keys.js";
import { Link } from "/static/link.js";
import { Look } from "/static/look.js";
import { Places } from "/static/places.js";
import { Readings } from "/static/readings.js";
import { Tilt } from "/static/tilt.js";
import { Views } from "/static/views.js";

const GAMEPAD_INTERVAL_MS = 50;
const VIDEO_RETRY_MS = 1000;
const TILT_PATIENCE_MS = 1500;
const RANDOM_PLACE = "random_place"; // where pilots for places that nobody has seen have learned
const OWN_VIEW_MS = 300; // what this page has just done is shown before what the car reports

const texts = new Texts("/static/texts");
const link = new Link(showLink, hear);
const driver = new Driver((message) => link.send(message), showDriver);
const readings = new Readings(texts);
const views = new Views();
const places = new Places(texts, (place) => { stop(); driver.say({ place }); });
const look = new Look((chosen) => driver.say({ look: chosen }));
const keys = new Keys(driver);
const tilt = new Tilt((angle, throttle) => {
  if (!driver.isBraked) driver.drive(angle, driver.isConstant ? driver.throttle : throttle);
});
new Joystick(byId("joystick_container"), byId("joystick-thumb"), {
  onTouch: () => driver.setRecording(true),
  onMove: (angle, throttle) => driver.drive(angle, throttle),
  onRelease: letGo,
});

let report = null;
let isOpen = false;
let hasFilm = true; // the page itself names it, for whoever reads its source
let controlMode = "joystick";
let watching = "";
let erasedBefore = null;

function letGo() {
  if (driver.mode !== "local_angle") { stop(); return; }
  driver.standStill(); // the pilot keeps steering
  driver.setRecording(false);
  driver.post();
}

function hear(message) {
  if (message.about) {
    watching = message.about.watching;
    keys.areHolding = message.about.keys_hold;
    showWatching();
    views.offer(message.about.views);
  }
  if (message.error) { showToast(message.error); places.forget(); }
  if (message.released) { keys.forget(); driver.standStill(); driver.post(); showToast(texts.say("released")); }
  if (message.report) { report = message.report; showReport(); }
}

function showLink(nowOpen) {
  isOpen = nowOpen;
  document.body.dataset.link = isOpen ? "live" : "lost";
  byId("link").classList.toggle("live", isOpen);
  byId("link-text").dataset.text = isOpen ? "live" : "not_connected";
  setText(byId("link-text"), texts.say(byId("link-text").dataset.text));
  byId("lost").hidden = isOpen;
  readings.forget();
  if (!isOpen) { report = erasedBefore = null; hasFilm = driver.isRecording = false; keys.forget(); driver.standStill(); }
  else if (!hasFilm) startVideo();
}

function startVideo() {
  hasFilm = true;
  byId("mpeg-image").src = `/video?${Date.now()}`;
}

function isThisMachine(name) { return ["localhost", "127.0.0.1", "[::1]"].includes(name); }

function showWatching() {
  const isReachable = watching && (isThisMachine(location.hostname) || !isThisMachine(new URL(watching).hostname));
  byId("watching").hidden = !isReachable;
  if (!isReachable) return;
  const address = new URL(watching);
  if (report?.look && address.searchParams.has("car")) address.searchParams.set("car", report.look.car_name);
  byId("watching").href = address.href === `${watching}/` ? watching : address.href;
}

function showReport() {
  if (performance.now() - driver.changedAt > OWN_VIEW_MS) {
    if (driver.isRecording && !report.recording && report.mode !== "user") showToast(texts.say("not_recorded"));
    driver.follow(report);
    [driver.angle, driver.throttle] = driver.isBraked ? [driver.angle, driver.throttle] : report.user;
  }
  readings.show(report);
  places.show(report);
  look.show(report.look);
  showPilots(report);
  showErased(report.num_erased);
  showWatching();
  showDriver();
}

function showErased(count) {
  if (erasedBefore !== null && count > erasedBefore) showToast(texts.say("erased", { count: count - erasedBefore }));
  erasedBefore = count;
}

function showDriver() {
  const isSettled = report && performance.now() - driver.changedAt > OWN_VIEW_MS;
  readings.showHands(isSettled ? report.user : [driver.angle, driver.throttle], driver.mode, report?.car);
  const brake = byId("brake_button");
  brake.classList.toggle("danger", !driver.isStopped);
  brake.classList.toggle("primary", driver.isStopped);
  setText(byId("brake-text"), texts.say(driver.isStopped ? "start" : "stop"));
  const record = byId("record_button");
  record.classList.toggle("on", driver.isRecording);
  record.setAttribute("aria-pressed", String(driver.isRecording));
  setText(byId("record-text"), texts.say(driver.isRecording ? "rec" : "record"));
  record.title = texts.say(driver.isRecording ? "stop_recording" : "record_title");
  const badge = byId("recording-badge");
  const isWaiting = driver.isRecording && report?.is_recorded === false;
  badge.hidden = !driver.isRecording;
  badge.classList.toggle("waits", isWaiting);
  setText(byId("rec-text"), texts.say(isWaiting ? "rec_waits" : "rec"));
  setText(byId("rec-why"), isWaiting ? texts.say(report.on_road === false ? "rec_why_off_road" : "rec_why") : "");
  byId("mode_select").value = driver.mode;
  byId("mode-badge").dataset.mode = driver.mode;
  setText(byId("mode-badge"), texts.say(`badge_${driver.mode}`));
  showModeNote();
}

function showModeNote() {
  const hasPilot = Boolean(report?.pilot);
  const isStranger = hasPilot && report.place && report.pilot_places.length > 0 && !report.pilot_places.some((place) => place === report.place || place === RANDOM_PLACE);
  const name = driver.mode === "user" || !report ? "" : isStranger ? "stranger" : hasPilot ? "" : report.pilots.length ? "choose_pilot" : "no_pilots";
  setText(byId("mode-note"), name && texts.say(name, { pilot: report.pilot, places: report.pilot_places.join(", ") }));
  byId("road-note").hidden = Boolean(name) || report?.on_road !== false;
}

function showPilots({ pilot, pilots }) {
  const select = byId("pilot_select");
  const names = pilot && !pilots.includes(pilot) ? [pilot, ...pilots] : pilots;
  const key = JSON.stringify([names, texts.code]);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...["", ...names].map((name) => {
      const option = make("option", "", name || texts.say("no_pilot"));
      option.value = name;
      return option;
    }));
  }
  if (performance.now() - driver.changedAt > OWN_VIEW_MS) select.value = pilot;
}

// ---- ways to control -------------------------------------------------------------------------------------------

async function chooseControlMode(mode) {
  controlMode = mode;
  showControlNote("");
  tilt.turnOff();
  byId("joystick_container").classList.toggle("idle", mode !== "joystick");
  if (mode === "tilt") await startTilt();
  if (mode === "gamepad") pollGamepad();
}

async function startTilt() {
  const obstacle = await Tilt.findObstacle();
  if (obstacle) { fallBack(`tilt_${obstacle}`); return; }
  showControlNote("tilt_ready");
  tilt.turnOn();
  setTimeout(() => { if (controlMode === "tilt" && !tilt.hasReadings) fallBack("tilt_missing"); }, TILT_PATIENCE_MS);
}

function fallBack(reason) {
  tilt.turnOff();
  controlMode = "joystick";
  document.querySelector('[name="control_mode"][value="joystick"]').checked = true;
  byId("joystick_container").classList.remove("idle");
  showControlNote(reason);
}

function showControlNote(name) {
  byId("control-note").dataset.text = name;
  setText(byId("control-note"), name && texts.say(name));
}

function pollGamepad() {
  if (controlMode !== "gamepad") return;
  const pad = readGamepad();
  if (!pad) showControlNote("gamepad_missing");
  else {
    showControlNote("gamepad_ready");
    if (pad.angle !== driver.angle || pad.throttle !== driver.throttle) driver.drive(pad.angle, pad.throttle);
    if (!driver.isConstant) driver.setRecording(pad.throttle !== 0);
  }
  setTimeout(pollGamepad, GAMEPAD_INTERVAL_MS);
}

const KEYS = {
  " ": toggleBrake,
  r: () => driver.setRecording(!driver.isRecording),
  delete: erase,
  u: () => driver.setMode("user"),
  v: () => views.next(),
  backspace: reset,
};

const SHIFTED_KEYS = { // a hand that drives must not start a pilot
  s: () => driver.setMode("local_angle"),
  d: () => driver.setMode("local"),
  a: () => driver.setMode("local"),
  m: () => driver.nextMode(),
};

function toggleBrake() {
  tilt.rest();
  keys.forget();
  driver.toggleBrake();
}

function stop() {
  keys.forget();
  driver.brake();
}

function reset() {
  keys.forget();
  driver.reset();
}

function erase() { driver.say({ erase: true }); }

function driveByKey(key, isRepeat) {
  if (key in SHIFTED_KEYS) showOnce("letters_note");
  if (driver.mode === "local" && !isRepeat) showToast(texts.say("pilot_drives"));
  keys.press(key, isRepeat);
}

/** Show a sentence once in this browser. */
function showOnce(name) {
  try {
    if (localStorage.getItem(`donkeysim-${name}`)) return;
    localStorage.setItem(`donkeysim-${name}`, "1");
  } catch { /* shown again */ }
  showToast(texts.say(name));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const key = readKey(event);
  if (key.startsWith("arrow") && event.target.closest("select, input")) return;
  const act = event.shiftKey && key in SHIFTED_KEYS ? SHIFTED_KEYS[key] : keys.drives(key) ? () => driveByKey(key, event.repeat) : KEYS[key];
  if (!act) return;
  event.preventDefault(); // the space bar always brakes, whatever has the focus
  if (!event.repeat || keys.drives(key)) act();
});
document.addEventListener("keyup", (event) => {
  keys.release(readKey(event));
  if (event.key === " ") event.preventDefault();
});
window.addEventListener("blur", () => keys.releaseAll());

byId("brake_button").addEventListener("click", toggleBrake);
byId("record_button").addEventListener("click", () => driver.setRecording(!driver.isRecording));
byId("erase_button").addEventListener("click", erase);
for (const id of ["reset_button", "back_button"]) byId(id).addEventListener("click", reset);
byId("mode_select").addEventListener("change", (event) => driver.setMode(event.target.value));
byId("pilot_select").addEventListener("change", (event) => driver.say({ pilot: event.target.value }));
byId("throttle_mode_select").addEventListener("change", (event) => driver.setThrottleMode(event.target.value === "constant"));
byId("max_throttle_select").addEventListener("change", (event) => driver.setMaxThrottle(Number(event.target.value)));
for (const input of document.querySelectorAll('[name="control_mode"]')) {
  input.addEventListener("change", () => chooseControlMode(input.value));
}
for (const button of document.querySelectorAll("#button_bar button")) {
  button.addEventListener("click", () => driver.say({ buttons: { [button.id]: true } }));
}
byId("mpeg-image").addEventListener("error", () => {
  hasFilm = false;
  setTimeout(() => { if (isOpen) startVideo(); }, VIDEO_RETRY_MS);
});

// ---- languages -------------------------------------------------------------------------------------------------

function showTexts() {
  document.title = texts.say("title");
  views.drawing.say(texts.code);
  if (report) { readings.show(report); showPilots(report); places.showButton(); }
  showDriver();
}

await texts.start();
texts.offer(byId("language"), showTexts);
showTexts();
link.open();
