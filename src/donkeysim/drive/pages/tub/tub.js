// The tub page: a film of the drive, plots under it, and what is cut out of it.

import { byId, colours, fitCanvas, make, setText, showToast } from "/shared/elements.js";
import { Texts } from "/shared/languages.js";
import { Deletions } from "/pages/deletions.js";
import { Flaws } from "/pages/flaws.js";
import { Pictures } from "/pages/pictures.js";
import { OverviewPlot, ZoomPlot } from "/pages/plots.js";

const DEFAULT_RATE = 20; // records per second, where the times do not say
const FULL_LOCK = Math.PI / 4;

const drive = {
  isLoaded: false, count: 0, version: 0, position: 0, marked: null, sessions: [], deletedSpans: [],
  angle: new Float32Array(0), throttle: new Float32Array(0), times: new Float64Array(0), pilotAngle: null, pilotThrottle: null,
};
const texts = new Texts("/pages/texts");
const pictures = new Pictures();
const overview = new OverviewPlot(byId("overview"), (position) => { pause(); goTo(position); });
const zoom = new ZoomPlot(byId("zoom"), { onSeek: (position) => { pause(); goTo(position); }, onMark: mark });
const flaws = new Flaws({ texts, pictures, onSeek: (position) => { pause(); goTo(position); }, onDelete: deleteAll });
const deletions = new Deletions({ onState: showSaved, onChange: showDeletions, onRefusal: refuse });

let isPlaying = false;
let playedUntil = 0; // position with its fraction, while playing
let lastFrame = 0;
let rate = DEFAULT_RATE;
let shownPicture = -1;
let isLoadingPicture = false;
let isStale = true;
let canChange = true;
let pendingMark = null;
let shownFlaw = null; // the stretch that a key has marked as wrong


async function load() {
  try {
    const summary = await (await fetch("/summary")).json();
    if (summary.error) throw new Error(summary.error);
    if (!drive.isLoaded || summary.count !== drive.count) {
      await loadRecords(summary);
      if (summary.lost) showToast(sayCount("lost", summary.lost));
    }
    canChange = summary.can_change;
    deletions.load(summary.count, summary.state);
    showSaved(canChange ? "saved" : "locked");
  } catch (error) {
    showSaved("bad");
    showToast(error instanceof TypeError ? texts.say("unreachable") : error.message);
  }
}

async function loadRecords(summary) {
  const column = async (key) => (summary.keys.includes(key) ? new Float32Array(await fetchBytes(`/numbers/${key}`)) : null);
  const none = new Float32Array(summary.count).fill(NaN);
  drive.angle = (await column(summary.command[0])) ?? none;
  drive.throttle = (await column(summary.command[1])) ?? none;
  const pilot = (key) => (summary.command.includes(key) ? null : column(key));
  drive.pilotAngle = await pilot("pilot/angle");
  drive.pilotThrottle = await pilot("pilot/throttle");
  const times = new Float64Array(await fetchBytes("/times"));
  rate = findRate(times);
  drive.times = rate ? times : times.map((_time, position) => position / DEFAULT_RATE);
  rate ||= DEFAULT_RATE;
  drive.isLoaded = true;
  drive.count = summary.count;
  drive.sessions = summary.sessions;
  drive.version += 1;
  drive.marked = null;
  drive.position = Math.min(drive.position, Math.max(summary.count - 1, 0));
  pictures.clear();
  shownPicture = -1;
  setText(byId("name"), summary.path);
  byId("name").title = summary.path;
  drive.name = summary.name;
  showSessions();
  byId("empty").hidden = summary.count > 0;
  byId("desk").hidden = summary.count === 0;
  document.body.dataset.state = "ready";
  flaws.load();
}

async function fetchBytes(path) { return (await fetch(path)).arrayBuffer(); }

function showSessions() {
  document.title = drive.name ? `${drive.name} – ${texts.say("title")}` : texts.say("title");
  byId("session").replaceChildren(...drive.sessions.map(({ id, first, last }, number) => (
    new Option(`${id || "–"} · ${sayRecords(last - first + 1)}`, String(number))
  )));
}

function sayRecords(count) { return count === 1 ? texts.say("one_record") : sayCount("records", count); }

function sayCount(name, count) { return texts.say(name, { count: count.toLocaleString("en") }); }

/** Records per second, from the middle of all distances in time; 0 when these are no driver's (a sample made faster). */
function findRate(times) {
  const steps = [];
  const stride = Math.max(1, Math.floor(times.length / 2000));
  for (let at = 1; at < times.length; at += stride) steps.push(times[at] - times[at - 1]);
  const middle = steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)];
  return middle > 0.012 && middle < 1 ? 1 / middle : 0;
}

function goTo(position) {
  const next = Math.max(0, Math.min(drive.count - 1, Math.round(position)));
  if (pendingMark !== null) mark(...[pendingMark, next].sort((a, b) => a - b));
  drive.position = next;
  isStale = true;
}

function animate(now) {
  if (isPlaying) advance((now - lastFrame) / 1000);
  lastFrame = now;
  if (isStale && drive.count) draw();
  requestAnimationFrame(animate);
}

function advance(elapsed) {
  playedUntil += Math.min(elapsed, 0.25) * rate * Number(byId("speed").value);
  let next = Math.floor(playedUntil);
  if (byId("skip").checked) {
    while (next < drive.count && deletions.flags[next]) next += 1;
    if (next > Math.floor(playedUntil)) playedUntil = next;
  }
  if (next >= drive.count) { pause(); goTo(drive.count - 1); return; }
  if (next !== drive.position) goTo(next);
}

function play() {
  if (drive.position >= drive.count - 1) goTo(0);
  playedUntil = drive.position;
  isPlaying = true;
  showPlaying();
}

function pause() {
  isPlaying = false;
  showPlaying();
}

function showPlaying() {
  setText(byId("play"), isPlaying ? "❚❚" : "▶");
  byId("play").ariaLabel = byId("play").title = texts.say(isPlaying ? "pause" : "play");
  document.body.dataset.playing = String(isPlaying);
}

function draw() {
  isStale = false;
  const at = drive.position;
  const isDeleted = Boolean(deletions.flags[at]);
  drive.deletedSpans = deletions.spans ?? [];
  overview.draw(drive);
  zoom.draw(drive);
  drawWheel(drive.angle[at], drive.throttle[at]);
  byId("screen").classList.toggle("deleted", isDeleted);
  byId("cut").hidden = !isDeleted;
  if (document.activeElement !== byId("jump")) byId("jump").value = String(at);
  setText(byId("time"), formatTime(drive.times[at]));
  setText(byId("angle"), formatNumber(drive.angle[at]));
  setText(byId("throttle"), formatNumber(drive.throttle[at]));
  byId("session").value = String(drive.sessions.findLastIndex((session) => session.first <= at));
  Object.assign(byId("overview"), { ariaValueMax: String(drive.count - 1), ariaValueNow: String(at) });
  showPicture();
}

/** Draw the newest wanted picture; while one is on its way no other is asked for. */
async function showPicture() {
  if (isLoadingPicture) return;
  isLoadingPicture = true;
  while (shownPicture !== drive.position) {
    const wanted = drive.position;
    pictures.prepare(wanted);
    const bitmap = await pictures.get(wanted);
    paint(bitmap);
    shownPicture = wanted;
    byId("picture").dataset.position = String(wanted);
  }
  isLoadingPicture = false;
}

function paint(bitmap) {
  const canvas = byId("picture");
  const pen = canvas.getContext("2d");
  if (!bitmap) {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    return;
  }
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
  }
  pen.drawImage(bitmap, 0, 0);
  bitmap.close();
}

/** A line over the picture: its direction is the angle, its length the throttle. */
function drawWheel(angle, throttle) {
  const { pen, width, height } = fitCanvas(byId("wheel"));
  if (Number.isNaN(angle) || Number.isNaN(throttle)) return;
  const length = Math.min(Math.abs(throttle), 1) * height * 0.7 + 12;
  const turn = Math.max(-1, Math.min(1, angle)) * FULL_LOCK;
  const foot = [width / 2, height - 10];
  const tip = [foot[0] + length * Math.sin(turn), foot[1] - length * Math.cos(turn)];
  for (const [colour, thickness] of [["rgb(0 0 0 / 45%)", 8], [throttle < 0 ? colours().second : colours().accent, 4]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = thickness;
    pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(...foot);
    pen.lineTo(...tip);
    pen.stroke();
  }
}

function mark(first, last) {
  drive.marked = [first, last];
  showMarked();
}

function unmark() {
  drive.marked = pendingMark = null;
  showMarked();
}

function showMarked() {
  isStale = true;
  const marked = drive.marked;
  const count = marked ? marked[1] - marked[0] + 1 : 0;
  const seconds = marked ? drive.times[marked[1]] - drive.times[marked[0]] : 0;
  setText(byId("marked"), marked
    ? texts.say("marked", { first: marked[0], last: marked[1], records: sayRecords(count), seconds: seconds.toFixed(1) })
    : texts.say("nothing_marked"));
  for (const id of ["delete", "restore"]) byId(id).disabled = !marked || !canChange;
  byId("unmark").disabled = !marked;
}

function change(isDeleted) {
  if (!drive.marked || !canChange) return;
  deletions.set([drive.marked], isDeleted);
  unmark();
}

/** Show the next stretch that something is wrong with, and mark it. */
function goToFlaw(position = drive.position) {
  const span = flaws.find(position, deletions.flags);
  shownFlaw = span ?? null;
  if (!span) { unmark(); return; }
  pause();
  goTo(span[0]);
  mark(...span);
}

/** Delete the stretch that is shown as wrong, and show the next; where none is, show the first. */
async function dropFlaw() {
  const isShown = shownFlaw && drive.marked?.[0] === shownFlaw[0] && drive.marked?.[1] === shownFlaw[1];
  if (isShown && canChange) {
    const last = shownFlaw[1];
    await deletions.set([shownFlaw], true);
    goToFlaw(last);
  } else goToFlaw();
}

function deleteAll(spans) {
  if (canChange) deletions.set(spans, true);
}

function showDeletions() {
  isStale = true;
  const deleted = deletions.deletedCount;
  const more = make("span", "more", ` · ${sayCount("deleted_count", deleted)} · ${formatTime(drive.times.at(-1) ?? 0)}`);
  byId("totals").replaceChildren(sayRecords(drive.count - deleted), more);
  byId("undo").disabled = !deletions.undoSteps.length;
  byId("redo").disabled = !deletions.redoSteps.length;
  showMarked();
}

function showSaved(state) {
  byId("saved").dataset.text = `state_${state}`;
  setText(byId("saved"), texts.say(`state_${state}`));
  byId("saved").className = `status ${state}`;
}

function refuse(sentence) {
  showToast(sentence ?? texts.say("unreachable"));
  deletions.queue(load);
}

function formatTime(seconds) {
  if (seconds === undefined) return "–";
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - 60 * minutes).toFixed(1).padStart(4, "0")}`;
}

function formatNumber(value) { return Number.isNaN(value) ? "–" : value.toFixed(2).replace(/^-(?=0\.00$)/, ""); }

/** Go to the first record of the next stretch that is deleted, or of the one before. */
function goToDeleted(direction) {
  const starts = (deletions.spans ?? []).map(([first]) => first);
  const next = direction > 0 ? starts.find((first) => first > drive.position) : starts.findLast((first) => first < drive.position);
  if (next !== undefined) { pause(); goTo(next); }
}

function markStart() {
  const last = drive.marked?.[1] ?? -1;
  pendingMark = last >= drive.position ? null : drive.position;
  mark(drive.position, Math.max(last, drive.position));
}

function markEnd() {
  const first = drive.marked?.[0] ?? drive.position;
  pendingMark = null;
  mark(Math.min(first, drive.position), drive.position);
}

function step(count) { pause(); goTo(drive.position + count); }

const KEYS = {
  " ": () => (isPlaying ? pause() : play()),
  ArrowLeft: (event) => step(event.shiftKey ? -Math.round(rate) : -1),
  ArrowRight: (event) => step(event.shiftKey ? Math.round(rate) : 1),
  PageUp: () => step(-Math.round(10 * rate)),
  PageDown: () => step(Math.round(10 * rate)),
  Home: () => step(-drive.count),
  End: () => step(drive.count),
  i: markStart,
  o: markEnd,
  Escape: unmark,
  Delete: () => change(true),
  Backspace: () => change(true),
  r: () => change(false),
  n: () => goToFlaw(),
  x: dropFlaw,
  "[": () => goToDeleted(-1),
  "]": () => goToDeleted(1),
  "+": () => { zoom.zoom(0.5); isStale = true; },
  "=": () => { zoom.zoom(0.5); isStale = true; },
  "-": () => { zoom.zoom(2); isStale = true; },
};

document.addEventListener("keydown", (event) => {
  if (event.target.matches("select, input[type=number]") && event.key !== "Escape") return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) {
    if (name === "z" || name === "y") {
      event.preventDefault();
      if (name === "y" || event.shiftKey) deletions.redo();
      else deletions.undo();
    }
    return;
  }
  if (event.altKey || !KEYS[name] || (name === " " && event.target.matches("button, input"))) return;
  event.preventDefault();
  KEYS[name](event);
});

const BUTTONS = {
  "to-start": KEYS.Home, "to-end": KEYS.End, back: () => step(-1), forward: () => step(1), play: KEYS[" "],
  "mark-start": markStart, "mark-end": markEnd, unmark, delete: KEYS.Delete, restore: KEYS.r,
  "next-flaw": KEYS.n, "drop-flaw": KEYS.x,
  undo: () => deletions.undo(), redo: () => deletions.redo(), "zoom-in": KEYS["+"], "zoom-out": KEYS["-"],
};
for (const [id, press] of Object.entries(BUTTONS)) byId(id).addEventListener("click", press);
byId("jump").addEventListener("change", () => { pause(); goTo(Number(byId("jump").value) || 0); byId("jump").blur(); });
byId("session").addEventListener("change", () => { pause(); goTo(drive.sessions[Number(byId("session").value)].first); });
byId("zoom").addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom.zoom(event.deltaY > 0 ? 1.25 : 0.8);
  isStale = true;
}, { passive: false });
new ResizeObserver(() => { isStale = true; }).observe(byId("desk"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { isStale = true; });
window.addEventListener("focus", () => { if (document.body.dataset.state === "ready") deletions.queue(load); });

function showTexts() {
  showSessions();
  showPlaying();
  flaws.show();
  if (deletions.spans) showDeletions();
}

await texts.start();
texts.offer(byId("language"), showTexts);
showTexts();
deletions.queue(load);
requestAnimationFrame(animate);
