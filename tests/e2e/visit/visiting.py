"""What tests that visit a site have in common."""

import base64

import chromium
import numpy as np

from donkeysim.world.specs import SceneSpec

TRACK = SceneSpec("generated_track")
PLACES = (TRACK, SceneSpec("waveshare"))

OPEN = """
  const base = location.origin;
  const { Machine } = await import(`${base}/machine.js`);
  const { Arrival } = await import(`${base}/place_file.js`);
  const site = await (await fetch(`${base}/site.json`)).json();
  const module = await WebAssembly.compile(await (await fetch(`${base}/${site.kernels}`)).arrayBuffer());
  const open = async (name) => {
    const { file } = site.places.find((place) => place.name === name);
    const arrival = new Arrival();
    arrival.add(new Uint8Array(await (await fetch(`${base}/${file}`)).arrayBuffer()));
    arrival.add(null);
    return Machine.open(arrival, module, site.kernels);
  };
  const encode = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
"""


def evaluate(page, address, script, given):
    """Run a script on a bare page of the site, and return what it returns."""
    page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
    page.goto(f"{address}/site.json")
    return page.evaluate(script, given)


def read(page, name):
    return int(page.evaluate(f"document.body.dataset.{name} ?? 0"))


def wait(page, is_so, what):
    chromium.wait_on_page(page, is_so, what)


def open_page(page, address, place=""):
    page.goto(f"{address}/{place}")
    wait(page, lambda: read(page, "drawn") > 0 and read(page, "frames") > 0, "nothing was drawn")


def decode(text, *shape):
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(*shape).astype(int)
