// Photos and films of what the browser draws, saved as files.

import { make } from "../elements.js";

const RATE = 30; // pictures a second
const KINDS = ["video/mp4;codecs=avc1.640028", "video/webm;codecs=vp9", "video/webm"];

/** Two buttons: a photo, and a film that is under way until one presses again. */
export class Keeping {
  /** @param {() => import("./viewer.js").Viewer | null} findViewer who draws now */
  constructor(findViewer) {
    this.findViewer = findViewer;
    this.recorder = null;
    this.photo = make("button", "button", "Photo");
    this.film = make("button", "button", "Film");
    for (const button of [this.photo, this.film]) Object.assign(button, { type: "button", hidden: true });
    this.film.setAttribute("aria-pressed", "false");
    this.photo.addEventListener("click", () => this.takePhoto());
    this.film.addEventListener("click", () => (this.recorder ? this.stop() : this.start()));
  }

  say(texts) {
    this.texts = texts;
    this.photo.textContent = texts.say("draw_photo");
    this.photo.title = texts.say("draw_photo_title");
    this.film.title = texts.say("draw_film_title");
    this.showFilm();
  }

  showFilm() {
    this.film.textContent = this.texts.say(this.recorder ? "draw_stop" : "draw_film");
    this.film.setAttribute("aria-pressed", String(this.recorder !== null));
  }

  /** There is something to keep, or nothing any more. */
  show(isDrawn) {
    const kind = KINDS.find((name) => globalThis.MediaRecorder?.isTypeSupported(name));
    this.photo.hidden = !isDrawn;
    this.film.hidden = !isDrawn || !kind;
    this.kind = kind;
    if (!isDrawn) this.stop();
  }

  async takePhoto() {
    const viewer = this.findViewer();
    if (viewer) save(await viewer.photograph(), viewer.placeName, "png");
    this.photo.blur(); // keys drive again
  }

  start() {
    const viewer = this.findViewer();
    if (!viewer) return;
    const parts = [];
    this.recorder = new MediaRecorder(viewer.canvas.captureStream(RATE), { mimeType: this.kind, videoBitsPerSecond: 12e6 });
    this.recorder.ondataavailable = (event) => parts.push(event.data);
    this.recorder.onstop = () => save(new Blob(parts, { type: this.kind }), viewer.placeName, this.kind.includes("mp4") ? "mp4" : "webm");
    this.recorder.start();
    this.showFilm();
    this.film.blur();
  }

  stop() {
    this.recorder?.stop();
    this.recorder = null;
    if (this.texts) this.showFilm();
    this.film.blur();
  }
}

function save(content, place, ending) {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  const link = make("a");
  link.href = URL.createObjectURL(content);
  link.download = `donkeysim-${place}-${time}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
