// The texts of the watching page, in the language that its reader has chosen.

import { Texts } from "/shared/languages.js";

export const texts = new Texts("/pages/texts");
