"""The live page of learning in a real browser: figures, picture, marks, and how it ended."""

import chromium
import numpy as np
import pytest
from playwright.sync_api import expect

from donkeysim.rl.page import LivePage
from donkeysim.rl.story import TrainingSummary
from donkeysim.web.serving import bind_port
from stand_ins.told_learning import make_check, make_update
from stand_ins.watched_stage import WatchedStage

pytestmark = [pytest.mark.visit, chromium.NEEDED]

OVAL = WatchedStage().outline()
RED = (180, 35, 24)


@pytest.fixture
def browser_page(pages):
    faults = []
    handlers = {"pageerror": lambda error: faults.append(str(error))}
    yield pages.open(1366, 768, handlers, locale="en", color_scheme="light")
    assert faults == []


def has_red(page):
    """Return whether some pixel of the map is about as red as a mark."""
    script = """(red) => {
      const map = document.getElementById("map");
      const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
      const isRed = (at) => red.every((value, channel) => Math.abs(value - data[at + channel]) < 40);
      for (let at = 0; at < data.length; at += 4) if (isRed(at)) return true;
      return false;
    }"""
    return page.evaluate(script, RED)


def test_learning_is_watched_to_its_end(browser_page):
    picture = np.full((30, 40), 200, np.uint8)
    picture[:, 20:] = 20
    learning = LivePage(bind_port(0), {"oval": OVAL, "<b>other</b>": OVAL}, ())
    for number in range(1, 30):
        learning(make_update(number, picture=picture))
    browser_page.goto(learning.url)
    expect(browser_page.locator("#steps")).to_have_text("118,784")
    expect(browser_page.locator("#time-left")).to_have_text("9:01 left")
    expect(browser_page.locator("#ends-now")).to_have_text("0.41")
    script = "[...document.getElementById('view').getContext('2d').getImageData(19, 29, 2, 1).data]"
    assert browser_page.evaluate(script) == [200, 200, 200, 255, 20, 20, 20, 255]
    assert has_red(browser_page)
    browser_page.locator("#place").select_option("<b>other</b>")
    assert not has_red(browser_page)

    learning(make_update(30, checks=[make_check()]))
    expect(browser_page.locator("#checks .badge")).to_have_text("passed")
    browser_page.locator("#language").select_option("zh")
    learning.finish(TrainingSummary("learnt", pilot="/home/me/pilot.onnx", drive="python manage.py drive"))
    learning.close()
    expect(browser_page.locator("#outcome-title")).to_have_text("用时 1:00 学会")
    assert browser_page.locator("#outcome code").all_inner_texts() == ["/home/me/pilot.onnx", "python manage.py drive"]
    browser_page.set_viewport_size({"width": 390, "height": 844})
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390
