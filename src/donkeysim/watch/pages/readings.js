// The watched car's telemetry: tiles, gauges, plots and lap times.

import { byId, make, setText } from "/shared/elements.js";
import { formatLap } from "/pages/cars.js";
import { Plot } from "/pages/plot.js";
import { texts } from "/pages/words.js";

const METRES_PER_UNIT = 1 / 8;

export class Readings {
  constructor() {
    this.car = null;
    this.resets = null;
    this.speed = new Plot(byId("speed-plot"), { colour: "accent", least: 1, isCentred: false });
    this.cte = new Plot(byId("cte-plot"), { colour: "second", least: 1, isCentred: true });
  }

  /** Show these readings; null: none. */
  update(readings, entry) {
    if (this.car !== (readings?.id ?? null)) this.begin(readings?.id ?? null);
    const telemetry = readings?.telemetry ?? null;
    byId("speed").hidden = telemetry === null;
    setText(byId("lap"), telemetry ? String(telemetry.lap) : "–");
    setText(byId("last-lap"), formatLap(entry?.last_lap));
    setText(byId("best-lap"), formatLap(entry?.best_lap));
    setText(byId("last-hit"), readings ? texts.nameThing(readings.last_hit) || texts.say("nothing") : "–");
    byId("last-hit").title = byId("last-hit").textContent;
    this.showLaps(readings);
    this.showDrawn(readings?.drawn ?? []);
    if (telemetry) this.showTelemetry(telemetry);
  }

  begin(car) {
    this.car = car;
    for (const plot of [this.speed, this.cte]) plot.clear();
    for (const id of ["speed-now", "cte-now", "on-road"]) setText(byId(id), "–");
    setText(byId("cte-metres"), "");
    byId("on-road").classList.remove("bad");
    for (const name of ["steering", "throttle"]) showGauge(name, 0);
  }

  showTelemetry(telemetry) {
    setText(byId("speed-value"), telemetry.speed.toFixed(1));
    setText(byId("speed-now"), telemetry.speed.toFixed(2));
    setText(byId("on-road"), texts.say(telemetry.on_road ? "on_road" : "off_road"));
    byId("on-road").classList.toggle("bad", !telemetry.on_road);
    showGauge("steering", telemetry.steering_angle);
    showGauge("throttle", telemetry.throttle);
    this.speed.add(telemetry.time, telemetry.speed);
    if (telemetry.cte == null) return;  // a scene without a path
    setText(byId("cte-now"), telemetry.cte.toFixed(2));
    setText(byId("cte-metres"), `(${describeSide(telemetry.cte * METRES_PER_UNIT)})`);
    this.cte.add(telemetry.time, telemetry.cte);
  }

  showLaps(readings) {
    const times = readings?.lap_times ?? [];
    const first = (readings?.lap_count ?? 0) - times.length + 1;
    const key = JSON.stringify([first, times]);
    if (key === this.lapsShown) return;
    this.lapsShown = key;
    const best = Math.min(...times);
    byId("laps").replaceChildren(...times.map((time, index) => {
      const item = make("li", time === best ? "best" : "", "", make("small", "", `${first + index}`), ` ${formatLap(time)} s`);
      return item;
    }));
    byId("no-laps").hidden = times.length > 0;
  }

  /** What domain randomisation drew for the car; nothing when it is off. */
  showDrawn(values) {
    const key = JSON.stringify([texts.code, values]);
    if (key === this.drawnShown) return;
    this.drawnShown = key;
    byId("drawn").hidden = values.length === 0;
    setText(byId("drawn-count"), values.length === 1 ? texts.say("one_value") : texts.say("values", { count: values.length }));
    byId("drawn-values").replaceChildren(...values.map((drawn) =>
      make("div", "", "", make("dt", "", drawn.name), make("dd", "", formatValue(drawn)))));
  }
}

function formatValue({ value, unit }) {
  const number = Number.isInteger(value) ? String(value) : value.toPrecision(3);
  return unit ? `${number} ${unit}` : number;
}

function describeSide(metres) {
  const centimetres = Math.abs(metres * 100);
  if (centimetres < 0.5) return texts.say("on_path");
  return texts.say(metres > 0 ? "right" : "left", { distance: centimetres.toFixed(0) });
}

function showGauge(name, value) {
  setText(byId(name), value.toFixed(2));
  byId(`${name}-bar`).style.setProperty("--amount", String(Math.max(-1, Math.min(1, value))));
}
