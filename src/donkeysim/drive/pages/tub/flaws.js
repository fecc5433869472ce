// What is wrong with the drive: a list with pictures, and the stretches it is about, one after the other.

import { byId, make, setText } from "/shared/elements.js";

export class Flaws {
  /**
   * @param {Texts} texts
   * @param {Pictures} pictures
   * @param {(position: number) => void} onSeek a picture was pressed
   * @param {(spans: number[][]) => void} onDelete all stretches of a flaw are to be deleted
   */
  constructor({ texts, pictures, onSeek, onDelete }) {
    Object.assign(this, { texts, pictures, onSeek, onDelete });
    this.flaws = [];
    this.spans = [];
  }

  async load() {
    let found = [];
    try {
      found = await (await fetch("/flaws")).json();
    } catch { /* the tub is shown all the same */ }
    this.flaws = Array.isArray(found) ? found : [];
    this.spans = this.flaws.flatMap((flaw) => flaw.spans).sort(([first], [other]) => first - other);
    this.show();
  }

  /** The next stretch behind a position that is not deleted yet, else the first one. */
  find(position, flags) {
    const left = this.spans.filter(([first, last]) => flags.subarray(first, last + 1).includes(0));
    return left.find(([first]) => first > position) ?? left[0];
  }

  show() {
    byId("flaws").hidden = byId("flaw-count").hidden = !this.flaws.length;
    byId("next-flaw").hidden = byId("drop-flaw").hidden = !this.spans.length;  // it is the whole tub that is wrong
    setText(byId("flaw-count"), this.texts.say("flaw_count", { count: this.flaws.length }));
    byId("flaw-list").replaceChildren(...this.flaws.map((flaw) => this.showFlaw(flaw)));
    document.body.dataset.flaws = this.flaws.map((flaw) => flaw.kind).join(" ");
  }

  showFlaw({ words, spans, examples }) {
    const [finding, advice] = words[this.texts.code];
    const views = make("div", "views", "", ...examples.map((position) => this.showExample(position)));
    const says = make("div", "says", "", make("p", "finding", finding), make("p", "advice", advice));
    if (spans.length) {
      const button = make("button", "button small", this.texts.say("delete_flaw", { count: spans.length.toLocaleString("en") }));
      button.type = "button";
      button.addEventListener("click", () => this.onDelete(spans));
      says.append(button);
    }
    return make("li", "", "", views, says);
  }

  showExample(position) {
    const canvas = make("canvas");
    const button = make("button", "view", "", canvas);
    button.type = "button";
    button.ariaLabel = button.title = `${this.texts.say("number")} ${position}`;
    button.addEventListener("click", () => this.onSeek(position));
    this.pictures.get(position).then((bitmap) => {
      if (!bitmap) return;
      Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
      canvas.getContext("2d").drawImage(bitmap, 0, 0);
      bitmap.close();
    });
    return button;
  }
}
