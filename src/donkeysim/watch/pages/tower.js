// The timing tower: a line for each car in the order of the race. Lines glide to their new places.

import { formatLap, nameCar } from "/pages/cars.js";
import { hasBegun, tellGap, tellPenalty, tellReason } from "/pages/moments.js";
import { make, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

const GLIDE_MS = 450;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

export class Tower {
  /**
   * @param {HTMLElement} body that holds the lines, a row group
   * @param {{onPick?: (line: object) => void, limit?: number}} options called with the line that was chosen; most lines
   */
  constructor(body, { onPick = null, limit = Infinity } = {}) {
    Object.assign(this, { body, onPick, limit });
    this.lines = new Map();
    this.order = [];
  }

  /**
   * Show a race.
   * @param {object} race
   * @param {(line: object) => boolean} isChosen whether a line's car is marked
   * @param {"gap" | "interval"} mode
   */
  update(race, isChosen, mode) {
    const shown = race.tower.slice(0, this.limit);
    for (const [row, line] of this.lines) {
      if (!shown.some((entry) => entry.row === row)) { line.item.remove(); this.lines.delete(row); }
    }
    const first = hasBegun(race) ? shown[0]?.row : null;
    shown.forEach((entry) => {
      const line = this.lines.get(entry.row) ?? this.add(entry.row);
      this.fill(line, entry, isChosen(entry));
      setText(line.cells.gap, tellGap(entry, first, mode));
      line.flag.hidden = !entry.flag || race.is_over; // then everybody has one
    });
    this.arrange(shown.map((entry) => entry.row));
    this.body.parentElement.style.setProperty("--lines", String(Math.max(shown.length, 1)));
  }

  add(row) {
    const line = { name: make("bdi"), cells: {} };
    for (const name of ["place", "who", "gap", "last", "best", "sectors"]) {
      line.cells[name] = make("span", name);
      line.cells[name].setAttribute("role", "cell");
    }
    [line.penalty, line.flag, line.away] = [make("b", "penalty-badge"), make("i", "own-flag"), make("i", "away")];
    for (const sign of [line.flag, line.away]) sign.setAttribute("role", "img");
    line.away.textContent = "⌁";
    line.pick = this.onPick ? make("button", "pick", "", line.name) : make("span", "pick", "", line.name);
    if (this.onPick) {
      line.pick.type = "button";
      line.pick.addEventListener("click", () => this.onPick(line.entry));
    }
    line.cells.who.append(make("i", "paint"), line.pick, make("span", "notes", "", line.away, line.flag, line.penalty));
    line.item = make("div", "line", "", ...Object.values(line.cells));
    line.item.setAttribute("role", "row");
    this.lines.set(row, line);
    return line;
  }

  fill(line, entry, isChosen) {
    line.entry = entry;
    const { cells, item } = line;
    item.style.setProperty("--paint", `rgb(${entry.colour.join(" ")})`);
    item.dataset.status = entry.status;
    item.classList.toggle("chosen", isChosen);
    item.classList.toggle("gone", !entry.is_here);
    if (this.onPick) {
      line.pick.setAttribute("aria-pressed", String(isChosen));
      line.pick.disabled = entry.car < 0;
    }
    const name = nameCar({ name: entry.name, id: entry.row + 1 });
    setText(line.name, name);
    setAttribute(item, "title", entry.why ? `${name}: ${tellReason(entry.why)}` : name);
    setText(cells.place, entry.place ? String(entry.place) : "–");
    setText(cells.last, formatLap(entry.last_lap));
    setText(cells.best, formatLap(entry.best_lap));
    cells.best.classList.toggle("fastest", entry.is_fastest);
    setAttribute(cells.best, "title", entry.is_fastest ? texts.say("fastest_lap") : "");
    this.fillNotes(line, entry);
    fillSectors(cells.sectors, entry.sectors);
  }

  fillNotes(line, entry) {
    line.penalty.hidden = !entry.penalty;
    setText(line.penalty, entry.penalty ? tellPenalty(entry.penalty) : "");
    line.flag.dataset.flag = entry.flag;
    line.away.hidden = entry.is_here;
    setAttribute(line.flag, "aria-label", entry.flag ? texts.say(`flag_${entry.flag}`) : "");
    setAttribute(line.away, "aria-label", texts.say("client_gone"));
    line.away.title = texts.say("client_gone");
  }

  /** Bring the lines into this order; who had the keyboard keeps it. */
  arrange(order) {
    if (order.join() === this.order.join()) return;
    const before = new Map(this.order.map((row, index) => [row, index]));
    this.order = order;
    const focused = document.activeElement;
    order.forEach((row, index) => {
      const { item } = this.lines.get(row);
      if (this.body.children[index] !== item) this.body.insertBefore(item, this.body.children[index] ?? null);
    });
    if (focused !== document.activeElement && this.body.contains(focused)) focused.focus({ preventScroll: true });
    if (stillness.matches || document.visibilityState !== "visible") return;
    const height = this.body.firstElementChild?.offsetHeight ?? 0;
    order.forEach((row, index) => {
      const distance = ((before.get(row) ?? index) - index) * height;
      if (distance) this.glide(this.lines.get(row).item, distance);
    });
  }

  glide(item, distance) {
    for (const glide of item.getAnimations()) glide.cancel();
    item.animate(
      [{ transform: `translateY(${distance}px)`, zIndex: distance > 0 ? 2 : 1 }, { transform: "none", zIndex: distance > 0 ? 2 : 1 }],
      { duration: GLIDE_MS, easing: "cubic-bezier(0.3, 0, 0.1, 1)" },
    );
  }
}

/** Colour tells the rank of a sector, and so does the height of its bar. */
function fillSectors(cell, sectors) {
  while (cell.children.length > sectors.length) cell.lastChild.remove();
  while (cell.children.length < sectors.length) cell.append(make("i", "", "", make("b")));
  sectors.forEach((sector, index) => {
    const element = cell.children[index];
    element.dataset.rank = sector === null ? "none" : sector.rank || "slower";
    setText(element.firstChild, sector === null ? "" : sector.time.toFixed(1));
    setAttribute(element, "title", sector === null ? "" : `${sector.time.toFixed(3)} s, ${texts.say(`sector_${sector.rank || "slower"}`)}`);
  });
}

function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
