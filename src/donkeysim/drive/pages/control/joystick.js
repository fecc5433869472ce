// The virtual joystick: a round field to drag in, by finger, pen or mouse.

const REACH = 0.82; // share of the field's radius that means full

export class Joystick {
  /**
   * @param {HTMLElement} field
   * @param {HTMLElement} thumb shown where the finger is
   * @param {{onTouch: () => void, onMove: (angle: number, throttle: number) => void, onRelease: () => void}} handlers
   */
  constructor(field, thumb, handlers) {
    Object.assign(this, { field, thumb, handlers });
    this.pointer = null;
    field.addEventListener("pointerdown", (event) => this.touch(event));
    field.addEventListener("pointermove", (event) => { if (event.pointerId === this.pointer) this.move(event); });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      field.addEventListener(name, (event) => { if (event.pointerId === this.pointer) this.release(); });
    }
    field.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  touch(event) {
    if (this.pointer !== null || event.button !== 0) return;
    this.pointer = event.pointerId;
    this.field.setPointerCapture(event.pointerId);
    this.field.classList.add("held");
    this.handlers.onTouch();
    this.move(event);
  }

  move(event) {
    const box = this.field.getBoundingClientRect();
    const radius = (Math.min(box.width, box.height) / 2) * REACH;
    let x = (event.clientX - box.left - box.width / 2) / radius;
    let y = (event.clientY - box.top - box.height / 2) / radius;
    const far = Math.max(1, Math.hypot(x, y));
    this.place((x / far) * radius, (y / far) * radius);
    this.handlers.onMove(Math.max(-1, Math.min(1, x)), Math.max(-1, Math.min(1, -y)));
  }

  release() {
    this.pointer = null;
    this.field.classList.remove("held");
    this.place(0, 0);
    this.handlers.onRelease();
  }

  place(x, y) {
    this.thumb.style.setProperty("--x", `${x}px`);
    this.thumb.style.setProperty("--y", `${y}px`);
  }
}
