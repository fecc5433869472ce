// How the car looks: a button on its picture, and a dialogue to choose its name, colour and body.

import { byId, setText } from "/shared/elements.js";

export class Look {
  /** @param {(look: object) => void} onChoose called with the look that was chosen, by the names of GYM_CONF */
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.look = null;
    byId("look").addEventListener("click", () => this.open());
    byId("look-close").addEventListener("click", () => byId("look-dialog").close());
    byId("look-form").addEventListener("submit", () => this.choose());
  }

  /** Show what the car reports; null: it is not known. */
  show(look) {
    this.look = look;
    byId("look").hidden = !look;
    if (!look) return;
    setText(byId("look-text"), look.car_name);
    byId("look").style.setProperty("--paint", write(look.body_rgb));
  }

  open() {
    byId("look-name").value = this.look.car_name;
    byId("look-colour").value = write(this.look.body_rgb);
    byId("look-body").value = this.look.body_style;
    byId("look-dialog").showModal();
  }

  choose() {
    const colour = byId("look-colour").value;
    this.onChoose({
      car_name: byId("look-name").value.trim(),
      body_style: byId("look-body").value,
      body_rgb: [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16)),
    });
  }
}

function write(rgb) { return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`; }
