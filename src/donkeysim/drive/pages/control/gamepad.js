// A gamepad at this browser: the right stick steers, the left one gives throttle, as on the original's page.

const STEERING_AXIS = 2;
const THROTTLE_AXIS = 1;
const STEERING_REST = 0.05;
const THROTTLE_REST = 0.15;

/** The gamepad's angle and throttle, or null when there is none (or it has not been touched yet). */
export function readGamepad() {
  const pads = navigator.getGamepads?.() ?? [];
  const pad = [...pads].find((one) => one?.connected && one.axes.length > STEERING_AXIS);
  if (!pad) return null;
  return { angle: rest(pad.axes[STEERING_AXIS], STEERING_REST), throttle: rest(-pad.axes[THROTTLE_AXIS], THROTTLE_REST) };
}

function rest(value, width) { return Math.abs(value) < width ? 0 : value; }
