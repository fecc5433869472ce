// Steering by tilting a phone: left and right steers, away from you gives throttle; how it is held at the start is rest.

const STEERING_REST = 5; // degrees
const STEERING_FULL = 35;
const THROTTLE_REST = 5;
const THROTTLE_FULL = 50;

export class Tilt {
  /** @param {(angle: number, throttle: number) => void} onTilt called at every reading */
  constructor(onTilt) {
    this.onTilt = onTilt;
    this.isOn = false;
    this.hasReadings = false;
    this.start = null;
    this.listener = (event) => this.read(event);
  }

  /** Why tilt cannot work in this browser: "insecure", "refused" or "missing"; null when it may. Ask in a click. */
  static async findObstacle() {
    if (!window.isSecureContext) return "insecure";
    if (!("DeviceOrientationEvent" in window)) return "missing";
    try {
      const answer = (await DeviceOrientationEvent.requestPermission?.()) ?? "granted";
      return answer === "granted" ? null : "refused";
    } catch {
      return "refused";
    }
  }

  turnOn() {
    this.isOn = true;
    this.start = null;
    window.addEventListener("deviceorientation", this.listener);
  }

  turnOff() {
    this.isOn = false;
    window.removeEventListener("deviceorientation", this.listener);
  }

  /** Take how the phone is held now as rest. */
  rest() { this.start = null; }

  read({ beta, gamma }) {
    if (beta === null || gamma === null) return;
    this.hasReadings = true;
    const { steering, forward } = turnToScreen(beta, gamma, screen.orientation?.angle ?? window.orientation ?? 0);
    this.start ??= forward;
    this.onTilt(scale(steering, STEERING_REST, STEERING_FULL), scale(forward - this.start, THROTTLE_REST, THROTTLE_FULL));
  }
}

/** The phone's angles [degree] as its user sees them: right side down, and upper side away. */
export function turnToScreen(beta, gamma, screenAngle) {
  switch ((screenAngle + 360) % 360) {
    case 90: return { steering: beta, forward: gamma };
    case 270: return { steering: -beta, forward: -gamma };
    case 180: return { steering: -gamma, forward: beta };
    default: return { steering: gamma, forward: -beta };
  }
}

function scale(degrees, rest, full) {
  const share = Math.max(0, Math.abs(degrees) - rest) / (full - rest);
  return Math.sign(degrees) * Math.min(1, share);
}
