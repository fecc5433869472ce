// The journal: what has happened, the latest first; each line leads to its moment.

import { makeChip } from "/pages/cars.js";
import { findLine, tellMark, tellTime } from "/pages/moments.js";
import { byId, make } from "/shared/elements.js";
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
    // With its colour: whose a mark is may be known only later.
    const name = (mark) => [texts.code, mark.at, mark.car, mark.number, findLine(race, mark)?.row, mark.text].join(" ");
    const marks = new Map(race.marks.map((mark) => [name(mark), mark]));
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
    const line = findLine(race, mark);
    const chip = line ? makeChip(line.colour) : make("i", "chip empty");
    const text = tellMark(mark, race);
    const entry = { mark };
    entry.jump = make("button", "jump", "", make("time", "", tellTime(mark)), chip, make("bdi", "", text));
    entry.jump.type = "button";
    entry.jump.title = texts.say("show_moment");
    entry.jump.addEventListener("click", () => this.onJump(entry.mark));
    entry.undo = make("button", "button undo control", "↶");
    entry.undo.type = "button";
    entry.undo.title = texts.say("undo");
    entry.undo.setAttribute("aria-label", `${texts.say("undo")}: ${text}`);
    entry.undo.addEventListener("click", () => this.onUndo(entry.mark));
    entry.item = make("li", mark.number ? "incident" : "", "", entry.jump, entry.undo);
    entry.item.dataset.at = mark.at;
    this.entries.set(key, entry);
    // Marks come in their order; one that is made anew goes back to its place.
    const later = [...byId("journal").children].findLast((item) => Number(item.dataset.at) > mark.at);
    if (later) later.after(entry.item);
    else byId("journal").prepend(entry.item);
    return entry;
  }
}
