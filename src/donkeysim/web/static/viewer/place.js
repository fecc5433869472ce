// A place and its cars, as `donkey tracks export` writes them, made ready to be drawn: materials, sky, sun and mist.
//
// World frame: metres, x forward, y left, z up, as everywhere in donkeysim.

import * as three from "./three.js";
import { FloorMirror } from "./floor_mirror.js";
import { findOcclusion } from "./occlusion.js";
import { KEEP_THIN, addFeet, addGrain, addLeaves, findKeeping } from "./surfaces.js";
import { makeSky } from "./sky.js";

three.Object3D.DEFAULT_UP.set(0, 0, 1);

const CLASSES = ["sky", "ground", "road", "line", "prop", "car"];
const ROUGHNESS = { ground: 1, road: 0.82, line: 0.7, prop: 0.85, car: 0.5 };
const INDOOR_ROUGHNESS = { ...ROUGHNESS, ground: 0.55, road: 0.5, line: 0.4 }; // sealed and swept floors
const MIST = 0.55; // of the density that cameras see: a person looks at larger pictures of the same place
const FLOOR_GLOSS = 1; // of sealed floors
// A road's own strip lies 2 mm above the two large triangles of the ground, whose depths are not as exact as that.
const BELOW_STRIP = { polygonOffset: true, polygonOffsetFactor: 4, polygonOffsetUnits: 400 };
const SHADOW_REACH = 2.6; // metres around what is watched

/** Load the file of a place. */
export async function loadPlace(address) {
  const file = await new three.GLTFLoader().loadAsync(address);
  const [place, cars] = file.scenes;
  const sky = place.userData.sky === null ? null : await file.parser.getDependency("texture", place.userData.sky);
  const shares = new Map();
  for (const number of listClassMaps(file.parser.json)) {
    const map = await file.parser.getDependency("texture", number);
    map.colorSpace = three.NoColorSpace;
    shares.set(number, map);
  }
  return new Place(place, cars, sky, shares);
}

function listClassMaps(document) {
  const numbers = (document.materials ?? []).map((material) => material.extras?.class_map ?? null);
  return new Set(numbers.filter((number) => number !== null));
}

/** What stands in a place; `scene` is drawn. */
export class Place {
  constructor(place, cars, sky, shares) {
    this.notes = place.userData;
    this.carNotes = cars.userData;
    this.shares = shares;
    this.isIndoor = sky === null;
    this.floorMirror = this.notes.is_floor_sealed ? new FloorMirror(this.notes.floor, FLOOR_GLOSS) : null;
    this.occlusion = { value: null };
    this.occlusionBox = { value: [0, 0, 1, 1] };
    this.scene = new three.Scene();
    this.root = takeUpright(place);
    this.models = takeUpright(cars);
    this.scene.add(this.root);
    this.props = this.root.children.filter((node) => node.name.startsWith("prop_"));
    this.restore = null;
    this.finishMaterials();
    this.light(sky);
  }

  finishMaterials() {
    const seen = new Map();
    for (const root of [this.root, this.models]) {
      root.traverse((node) => {
        if (!node.isMesh) return;
        if (!seen.has(node.material)) seen.set(node.material, this.finish(node.material));
        node.material = seen.get(node.material);
        node.receiveShadow = true;
      });
    }
    for (const prop of this.props) prop.traverse((node) => { node.castShadow = true; });
  }

  finish(material) {
    const notes = material.userData;
    if (material.isMeshBasicMaterial) { material.toneMapped = false; return material; }
    if (!notes.has_finish) material.roughness = (this.isIndoor ? INDOOR_ROUGHNESS : ROUGHNESS)[notes.segment] ?? 0.8;
    material.envMapIntensity = notes.segment === "car" ? 1 : 0.6;
    if (notes.segment === "car") material.shadowSide = three.DoubleSide; // or light leaks in below tyres
    if (material.map) { material.map.anisotropy = 16; material.map.needsUpdate = true; }
    if (material.alphaTest > 0) { material.alphaToCoverage = true; addLeaves(material); }
    else if (this.isIndoor && notes.segment === "prop") addFeet(material, this.notes.floor);
    const shares = this.shares.get(notes.class_map), [ground] = this.shares.values();
    if (shares) addGrain(material, shares, this);
    if (shares === ground && this.shares.size > 1) Object.assign(material, BELOW_STRIP);
    return material;
  }

  light(sky) {
    const { sun_direction: towards, sun_colour: sun, ambient_colour: ambient, fog_colour: fog, fog_density: density } = this.notes;
    this.sun = new three.DirectionalLight(new three.Color(...sun), Math.PI * 1.3);
    this.towards = new three.Vector3(...towards);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.006;
    this.sun.shadow.radius = 1.6;
    const reach = { left: -SHADOW_REACH, right: SHADOW_REACH, top: SHADOW_REACH, bottom: -SHADOW_REACH, near: 0.5, far: 16 };
    Object.assign(this.sun.shadow.camera, reach).updateProjectionMatrix();
    this.scene.add(this.sun, this.sun.target);
    this.ambient = new three.AmbientLight(new three.Color(...ambient), Math.PI * 0.3);
    this.scene.add(this.ambient);
    const haze = new three.Color().setRGB(...fog, three.SRGBColorSpace);
    if (density > 0) this.scene.fog = new three.FogExp2(haze, density * MIST);
    if (sky) this.scene.add(this.sky = makeSky(sky, this.towards, this.notes.is_sky_empty));
    else this.scene.background = haze;
  }

  /** What stands on the ground takes light from it. */
  occlude(renderer) {
    const { map, box } = findOcclusion(renderer, this);
    this.occlusionMap = map;
    this.occlusion.value = map.texture;
    this.occlusionBox.value = box;
  }

  /** What shines is mirrored in cars and smooth floors: the place itself, as it is seen from its road. */
  mirror(renderer) {
    const maker = new three.PMREMGenerator(renderer);
    const [x, y, z] = this.notes.path[0];
    const position = new three.Vector3(x, y, z + 0.35);
    this.scene.environment = maker.fromScene(this.scene, 0.02, 0.05, 400, { position }).texture;
    this.scene.environmentIntensity = 0.4;
    maker.dispose();
  }

  /** Let the sun's shadows be sharpest around a point. */
  follow(point) {
    const step = 2 * SHADOW_REACH / this.sun.shadow.mapSize.x; // whole texels, or shadows' edges crawl
    this.sun.target.position.set(Math.round(point.x / step) * step, Math.round(point.y / step) * step, point.z);
    this.sun.position.copy(this.towards).multiplyScalar(8).add(this.sun.target.position);
  }

  /** A body with its four wheels, of which `pose` is called with a car of a moment. */
  dress(style) {
    const body = this.models.getObjectByName(`body_${style}`).clone();
    const wheel = this.models.getObjectByName(`wheel_${style}`);
    return { body, wheels: this.carNotes.wheel_position.map(() => wheel.clone()) };
  }

  /** Draw classes instead of colours, as `segmentation` has them: grey levels 0 to 5; or colours again. */
  showClasses(isOn) {
    if (isOn && !this.restore) {
      const { background, fog } = this.scene;
      this.restore = { background, fog, materials: new Map() };
      this.scene.background = new three.Color(0, 0, 0);
      this.scene.fog = null;
      if (this.sky) this.sky.visible = false;
      this.scene.traverse((node) => {
        if (!node.isMesh || node === this.sky) return;
        this.restore.materials.set(node, node.material);
        node.material = this.classify(node.material);
      });
    } else if (!isOn && this.restore) {
      for (const [node, material] of this.restore.materials) { node.material.dispose(); node.material = material; }
      this.scene.background = this.restore.background;
      this.scene.fog = this.restore.fog;
      if (this.sky) this.sky.visible = true;
      this.restore = null;
    }
  }

  classify(material) {
    const { segment, class_map: number } = material.userData;
    const own = CLASSES.indexOf(segment);
    return new three.ShaderMaterial({
      side: material.side,
      polygonOffset: material.polygonOffset,
      polygonOffsetFactor: material.polygonOffsetFactor,
      polygonOffsetUnits: material.polygonOffsetUnits,
      uniforms: {
        own: { value: own / 255 },
        shares: { value: this.shares.get(number) ?? null },
        hasShares: { value: this.shares.has(number) },
        picture: { value: material.map ?? null },
        cutoff: { value: material.map ? material.alphaTest : 0 },
        keeping: { value: findKeeping(material) },
      },
      vertexShader: "varying vec2 at; void main() { at = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
      fragmentShader: `
        uniform float own, cutoff; uniform bool hasShares; uniform sampler2D shares, picture; varying vec2 at;
        ${KEEP_THIN}
        void main() {
          float covered, factor;
          if (cutoff > 0.0 && keepThin(picture, at, covered, factor) < cutoff) discard;
          float kind = own;
          if (hasShares) {
            vec2 size = vec2(textureSize(shares, 0));
            vec3 share = textureLod(shares, (floor(at * size) + 0.5) / size, 0.0).rgb; // of one texel
            kind = (share.b > max(share.r, share.g) ? 3.0 : share.g > share.r ? 2.0 : 1.0) / 255.0;
          }
          gl_FragColor = vec4(vec3(kind), 1.0);
        }`,
    });
  }

  dispose() {
    this.scene.environment?.dispose();
    this.occlusionMap?.dispose();
    this.floorMirror?.dispose();
    for (const map of this.shares.values()) map.dispose();
    this.scene.traverse((node) => {
      node.geometry?.dispose();
      node.material?.map?.dispose();
      node.material?.dispose();
    });
    this.sun.dispose();
  }
}

/** The one node of a file's scene, in our frame again. */
function takeUpright(scene) {
  const root = scene.children[0];
  root.rotation.set(0, 0, 0);
  return root;
}
