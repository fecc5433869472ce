// The time line at the foot: where the playhead is, what has happened when, and how fast it plays.

import { findLine, formatClock, tellMark, tellTime } from "/pages/moments.js";
import { SPEEDS } from "/pages/playhead.js";
import { byId, make, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

export class TimeLine {
  /**
   * @param {import("/pages/playhead.js").Playhead} playhead
   * @param {(mark: object) => void} onJump called with the mark that was chosen
   */
  constructor(playhead, onJump) {
    this.playhead = playhead;
    this.onJump = onJump;
    this.marks = new Map();
    this.slider = byId("seek");
    this.slider.addEventListener("input", () => { playhead.seek(Number(this.slider.value)); this.show(); });
    byId("play").addEventListener("click", () => this.press(() => playhead.toggle()));
    byId("frame-back").addEventListener("click", () => this.press(() => playhead.step(-1)));
    byId("frame-on").addEventListener("click", () => this.press(() => playhead.step(1)));
    byId("go-live").addEventListener("click", () => this.press(() => playhead.goLive()));
    byId("play-speed").addEventListener("change", () => this.press(() => playhead.setSpeed(Number(byId("play-speed").value))));
    byId("marks").addEventListener("keydown", (event) => this.walk(event));
    byId("play-speed").replaceChildren(...SPEEDS.map((speed) => new Option(`${speed}×`, String(speed), speed === 1)));
  }

  /** Do something to the playhead, and show it at once. */
  press(change) {
    change();
    this.show();
  }

  /** Show the race's marks on this line; null: there is none. */
  update(race, line) {
    byId("time-line").hidden = line === null;
    if (line === null) return;
    this.race = race;
    this.line = line;
    const known = new Map();
    for (const mark of race.marks) {
      if (mark.car < 0 && !mark.number) continue;
      if (mark.at < line.begin || mark.at > line.end) continue;
      known.set(`${mark.at} ${mark.car} ${mark.number} ${mark.text}`, mark);
    }
    for (const [key, button] of this.marks) if (!known.has(key)) { button.remove(); this.marks.delete(key); }
    for (const [key, mark] of known) this.fill(this.marks.get(key) ?? this.add(key), mark);
    if (!byId("marks").querySelector('[tabindex="0"]')) byId("marks").firstElementChild?.setAttribute("tabindex", "0");
    this.show();
  }

  add(key) {
    const button = make("button", "mark");
    button.type = "button";
    button.tabIndex = -1;
    button.addEventListener("click", () => this.onJump(button.mark));
    this.marks.set(key, button);
    byId("marks").append(button);
    return button;
  }

  fill(button, mark) {
    button.mark = mark;
    const line = findLine(this.race, mark);
    button.style.setProperty("--paint", line ? `rgb(${line.colour.join(" ")})` : "");
    button.style.setProperty("--share", String(this.share(mark.at)));
    button.classList.toggle("incident", mark.number > 0);
    button.classList.toggle("undone", mark.is_undone);
    const words = `${tellTime(mark)} ${tellMark(mark, this.race)}`;
    if (button.title === words) return;
    button.title = words;
    button.setAttribute("aria-label", words);
  }

  share(at) { return (at - this.line.begin) / Math.max(this.line.end - this.line.begin, 1e-6); }

  /** Arrow keys go from mark to mark: they are one stop of the tabulator. */
  walk(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const buttons = [...this.marks.values()].sort((a, b) => a.mark.at - b.mark.at);
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    if (!next) return;
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }

  /** Jump to the incident before or after the moment that is shown. */
  jumpNear(step) {
    if (!this.line) return;
    const now = this.playhead.now() ?? this.line.end;
    const marks = [...this.marks.values()].map((button) => button.mark).filter((mark) => mark.number > 0).sort((a, b) => a.at - b.at);
    // A jump begins some seconds before its mark: the next one back from there is the mark before that.
    const mark = step > 0 ? marks.find(({ at }) => at > now + 3.05) : marks.findLast(({ at }) => at < now + 2.5);
    if (mark) this.onJump(mark);
  }

  show() {
    const { playhead, line } = this;
    if (!line) return;
    const at = playhead.now() ?? line.end;
    for (const [name, value] of [["min", line.begin], ["max", line.end]]) if (Number(this.slider[name]) !== value) this.slider[name] = String(value);
    if (document.activeElement !== this.slider || !this.slider.matches(":active")) this.slider.value = String(at);
    byId("time-line").style.setProperty("--played", String(this.share(at)));
    const behind = playhead.isLive ? texts.say("now") : playhead.hasNow ? `−${formatClock(line.end - at)}` : `${formatClock(at - line.begin)} / ${formatClock(line.end - line.begin)}`;
    this.slider.setAttribute("aria-valuetext", behind);
    setText(byId("play-time"), behind);
    byId("play").setAttribute("aria-label", texts.say(playhead.isPlaying ? "hold" : "play"));
    byId("play").title = texts.say(playhead.isPlaying ? "hold" : "play");
    byId("play").classList.toggle("playing", playhead.isPlaying);
    byId("go-live").hidden = !playhead.hasNow;
    byId("go-live").setAttribute("aria-pressed", String(playhead.isLive));
    if (document.activeElement !== byId("play-speed")) byId("play-speed").value = String(playhead.speed);
  }
}
