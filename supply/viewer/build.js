// Bundles what `three.js` names into one file of the package, with the licence that goes with it.

import { readFileSync } from "node:fs";
import { buildSync } from "esbuild";

const version = JSON.parse(readFileSync("node_modules/three/package.json", "utf8")).version;
const licence = readFileSync("node_modules/three/LICENSE", "utf8").trim();

buildSync({
  entryPoints: ["three.js"],
  bundle: true,
  format: "esm",
  minify: true,
  legalComments: "none",
  banner: { js: `/* three.js ${version}\n\n${licence}\n*/` },
  outfile: "../../src/donkeysim/web/static/viewer/three.js",
});
