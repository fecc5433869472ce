// The languages pages speak: texts lie beside a page as texts/en.json, zh.json, ja.json; English stands in the page too.
//
// An element says which of its parts are texts: data-text its content, data-label its aria-label, data-title, data-alt.

const LANGUAGES = { en: "English", zh: "中文", ja: "日本語" };

const KEPT_AS = "donkeysim-language";
const TAGS = { en: "en", zh: "zh-Hans", ja: "ja" };
const PLACES = { text: null, label: "aria-label", title: "title", alt: "alt" };

/** What a car can hit in our own places, by name: in the order of `LANGUAGES`. */
const THINGS = {
  barrel: ["barrel", "桶", "樽"],
  barrier: ["barrier", "隔离墩", "バリア"],
  bench: ["bench", "长凳", "ベンチ"],
  block: ["block", "方块", "ブロック"],
  bridge: ["bridge", "桥", "橋"],
  building: ["building", "建筑", "建物"],
  bush: ["bush", "灌木", "茂み"],
  cactus: ["cactus", "仙人掌", "サボテン"],
  car: ["car", "车", "車"],
  chair: ["chair", "椅子", "椅子"],
  cliff: ["cliff", "悬崖", "崖"],
  cone: ["cone", "锥筒", "コーン"],
  container: ["container", "集装箱", "コンテナ"],
  crate: ["crate", "木箱", "木箱"],
  drum: ["drum", "油桶", "ドラム缶"],
  fence: ["fence", "围栏", "フェンス"],
  figure: ["figure", "人像", "人形"],
  flag: ["flag", "旗子", "旗"],
  gantry: ["gantry", "龙门架", "ガントリー"],
  grandstand: ["grandstand", "看台", "観客席"],
  guard_rail: ["guard rail", "护栏", "ガードレール"],
  hay_bale: ["hay bale", "干草捆", "干し草の束"],
  hoop: ["hoop", "拱圈", "アーチ"],
  kerb: ["kerb", "路缘", "縁石"],
  lamp_post: ["lamp post", "灯柱", "街灯"],
  pallet: ["pallet", "托盘", "パレット"],
  person: ["person", "人", "人"],
  plant: ["plant", "植物", "植物"],
  pylon: ["pylon", "立柱", "パイロン"],
  rack: ["rack", "货架", "ラック"],
  railing: ["railing", "栏杆", "手すり"],
  rock: ["rock", "岩石", "岩"],
  screen: ["screen", "屏幕", "スクリーン"],
  shelf: ["shelf", "架子", "棚"],
  sign: ["sign", "标牌", "看板"],
  something: ["something", "某物", "何か"],
  stool: ["stool", "凳子", "スツール"],
  table: ["table", "桌子", "テーブル"],
  tent: ["tent", "帐篷", "テント"],
  terrain: ["ground", "地面", "地面"],
  tree: ["tree", "树", "木"],
  tunnel: ["tunnel", "隧道", "トンネル"],
  tyre: ["tyre", "轮胎", "タイヤ"],
  tyres: ["tyres", "轮胎墙", "タイヤバリア"],
  wall: ["wall", "墙", "壁"],
};

export class Texts {
  /**
   * @param {string} folder address of the folder with the texts
   * @param {ParentNode} root what they are for
   */
  constructor(folder, root = document) {
    this.folder = folder;
    this.root = root;
    this.texts = {};
    this.code = "en";
  }

  /** Load the language chosen earlier, else the first one of the browser's that we speak, else English. */
  start() { return this.load(readChoice() ?? preferredLanguage()); }

  /** Change the language and remember it in this browser. */
  choose(code) {
    try { localStorage.setItem(KEPT_AS, code); } catch { /* kept for this page only */ }
    return this.load(code);
  }

  /** Let a person choose in a select element; `onChange` is called when the new texts are there. */
  offer(select, onChange) {
    select.replaceChildren(...Object.entries(LANGUAGES).map(([code, name]) => new Option(name, code, false, code === this.code)));
    for (const option of select.options) option.lang = TAGS[option.value];
    select.addEventListener("change", async () => {
      await this.choose(select.value);
      select.value = this.code;
      onChange();
    });
  }

  async load(code) {
    this.wanted = code;
    let texts;
    try {
      texts = await (await fetch(`${this.folder}/${code}.json`)).json();
    } catch {
      return; // what is shown stays
    }
    if (this.wanted !== code) return; // another was chosen meanwhile
    this.texts = texts;
    this.code = code;
    document.documentElement.lang = TAGS[code];
    this.apply(this.root);
  }

  /** The text of this name with {values} filled in; the name itself while there is none. */
  say(name, values = {}) {
    return (this.texts[name] ?? name).replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);
  }

  /** What is called something in our own places; cars and things of others are called as they are. */
  nameThing(name) { return THINGS[name]?.[Object.keys(LANGUAGES).indexOf(this.code)] ?? name; }

  /** Set the texts of all elements that name one. */
  apply(root) {
    for (const [place, attribute] of Object.entries(PLACES)) {
      for (const element of root.querySelectorAll(`[data-${place}]`)) {
        const text = this.say(element.dataset[place]);
        if (attribute === null) element.textContent = text;
        else element.setAttribute(attribute, text);
      }
    }
  }
}

function readChoice() {
  try {
    const code = localStorage.getItem(KEPT_AS);
    return code in LANGUAGES ? code : null;
  } catch {
    return null;
  }
}

function preferredLanguage() {
  const wanted = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase());
  return wanted.find((code) => code in LANGUAGES) ?? "en";
}
