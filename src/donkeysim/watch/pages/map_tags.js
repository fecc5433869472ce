// Names on the map, where there is room for them, and the flags of cars that stand.

const FLAGS = { yellow: "#facc15", black: "#111", chequered: "#fff" };
const BOX_PADDING = 3;

/**
 * Write names beside points of the map. The first ones come first: a tag that would cover another becomes shorter, or is
 * left out. The letters are `size` pixels high.
 * @param {{column: number, row: number, place: number, name: string, flag: string, isWatched: boolean}[]} tags
 */
export function drawTags(pen, tags, width, height, size, ink) {
  pen.font = `600 ${size}px ${getComputedStyle(document.body).fontFamily}`;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  const taken = [];
  for (const tag of tags) {
    if (tag.flag) drawFlag(pen, tag, size / 12, ink);
    const place = tag.place ? `${tag.place}` : "";
    const name = [...tag.name].slice(0, 14).join("");
    for (const text of new Set([`${place} ${name}`.trim(), place])) {
      const box = text && findRoom(pen, text, tag, taken, width, height, 1.4 * size);
      if (!box) continue;
      taken.push(box);
      drawTag(pen, text, box, tag.isWatched, ink);
      break;
    }
  }
}

/** Above the point, else below, right or left of it. */
function findRoom(pen, text, { column, row, isWatched }, taken, width, height, high) {
  const wide = pen.measureText(text).width + 2 * BOX_PADDING;
  const middle = Math.min(Math.max(column - wide / 2, 1), width - wide - 1);
  const spots = [[middle, row - high - 9], [middle, row + 9], [column + 11, row - high / 2], [column - wide - 11, row - high / 2]];
  for (const [x, y] of spots) {
    const isInside = x >= 0 && y >= 0 && x + wide <= width && y + high <= height;
    const isFree = taken.every((box) => x > box.x + box.wide || x + wide < box.x || y > box.y + box.high || y + high < box.y);
    if (isInside && (isFree || isWatched)) return { x, y, wide, high };
  }
  return null;
}

function drawTag(pen, text, { x, y, wide, high }, isWatched, ink) {
  pen.globalAlpha = 0.9;
  pen.fillStyle = isWatched ? ink.accent : ink.surface;
  pen.beginPath();
  pen.roundRect(x, y, wide, high, 4);
  pen.fill();
  pen.globalAlpha = 1;
  pen.fillStyle = isWatched ? ink.surface : ink.text;
  pen.fillText(text, x + BOX_PADDING, y + high / 2 + 0.5);
}

function drawFlag(pen, { column, row, flag }, scale, ink) {
  const [left, top, size] = [3, -20, 11];
  pen.save();
  pen.translate(column, row);
  pen.scale(scale, scale);
  pen.strokeStyle = ink.text;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(left, -3);
  pen.lineTo(left, top);
  pen.stroke();
  pen.fillStyle = FLAGS[flag] ?? FLAGS.yellow;
  pen.fillRect(left, top, size, 8);
  if (flag === "chequered") {
    pen.fillStyle = "#111";
    for (const [x, y] of [[0, 0], [2, 0], [1, 1]]) pen.fillRect(left + (x * size) / 3, top + 4 * y, size / 3, 4);
  }
  pen.lineWidth = 1;
  pen.strokeRect(left, top, size, 8);
  pen.restore();
}
