// The languages pages speak: texts lie beside a page as texts/en.json, zh.json, ja.json; English stands in the page too.
//
// An element says which of its parts are texts: data-text its content, data-label its aria-label, data-title, data-alt.

const LANGUAGES = { en: "English", zh: "中文", ja: "日本語" };

const KEPT_AS = "donkeysim-language";
const TAGS = { en: "en", zh: "zh-Hans", ja: "ja" };
const PLACES = { text: null, label: "aria-label", title: "title", alt: "alt" };

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
