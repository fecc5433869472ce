// The page of a policy that learns: asks for news, keeps the curves and the marks, and shows how things stand.

import { Asking } from "/shared/asking.js";
import { byId, setText } from "/shared/elements.js";
import { Texts } from "/shared/languages.js";
import { Drawing } from "/shared/viewer/drawing.js";
import { showChecks } from "/pages/checks.js";
import { Curves } from "/pages/curves.js";
import { EndMap } from "/pages/map.js";
import { showOutcome } from "/pages/outcome.js";
import { showSight } from "/pages/sight.js";
import { sayCount, sayTime } from "/pages/words.js";

const NOTHING = { learning: "", number: -1 };
const TICK_MS = 250;

const texts = new Texts("/pages/texts");
const curves = new Curves(texts);
const map = new EndMap(texts);
let known = NOTHING;
let news = null;
let places = [];
let toldAt = 0;
let isConnected = null; // null: not known yet

const drawing = new Drawing(byId("stage"), byId("drawing"), { onChange: showGhosts });

await texts.start();
drawing.say(texts.code);
texts.offer(byId("language"), () => { drawing.say(texts.code); show(); });
const asking = new Asking("/news", (isOpen) => {
  isConnected = isOpen;
  if (isOpen) follow(); else show();
});
setInterval(showTime, TICK_MS);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

/** Ask for what is new, again and again; hidden too, so that the title goes on telling the time. */
async function follow() {
  while (asking.isOpen) {
    const answer = await asking.ask({ learning: known.learning, number: known.number });
    if (answer === null) break;
    await take(JSON.parse(answer));
  }
}

async function take(next) {
  if (next.learning !== known.learning) await beginAnew();
  known = { learning: next.learning, number: next.number };
  news = next;
  toldAt = performance.now();
  curves.add(next.curve, next.checked);
  map.add(next.ended, next.point?.steps ?? 0);
  show();
}

async function beginAnew() {
  curves.clear();
  map.clear();
  try {
    places = await (await fetch("/places")).json();
  } catch {
    places = []; // the connection is lost again, and with the next one all begins anew
  }
  map.setPlaces(places);
  setText(byId("name"), places.length === 1 ? places[0].name : places.map((place) => place.name).join(", "));
  byId("name").title = byId("name").textContent;
}

function show() {
  const point = news?.point ?? null;
  const outcome = news?.outcome ?? null;
  const isLost = isConnected === false;
  const state = outcome ? outcome.ending : isLost ? "lost" : isConnected === null ? "connecting" : point ? "learning" : "waiting";
  document.body.dataset.state = state;
  const status = byId("status");
  setText(status, texts.say(`state_${state}`));
  status.classList.toggle("bad", state === "lost");
  status.classList.toggle("busy", !["learning", "learnt", "lost"].includes(state));
  byId("waiting").hidden = point !== null || outcome !== null;
  setText(byId("waiting-title"), texts.say(isLost ? "unreachable" : "waiting"));
  setText(byId("waiting-text"), texts.say(isLost ? "unreachable_text" : "waiting_text"));
  byId("lost").hidden = state !== "lost" || point === null;
  byId("desk").hidden = point === null;
  byId("desk").classList.toggle("old", state === "lost");
  showOutcome(outcome, point, texts);
  showGhosts();
  showTime();
  if (point) showDesk(point);
}

/** Cars that learn are drawn by browsers only; while they learn, and as long as there is a place to draw. */
function showGhosts() {
  const isLearning = document.body.dataset.state === "learning";
  const isWanted = drawing.isOn && isLearning;
  byId("ghosts").hidden = !isLearning || (!drawing.isOn && drawing.obstacle !== null); // else it can be chosen again
  byId("stage").hidden = !isWanted;
  drawing.show(isWanted ? [{ view: "orbit", car: 1, box: byId("stage"), label: texts.say("ghosts") }] : []);
}

function showDesk(point) {
  setText(byId("steps"), sayCount(point.steps, texts));
  setText(byId("rate"), sayCount(point.rate, texts));
  setText(byId("laps"), sayCount(point.laps, texts));
  for (const name of ["reward", "speed", "ends"]) setText(byId(name), point[name]?.toFixed(2) ?? "–");
  if (news.sight) showSight(news.sight);
  showChecks(news.checks, curves.checkedAt, texts);
  drawAll();
}

function drawAll() {
  if (byId("desk").hidden) return;
  curves.draw();
  map.draw();
}

/** Time goes on between two updates, as long as the program learns. */
function showTime() {
  const point = news?.point;
  if (!point) {
    document.title = texts.say("title");
    return;
  }
  const isGoing = document.body.dataset.state === "learning";
  const seconds = point.seconds + (isGoing ? (performance.now() - toldAt) / 1000 : 0);
  const left = Math.max(news.time_limit - seconds, 0);
  setText(byId("time"), sayTime(seconds));
  setText(byId("time-left"), news.outcome ? "" : texts.say("time_left", { time: sayTime(left) }));
  byId("progress").style.setProperty("--share", Math.min(seconds / Math.max(news.time_limit, 1e-6), 1));
  document.title = `${isGoing ? sayTime(seconds) : byId("status").textContent} – ${texts.say("title")}`;
}
