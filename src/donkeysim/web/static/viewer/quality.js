// How much is drawn: what this machine's graphics chip shows at a good rate, or what a person has chosen.

const KEPT_AS = "donkeysim-drawing";
export const CHOICES = ["auto", "high", "medium", "low", "simulator"];
export const LEVELS = [
  { name: "low", ratio: 0.75, hasShadows: false, hasMirror: false },
  { name: "medium", ratio: 1, hasShadows: true, hasMirror: false },
  { name: "high", ratio: 2, hasShadows: true, hasMirror: true },
];
const SLOW_MS = 28, FAST_MS = 12; // a frame, of which there are 60 a second
const LOOK = 45; // frames from one judgement to the next
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

/** What a person has chosen in this browser. */
export function readChoice() {
  const named = new URLSearchParams(location.search).get("draw");
  if (CHOICES.includes(named)) return named;
  try {
    const kept = localStorage.getItem(KEPT_AS);
    return CHOICES.includes(kept) ? kept : "auto";
  } catch {
    return "auto";
  }
}

export function keepChoice(choice) {
  try { localStorage.setItem(KEPT_AS, choice); } catch { /* kept for this page only */ }
}

/** Why this browser does not draw: "none", it cannot; "slow", it would on the processor; null: it does. */
export function findObstacle() {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2");
  if (!context) return "none";
  const about = context.getExtension("WEBGL_debug_renderer_info");
  const name = about ? context.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name) ? "slow" : null;
}

/** Chooses among `LEVELS` by how long frames take. */
export class Quality {
  constructor(choice, onChange) {
    this.onChange = onChange;
    this.choose(choice);
  }

  choose(choice) {
    this.isFixed = choice !== "auto";
    this.index = this.isFixed ? LEVELS.findIndex((level) => level.name === choice) : LEVELS.length - 1;
    this.times = [];
    this.patience = 1;
    this.calm = 0;
    this.onChange(this.level);
  }

  get level() { return LEVELS[this.index]; }

  /** Note how long ago the last frame was, ms. */
  note(elapsed) {
    if (this.isFixed || elapsed > 500) return;
    this.times.push(elapsed);
    if (this.times.length < LOOK) return;
    const middle = this.times.sort((one, other) => one - other)[LOOK >> 1];
    this.times = [];
    if (middle > SLOW_MS && this.index > 0) { this.change(-1); this.patience *= 2; }
    else if (middle < FAST_MS && this.index < LEVELS.length - 1 && ++this.calm > 8 * this.patience) this.change(1);
  }

  change(step) {
    this.index += step;
    this.calm = 0;
    this.onChange(this.level);
  }
}
