// Times and gaps as a race shows them; none of them changes its width while it counts.

import { formatLap, nameCar } from "/pages/cars.js";
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

/** What a car did, or why it is out: words where they are not one of ours. */
export function tellReason(why) { return texts.texts[`incident_${why.replaceAll(" ", "_")}`] ?? why; }

function tellIncident({ kind, what, other, counts, seconds, laps, out }, race) {
  let told = tellReason(kind);
  let about = other < 0 ? tellReason(what) : race.tower.find((line) => line.row === other)?.name ?? texts.say("another_car");
  if (kind === "obstacle" && what) [told, about] = [texts.say("touched", { thing: texts.nameThing(what) }), ""];
  if (kind === "engineer") {
    const costs = [seconds && tellPenalty(seconds), laps && tellLaps(laps), out && texts.say("short_dsq")];
    told += `: ${costs.filter(Boolean).join(", ")}`;
  }
  return `${told}${about && ` (${about})`}${counts ? "" : `; ${texts.say("counts_not")}`}`;
}

const SENTENCES = [
  ["session_over", /^the race is over$/],
  ["restarted", /^the race engineer restarts the race$/],
  ["taken_back", /^the race engineer takes back no\. (?<number>\d+)$/],
  ["again_nobody", /^nobody has finished: the race is run again$/],
  ["again_tie", /^a tie: the race is run again$/],
  ["is_put_back", /^(?<name>.*) is put back$/s],
  ["both_touched", /^(?<one>.*) and (?<other>.*) touched; nobody is to blame$/s],
];

function tellText(text) {
  const [, session, alone = ""] = /^([a-z-]+) begins( \(.*\))?$/.exec(text) ?? [];
  if (session) return texts.say("begins", { session: texts.say(`session_${session.replace("-", "_")}`) }) + alone;
  const [, flag, whom] = /^(red|black|chequered) flag to (.*)$/.exec(text) ?? [];
  if (flag) return `${texts.say(`flag_${flag}`)}: ${whom === "all" ? texts.say("everybody") : whom}`;
  const [name, pattern] = SENTENCES.find(([, wanted]) => wanted.test(text)) ?? [];
  return name ? texts.say(name, pattern.exec(text).groups) : text;
}

/** What a mark says, in the page's language, and whose it is. */
export function tellMark(mark, race) {
  const told = mark.incident ? tellIncident(mark.incident, race) : tellText(mark.text);
  const line = findLine(race, mark);
  const name = line ? nameCar({ name: line.name, id: line.row + 1 }) : "";
  const isNamed = !mark.incident && told.includes(name); // what an incident says may hold the name of another car only
  return name && !isNamed ? `${name}: ${told}` : told;
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
    return tellLaps(line.laps_behind);
  }
  const gap = mode === "gap" ? line.gap : line.interval;
  if (gap !== null) return `+${formatLap(gap)}`;
  return line.time !== null ? formatLap(line.time) : "–";
}

function tellLaps(count) { return count === 1 ? texts.say("one_lap_behind") : texts.say("laps_behind", { count }); }

/** A penalty: seconds, without needless decimals. */
export function tellPenalty(seconds) {
  return texts.say("penalty_seconds", { seconds: Number(seconds.toFixed(1)) });
}
