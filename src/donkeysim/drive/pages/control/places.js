// Where the car drives, as a button on its picture, and a dialogue with all places it could go to.

import { byId, make, setText } from "/shared/elements.js";

export class Places {
  /**
   * @param {import("/shared/languages.js").Texts} texts
   * @param {(place: string) => void} onChoose called with the place that was chosen
   */
  constructor(texts, onChoose) {
    Object.assign(this, { texts, onChoose });
    this.place = null;
    this.places = [];
    this.groups = {};
    this.goingTo = "";
    byId("place").addEventListener("click", () => this.open());
    byId("places-close").addEventListener("click", () => byId("places").close());
  }

  /** Show what the car reports; in the menu of its simulator the choice opens by itself, once. */
  show({ place, places, place_groups: groups }) {
    const isElsewhere = place !== this.place;
    const isKnown = place === this.place && places.join() === this.places.join();
    if (isKnown) return;
    const mustChoose = isElsewhere && !place && places.length > 0 && !this.goingTo;
    Object.assign(this, { place, places, groups });
    if (place === this.goingTo) this.goingTo = "";
    this.showButton();
    if (mustChoose) this.open();
    else if (byId("places").open) this.fill();
  }

  /** Say that the car did not go where it was sent. */
  forget() {
    this.goingTo = "";
    this.showButton();
  }

  showButton() {
    byId("place").hidden = this.places.length === 0;
    const name = this.goingTo ? this.texts.say("going_to", { place: this.goingTo }) : this.place || this.texts.say("in_menu");
    setText(byId("place-name"), name);
  }

  open() {
    this.fill();
    if (!byId("places").open) byId("places").showModal();
  }

  fill() {
    setText(byId("places-title"), this.texts.say(this.place ? "choose_place" : "menu_note"));
    const groups = Object.entries(this.groups);
    byId("places-list").replaceChildren(...groups.flatMap(([kind, names]) => [
      ...(groups.length > 1 ? [make("h3", "", this.texts.say(`places_${kind}`))] : []),
      ...names.map((name) => this.makeChoice(name, kind !== "yours")),
    ]));
  }

  /** `hasPicture`: tracks of one's own have none. */
  makeChoice(name, hasPicture) {
    const choice = make("button", "choice");
    choice.type = "button";
    choice.dataset.place = name;
    choice.setAttribute("aria-current", String(name === this.place));
    if (hasPicture) {
      const picture = new Image();
      Object.assign(picture, { alt: "", src: `/shared/scenes/${encodeURIComponent(name)}.jpg` });
      picture.addEventListener("error", () => picture.remove()); // nor has a place of another simulator
      choice.append(picture);
    }
    choice.append(make("span", "", name));
    choice.addEventListener("click", () => this.choose(name));
    return choice;
  }

  choose(name) {
    byId("places").close();
    if (name === this.place) return;
    this.goingTo = name;
    this.showButton();
    this.onChoose(name);
  }
}
