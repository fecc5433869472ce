"""The preview of a track in a real browser: edit the file, see map, view and figures change; a mistake is told."""

import re
import subprocess
import sys

import chromium
import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.visit, chromium.NEEDED]

TRACK = """format = 1
name = "yard"
path.points = [[0, 0], [4, 0], [4, 3], [0, 3]]
road.width_left = 0.3
road.width_right = 0.3
ground.texture = "plain"
props = [{ kind = "cone", every = 3.0, offset = 0.6 }]
"""


@pytest.fixture
def track(tmp_path):
    (tmp_path / "yard.toml").write_text(TRACK, encoding="utf-8")
    return tmp_path / "yard.toml"


@pytest.fixture
def address(track):
    yield from serve(track)


def serve(track):
    """Serve a track's page; the address comes once."""
    command = [sys.executable, "-m", "donkeysim", "tracks", "preview", str(track), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://[\w.:]+", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_a_track_is_seen_while_it_is_written(pages, track, address):
    errors = []
    handlers = {
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda message: errors.append(message.text) if message.type == "error" else None,
    }
    page = pages.open(1280, 900, handlers, locale="en")
    page.goto(address)
    body = page.locator("body")
    expect(body).to_have_attribute("data-picture", "1", timeout=240_000)
    expect(page.locator("#map")).to_have_js_property("complete", True)
    first = page.locator("#figures").inner_text()
    assert re.search(r"\d × cone", first)

    track.write_text(TRACK.replace("[4, 3]", "[6, 5]"), encoding="utf-8")
    expect(body).to_have_attribute("data-picture", "2", timeout=20_000)
    assert page.locator("#figures").inner_text() != first

    track.write_text(TRACK.replace("width_left", "width_lef"), encoding="utf-8")
    expect(page.locator("#sentence")).to_contain_text("line 4: unknown key in [road] 'width_lef'")
    expect(page.locator("#desk")).to_be_visible()
    page.locator("#language").select_option("zh")
    expect(page.locator("#status")).to_have_text("有错误")
    expect(page.locator("#figures")).to_contain_text("× 锥筒")

    track.write_text(TRACK, encoding="utf-8")
    expect(body).to_have_attribute("data-picture", "3", timeout=20_000)
    expect(page.locator("#mistake")).to_be_hidden()
    page.locator("#sheet").click(position={"x": 600, "y": 200})
    assert float(page.locator("#at").input_value()) > 0.1
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#language").select_option("ja")
    expect(page.locator(".brand")).to_have_text("コース")
    assert page.locator(".brand").bounding_box()["height"] < 40
    assert errors == []


def test_the_drive_of_an_open_track_begins_anew_when_it_is_over(pages, track):
    track.write_text(TRACK.replace("path.points", "path.closed = false\npath.points"), encoding="utf-8")
    for address in serve(track):
        page = pages.open(1280, 900, locale="en")
        page.goto(address)
        expect(page.locator("body")).to_have_attribute("data-picture", "1", timeout=240_000)
        place = page.locator("#at")
        place.evaluate("(bar) => { bar.value = 0.98; bar.dispatchEvent(new Event('input')); }")
        page.locator("#play").click()
        expect(place).to_have_value("1")
        expect(page.locator("#play")).to_have_text("▶")
        page.locator("#play").click()
        expect(place).not_to_have_value("1")
        expect(page.locator("#play")).to_have_text("⏸")
        assert float(place.input_value()) < 0.5
