// What the policy did in its last checks, one for each track.

import { byId, make, setText } from "/shared/elements.js";
import { sayTime } from "/pages/words.js";

/** Show the checks; `checkedAt`: when the last one was [s], null before the first. */
export function showChecks(checks, checkedAt, texts) {
  byId("no-checks").hidden = checks.length > 0;
  setText(byId("checked-at"), checkedAt === null ? "" : texts.say("checked_at", { time: sayTime(checkedAt) }));
  const key = JSON.stringify([checks, texts.code]);
  if (byId("checks").dataset.key === key) return;
  byId("checks").dataset.key = key;
  byId("checks").replaceChildren(...checks.map((check) => makeRow(check, texts)));
}

function makeRow(check, texts) {
  const badge = make("span", check.is_passed ? "badge" : "badge not", texts.say(check.is_passed ? "check_passed" : "check_not_passed"));
  const share = make("i");
  share.style.setProperty("--share", Math.min(Math.max(check.laps, 0) / Math.max(check.wanted_laps, 1), 1));
  const told = make("div", "told", "",
    make("span", "", texts.say("check_laps", { laps: check.laps.toFixed(1), wanted: check.wanted_laps })),
    make("span", "", texts.say("check_speed", { speed: check.speed.toFixed(2), wanted: check.wanted_speed.toFixed(2) })));
  if (check.departures) told.append(make("span", "", texts.say("check_departures", { count: check.departures, cars: check.cars })));
  return make("li", "", "", make("div", "title", "", make("bdi", "", check.scene), badge), make("i", "progress", "", share), told);
}
