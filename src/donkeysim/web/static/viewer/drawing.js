// Who draws the views for people: this browser where it can, else the simulator; and the choice of it on a page.
//
// What draws is loaded only where it is used.

import { make } from "../elements.js";
import { Texts } from "../languages.js";
import { Keeping } from "./keeping.js";
import { CHOICES, findObstacle, keepChoice, readChoice } from "./quality.js";

const CARLESS = ["place", "road"]; // views

export class Drawing {
  /**
   * @param {HTMLElement} box the views are drawn over it
   * @param {HTMLElement} place where a person chooses, and takes photos and films
   * @param {{findMoment?: () => number | null | undefined, onResult?: (error: string | null) => void,
   *   onChange?: () => void, open?: (onChange: () => void) => object, findPlace?: (key: string) => string}} options as
   *   for `Viewer`; told when somebody else draws from now on
   */
  constructor(box, place, { onChange = () => {}, ...options }) {
    this.box = box;
    this.options = options;
    this.onChange = onChange;
    this.viewer = null;
    this.texts = new Texts(new URL("texts", import.meta.url).href, place);
    this.obstacle = findObstacle();
    this.choice = readChoice();
    this.select = make("select");
    this.select.setAttribute("aria-label", "Picture"); // until `say` is called
    this.select.addEventListener("change", () => {
      keepChoice(this.select.value);
      this.choose(this.select.value);
      this.select.blur(); // keys drive again
    });
    this.keeping = new Keeping(() => this.viewer);
    this.note = make("small");
    place.append(this.select, this.keeping.photo, this.keeping.film, this.note);
    queueMicrotask(() => this.choose(this.choice)); // when whoever made this knows it
  }

  /** Whether this browser draws. */
  get isOn() { return this.viewer !== null; }

  /** Whether it is to. */
  get isWanted() {
    if (this.obstacle === "none" || this.choice === "simulator") return false;
    return this.choice !== "auto" || this.obstacle === null;
  }

  /** Write the choices in a language. */
  async say(code) {
    const texts = this.texts;
    await texts.load(code);
    this.select.replaceChildren(...CHOICES.map((name) => new Option(texts.say(`draw_${name}`), name, false, name === this.choice)));
    this.select.setAttribute("aria-label", texts.say("drawing"));
    this.keeping.say(texts);
    this.select.disabled = this.obstacle === "none";
    this.select.title = texts.say("draw_title");
    this.explain();
  }

  /** Say why the simulator draws although nobody chose so. */
  explain() {
    const isObstructed = this.obstacle !== null && !this.isOn && this.choice !== "simulator";
    this.note.textContent = isObstructed ? this.texts.say(`draw_${this.obstacle}`) : "";
    this.note.hidden = !isObstructed;
  }

  async choose(choice) {
    this.choice = choice;
    if (!this.isWanted) this.stop();
    else if (this.viewer) this.viewer.choose(choice);
    else await this.start();
  }

  async start() {
    try {
      const { Viewer } = await import("./viewer.js");
      if (this.viewer || !this.isWanted) return; // another was chosen meanwhile
      const onLost = () => { this.obstacle = "none"; this.stop(); };
      this.viewer = new Viewer(this.box, this.choice, { ...this.options, onLost });
    } catch (error) {
      console.warn(error);
      this.obstacle = "none";
    }
    this.explain();
    this.onChange();
  }

  stop() {
    const viewer = this.viewer;
    this.viewer = null;
    viewer?.close();
    this.explain();
    this.onChange();
  }

  /** Draw these panes, see `Viewer.show`; returns which of them are drawn here. */
  show(panes) {
    const drawn = panes.filter((pane) => this.isOn && pane.view !== "camera" && (pane.car !== null || CARLESS.includes(pane.view)));
    this.viewer?.show(drawn);
    this.keeping.show(drawn.length > 0);
    this.box.classList.toggle("drawn", drawn.length > 0);
    return new Set(drawn);
  }
}
