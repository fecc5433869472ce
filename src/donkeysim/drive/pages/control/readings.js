// What the car reports: speed, laps, where it is, the pace of its loop, and who steers how much.

import { byId, make, setText } from "/shared/elements.js";

const CENTIMETRES_PER_UNIT = 12.5;

export class Readings {
  /** @param {import("/shared/languages.js").Texts} texts */
  constructor(texts) { this.texts = texts; }

  show(report) {
    this.showPace(report);
    byId("speed").hidden = report.speed === null;
    byId("awaiting").hidden = report.speed !== null || (report.places.length > 0 && !report.place); // in the menu it may go to places, but is in none
    setText(byId("speed-value"), (report.speed ?? 0).toFixed(1));
    const kept = (report.num_records ?? 0) - report.num_erased;
    byId("record-count").hidden = !report.num_records;
    setText(byId("record-count"), String(kept));
    showBar("steering-car", report.car?.[0] ?? 0);
    showBar("throttle-car", report.car?.[1] ?? 0);
    setText(byId("lap"), report.lap === null ? "–" : String(report.lap));
    setText(byId("last-lap"), formatLap(report.lap_times.at(-1)));
    setText(byId("best-lap"), formatLap(report.best_lap));
    setText(byId("cte"), this.describeSide(report.cte));
    const road = byId("on-road");
    setText(road, report.on_road === null ? "–" : this.texts.say(report.on_road ? "on_road" : "off_road"));
    road.classList.toggle("bad", report.on_road === false);
    setText(byId("hit"), report.speed === null ? "–" : this.texts.nameThing(report.hit) || this.texts.say("nothing"));
    byId("hit").title = byId("hit").textContent;
    this.showLaps(report);
  }

  /** Show what the user wants, and as numbers what counts: what the pilot makes the car do where it drives. */
  showHands([angle, throttle], mode, car) {
    showBar("steering-you", angle);
    showBar("throttle-you", throttle);
    const [steers, drives] = [car && mode !== "user", car && mode === "local"];
    setText(byId("steering"), (steers ? car[0] : angle).toFixed(2));
    setText(byId("throttle"), (drives ? car[1] : throttle).toFixed(2));
  }

  /** Nothing is known of the car any more. */
  forget() {
    byId("pace").hidden = byId("speed").hidden = byId("awaiting").hidden = true;
    showBar("steering-car", 0);
    showBar("throttle-car", 0);
  }

  showPace({ rate, latency }) {
    byId("pace").hidden = rate === null;
    setText(byId("rate"), rate === null ? "" : `${rate.toFixed(1)} Hz`);
    setText(byId("latency"), latency === null ? "" : `${(latency * 1000).toFixed(0)} ms`);
  }

  describeSide(cte) {
    if (cte === null) return "–";
    const centimetres = Math.abs(cte * CENTIMETRES_PER_UNIT);
    if (centimetres < 0.5) return this.texts.say("centre");
    return this.texts.say(cte > 0 ? "right" : "left", { distance: centimetres.toFixed(0) });
  }

  showLaps({ lap_times: times, lap_count: count, best_lap: best }) {
    const key = JSON.stringify([count, times]);
    if (key === this.lapsShown) return;
    this.lapsShown = key;
    byId("laps").replaceChildren(...times.map((time, index) => {
      const number = make("small", "", String(count - times.length + index + 1));
      return make("li", time === best ? "best" : "", "", number, ` ${formatLap(time)} s`);
    }));
  }
}

function formatLap(seconds) { return seconds == null ? "–" : seconds.toFixed(2); }

function showBar(id, value) {
  byId(id).style.setProperty("--amount", String(Math.max(-1, Math.min(1, value))));
}
