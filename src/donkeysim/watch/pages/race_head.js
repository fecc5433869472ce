// The head of a race: flag, session, clock and laps; the lights before the start; the podium after the end.

import { formatLap, makeChip, nameCar } from "/pages/cars.js";
import { formatClock, hasBegun, tellGap } from "/pages/moments.js";
import { byId, make, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

const LIGHT_COUNT = 3;
const GO_SECONDS = 1.5;

/** Which flag is shown to all. */
export function findFlag(race) {
  if (race.session === "paddock") return "";
  return race.is_held ? "red" : race.is_over ? "chequered" : race.flag;
}

/** What goes on, as one word. */
export function nameSession(race) { return texts.say(`session_${race.session.replace("-", "_")}`); }

/** Show the head. */
export function showHead(race) {
  const flag = findFlag(race);
  const head = byId("race-head");
  if (head.dataset.flag !== flag) head.dataset.flag = flag;
  setText(byId("flag-name"), flag ? texts.say(`flag_${flag}`) : "");
  setText(byId("race-session"), nameSession(race));
  setText(byId("race-title"), race.title);
  setText(byId("race-clock"), race.clock === null ? "" : formatClock(race.clock));
  setText(byId("race-laps"), tellLaps(race));
  setText(byId("race-note"), tellNote(race));
}

function tellLaps(race) {
  if (race.session === "paddock" || !hasBegun(race)) return race.laps ? texts.say("laps_to_drive", { count: race.laps }) : "";
  if (race.laps && race.session !== "practice" && race.session !== "qualifying") {
    const lap = Math.min((race.tower[0]?.laps ?? 0) + 1, race.laps);
    return texts.say("lap_of", { lap, count: race.laps });
  }
  return race.limit ? texts.say("time_limit", { time: formatClock(race.limit, 0) }) : "";
}

function tellNote(race) {
  if (race.session === "paddock") return tellWaiting(race.waiting);
  if (race.is_held) return texts.say("held");
  const parts = race.number > 1 ? [texts.say("race_number", { number: race.number })] : [];
  if (race.attempt > 1) parts.push(texts.say("attempt", { number: race.attempt }));
  return parts.join(" · ");
}

function tellWaiting(waiting) {
  const told = waiting.name ? texts.say(`waits_${waiting.name}`, waiting) : waiting.text;
  return told.charAt(0).toUpperCase() + told.slice(1);
}

/** Show the lights of the countdown, and a moment of green. */
export function showLights(race) {
  const isGreen = race.session === "race" && race.clock !== null && race.clock >= 0 && race.clock < GO_SECONDS;
  const isCounting = race.session === "countdown" && race.clock !== null;
  const lights = byId("lights");
  lights.hidden = !isGreen && !isCounting;
  if (lights.hidden) return;
  const left = Math.max(Math.ceil(-race.clock - 1e-6), 0);
  const lit = isGreen ? LIGHT_COUNT : Math.max(LIGHT_COUNT + 1 - Math.max(left, 1), 0);
  lights.classList.toggle("go", isGreen);
  [...byId("lamps").children].forEach((lamp, index) => lamp.classList.toggle("lit", index < lit));
  setText(byId("count"), isGreen ? texts.say("go") : String(Math.max(left, 1)));
}

let closed = "";
let shown = "";

/** Show who has won, until it is closed. */
export function showPodium(race) {
  const key = `${race.number} ${race.attempt}`;
  const isShown = race.is_over && closed !== key;
  byId("podium").hidden = !isShown;
  byId("podium").dataset.race = key;
  if (!isShown) return;
  const content = JSON.stringify([texts.code, race.tower]);
  if (content === shown) return;
  shown = content;
  const placed = race.tower.filter((line) => line.place > 0 && line.place <= 3).slice(0, 3);
  byId("steps").replaceChildren(...placed.map((line, index) => makeStep(line, index)));
  const fastest = race.tower.find((line) => line.is_fastest && line.best_lap !== null);
  byId("podium-note").replaceChildren(...(fastest ? makeFastest(fastest) : []));
}

function makeStep(line, index) {
  const time = line.time === null ? tellGap(line, undefined, "gap") : `${line.time.toFixed(3)} s`;
  const step = make("li", "step", "", make("b", "place", String(line.place)), makeChip(line.colour), make("bdi", "", nameCar({ name: line.name, id: line.row + 1 })), make("span", "time", time));
  step.style.setProperty("--paint", `rgb(${line.colour.join(" ")})`);
  step.style.setProperty("--index", String(index));
  return step;
}

function makeFastest(line) {
  return [`${texts.say("fastest_lap")}: `, make("bdi", "", nameCar({ name: line.name, id: line.row + 1 })), ` ${formatLap(line.best_lap)} s`];
}

/** Let people put the podium away. */
export function offerPodium() {
  byId("podium-close").addEventListener("click", () => {
    closed = byId("podium").dataset.race;
    byId("podium").hidden = true;
  });
}
