// The picture that the policy saw last, and what it did then.

import { byId, setText } from "/shared/elements.js";

/**
 * Draw the picture pixel by pixel, the browser enlarges it without blurring; show steering and throttle, -1 to 1. Of a
 * policy without a camera, the picture is one pixel.
 */
export function showSight({ width, height, grey, steering, throttle }) {
  const canvas = byId("view");
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const isBlind = width * height === 1;
  canvas.hidden = isBlind;
  byId("blind").hidden = !isBlind;
  const bytes = atob(grey);
  const picture = new ImageData(width, height);
  for (let index = 0; index < bytes.length; index += 1) {
    picture.data.fill(bytes.charCodeAt(index), 4 * index, 4 * index + 3);
    picture.data[4 * index + 3] = 255;
  }
  canvas.getContext("2d").putImageData(picture, 0, 0);
  for (const [name, value] of Object.entries({ steering, throttle })) {
    setText(byId(name), value.toFixed(2));
    byId(`${name}-bar`).style.setProperty("--amount", Math.min(Math.max(value, -1), 1));
  }
}
