// Times and gaps as a race shows them; none of them changes its width while it counts.

import { formatLap } from "/pages/cars.js";
import { texts } from "/pages/words.js";

/** Minutes and seconds; before 0 with a minus. */
export function formatClock(seconds, digits = 1) {
  const unit = 10 ** digits;
  const whole = Math.round(Math.abs(seconds) * unit) / unit;
  const minutes = Math.floor(whole / 60);
  const rest = (whole - 60 * minutes).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  return `${seconds < 0 && whole > 0 ? "−" : ""}${minutes}:${rest}`;
}

/** When something happened on the clock of its run; there is none before the countdown. */
export function tellTime(mark) { return mark.time === null ? "–" : formatClock(mark.time); }

/** What a mark says, in the page's language where it is one of a few sentences; incidents are in English. */
export function tellMark(mark) {
  const [, session, alone = ""] = /^([a-z-]+) begins( \(.*\))?$/.exec(mark.text) ?? [];
  if (session) return texts.say("begins", { session: texts.say(`session_${session.replace("-", "_")}`) }) + alone;
  const [, flag, whom] = /^(red|black|chequered) flag to (.*)$/.exec(mark.text) ?? [];
  if (flag) return `${texts.say(`flag_${flag}`)}: ${whom === "all" ? texts.say("everybody") : whom}`;
  const [, name] = /^(.*) is put back$/.exec(mark.text) ?? [];
  if (name) return texts.say("is_put_back", { name });
  return mark.text === "the race is over" ? texts.say("session_over") : mark.text;
}

const known = new Map();
const MOST_KNOWN = 500;

/** The line of the tower that a mark is about, also when its car has left the track since; undefined: none. */
export function findLine(race, mark) {
  for (const line of race.tower) if (line.car >= 0) known.set(line.car, line.row);
  for (const car of known.keys()) if (known.size > MOST_KNOWN) known.delete(car);
  const row = known.get(mark.car);
  if (mark.car < 0) return undefined;
  return race.tower.find((line) => line.row === row) ?? race.tower.find((line) => line.name && mark.text.startsWith(`${line.name} `));
}

/** The short word for cars that are out; "" for others. */
export function tellStatus(status) {
  const name = { "did not finish": "dnf", "did not start": "dns", disqualified: "dsq", waiting: "waiting" }[status];
  return name ? texts.say(`short_${name}`) : "";
}

/** Whether cars may be compared; in the paddock those of the race before. */
export function hasBegun(race) { return race.is_over || !["paddock", "grid", "countdown"].includes(race.session); }

/**
 * How far a car is behind: the first one, or with "interval" the car in front.
 * @param {object} line of the tower
 * @param {number | null | undefined} first row of the car in front of all; null: nobody is yet
 */
export function tellGap(line, first, mode) {
  const status = tellStatus(line.status);
  if (status) return status;
  if (first === null) return "";
  if (line.row === first) return line.time !== null ? formatLap(line.time) : texts.say("leader");
  if (mode === "gap" && line.laps_behind > 0) {
    return line.laps_behind === 1 ? texts.say("one_lap_behind") : texts.say("laps_behind", { count: line.laps_behind });
  }
  const gap = mode === "gap" ? line.gap : line.interval;
  if (gap !== null) return `+${formatLap(gap)}`;
  return line.time !== null ? formatLap(line.time) : "–";
}

/** A penalty: seconds, without needless decimals. */
export function tellPenalty(seconds) {
  return texts.say("penalty_seconds", { seconds: Number(seconds.toFixed(1)) });
}
