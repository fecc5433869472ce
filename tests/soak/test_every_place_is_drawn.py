"""In every place the browser draws what cameras see, whatever the cars wear; and it does so soon after it is opened.

Where DONKEYSIM_PICTURES names a folder, sheets of pictures come there, to be looked at: 495 in a quarter of an hour.
"""

import os
import sys
import time
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

from donkeysim.watch.moments import get_place_file
from donkeysim.watch.spectator import create_app
from donkeysim.world.specs import BODY_STYLES
from donkeysim.world.tracks.catalogue import ORIGINAL_SCENES, list_scenes
from stand_ins.served_app import ServedApp
from stand_ins.shown_simulator import ShownSimulator

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("e2e", "e2e/visit")]
chromium = pytest.importorskip("chromium")
test_viewer = pytest.importorskip("test_viewer")

pytestmark = [pytest.mark.soak, chromium.NEEDED]

LARGEST = 6_000_000
"""Of a place's file [byte]."""

SOON = 3.0
"""From opening the page to the first picture in a browser that runs, nothing of the page being kept anywhere [s]."""

FOLDER = os.environ.get("DONKEYSIM_PICTURES")

WINDOWS = (1366, 768), (1920, 1080), (390, 844)

VIEWS = "chase", "seat", "orbit"

TAKE = """([view, id]) => {
  const { viewer } = document.querySelector(".drawn-here"), now = performance.now();
  viewer.isClosed = true; // it draws no more by itself
  viewer.panes = viewer.panes.map((pane) => ({ ...pane, view, car: id }));
  viewer.draw(now);
  viewer.draw(now + 50); // what is loaded late is there
  return viewer.canvas.toDataURL("image/png");
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = chromium.launch_drawing(playwright)
        yield browser
        browser.close()


@pytest.mark.parametrize(("scene", "style"), list(zip(list_scenes(), cycle(BODY_STYLES), strict=False)))
def test_every_place_is_drawn_as_it_is_simulated(browser, scene, style):
    share = test_viewer.compare_classes(browser, scene, style)
    print(f"{scene}, {style}: {100.0 * share:.2f} % of the classes agree")
    assert share >= test_viewer.AGREEMENT


@pytest.mark.parametrize("scene", list_scenes())
def test_every_places_file_is_small(scene):
    simulator = ShownSimulator(scene).simulator
    size = len(get_place_file(simulator.scene, simulator.car_spec))
    print(f"{scene}: {size / 1e6:.2f} MB")
    assert size <= LARGEST


def open_view(browser):
    """Return how long a page takes to its first picture [s]: another server, so that nothing of it is kept."""
    served, stage = ServedApp(), ShownSimulator("generated_track")
    stage.put(0.1)
    served.start(create_app(stage, wire_port=None))
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    began = time.perf_counter()
    page.goto(f"{served.address}/?draw=low")
    chromium.wait_on_page(page, lambda: chromium.count_drawn(page) > 0, "nothing was drawn")
    took = time.perf_counter() - began
    page.context.close()
    served.close()
    return took


def test_the_first_view_comes_soon(browser):
    first, took = open_view(browser), open_view(browser)
    print(
        f"first view after {took:.1f} s; {first:.1f} s if the browser draws for the first time, as in `-k first_view`"
    )
    assert took <= SOON


@pytest.mark.skipif(FOLDER is None, reason="nobody asked for pictures")
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("scene", ORIGINAL_SCENES)
def test_every_body_looks_well(browser, scene, window):
    served, stage = ServedApp(), ShownSimulator(scene, *BODY_STYLES)
    stage.put(0.1)
    served.start(create_app(stage, wire_port=None))
    page = browser.new_page(viewport=dict(zip(("width", "height"), window, strict=True)))
    try:
        page.goto(f"{served.address}/?draw=high")
        chromium.wait_on_page(page, lambda: chromium.count_drawn(page) > 0, "nothing was drawn")
        rows = [[page.evaluate(TAKE, [view, number]) for number in list(stage.rows)[1:]] for view in VIEWS]
    finally:
        page.close()
        served.close()
    pictures = [[test_viewer.read_picture(address) for address in row] for row in rows]
    assert min(picture.std() for row in pictures for picture in row) > 10.0, "none is empty"
    sheet = np.concatenate([np.concatenate(row, axis=1) for row in pictures]).astype(np.uint8)
    Image.fromarray(sheet).save(Path(FOLDER) / f"{scene}-{window[0]}.jpg", quality=88)
