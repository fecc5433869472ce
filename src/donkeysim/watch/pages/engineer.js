// What the race engineer may do: start, stop, begin again, put back, penalise.

import { nameCar } from "/pages/cars.js";
import { byId, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

export class Engineer {
  /** @param {(path: string, body: object, button: HTMLElement) => Promise<boolean>} act posts, and tells whether it was done */
  constructor(act) {
    this.act = act;
    this.race = null;
    const order = (act_, button) => this.act("/race/act", act_, button);
    byId("start-race").addEventListener("click", () => this.act("/race/start", {}, byId("start-race")));
    byId("hold-race").addEventListener("click", () => order({ type: this.race.is_held ? "continue" : "pause" }, byId("hold-race")));
    byId("restart-race").addEventListener("click", () => { byId("restart-dialog").returnValue = ""; byId("restart-dialog").showModal(); });
    byId("restart-dialog").addEventListener("close", () => { if (byId("restart-dialog").returnValue === "restart") order({ type: "restart" }, byId("restart-race")); });
    byId("put-back").addEventListener("click", () => order({ type: "put back", row: this.row }, byId("put-back")));
    byId("penalty-form").addEventListener("submit", (event) => { event.preventDefault(); this.penalise(); });
  }

  get row() { return Number(byId("engineer-car").value); }

  /** Show what is possible now; a car that is chosen on the page is chosen here. */
  update(race, chosenRow) {
    this.race = race;
    const isPaddock = race.session === "paddock";
    byId("start-race").hidden = !isPaddock;
    byId("penalty-form").hidden = isPaddock || !race.tower.length;
    byId("hold-race").hidden = isPaddock || race.is_over;
    byId("restart-race").hidden = isPaddock;
    setText(byId("hold-race"), texts.say(race.is_held ? "go_on" : "stop_race"));
    const key = JSON.stringify([texts.code, race.tower.map((line) => [line.row, line.name]).sort(([a], [b]) => a - b)]);
    const list = byId("engineer-car");
    if (list.dataset.key !== key) {
      const before = list.value;
      const lines = [...race.tower].sort((a, b) => a.row - b.row);
      list.replaceChildren(...lines.map((line) => new Option(nameCar({ name: line.name, id: line.row + 1 }).slice(0, 40), String(line.row))));
      if (lines.some((line) => String(line.row) === before)) list.value = before;
      list.dataset.key = key;
    }
    if (chosenRow !== this.chosen && chosenRow !== null) list.value = String(chosenRow);
    this.chosen = chosenRow;
  }

  async penalise() {
    const penalty = {
      type: "penalise",
      row: this.row,
      seconds: Number(byId("penalty-seconds").value),
      laps: Math.round(Number(byId("penalty-laps").value)),
      out: byId("penalty-out").checked,
      why: byId("penalty-why").value.trim(),
    };
    const isDone = await this.act("/race/act", penalty, byId("penalise"));
    if (isDone) byId("penalty-form").reset();
    if (isDone) byId("engineer-car").value = String(penalty.row);
  }
}
