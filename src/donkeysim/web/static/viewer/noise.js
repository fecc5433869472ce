// Smooth noise from 0 to 1, one hump in each square of the plane, for shaders.

export const NOISE = `
  float hashAt(vec2 p) { vec3 q = fract(vec3(p.xyx) * 0.1031); q += dot(q, q.yzx + 33.33); return fract((q.x + q.y) * q.z); }
  float noiseAt(vec2 p) {
    vec2 i = floor(p), f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(hashAt(i), hashAt(i + vec2(1, 0)), f.x), mix(hashAt(i + vec2(0, 1)), hashAt(i + vec2(1, 1)), f.x), f.y);
  }
`;
