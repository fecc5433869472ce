// The ground plan of a track on a canvas; positions in m, x to the right, y up, as on every picture of it.

import { colours } from "/shared/elements.js";

const MARGIN = 22;

/** How far an outline reaches: x from, to, y from, to. */
export function measureOutline(outline) {
  const points = [...outline.left, ...outline.right, ...outline.path];
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}

/** How the outline lies on a canvas: world to pixel. */
export function fitOutline(outline, width, height) {
  const [x0, x1, y0, y1] = measureOutline(outline);
  const scale = Math.min((width - 2 * MARGIN) / Math.max(x1 - x0, 1e-6), (height - 2 * MARGIN) / Math.max(y1 - y0, 1e-6));
  return { point: (x, y) => [width / 2 + scale * (x - (x0 + x1) / 2), height / 2 - scale * (y - (y0 + y1) / 2)] };
}

/** Draw road, path, checkpoints and start lines, these in a colour of their own. */
export function drawRoad(pen, outline, place, startColour) {
  const ink = colours();
  const { left, right, path, start_line: lines, checkpoint: checkpoints, is_closed: isClosed } = outline;
  pen.fillStyle = ink.line;
  pen.beginPath();
  if (isClosed) {
    trace(pen, left, place, true);
    trace(pen, right, place, true);
  } else trace(pen, [...left, ...right.slice().reverse()], place, true);
  pen.fill("evenodd");
  stroke(pen, path, place, isClosed, ink["text-soft"], 1, [4, 5]);
  for (const gate of checkpoints) stroke(pen, gate, place, false, ink["text-soft"], 2, []);
  for (const line of lines) stroke(pen, line, place, false, startColour, 3, []);
}

function stroke(pen, points, place, isClosed, colour, width, dashes) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.setLineDash(dashes);
  pen.beginPath();
  trace(pen, points, place, isClosed);
  pen.stroke();
  pen.setLineDash([]);
}

function trace(pen, points, place, isClosed) {
  points.forEach(([x, y], index) => {
    const [column, row] = place.point(x, y);
    if (index) pen.lineTo(column, row); else pen.moveTo(column, row);
  });
  if (isClosed) pen.closePath();
}
