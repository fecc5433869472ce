// The journal: what has happened, the latest first; each line leads to its moment.

import { makeChip, nameCar } from "/pages/cars.js";
import { formatClock } from "/pages/moments.js";
import { byId, make, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

export class Journal {
  /**
   * @param {(mark: object) => void} onJump called with the mark that was chosen
   * @param {(mark: object) => void} onUndo called with the mark of an incident that shall be taken back
   */
  constructor(onJump, onUndo) {
    Object.assign(this, { onJump, onUndo, entries: new Map() });
  }

  /** Show a race's marks; `isReachable`: whether their moments can be shown. */
  update(race, isReachable) {
    const marks = new Map(race.marks.map((mark) => [`${texts.code} ${mark.at} ${mark.car} ${mark.number} ${mark.text}`, mark]));
    for (const [key, entry] of this.entries) if (!marks.has(key)) { entry.item.remove(); this.entries.delete(key); }
    for (const [key, mark] of marks) {
      const entry = this.entries.get(key) ?? this.add(key, mark, race);
      entry.mark = mark;
      entry.item.classList.toggle("undone", mark.is_undone);
      entry.item.classList.toggle("later", mark.at > race.at + 0.01); // than the moment that is shown
      entry.jump.disabled = !isReachable(mark);
      entry.undo.hidden = !mark.number || mark.is_undone;
    }
    byId("no-marks").hidden = marks.size > 0;
  }

  add(key, mark, race) {
    const line = race.tower.find((entry) => entry.car === mark.car && mark.car >= 0);
    const chip = line ? makeChip(line.colour) : make("i", "chip empty");
    const name = line ? nameCar({ name: line.name, id: line.row + 1 }) : "";
    const entry = { mark };
    entry.jump = make("button", "jump", "", make("time", "", formatClock(mark.time)), chip, make("bdi", "", name && !mark.text.includes(name) ? `${name}: ${mark.text}` : mark.text));
    entry.jump.type = "button";
    entry.jump.title = texts.say("show_moment");
    entry.jump.addEventListener("click", () => this.onJump(entry.mark));
    entry.undo = make("button", "button undo control", texts.say("undo"));
    entry.undo.type = "button";
    setText(entry.undo, texts.say("undo"));
    entry.undo.setAttribute("aria-label", `${texts.say("undo")}: ${mark.text}`);
    entry.undo.addEventListener("click", () => this.onUndo(entry.mark));
    entry.item = make("li", mark.number ? "incident" : "", "", entry.jump, entry.undo);
    this.entries.set(key, entry);
    byId("journal").prepend(entry.item);
    return entry;
  }
}
