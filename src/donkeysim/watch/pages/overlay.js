// Timing tower, flag and clock alone, on nothing, for streaming software.
//
// The address says how: ?scale=1.5&side=right&rows=10&mode=interval&lang=ja; rows=0: all.

import { Asking } from "/shared/asking.js";
import { byId } from "/shared/elements.js";
import { showHead } from "/pages/race_head.js";
import { Tower } from "/pages/tower.js";
import { texts } from "/pages/words.js";

const STATE_INTERVAL_MS = 100;
const wanted = new URLSearchParams(location.search);

/** A number of the address between two limits; what stands for it if there is none. */
function readNumber(name, least, most, otherwise) {
  const value = Number(wanted.get(name) ?? NaN);
  return Number.isFinite(value) ? Math.min(Math.max(value, least), most) : otherwise;
}

document.body.style.setProperty("--scale", String(readNumber("scale", 0.25, 4, 1)));
document.body.dataset.side = wanted.get("side") === "right" ? "right" : "left";
const mode = wanted.get("mode") === "interval" ? "interval" : "gap";
const rows = Math.round(readNumber("rows", 0, 100, 10));
const tower = new Tower(byId("tower-lines"), { limit: rows || Infinity });
let isAsking = false;

await (["en", "zh", "ja"].includes(wanted.get("lang")) ? texts.load(wanted.get("lang")) : texts.start());
const link = new Asking("/state", (isOpen) => { if (!isOpen) show(null); keepAsking(); });
document.addEventListener("visibilitychange", keepAsking);

async function keepAsking() {
  if (isAsking) return;
  isAsking = true;
  while (link.isOpen && document.visibilityState === "visible") {
    const began = performance.now();
    const answer = await link.ask({});
    if (answer !== null) show(JSON.parse(answer).race ?? null);
    await new Promise((done) => setTimeout(done, Math.max(STATE_INTERVAL_MS - (performance.now() - began), 0)));
  }
  isAsking = false;
}

/** Show a race; null: nothing at all. */
function show(race) {
  byId("graphics").hidden = race === null;
  if (race === null) return;
  document.body.dataset.session = race.session;
  showHead(race);
  tower.update(race, () => false, mode);
}
