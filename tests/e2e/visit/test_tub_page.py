"""The tub page in a real browser: scrub, play, mark, delete, undo, on a desktop and on a phone."""

import json
import re
import shutil
import subprocess
import sys

import chromium
import numpy as np
import pytest
from chromium import wait_on_page
from playwright.sync_api import expect

from donkeysim.core.image import encode_jpeg
from donkeysim.drive.tub_page import create_app
from donkeysim.tub.reader import TubReader
from stand_ins.served_app import ServedApp
from tub.drives import write_tub
from tub.mixed import delete_range

pytestmark = [pytest.mark.visit, chromium.NEEDED]

COUNT = 400


@pytest.fixture(scope="module")
def whole_tub(tmp_path_factory):
    path = write_tub(tmp_path_factory.mktemp("tub") / "data", COUNT)
    return write_tub(path, 100)


@pytest.fixture
def tub(whole_tub, tmp_path):
    return shutil.copytree(whole_tub, tmp_path / "data")


@pytest.fixture
def address(tub):
    """The page in this process; the last test runs the program."""
    served = ServedApp()
    served.start(create_app(str(tub)))
    yield served.address
    served.close()


def serve_tub(tub):
    """Serve a tub's page by the program; the address comes once."""
    command = [sys.executable, "-m", "donkeysim", "tubclean", str(tub), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.communicate(timeout=10)


@pytest.fixture
def page(pages, address):
    errors = []
    handlers = {
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda message: errors.append(message.text) if message.type == "error" else None,
    }
    page = pages.open(1280, 900, handlers)
    page.goto(address)
    expect(page.locator("body")).to_have_attribute("data-state", "ready")
    yield page
    assert errors == []


def shown_position(page):
    return int(page.locator("#picture").get_attribute("data-position") or -1)


def wait_for_position(page, wanted):
    describe = lambda: f"the picture of record {shown_position(page)} instead of {wanted}"  # noqa: E731
    wait_on_page(page, lambda: shown_position(page) == wanted, describe)


def drag(page, selector, start, end):
    box = page.locator(selector).bounding_box()
    page.mouse.move(box["x"] + start * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()


def read_deleted(path):
    """Return deleted positions straight from the manifest."""
    return json.loads((path / "manifest.json").read_text().split("\n")[4])["deleted_indexes"]


def wait_for_deleted(path, wanted, page):
    wait_on_page(page, lambda: read_deleted(path) == wanted, lambda: read_deleted(path))


def test_keys_step_and_pictures_follow(page):
    wait_for_position(page, 0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    wait_for_position(page, 21)
    page.keyboard.press("End")
    wait_for_position(page, COUNT + 99)
    expect(page.locator("#jump")).to_have_value(str(COUNT + 99))
    page.fill("#jump", "250")
    page.press("#jump", "Enter")
    wait_for_position(page, 250)
    grey = page.evaluate("document.getElementById('picture').getContext('2d').getImageData(4, 4, 1, 1).data[0]")
    assert abs(grey - 250 * 7 % 256) < 4


def test_scrubbing_and_choosing_a_drive_go_there(page):
    drag(page, "#overview", 0.1, 0.5)
    wait_for_position(page, 250)
    page.select_option("#session", index=1)
    wait_for_position(page, COUNT)


def test_it_plays_like_a_film_and_skips_what_is_deleted(page, tub):
    delete_range(tub, 5, 450)
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(page.locator("#totals")).to_contain_text("446 deleted")
    page.select_option("#speed", "2")
    page.keyboard.press("Space")
    expect(page.locator("body")).to_have_attribute("data-playing", "true")
    seen = set()

    def has_ended():
        seen.add(shown_position(page))
        return page.locator("body").get_attribute("data-playing") != "true"

    wait_on_page(page, has_ended)
    wait_for_position(page, COUNT + 99)
    assert len(seen) > 3
    assert not seen & set(range(6, 450))


def test_delete_restore_undo_redo_are_saved_at_once(page, tub):
    for _ in range(10):
        page.keyboard.press("Shift+ArrowRight")
    wait_for_position(page, 200)
    drag(page, "#zoom", 0.25, 0.4)
    first, last = map(int, re.match(r"(\d+) to (\d+)", page.inner_text("#marked")).groups())
    assert 100 < first < last < 200
    page.click("#delete")
    wait_for_deleted(tub, list(range(first, last + 1)), page)
    expect(page.locator("#saved")).to_have_text("Saved")
    expect(page.locator("#totals")).to_contain_text(f"{last - first + 1} deleted")
    page.keyboard.press("[")
    wait_for_position(page, first)
    expect(page.locator("#cut")).to_be_visible()
    page.keyboard.press("i")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("o")
    page.keyboard.press("r")
    wait_for_deleted(tub, list(range(first + 2, last + 1)), page)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    wait_for_deleted(tub, [], page)
    expect(page.locator("#undo")).to_be_disabled()
    page.click("#redo")
    wait_for_deleted(tub, list(range(first, last + 1)), page)
    assert len(TubReader(tub)) == COUNT + 100 - (last - first + 1)


def test_what_is_wrong_is_shown_and_deleted_by_one_key(pages, tmp_path):
    tub = write_tub(tmp_path / "data", 200)
    plain = (tub / "images" / "100_cam_image_array_.jpg").read_bytes()
    for number in range(200):
        target = tub / "images" / f"{number}_cam_image_array_.jpg"
        rows = np.random.default_rng(number).integers(40, 220, (12, 16, 3), dtype=np.uint8)
        target.write_bytes(plain if 60 <= number < 110 else encode_jpeg(rows))
    served = ServedApp()
    served.start(create_app(str(tub)))
    page = pages.open(1280, 900)
    page.goto(served.address)
    expect(page.locator("body")).to_have_attribute("data-flaws", re.compile("dark"))
    expect(page.locator("#flaw-list")).to_contain_text("Nothing can be seen for 2.5 s")
    page.locator("#language").select_option("zh")
    expect(page.locator("#flaw-list")).to_contain_text("什么也看不见")
    page.locator("#overview").press("Home")
    page.keyboard.press("n")
    wait_for_position(page, 60)
    page.keyboard.press("x")
    wait_for_deleted(tub, list(range(60, 110)), page)
    page.keyboard.press("Control+z")
    wait_for_deleted(tub, [], page)
    served.close()


def test_a_phone_marks_and_deletes_with_buttons(pages, address, tub):
    page = pages.open(390, 844, is_mobile=True, has_touch=True)
    page.goto(address)
    expect(page.locator("body")).to_have_attribute("data-state", "ready")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.tap("#mark-start")
    for _ in range(3):
        page.tap("#forward")
    page.tap("#mark-end")
    page.tap("#delete")
    wait_for_deleted(tub, [0, 1, 2, 3], page)
    page.tap("#undo")
    wait_for_deleted(tub, [], page)


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1920, 1080)])
def test_picture_plots_and_buttons_are_in_sight_together(pages, address, width, height):
    page = pages.open(width, height)
    page.goto(address)
    for part in ("#screen", "#overview", "#zoom", "#redo"):
        expect(page.locator(part)).to_be_visible()
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= height, part
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_stopped_program_is_told(browser, address, tub):
    page = browser.new_page()
    page.route("**/deleted", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    page.goto(address)
    expect(page.locator("body")).to_have_attribute("data-state", "ready")
    page.keyboard.press("i")
    page.keyboard.press("Delete")
    expect(page.locator("#toast")).to_contain_text("donkey tubclean has stopped")
    assert read_deleted(tub) == []
    page.close()


@pytest.fixture
def cut_tub(tub):
    catalog = tub / "catalog_0.catalog"
    catalog.write_bytes(b"".join(catalog.read_bytes().splitlines(keepends=True)[: COUNT + 50]))


@pytest.mark.usefixtures("cut_tub")
def test_lost_records_are_told(page):
    expect(page.locator("#toast")).to_contain_text("50 records of this tub are lost")


def test_the_page_speaks_the_language_that_is_chosen(page):
    page.locator("#overview").press("Home")
    page.keyboard.press("i")
    page.keyboard.press("o")
    expect(page.locator("#marked")).to_have_text("0 to 0: 1 record, 0.0 s")
    page.locator("#language").select_option("ja")
    expect(page.locator("#totals")).to_contain_text("件")
    expect(page.locator("#marked")).to_have_text(re.compile("^0〜0"))
    expect(page.locator("#saved")).to_have_text("保存済み")
    expect(page.locator("#session option").first).to_have_text(re.compile("件"))
    page.reload()
    expect(page.locator("#delete")).to_have_text("削除")
    expect(page.locator("#saved")).to_have_text("保存済み")
    page.locator("#language").select_option("en")
    expect(page.locator("#saved")).to_have_text("Saved")


def test_a_tub_without_records_is_told_to_be_empty(pages, tmp_path):
    for address in serve_tub(write_tub(tmp_path / "nothing", 0)):
        page = pages.open(1280, 900)
        page.goto(address)
        expect(page.locator("body")).to_have_attribute("data-state", "ready")
        expect(page.locator("#empty")).to_be_visible()
        expect(page.locator("#desk")).to_be_hidden()
