// What an empty scene offers: a pace car, driving it oneself, and a few lines of Python that run as they are.

import { byId, copy, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

/** Whether this browser runs where the simulator does: only then are pages of other programs there within reach. */
export function isThisMachine() { return ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname); }

/** Show the offers, or hide them. */
export function showWaiting(state, isEmpty) {
  byId("waiting").hidden = !isEmpty;
  if (!isEmpty) return;
  const hasLink = Boolean(state.control) && isThisMachine();
  byId("pace-offer").hidden = state.pace_car !== false;
  byId("drive-link").hidden = !hasLink;
  if (hasLink) byId("drive-link").href = state.control;
  byId("drive-here").hidden = hasLink || state.wire_port === null;
  for (const recipe of document.querySelectorAll(".recipe")) recipe.classList.toggle("void", state.wire_port === null);
  setText(byId("hint-lead"), texts.say("python_lead", { port: state.wire_port }));
  setText(byId("command"), `donkey drive --simulator ${hostName()}:${state.wire_port} --track ${quote(state.scene)}`);
  setText(byId("hint"), writeExample(state));
}

function hostName() { return location.hostname === "[::1]" ? "localhost" : location.hostname; }

function quote(word) { return /^[\w.-]+$/.test(word) ? word : `"${word}"`; }

/** A program whose car joins the scene; a track of one's own has no id of an environment. */
function writeExample({ scene, environment, wire_port: port }) {
  const conf = `conf={"host": "${hostName()}", "port": ${port}}`;
  const opening = environment
    ? ["import donkeysim, gymnasium", "", `env = gymnasium.make("${environment}",`, `                     ${conf})`]
    : ["from donkeysim.envs.donkey_env import DonkeyEnv", "", `env = DonkeyEnv(${JSON.stringify(scene)},`, `                ${conf})`];
  const drive = ["env.reset()", "while True:", "    _, _, is_over, _, _ = env.step([0.0, 0.2])  # steering, throttle"];
  return [...opening, ...drive, "    if is_over:", "        env.reset()"].join("\n");
}

byId("drive-here").addEventListener("click", () => {
  byId("drive-recipe").hidden = !byId("drive-recipe").hidden;
  byId("drive-here").setAttribute("aria-expanded", String(!byId("drive-recipe").hidden));
});
byId("copy-command").addEventListener("click", () => copy(byId("command"), texts));
byId("copy-hint").addEventListener("click", () => copy(byId("hint"), texts));
