// Fetches what a page needs, and says how far it is.

import { PageError } from "./place_file.js";

// The smallest module with an instruction on vectors of 128 bits.
const VECTORS = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

/** The kernels, compiled for this machine. */
export async function openModule(address) {
  if (typeof WebAssembly === "undefined" || !WebAssembly.validate(VECTORS)) throw new PageError("no_vectors");
  if (typeof DecompressionStream === "undefined" || typeof OffscreenCanvas === "undefined") throw new PageError("old_browser");
  return WebAssembly.compile(await (await fetchFile(address)).arrayBuffer()); // servers do not always know its media type
}

/** A file, which may be on its way. */
export async function fetchFile(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new PageError(answer.status === 404 ? "site_changed" : "no_network");
  return answer;
}

/** Give the parts of a stream as they come. */
export async function* listParts(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel(); // nobody wants the rest
  }
}
