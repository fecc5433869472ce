// The two plots under the film: the whole tub, and a stretch around the cursor.

import { colours, fitCanvas } from "/shared/elements.js";

const LABEL_HEIGHT = 16;
const SHORTEST_VIEW = 20;

const row = (value, height) => ((1.05 - Math.max(-1, Math.min(1, value))) / 2.1) * height;

function withAlpha(pen, alpha, draw) {
  pen.globalAlpha = alpha;
  draw();
  pen.globalAlpha = 1;
}

/** Angle and throttle of all records; a backdrop drawn once, marks and cursor over it. */
export class OverviewPlot {
  constructor(canvas, onSeek) {
    this.canvas = canvas;
    this.backdrop = document.createElement("canvas");
    this.key = "";
    const seek = (event) => {
      const box = canvas.getBoundingClientRect();
      onSeek(Math.floor(((event.clientX - box.left) / box.width) * this.count));
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); seek(event); });
    canvas.addEventListener("pointermove", (event) => { if (canvas.hasPointerCapture(event.pointerId)) seek(event); });
  }

  draw(drive) {
    this.count = drive.count;
    const { pen, width, height } = fitCanvas(this.canvas);
    const ink = colours();
    const column = (position) => (position / Math.max(drive.count, 1)) * width;
    this.drawBackdrop(drive, ink, width, height);
    pen.drawImage(this.backdrop, 0, 0, width, height);
    for (const [first, last] of drive.deletedSpans) {
      withAlpha(pen, 0.28, () => fillSpan(pen, ink.danger, column(first), column(last + 1), height));
    }
    if (drive.marked) drawMarked(pen, ink, column(drive.marked[0]), column(drive.marked[1] + 1), height);
    pen.strokeStyle = ink["text-soft"];
    pen.setLineDash([3, 3]);
    for (const session of drive.sessions.slice(1)) drawUpright(pen, column(session.first), height);
    pen.setLineDash([]);
    pen.fillStyle = ink.text;
    pen.fillRect(Math.min(column(drive.position + 0.5), width - 1) - 1, 0, 2, height);
  }

  drawBackdrop(drive, ink, width, height) {
    const key = [drive.version, this.canvas.width, this.canvas.height, ink.accent].join();
    if (key === this.key) return;
    this.key = key;
    this.backdrop.width = this.canvas.width;
    this.backdrop.height = this.canvas.height;
    const pen = this.backdrop.getContext("2d");
    const ratio = this.canvas.width / width;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawLevels(pen, ink, width, height);
    drawEnvelope(pen, drive.throttle, ink.second, width, height);
    drawEnvelope(pen, drive.angle, ink.accent, width, height);
  }
}

/** The records around the cursor, which stands in the middle; a drag marks a stretch, a press goes there. */
export class ZoomPlot {
  constructor(canvas, { onSeek, onMark }) {
    this.canvas = canvas;
    this.span = 240;
    this.first = 0;
    let start = null;
    const locate = (event) => {
      const box = canvas.getBoundingClientRect();
      const position = Math.floor(this.first + ((event.clientX - box.left) / box.width) * this.span);
      return Math.max(0, Math.min(this.count - 1, position));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      start = { x: event.clientX, position: locate(event), isDrag: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!start) return;
      start.isDrag ||= Math.abs(event.clientX - start.x) > 4;
      if (start.isDrag) onMark(...[start.position, locate(event)].sort((a, b) => a - b));
    });
    canvas.addEventListener("pointerup", (event) => { if (start && !start.isDrag) onSeek(locate(event)); start = null; });
    canvas.addEventListener("pointercancel", () => { start = null; });
    this.isHeld = () => start !== null;
  }

  /** Show a stretch `factor` times as long. */
  zoom(factor) {
    this.span = Math.round(Math.max(SHORTEST_VIEW, Math.min(Math.max(this.count, SHORTEST_VIEW), this.span * factor)));
  }

  draw(drive) {
    this.count = drive.count;
    if (!this.isHeld()) this.first = drive.position + 0.5 - this.span / 2; // stands still while it is dragged over
    const { pen, width, height } = fitCanvas(this.canvas);
    const ink = colours();
    const plotHeight = height - LABEL_HEIGHT;
    const column = (position) => ((position - this.first) / this.span) * width;
    const isSeen = ([first, last]) => last + 1 > this.first && first < this.first + this.span;
    drawLevels(pen, ink, width, plotHeight);
    for (const [first, last] of drive.deletedSpans.filter(isSeen)) {
      withAlpha(pen, 0.25, () => fillSpan(pen, ink.danger, column(first), column(last + 1), plotHeight));
    }
    if (drive.marked && isSeen(drive.marked)) {
      drawMarked(pen, ink, column(drive.marked[0]), column(drive.marked[1] + 1), plotHeight);
    }
    this.drawSessions(pen, drive, ink, column, plotHeight);
    this.drawTimes(pen, drive, ink, column, height);
    for (const [values, colour] of [[drive.pilotThrottle, ink.second], [drive.pilotAngle, ink.accent]]) {
      if (values) withAlpha(pen, 0.45, () => this.drawLine(pen, values, colour, column, plotHeight, [2, 3]));
    }
    this.drawLine(pen, drive.throttle, ink.second, column, plotHeight);
    this.drawLine(pen, drive.angle, ink.accent, column, plotHeight);
    pen.fillStyle = ink.text;
    pen.fillRect(column(drive.position + 0.5) - 1, 0, 2, plotHeight);
  }

  drawLine(pen, values, colour, column, height, dash = []) {
    const first = Math.max(0, Math.floor(this.first) - 1);
    const last = Math.min(values.length - 1, Math.ceil(this.first + this.span) + 1);
    const step = Math.max(1, Math.floor(this.span / 4000));
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.lineJoin = "round";
    pen.setLineDash(dash);
    pen.beginPath();
    let isDown = false;
    for (let at = first; at <= last; at += step) {
      if (Number.isNaN(values[at])) { isDown = false; continue; }
      if (isDown) pen.lineTo(column(at + 0.5), row(values[at], height));
      else pen.moveTo(column(at + 0.5), row(values[at], height));
      isDown = true;
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  drawSessions(pen, drive, ink, column, height) {
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    pen.textBaseline = "top";
    pen.textAlign = "left";
    pen.fillStyle = pen.strokeStyle = ink["text-soft"];
    for (const session of drive.sessions) {
      const x = column(session.first);
      if (x < -200 || x > this.canvas.clientWidth) continue;
      pen.setLineDash([3, 3]);
      drawUpright(pen, x, height);
      pen.setLineDash([]);
      pen.fillText(session.id || "–", x + 5, 4);
    }
  }

  drawTimes(pen, drive, ink, column, height) {
    pen.textBaseline = "bottom";
    pen.textAlign = "center";
    pen.fillStyle = ink["text-soft"];
    const step = niceStep(this.span / (this.canvas.clientWidth / 90));
    for (let at = Math.max(0, Math.ceil(this.first / step) * step); at < Math.min(drive.count, this.first + this.span); at += step) {
      pen.fillText(String(at), column(at + 0.5), height - 1);
    }
  }
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return power * [1, 2, 5, 10].find((step) => step * power >= least * 0.999);
}

function drawLevels(pen, ink, width, height) {
  pen.fillStyle = ink.line;
  for (const value of [1, 0, -1]) pen.fillRect(0, Math.round(row(value, height)), width, 1);
}

function fillSpan(pen, colour, left, right, height) {
  pen.fillStyle = colour;
  pen.fillRect(left, 0, Math.max(right - left, 1), height);
}

function drawMarked(pen, ink, left, right, height) {
  withAlpha(pen, 0.22, () => fillSpan(pen, ink.accent, left, right, height));
  pen.fillStyle = ink.accent;
  pen.fillRect(left, 0, 2, height);
  pen.fillRect(Math.max(right - 2, left), 0, 2, height);
}

function drawUpright(pen, x, height) {
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(Math.round(x) + 0.5, 0);
  pen.lineTo(Math.round(x) + 0.5, height);
  pen.stroke();
}

/** One upright line per pixel from the least to the greatest value of its records. */
function drawEnvelope(pen, values, colour, width, height) {
  pen.fillStyle = colour;
  const columns = Math.max(1, Math.floor(width));
  for (let x = 0; x < columns; x += 1) {
    const first = Math.floor((x / columns) * values.length);
    const last = Math.max(first + 1, Math.floor(((x + 1) / columns) * values.length));
    let least = Infinity;
    let most = -Infinity;
    for (let at = Math.max(0, first - 1); at < last; at += 1) { // the one before too, so that columns join
      if (values[at] < least) least = values[at];
      if (values[at] > most) most = values[at];
    }
    if (most === -Infinity) continue;
    const top = row(most, height);
    pen.fillRect(x, top - 0.75, 1, row(least, height) - top + 1.5);
  }
}
