// Small things that all pages do with the document. Text is set as text, never as markup.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** Set an element's text, touching the document only when it changes. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Make an element with a class, text and children. */
export function make(tag, className = "", content = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (content) element.textContent = content;
  element.append(...children);
  return element;
}

let toastTimer = 0;

/** Show one sentence for a few seconds in the element with id "toast". */
export function showToast(sentence) {
  const toast = byId("toast");
  setText(toast, sentence);
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.hidden = true; }, 6000);
}

/** Copy an element's text; where the browser does not allow it, select it. */
export async function copy(element, texts) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    showToast(texts.say("copied"));
  } catch { // not over plain http from another machine, or refused
    getSelection().selectAllChildren(element);
    showToast(texts.say("not_copied"));
  }
}

/** Fit a canvas's pixels to its size on the screen; returns its 2D context scaled to CSS pixels, and that size. */
export function fitCanvas(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

const PALETTE_NAMES = ["surface", "surface-sunken", "line", "text", "text-soft", "accent", "second", "danger"];
let palette = null;

/** The style sheet's colours by name, for drawing on a canvas; read again when light and dark change. */
export function colours() {
  if (!palette) {
    const style = getComputedStyle(document.documentElement);
    palette = Object.fromEntries(PALETTE_NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }
  return palette;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { palette = null; });
