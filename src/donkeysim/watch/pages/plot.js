// A small plot of the last seconds of one reading.

import { colours, fitCanvas } from "/shared/elements.js";

const SPAN_S = 30;
const LABEL_WIDTH = 34;

export class Plot {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{colour: string, least: number, isCentred: boolean}} options colour name; smallest upper end of the scale;
   *   whether the scale runs from minus to plus or from 0
   */
  constructor(canvas, { colour, least, isCentred }) {
    Object.assign(this, { canvas, colour, least, isCentred });
    this.samples = [];
  }

  clear() { this.samples = []; this.draw(); }

  /** Add a value [any unit] at a time [s]; a time that goes back begins anew, values older than the span are dropped. */
  add(time, value) {
    const last = this.samples.at(-1);
    if (last && time < last.time) this.samples = [];
    if (!last || time !== last.time) this.samples.push({ time, value });
    while (this.samples.length && this.samples[0].time < time - SPAN_S) this.samples.shift();
    this.draw();
  }

  draw() {
    const { pen, width, height } = fitCanvas(this.canvas);
    const ink = colours();
    const top = niceCeiling(Math.max(this.least, ...this.samples.map((sample) => Math.abs(sample.value))));
    const bottom = this.isCentred ? -top : 0;
    const row = (value) => 6 + ((top - value) / (top - bottom)) * (height - 12);
    const end = this.samples.at(-1)?.time ?? 0;
    const column = (time) => width - ((end - time) / SPAN_S) * (width - LABEL_WIDTH);
    this.drawScale(pen, [top, (top + bottom) / 2, bottom], row, width, ink);
    pen.strokeStyle = ink[this.colour];
    pen.lineWidth = 2;
    pen.lineJoin = "round";
    pen.beginPath();
    for (const { time, value } of this.samples) pen.lineTo(column(time), row(value));
    pen.stroke();
  }

  drawScale(pen, values, row, width, ink) {
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    pen.strokeStyle = ink.line;
    pen.fillStyle = ink["text-soft"];
    for (const value of values) {
      pen.beginPath();
      pen.moveTo(LABEL_WIDTH, row(value));
      pen.lineTo(width, row(value));
      pen.stroke();
      pen.fillText(String(Number(value.toFixed(2))), LABEL_WIDTH - 6, row(value));
    }
  }
}

function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 4, 5, 10].find((step) => step * power >= value * 0.9999);
}
