// One view of one car: asks for a picture, draws it, asks for the next; never two at once.

const LEVELS = [1, 0.75, 0.5];
const SLOW_MS = 120;
const FAST_MS = 75;
const SHORT_CALM = 15; // pictures between two changes of size
const LONG_CALM = 960;
const LARGEST_WIDTH = 1280;

export class PicturePane {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("/shared/asking.js").Asking} asking connected to /picture
   * @param {{interval: number, largest?: number, onResult?: (error: string | null) => void,
   *   findMoment?: () => number | null | undefined}} options least time between pictures in ms, most pixels of a side;
   *   which moment to ask for: null is now, undefined where there is nothing but now
   */
  constructor(canvas, asking, { interval, largest = LARGEST_WIDTH, onResult = () => {}, findMoment = () => undefined }) {
    this.canvas = canvas;
    this.pen = canvas.getContext("bitmaprenderer");
    this.asking = asking;
    this.interval = interval;
    this.largest = largest;
    this.onResult = onResult;
    this.findMoment = findMoment;
    this.wanted = null;
    this.still = "";
    this.isBusy = false;
    this.isOnScreen = true;
    this.level = 0;
    this.smoothed = 50;
    this.sinceChange = 0;
    this.calm = SHORT_CALM;
    this.count = 0;
    document.addEventListener("visibilitychange", () => this.run());
    new IntersectionObserver((entries) => {
      this.isOnScreen = entries.at(-1).isIntersecting;
      this.run();
    }).observe(canvas);
  }

  /** Watch this view of this car from now on; null: nothing; undefined: there is only one car. */
  watch(view, car) {
    this.wanted = car === null ? null : { view, car };
    this.run();
  }

  get isWatched() {
    return this.wanted !== null && this.isOnScreen && document.visibilityState === "visible" && this.asking.isOpen;
  }

  async run() {
    if (this.isBusy) return;
    this.isBusy = true;
    let due = performance.now();
    while (this.isWatched) {
      await this.show(this.wanted);
      // By a rhythm of its own: time lost by late timers would make every picture a little later.
      due = Math.max(due + this.interval, performance.now() - this.interval);
      await new Promise((done) => setTimeout(done, Math.max(due - performance.now(), 0)));
    }
    this.isBusy = false;
  }

  async show(wanted) {
    const began = performance.now();
    const question = { ...wanted, ...this.choosePixels(), at: this.findMoment() };
    // A moment of the past never changes: while time stands still there, its picture is not asked for twice.
    const still = typeof question.at === "number" ? JSON.stringify(question) : "";
    if (still && still === this.still) return;
    const answer = await this.asking.ask(question);
    if (answer === null) return;
    this.still = "";
    if (typeof answer === "string") {
      this.onResult(JSON.parse(answer).error);
      await new Promise((done) => setTimeout(done, 400));
      return;
    }
    this.adapt(performance.now() - began);
    const bitmap = await createImageBitmap(answer);
    if (wanted !== this.wanted) return;
    if (this.canvas.width !== bitmap.width) this.canvas.width = bitmap.width;
    if (this.canvas.height !== bitmap.height) this.canvas.height = bitmap.height;
    this.pen.transferFromImageBitmap(bitmap);
    this.still = still;
    this.count += 1;
    this.canvas.dataset.count = this.count;
    this.onResult(null);
  }

  choosePixels() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * LEVELS[this.level];
    const box = this.canvas.parentElement;
    const width = Math.min(this.largest, Math.max(160, Math.round((box.clientWidth * ratio) / 32) * 32));
    const height = Math.max(90, Math.round((width * box.clientHeight) / Math.max(box.clientWidth, 1) / 2) * 2);
    return { width, height: Math.min(height, this.largest) };
  }

  /** Fewer pixels when pictures come late, more when they come early; every relapse makes it wait twice as long. */
  adapt(elapsed) {
    this.smoothed += 0.15 * (elapsed - this.smoothed);
    this.sinceChange += 1;
    if (this.smoothed > SLOW_MS && this.level < LEVELS.length - 1 && this.sinceChange > SHORT_CALM) {
      this.calm = Math.min(2 * this.calm, LONG_CALM);
      this.change(1);
    } else if (this.smoothed < FAST_MS && this.level > 0 && this.sinceChange > this.calm) {
      this.change(-1);
    }
  }

  change(step) {
    this.level += step;
    this.sinceChange = 0;
  }
}
