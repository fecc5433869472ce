// The page of a track that somebody is writing: its map, what a driver sees along it, its figures, and what is wrong.

import { Asking } from "/shared/asking.js";
import { byId, colours, fitCanvas, make, setText } from "/shared/elements.js";
import { Texts } from "/shared/languages.js";
import { Drawing } from "/shared/viewer/drawing.js";
import { listFigures } from "/pages/figures.js";

const MAP_PIXELS = 1600;
const VIEW = { width: 640, height: 480 };
const SPEED = 1.2; // m/s of the drive along the path

const texts = new Texts("/pages/texts");
const asking = new Asking("/state", showLink);
let state = null;
let shownMap = 0;
let at = 0;
let isPlaying = false;
let lastFrame = 0;
let isLoadingView = false;
let isViewStale = false;
let isDrawnHere = false;
const drawing = new Drawing(byId("driven"), byId("drawing"), { onChange: chooseView });

async function follow() {
  while (asking.isOpen) {
    const answer = await asking.ask({ number: state?.number ?? -1 });
    if (answer === null) break;
    const next = JSON.parse(answer);
    if (next.number !== undefined) { state = next; show(); }
  }
}

function showLink(isOpen) {
  if (isOpen) { state = null; shownMap = 0; follow(); } else showStatus();
}

function show() {
  document.title = `${state.name} – ${texts.say("title")}`;
  setText(byId("name"), state.path);
  byId("name").title = state.path;
  byId("mistake").hidden = !state.error;
  byId("kept").hidden = !state.picture;
  setText(byId("sentence"), state.error);
  byId("desk").hidden = !state.picture;
  byId("waiting").hidden = state.picture > 0 || Boolean(state.error);
  byId("desk").classList.toggle("old", Boolean(state.error));
  document.body.dataset.state = state.error ? "mistake" : state.is_building ? "building" : "ready";
  document.body.dataset.picture = state.picture;
  showStatus();
  showFigures();
  if (state.picture !== shownMap) showPictures();
  drawMarks();
}

function showStatus() {
  const status = byId("status");
  const name = !asking.isOpen ? "state_lost" : state.error ? "state_mistake" : state.is_building ? "state_building" : "state_ready";
  setText(status, texts.say(name));
  status.classList.toggle("bad", !asking.isOpen || Boolean(state.error));
  status.classList.toggle("busy", asking.isOpen && !state.error && state.is_building);
}

function showFigures() {
  if (!state.figures) return;
  const rows = listFigures(state.figures, texts);
  showPlace();
  byId("figures").replaceChildren(...rows.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
}

function showPictures() {
  shownMap = state.picture;
  const [x0, y0, x1, y1] = state.box;
  byId("sheet").style.aspectRatio = (x1 - x0) / (y1 - y0); // where it has no height of its own
  byId("map").src = `/map?longest=${MAP_PIXELS}&picture=${state.picture}`;
  chooseView();
}

/** The browser draws what a driver sees, or the simulator does. */
function chooseView() {
  const isWanted = drawing.isOn && state?.picture > 0;
  const pane = { view: "road", car: null, box: byId("driven"), label: byId("view").alt, findShare: () => at };
  isDrawnHere = drawing.show(isWanted ? [pane] : []).size > 0;
  if (!isDrawnHere) loadView();
}

/** Ask for the view at the present place; one at a time, the newest place last. */
function loadView() {
  isViewStale = true;
  if (isDrawnHere) return;
  if (isLoadingView || !state?.picture) return;
  isLoadingView = true;
  isViewStale = false;
  const next = new Image();
  const done = () => { isLoadingView = false; if (isViewStale) loadView(); };
  next.onload = () => { byId("view").src = next.src; done(); };
  next.onerror = done;
  next.src = `/view?at=${at.toFixed(4)}&width=${VIEW.width}&height=${VIEW.height}&picture=${state.picture}`;
}

function goTo(share) {
  at = Math.min(Math.max(share, 0), 1);
  byId("at").value = at;
  showPlace();
  loadView();
  drawMarks();
}

function showPlace() {
  if (state?.figures) setText(byId("place"), texts.say("place", { metres: (at * state.figures.length).toFixed(1) }));
}

/** How the map's metres lie on the sheet: the picture is fitted into it. */
function fitBox(width, height) {
  const [x0, y0, x1, y1] = state.box;
  const scale = Math.min(width / (x1 - x0), height / (y1 - y0));
  const [left, top] = [(width - scale * (x1 - x0)) / 2, (height - scale * (y1 - y0)) / 2];
  return {
    point: ([x, y]) => [left + scale * (x - x0), top + scale * (y1 - y)],
    world: (column, row) => [x0 + (column - left) / scale, y1 - (row - top) / scale],
  };
}

function drawMarks() {
  const { pen, width, height } = fitCanvas(byId("marks"));
  if (!state?.outline || !width) return;
  const place = fitBox(width, height);
  const { path, left, right, is_closed: isClosed } = state.outline;
  if (state.is_building) for (const line of [left, right]) trace(pen, line.map(place.point), isClosed);
  const index = Math.min(Math.floor(at * path.length), path.length - 1);
  const after = isClosed ? (index + 1) % path.length : Math.min(index + 1, path.length - 1);
  const [here, ahead] = [place.point(path[index]), place.point(path[after])];
  drawCar(pen, here, Math.atan2(ahead[1] - here[1], ahead[0] - here[0]));
}

function trace(pen, points, isClosed) {
  pen.beginPath();
  points.forEach(([column, row], index) => { if (index) pen.lineTo(column, row); else pen.moveTo(column, row); });
  if (isClosed) pen.closePath();
  for (const [colour, thickness] of [[colours().surface, 5], [colours().accent, 2.5]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = thickness;
    pen.stroke();
  }
}

function drawCar(pen, [column, row], heading) {
  pen.save();
  pen.translate(column, row);
  pen.rotate(heading);
  pen.beginPath();
  pen.moveTo(12, 0); pen.lineTo(-8, 8); pen.lineTo(-4, 0); pen.lineTo(-8, -8); pen.closePath();
  pen.lineJoin = "round";
  pen.lineWidth = 5;
  pen.strokeStyle = "#fff";
  pen.stroke();
  pen.fillStyle = "#0b5fd0";
  pen.fill();
  pen.restore();
}

/** Go to the place of the path that is nearest to a click. */
function pick(event) {
  if (!state?.outline) return;
  const sheet = byId("sheet").getBoundingClientRect();
  const [x, y] = fitBox(sheet.width, sheet.height).world(event.clientX - sheet.left, event.clientY - sheet.top);
  const away = state.outline.path.map(([px, py]) => Math.hypot(px - x, py - y));
  goTo(away.indexOf(Math.min(...away)) / state.outline.path.length);
}

function animate(now) {
  if (isPlaying && state?.figures) {
    const next = at + (SPEED * Math.min(now - lastFrame, 250)) / 1000 / state.figures.length;
    const isOver = next >= 1 && !state.figures.is_closed;
    goTo(isOver ? 1 : next % 1);
    if (isOver) togglePlay();
  }
  lastFrame = now;
  if (isPlaying) requestAnimationFrame(animate);
}

function togglePlay() {
  isPlaying = !isPlaying;
  if (isPlaying && at >= 1) goTo(0);
  setText(byId("play"), isPlaying ? "⏸" : "▶");
  lastFrame = performance.now();
  if (isPlaying) requestAnimationFrame(animate);
}

byId("sheet").addEventListener("click", pick);
byId("at").addEventListener("input", () => goTo(Number(byId("at").value)));
byId("play").addEventListener("click", togglePlay);
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.repeat || ["BUTTON", "SELECT"].includes(event.target.tagName)) return;
  event.preventDefault();
  togglePlay();
});
new ResizeObserver(drawMarks).observe(byId("sheet"));
await texts.start();
texts.offer(byId("language"), () => { drawing.say(texts.code); if (state) show(); });
drawing.say(texts.code);
if (state) show();
