// Textures from pictures: what `render/texture.py` makes of them, number for number.

const COARSEST_HOLED = 4; // shorter side of the last level of a picture with holes
const SKY_MARGIN = 1 / 32;
const SKY_AXES = [ // of each face: where its middle lies, and which way columns and rows run
  [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
  [[0, 1, 0], [1, 0, 0], [0, 0, -1]],
  [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
  [[0, -1, 0], [-1, 0, 0], [0, 0, -1]],
  [[0, 0, 1], [0, -1, 0], [1, 0, 0]],
  [[0, 0, -1], [0, -1, 0], [-1, 0, 0]],
];

/** The texels of a picture file: its size, and red, green, blue and alpha of each. */
export async function decodePicture(file) {
  const picture = await createImageBitmap(new Blob([file], { type: "image/webp" }), { colorSpaceConversion: "none" });
  const pen = new OffscreenCanvas(picture.width, picture.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(picture, 0, 0);
  return { width: picture.width, height: picture.height, data: pen.getImageData(0, 0, picture.width, picture.height).data };
}

/** Give all levels of a picture without holes, from the largest to the smallest. */
export function* makeLevels({ width, height, data }) {
  yield data;
  let [total, bits] = [data, 0];
  while (bits < 8 && Math.min(width, height) > 1) { // whole sums first
    total = addNeighbours(total, width, height);
    [width, height, bits] = [width >> 1, height >> 1, bits + 2];
    yield divide(total, bits);
  }
  let current = Float32Array.from(total, (value) => value / (1 << bits));
  while (width > 1 || height > 1) {
    if (height > 1) { current = averageRows(current, width, height); height >>= 1; }
    if (width > 1) { current = averageColumns(current, width, height); width >>= 1; }
    yield new Uint8ClampedArray(current); // rounds halves to the even neighbour
  }
}

function addNeighbours(total, width, height) {
  const sums = new Uint16Array((width >> 1) * (height >> 1) * 4), row = width * 4;
  let at = 0;
  for (let y = 0; y < height; y += 2) {
    for (let left = y * row, end = left + row; left < end; left += 8) {
      for (let channel = left; channel < left + 4; channel++) {
        sums[at++] = total[channel] + total[channel + 4] + total[channel + row] + total[channel + row + 4];
      }
    }
  }
  return sums;
}

/** Sums of 2 ** bits bytes over their number, halves rounded to the even neighbour. */
function divide(total, bits) {
  const shares = new Uint8ClampedArray(total.length), half = (1 << bits >> 1) - 1;
  for (let at = 0; at < total.length; at++) shares[at] = total[at] + half + (total[at] >> bits & 1) >> bits;
  return shares;
}

function averageRows(picture, width, height) {
  const half = new Float32Array(picture.length / 2), row = width * 4;
  for (let y = 0, at = 0; y < height; y += 2) {
    for (let first = y * row; first < y * row + row; first++) half[at++] = 0.5 * (picture[first] + picture[first + row]);
  }
  return half;
}

function averageColumns(picture, width, height) {
  const half = new Float32Array(picture.length / 2);
  for (let pair = 0, at = 0; pair < width * height * 4; pair += 8) {
    for (let channel = pair; channel < pair + 4; channel++) half[at++] = 0.5 * (picture[channel] + picture[channel + 4]);
  }
  return half;
}

/** Give all levels of a picture with holes; `alpha`: of all levels, a byte each. */
export function* makeHoledLevels({ width, height, data }, alpha) {
  const sizes = [[width, height]];
  const levels = [new Float32Array(data)];
  for (let at = 3; at < data.length; at += 4) levels[0][at] = alpha[at >> 2];
  while (Math.min(...sizes.at(-1)) > COARSEST_HOLED) {
    const [wide, high] = sizes.at(-1);
    levels.push(halveHoled(levels.at(-1), wide, high));
    sizes.push([wide >> 1, high >> 1]);
  }
  for (let index = levels.length - 2; index >= 0; index--) fillHoles(levels[index], sizes[index], levels[index + 1], sizes[index + 1][0]);
  let first = 0;
  for (const level of levels) {
    const bytes = new Uint8ClampedArray(level);
    for (let at = 3; at < bytes.length; at += 4) bytes[at] = alpha[first++];
    yield bytes;
  }
}

/** A picture at half its size, its colours weighted by alpha. */
function halveHoled(picture, width, height) {
  const weighted = picture.slice();
  for (let at = 0; at < weighted.length; at += 4) {
    for (let channel = at; channel < at + 3; channel++) weighted[channel] *= picture[at + 3];
  }
  const halve = (values) => averageColumns(averageRows(values, width, height), width, height >> 1);
  const [mean, plain] = [halve(weighted), halve(picture)];
  for (let at = 0; at < mean.length; at += 4) {
    const share = mean[at + 3];
    for (let channel = at; channel < at + 3; channel++) mean[channel] = share > 0 ? mean[channel] / Math.max(share, 1e-6) : plain[channel];
  }
  return mean;
}

/** Give holes the colour of the next smaller level. */
function fillHoles(level, [width], smaller, half) {
  for (let at = 0; at < level.length; at += 4) {
    if (level[at + 3] > 0) continue;
    const texel = at >> 2, from = 4 * ((Math.floor(texel / width) >> 1) * half + (texel % width >> 1));
    for (let channel = 0; channel < 3; channel++) level[at + channel] = smaller[from + channel];
  }
}

/** One of the six faces of a cube around the eye that show a panorama. */
export function makeSkyFace(panorama, face, side) {
  const { width, height, data } = panorama;
  const [[mx, my, mz], [ax, ay, az], [dx, dy, dz]] = SKY_AXES[face];
  const result = new Uint8ClampedArray(side * side * 4);
  const step = Float64Array.from({ length: side }, (_, index) => ((index + 0.5) / side * 2 - 1) / (1 - 2 * SKY_MARGIN));
  for (let i = 0, at = 0; i < side; i++) {
    for (let j = 0; j < side; j++, at += 4) {
      const x = mx + ax * step[j] + dx * step[i], y = my + ay * step[j] + dy * step[i], z = mz + az * step[j] + dz * step[i];
      const column = Math.atan2(y, x) / (2 * Math.PI) * width - 0.5;
      const fall = Math.acos(z / Math.sqrt(x * x + y * y + z * z)) / Math.PI;
      const row = Math.min(Math.max(fall * height - 0.5, 0), height - 1);
      const c = Math.floor(column), r = Math.floor(row), u = column - c, v = row - r;
      const top = r * width, bottom = Math.min(r + 1, height - 1) * width;
      const left = (c + width) % width, right = (c + 1 + width) % width;
      const corners = [4 * (top + left), 4 * (top + right), 4 * (bottom + left), 4 * (bottom + right)];
      for (let channel = 0; channel < 3; channel++) {
        const high = data[corners[0] + channel] * (1 - u) + data[corners[1] + channel] * u;
        const low = data[corners[2] + channel] * (1 - u) + data[corners[3] + channel] * u;
        result[at + channel] = high * (1 - v) + low * v;
      }
      result[at + 3] = 255;
    }
  }
  return { width: side, height: side, data: result };
}
