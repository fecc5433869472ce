// The figures of a track as rows of a name and a value.

/** @returns {[string, string][]} */
export function listFigures(figures, texts) {
  const rows = [
    [texts.say("length"), `${figures.length.toFixed(2)} m, ${sayDirection(figures, texts)}`],
    [texts.say("extent"), `${figures.size[0].toFixed(1)} × ${figures.size[1].toFixed(1)} m`],
    [texts.say("nodes"), String(figures.node_count)],
    [texts.say("road"), sayRange(figures.width, 2)],
    [texts.say("radius_left"), sayRadius(figures.radius_left, texts)],
    [texts.say("radius_right"), sayRadius(figures.radius_right, texts)],
  ];
  if (!("height" in figures)) return rows;
  const [low, high] = figures.height;
  const steepest = (100 * figures.slope).toFixed(0);
  return [
    ...rows,
    [texts.say("elevation"), high - low < 0.001 ? texts.say("level") : `${sayRange(figures.height, 2)}, ${steepest} %`],
    [texts.say("start_lines"), String(figures.start_lines)],
    [texts.say("grid"), String(figures.grid)],
    [texts.say("standing"), sayCounts(figures.standing, texts)],
    [texts.say("movable"), sayCounts(figures.movable, texts)],
  ];
}

function sayDirection(figures, texts) {
  if (!figures.is_closed) return texts.say("open");
  if (figures.turns === 0) return texts.say("eight");
  return texts.say(figures.turns > 0 ? "counter_clockwise" : "clockwise");
}

function sayRange([low, high], digits) {
  const [least, most] = [low.toFixed(digits), high.toFixed(digits)];
  return least === most ? `${most} m` : `${least} – ${most} m`;
}

function sayRadius(radius, texts) { return radius === null ? texts.say("none") : `${radius.toFixed(2)} m`; }

function sayCounts(counts, texts) {
  return Object.entries(counts).map(([name, count]) => `${count} × ${texts.nameThing(name)}`).join(", ") || texts.say("none");
}
