// What a surface has that its texture is too coarse for: blades and grain near the eye, gloss of paint, leaves in the sun.

import { SHEEN } from "./floor_mirror.js";
import { NOISE } from "./noise.js";
import { OPENNESS } from "./occlusion.js";

const SHOWN = `
  // As much of a pattern as pixels can show: none of it where its waves are shorter than two of them.
  float shown(vec2 p, float each) { return 1.0 - smoothstep(0.25, 0.7, each * max(length(dFdx(p)), length(dFdy(p)))); }
`;

// Where texels are larger than pixels, a painted line is as sharp as the map of classes says: what is on this side of its
// edge has the colour that is found a little farther from the edge.
const SHARPEN = `
  float lineAt(vec2 uv, vec2 texel) { // as smooth as a pen would have drawn it
    vec4 far = vec4(texel, -texel);
    return 0.25 * (textureLod(shares, uv + far.xy, 1.0).b + textureLod(shares, uv + far.xw, 1.0).b
      + textureLod(shares, uv + far.zy, 1.0).b + textureLod(shares, uv + far.zw, 1.0).b);
  }
  vec3 sharpenLine(vec2 uv, vec3 colour) {
    vec2 size = vec2(textureSize(shares, 0)), texel = 1.0 / size, at = uv * size;
    float pixel = max(length(dFdx(at)), length(dFdy(at))), large = 1.0 - smoothstep(0.8, 1.6, pixel);
    if (large <= 0.0) return colour;
    vec2 slope = 0.5 * vec2(
      lineAt(uv + vec2(texel.x, 0), texel) - lineAt(uv - vec2(texel.x, 0), texel),
      lineAt(uv + vec2(0, texel.y), texel) - lineAt(uv - vec2(0, texel.y), texel));
    float steep = length(slope), width = max(0.7 * pixel * steep, 0.01);
    vec2 on = 2.2 * texel * vec2(-slope.y, slope.x) / max(steep, 1e-4); // along the edge, whose steps are averaged
    float line = (2.0 * lineAt(uv, texel) + lineAt(uv + on, texel) + lineAt(uv - on, texel)
      + lineAt(uv + 2.0 * on, texel) + lineAt(uv - 2.0 * on, texel)) / 6.0;
    vec2 away = 1.8 * texel * slope / max(steep, 1e-4);
    vec3 paint = textureLod(map, uv + away, 0.0).rgb, beside = textureLod(map, uv - away, 0.0).rgb;
    return mix(colour, mix(beside, paint, smoothstep(0.5 - width, 0.5 + width, line)), large * smoothstep(0.02, 0.08, steep));
  }
`;

const SHINE = `outgoingLight = mirrorAt(groundAt, outgoingLight, dot(normalize(vViewPosition), normal), 0.5 * max(line, tufts + 0.5));`;

/** Ground, road and lines: what each texel is stands in the map of classes. */
export function addGrain(material, shares, place) {
  const { isIndoor, occlusion, occlusionBox, floorMirror } = place;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, { shares: { value: shares }, occlusion, occlusionBox, ...floorMirror?.uniforms });
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 groundAt;")
      .replace("#include <fog_vertex>", "#include <fog_vertex>\ngroundAt = (modelMatrix * vec4(transformed, 1.0)).xyz;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\nvarying vec3 groundAt; uniform sampler2D shares; float gloss;\n${NOISE}${SHOWN}${OPENNESS}${floorMirror ? SHEEN : ""}`)
      .replace("#include <map_pars_fragment>", `#include <map_pars_fragment>\n${SHARPEN}`)
      .replace("#include <map_fragment>", `#include <map_fragment>
        diffuseColor.rgb *= sharpenLine(vMapUv, sampledDiffuseColor.rgb) / max(sampledDiffuseColor.rgb, 1e-4);
        vec3 share = texture2D(shares, vMapUv).rgb;
        vec2 at = groundAt.xy;
        float line = smoothstep(0.3, 0.7, share.b), ground = ${isIndoor ? "0.0" : "smoothstep(0.3, 0.7, share.r)"};
        float fine = (noiseAt(at * 420.0) - 0.5) * shown(at, 420.0) + (noiseAt(at * 190.0) - 0.5) * shown(at, 190.0);
        vec2 swept = vec2(at.x * 0.8 + at.y * 0.6, at.y * 0.8 - at.x * 0.6);
        float blades = (noiseAt(swept * vec2(320.0, 60.0)) - 0.5) * shown(at, 320.0) + (noiseAt(swept * vec2(90.0, 210.0)) - 0.5) * shown(at, 210.0);
        float tufts = (noiseAt(at * 26.0) - 0.5) * shown(at, 26.0) + (noiseAt(at * 7.0) - 0.5);
        float grain = mix(fine * ${isIndoor ? "0.06" : "0.24"}, blades * 0.75 + tufts * 0.22, ground) * (1.0 - 0.75 * line);
        diffuseColor.rgb *= clamp(1.0 + grain, 0.3, 1.7);
        gloss = ${isIndoor ? "0.0" : "fine * 0.25"} - 0.12 * line;`)
      .replace("#include <roughnessmap_fragment>", "#include <roughnessmap_fragment>\nroughnessFactor = clamp(roughnessFactor + gloss, 0.1, 1.0);")
      .replace("#include <aomap_fragment>", `float openness = opennessAt(groundAt.xy); // lamps of a hall are above, the sun is not
        reflectedLight.indirectDiffuse *= openness; reflectedLight.indirectSpecular *= openness;
        reflectedLight.directDiffuse *= ${isIndoor ? "openness" : "1.0"};`)
      .replace("#include <opaque_fragment>", `${floorMirror ? SHINE : ""}\n#include <opaque_fragment>`);
  };
  material.customProgramCacheKey = () => `grain ${isIndoor} ${floorMirror !== null}`;
}

/** Walls and furniture of a hall: less light comes to their feet. */
export function addFeet(material, floor) {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying float above;")
      .replace("#include <fog_vertex>", `#include <fog_vertex>\nabove = (modelMatrix * vec4(transformed, 1.0)).z - ${floor.toFixed(3)};`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying float above;")
      .replace("#include <aomap_fragment>", `float openness = 1.0 - 0.4 * exp(-max(above, 0.0) / 0.12);
        reflectedLight.indirectDiffuse *= openness; reflectedLight.directDiffuse *= openness;`);
  };
  material.customProgramCacheKey = () => `feet ${floor.toFixed(3)}`;
}

const LEVELS = 13; // of textures of 4096 texels

// Where texels of leaves and holes are averaged, what is thin would vanish: on each level as much is there as on the first.
export const KEEP_THIN = `
  uniform float keeping[${LEVELS}];
  float findLevel(vec2 at) {
    vec2 x = dFdx(at), y = dFdy(at);
    float longer = max(dot(x, x), dot(y, y)), shorter = min(dot(x, x), dot(y, y));
    return clamp(0.5 * log2(max(max(shorter, 0.25 * longer), 1.0)), 0.0, ${LEVELS - 1}.0);
  }
  float keepThin(sampler2D picture, vec2 uv, out float covered, out float factor) {
    float level = findLevel(uv * vec2(textureSize(picture, 0)));
    int lower = int(level), upper = min(lower + 1, ${LEVELS - 1});
    covered = textureLod(picture, uv, level).a;
    factor = mix(keeping[lower], keeping[upper], fract(level));
    return covered * factor;
  }`;

/** What `KEEP_THIN` takes of a material, see `alpha_factors` of its notes. */
export function findKeeping({ userData: { alpha_factors: factors = [] } }) {
  return Array.from({ length: LEVELS }, (_, level) => factors[level] ?? factors.at(-1) ?? 1);
}

/** Crowns are cards that cross: lit as one round thing that faces the eye, or where they meet would be an edge of light. */
export function addLeaves(material) {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.keeping = { value: findKeeping(material) };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying float lying;")
      .replace("#include <fog_vertex>", "#include <fog_vertex>\nlying = abs(objectNormal.z);")
      .replace("#include <project_vertex>", `#include <project_vertex>
        vec4 nearer = projectionMatrix * (mvPosition - vec4(0.2 * normalize(mvPosition.xyz), 0.0)); // before the trunk, where cards meet
        gl_Position.z = nearer.z / nearer.w * gl_Position.w;`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\nvarying float lying;\n${KEEP_THIN}`)
      .replace("#include <map_fragment>", `#include <map_fragment>
        float covered, factor;
        diffuseColor.a = keepThin(map, vMapUv, covered, factor);
        vec3 across = normalize(cross(dFdx(vViewPosition), dFdy(vViewPosition))); // leaves seen from the side are streaks
        if (abs(dot(across, normalize(vViewPosition))) < (lying > 0.7 ? 0.3 : 0.1)) discard;`)
      .replace("#include <alphatest_fragment>", `
        float edge = smoothstep(alphaTest, alphaTest + fwidth(diffuseColor.a), diffuseColor.a);
        diffuseColor.a = mix(edge, covered, smoothstep(1.3, 1.9, factor)); // wires thinner than pixels are faint, or they would be crumbs
        if (diffuseColor.a < 0.05) discard;`)
      .replace("#include <normal_fragment_begin>", `#include <normal_fragment_begin>
        normal = normalize(0.75 * normalize(vViewPosition) + (viewMatrix * vec4(0.0, 0.0, 1.0, 0.0)).xyz);`);
  };
  material.customProgramCacheKey = () => "leaves";
}
