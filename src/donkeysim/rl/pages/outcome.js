// What the policy did in its last checks; how learning ended, where the pilot lies, and the command lines to go on with.

import { byId, copy, make, setText } from "/shared/elements.js";
import { sayTime } from "/pages/words.js";

const FILES = ["pilot", "drive", "evaluate", "report", "resume"];

/** Show the checks; `checkedAt`: when the last one was [s], null before the first. */
export function showChecks(checks, checkedAt, texts) {
  byId("no-checks").hidden = checks.length > 0;
  setText(byId("checked-at"), checkedAt === null ? "" : texts.say("checked_at", { time: sayTime(checkedAt) }));
  const key = JSON.stringify([checks, texts.code]);
  if (byId("checks").dataset.key === key) return;
  byId("checks").dataset.key = key;
  byId("checks").replaceChildren(...checks.map((check) => makeCheck(check, texts)));
}

function makeCheck(check, texts) {
  const badge = make("span", check.is_passed ? "badge" : "badge not", texts.say(check.is_passed ? "check_passed" : "check_not_passed"));
  const share = make("i");
  share.style.setProperty("--share", Math.min(Math.max(check.laps, 0) / Math.max(check.wanted_laps, 1), 1));
  const told = make("div", "told", "",
    make("span", "", texts.say("check_laps", { laps: check.laps.toFixed(1), wanted: check.wanted_laps })),
    make("span", "", texts.say("check_speed", { speed: check.speed.toFixed(2), wanted: check.wanted_speed.toFixed(2) })));
  if (check.departures) told.append(make("span", "", texts.say("check_departures", { count: check.departures, cars: check.cars })));
  return make("li", "", "", make("div", "title", "", make("bdi", "", check.scene), badge), make("i", "progress", "", share), told);
}

/** Show the outcome; null: learning lasts. */
export function showOutcome(outcome, point, texts) {
  byId("outcome").hidden = outcome === null;
  if (outcome === null) return;
  byId("outcome").dataset.ending = outcome.ending;
  setText(byId("outcome-title"), texts.say(`title_${outcome.ending}`, { time: sayTime(point?.seconds ?? 0) }));
  setText(byId("outcome-text"), texts.say(`text_${outcome.ending}`));
  const key = JSON.stringify([outcome, texts.code]);
  if (byId("outcome-files").dataset.key === key) return;
  byId("outcome-files").dataset.key = key;
  const given = FILES.filter((name) => outcome[name]);
  byId("outcome-files").replaceChildren(...given.map((name) => makeFile(name, outcome[name], texts)));
}

function makeFile(name, line, texts) {
  const code = make("code", "", line);
  const button = make("button", "button", texts.say("copy"));
  button.type = "button";
  button.addEventListener("click", () => copy(code, texts));
  return make("div", "", "", make("dt", "", texts.say(`file_${name}`)), make("dd", "", "", code), make("dd", "", "", button));
}
