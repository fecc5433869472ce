// How learning ended, where the pilot lies, and the command lines to go on with.

import { byId, copy, make, setText } from "/shared/elements.js";
import { sayTime } from "/pages/words.js";

const FILES = ["pilot", "drive", "evaluate", "report", "resume"];

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
  byId("outcome-files").replaceChildren(...given.map((name) => makeRow(name, outcome[name], texts)));
}

function makeRow(name, line, texts) {
  const code = make("code", "", line);
  const button = make("button", "button", texts.say("copy"));
  button.type = "button";
  button.addEventListener("click", () => copy(code, texts));
  return make("div", "", "", make("dt", "", texts.say(`file_${name}`)), make("dd", "", "", code), make("dd", "", "", button));
}
