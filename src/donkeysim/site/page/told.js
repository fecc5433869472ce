// Hands moments from the worker to the view that this browser draws, as a server's WebSocket would.

export class Told {
  constructor() {
    this.newest = null;
    this.waiting = null;
    this.isOpen = true;
    this.address = null;
  }

  /** Another place: its model, a GLB file, which stays for as long as the page is there. */
  setPlace(name, model) {
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = URL.createObjectURL(new Blob([model], { type: "model/gltf-binary" }));
  }

  /** Tell of a moment. */
  tell(moment) {
    this.newest = moment;
    const done = this.waiting;
    this.waiting = null;
    done?.(JSON.stringify(moment));
  }

  /** Be asked from now on. */
  listen(onChange) {
    queueMicrotask(onChange);
    return this;
  }

  ask() { return new Promise((done) => { this.waiting = done; }); }

  close() { this.waiting = null; }
}
