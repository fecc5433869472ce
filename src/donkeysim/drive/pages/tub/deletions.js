// Which records are deleted, and the steps that led there; every step is saved at once.

const MOST_STEPS = 500;

/** Spans [first, last] of a row of flags. */
export function listSpans(flags) {
  const spans = [];
  for (let at = 0; at < flags.length; at += 1) {
    if (!flags[at]) continue;
    const first = at;
    while (at + 1 < flags.length && flags[at + 1]) at += 1;
    spans.push([first, at]);
  }
  return spans;
}

export class Deletions {
  /**
   * @param {(state: "saved" | "busy" | "bad") => void} onState
   * @param {() => void} onChange called when other records are deleted than before
   * @param {(sentence: string | null) => void} onRefusal the change was not saved and is taken back; null: no answer came
   */
  constructor({ onState, onChange, onRefusal }) {
    Object.assign(this, { onState, onChange, onRefusal });
    this.undoSteps = [];
    this.redoSteps = [];
    this.flags = new Uint8Array(0);
    this.last = Promise.resolve();
  }

  /** Take what the tub says; steps made before it changed elsewhere are forgotten. */
  load(count, state) {
    if (state.revision !== this.revision || count !== this.flags.length) {
      this.undoSteps = [];
      this.redoSteps = [];
    }
    this.take(state, count);
  }

  take(state, count = this.flags.length) {
    this.revision = state.revision;
    this.flags = new Uint8Array(count);
    for (const [first, last] of state.deleted) this.flags.fill(1, first, last + 1);
    this.spans = listSpans(this.flags);
    this.onChange();
  }

  get deletedCount() { return this.spans.reduce((sum, [first, last]) => sum + last - first + 1, 0); }

  /** Do one thing with the tub after the other, in the order asked for. */
  queue(work) {
    this.last = this.last.then(work);
    return this.last;
  }

  /** Delete or restore the records of stretches [first, last], in one step. */
  set(stretches, isDeleted) {
    return this.queue(() => {
      const flags = this.flags.slice();
      for (const [first, last] of stretches) flags.fill(isDeleted ? 1 : 0, first, last + 1);
      if (flags.every((flag, position) => flag === this.flags[position])) return null;
      return this.step(listSpans(flags), this.undoSteps, () => { this.redoSteps = []; });
    });
  }

  undo() { return this.queue(() => this.move(this.undoSteps, this.redoSteps)); }

  redo() { return this.queue(() => this.move(this.redoSteps, this.undoSteps)); }

  move(from, to) { return from.length ? this.step(from.at(-1), to, () => from.pop()) : null; }

  /** Save `spans`; when that went well, remember what was before among `past`. */
  async step(spans, past, onSaved) {
    const before = this.spans;
    this.onState("busy");
    const { state, error } = await save({ deleted: spans, count: this.flags.length, revision: this.revision });
    if (error !== undefined) {
      this.onState("bad");
      this.onRefusal(error);
      return;
    }
    onSaved();
    past.push(before);
    if (past.length > MOST_STEPS) past.shift();
    this.take(state);
    this.onState("saved");
  }
}

async function save(wanted) {
  try {
    const response = await fetch("/deleted", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(wanted),
    });
    const answer = await response.json();
    return response.ok ? { state: answer } : { error: answer.error };
  } catch {
    return { error: null };
  }
}
