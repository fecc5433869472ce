// Reward, speed and ends over the time of learning: every update as a thin line, the mean of the last few as a thick one.

import { byId, colours, fitCanvas, setText } from "/shared/elements.js";
import { sayCount, sayTime } from "/pages/words.js";

const LABEL_WIDTH = 40;
const EDGE = 7; // above and below a curve
const MOST_POINTS = 4000;
const SMOOTHED_SHARE = 0.04;
const TIME_STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const ROOT_TICKS = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const LEAST_BETWEEN_TICKS = 19;
const KINDS = [
  { name: "reward", colour: "accent", isRoot: false },
  { name: "speed", colour: "second", isRoot: false },
  { name: "ends", colour: "danger", isRoot: true }, // a root shows ten a minute and one in ten minutes in one picture
];

export class Curves {
  constructor(texts) {
    this.texts = texts;
    this.clear();
    for (const { name } of KINDS) {
      const canvas = byId(`${name}-curve`);
      canvas.addEventListener("pointermove", (event) => this.point(event.offsetX, canvas.clientWidth));
      canvas.addEventListener("pointerleave", () => this.point(null));
    }
    new ResizeObserver(() => this.draw()).observe(byId("reward-curve"));
  }

  clear() {
    this.points = [];
    this.checked = [];
    this.pointed = null; // index of the point under the pointer
  }

  /** Add points (seconds, steps, reward, speed, ends) and checks (seconds, speed, whether passed). */
  add(rows, checked) {
    for (const [seconds, steps, reward, speed, ends] of rows) this.points.push({ seconds, steps, reward, speed, ends });
    for (const [seconds, speed, isPassed] of checked) this.checked.push({ seconds, speed, isPassed });
    if (this.points.length > MOST_POINTS) this.points = this.points.filter((_, index) => (this.points.length - index) % 2);
  }

  /** When the last check was [s], null before the first. */
  get checkedAt() { return this.checked.at(-1)?.seconds ?? null; }

  get end() { return Math.max(this.points.at(-1)?.seconds ?? 0, 1); }

  /** Show the figures of the point at a column of a plot; null: of the newest. */
  point(column, width) {
    const seconds = column === null ? null : ((column - LABEL_WIDTH) / (width - LABEL_WIDTH - EDGE)) * this.end;
    this.pointed = seconds === null || seconds < 0 ? null : findNearest(this.points, seconds);
    this.draw();
  }

  draw() {
    if (!this.points.length) return;
    const shown = this.points[this.pointed ?? this.points.length - 1];
    for (const kind of KINDS) {
      this.drawKind(kind);
      setText(byId(`${kind.name}-now`), shown[kind.name]?.toFixed(2) ?? "–");
    }
    byId("check-key").hidden = !this.checked.length;
    const moment = { time: sayTime(shown.seconds), steps: sayCount(shown.steps, this.texts) };
    setText(byId("moment"), this.pointed === null ? "" : this.texts.say("moment", moment));
    this.drawTimes();
  }

  drawKind({ name, colour, isRoot }) {
    const { pen, width, height } = fitCanvas(byId(`${name}-curve`));
    if (!width) return;
    const ink = colours();
    const told = this.points.filter((point) => point[name] !== null);
    const checked = name === "speed" ? this.checked : [];
    const values = [...told.map((point) => point[name]), ...checked.map((check) => check.speed)];
    const scale = isRoot ? makeRootScale(values, height) : makeScale(values, height);
    const column = (seconds) => LABEL_WIDTH + (seconds / this.end) * (width - LABEL_WIDTH - EDGE);
    drawScale(pen, scale, width, ink);
    const smoothed = smooth(told.map((point) => point[name]));
    pen.strokeStyle = pen.fillStyle = ink[colour];
    pen.lineJoin = "round";
    pen.globalAlpha = 0.35;
    drawLine(pen, told.map((point) => [column(point.seconds), scale.row(point[name])]), 1);
    pen.globalAlpha = 1;
    drawLine(pen, told.map((point, index) => [column(point.seconds), scale.row(smoothed[index])]), 2.2);
    const shown = this.points[this.pointed ?? this.points.length - 1];
    if (this.pointed !== null) drawPointer(pen, column(shown.seconds), height, ink);
    if (shown[name] !== null) drawDot(pen, column(shown.seconds), scale.row(this.pointed === null ? smoothed.at(-1) : shown[name]));
    for (const check of checked) drawCheck(pen, column(check.seconds), scale.row(check.speed), check.isPassed, ink);
  }

  drawTimes() {
    const { pen, width } = fitCanvas(byId("times"));
    if (!width) return;
    const room = (width - LABEL_WIDTH - EDGE) / 64;
    const step = TIME_STEPS.find((seconds) => this.end / seconds <= room) ?? 86400;
    writeWith(pen, "center");
    for (let seconds = 0; seconds <= this.end; seconds += step) {
      const column = LABEL_WIDTH + (seconds / this.end) * (width - LABEL_WIDTH - EDGE);
      pen.fillText(sayTime(seconds), Math.min(column, width - 18), 10);
    }
  }
}

function findNearest(points, seconds) {
  let [low, high] = [0, points.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle].seconds < seconds) low = middle; else high = middle;
  }
  return Math.abs(points[low].seconds - seconds) < Math.abs(points[high].seconds - seconds) ? low : high;
}

/** The mean of each value and those shortly before it. */
function smooth(values) {
  const span = Math.max(1, Math.round(SMOOTHED_SHARE * values.length));
  let sum = 0;
  return values.map((value, index) => {
    sum += value - (index >= span ? values[index - span] : 0);
    return sum / Math.min(index + 1, span);
  });
}

/** An even scale from 0, or from below it where values are, to a round number. */
function makeScale(values, height) {
  const [least, most] = [Math.min(0, ...values), Math.max(0.1, ...values)];
  const rough = (most - least) / Math.max(2, Math.min(4, height / 34));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const [first, last] = [Math.floor(least / step + 1e-9), Math.ceil(most / step - 1e-9)];
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  const [bottom, top] = [first * step, last * step];
  return { ticks, row: (value) => EDGE + ((top - value) / (top - bottom)) * (height - 2 * EDGE) };
}

/** A scale of square roots from 0, which shows large and small values; its ticks are as many as there is room for. */
function makeRootScale(values, height) {
  const most = Math.max(1, ...values);
  const top = ROOT_TICKS.find((tick) => tick >= most) ?? most;
  const row = (value) => EDGE + (1 - Math.sqrt(Math.max(value, 0) / top)) * (height - 2 * EDGE);
  const ticks = [];
  for (const tick of ROOT_TICKS.filter((tick) => tick <= top).reverse()) {
    if (tick === 0 || (ticks.every((other) => Math.abs(row(other) - row(tick)) >= LEAST_BETWEEN_TICKS) && row(0) - row(tick) >= LEAST_BETWEEN_TICKS)) ticks.push(tick);
  }
  return { ticks, row };
}

function drawScale(pen, { ticks, row }, width, ink) {
  writeWith(pen, "right");
  pen.lineWidth = 1;
  pen.strokeStyle = ink.line;
  for (const tick of ticks) {
    drawLine(pen, [[LABEL_WIDTH, row(tick)], [width, row(tick)]], 1);
    pen.fillText(String(Number(tick.toFixed(2))), LABEL_WIDTH - 7, row(tick));
  }
}

function writeWith(pen, align) {
  pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.fillStyle = colours()["text-soft"];
}

function drawLine(pen, points, width) {
  pen.lineWidth = width;
  pen.beginPath();
  for (const [column, row] of points) pen.lineTo(column, row);
  pen.stroke();
}

function drawCheck(pen, column, row, isPassed, ink) {
  pen.beginPath();
  pen.arc(column, row, 4, 0, 2 * Math.PI);
  pen.fillStyle = isPassed ? ink.accent : ink.surface;
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 2;
  pen.fill();
  pen.stroke();
}

function drawPointer(pen, column, height, ink) {
  pen.fillStyle = pen.strokeStyle = ink["text-soft"];
  drawLine(pen, [[column, 0], [column, height]], 1);
}

function drawDot(pen, column, row) {
  pen.beginPath();
  pen.arc(column, row, 3.2, 0, 2 * Math.PI);
  pen.fill();
}
