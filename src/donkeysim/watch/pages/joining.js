// How one joins the race: an address, a code for phones, and lines to copy.

import { byId, copy, setText } from "/shared/elements.js";
import { texts } from "/pages/words.js";

/** Show it; null: nobody can join. */
export function showJoining(joining, environment) {
  byId("joining").classList.toggle("void", joining === null);
  byId("qr").hidden = byId("wall-join").hidden = joining === null;
  if (joining === null) return;
  for (const image of document.querySelectorAll("img.qr")) if (!image.getAttribute("src")) image.src = "/join.svg";
  for (const element of document.querySelectorAll(".join-address")) setText(element, `${joining.host}:${joining.port}`);
  for (const element of document.querySelectorAll(".join-watch")) setText(element, joining.watch.replace(/^http:\/\//, "").replace(/\/$/, ""));
  setText(byId("join-lead"), texts.say("join_lead", { host: joining.host, port: joining.port }));
  setText(byId("join-config"), writeConfig(joining, environment));
  setText(byId("join-gym"), writeGym(joining, environment));
}

function writeConfig({ host, port }, environment) {
  const lines = ["DONKEY_GYM = True", 'DONKEY_SIM_PATH = "remote"', `SIM_HOST = "${host}"`, `SIM_PORT = ${port}`];
  if (environment) lines.push(`DONKEY_GYM_ENV_NAME = "${environment}"`);
  return [...lines, 'GYM_CONF = {"car_name": "Ada"}'].join("\n");
}

function writeGym({ host, port }, environment) {
  return [
    "import donkeysim, gymnasium",
    "",
    `env = gymnasium.make("${environment || "donkey-generated-track-v0"}", conf={`,
    `    "host": "${host}", "port": ${port}, "car_name": "Ada"})`,
  ].join("\n");
}

/** Let people copy the lines. */
export function offerCopies() {
  for (const name of ["config", "gym"]) byId(`copy-join-${name}`).addEventListener("click", () => copy(byId(`join-${name}`), texts));
}
