"""The first minute of somebody new: a real car in a real browser, driven with W A S D, recorded, undone, dressed."""

import json
import re

import chromium
import pytest
from car_process import CarProcess, make_car
from playwright.sync_api import expect, sync_playwright

from donkeysim.tub.reader import TubReader
from waiting import wait_until

pytestmark = chromium.NEEDED


@pytest.fixture
def folder(tmp_path):
    return make_car(tmp_path / "car", "SIM_RECORD_LOCATION = True\n")


@pytest.fixture
def car(folder):
    with CarProcess(folder) as car:
        yield car


@pytest.fixture
def page(car):
    address = car.wait_for(r"You can now go to (http://\S+) to drive your car")[1]
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page(viewport={"width": 1366, "height": 768}, locale="en-US")
        page.goto(f"{address}/drive")
        expect(page.locator("#view")).to_be_visible(timeout=120_000)  # a drawn picture has come
        yield page
        browser.close()


def read_speed(page):
    return float(page.locator("#speed-value").text_content())


def wait_for_speed(page, is_so):
    chromium.wait_on_page(page, lambda: is_so(read_speed(page)), "the car has another speed")


@pytest.mark.timeout(180)
def test_a_newcomer_drives_records_takes_back_and_dresses_the_car(page, car, folder):
    def count():
        return len(list((folder / "data" / "images").glob("*.jpg")))

    page.keyboard.press("r")
    expect(page.locator("#recording-badge")).to_have_class(re.compile("waits"))
    page.wait_for_timeout(1000)
    assert count() == 0, "a standing car is recorded"

    page.keyboard.down("w")
    wait_for_speed(page, lambda speed: speed > 0.5)
    page.keyboard.down("d")
    page.wait_for_timeout(200)
    page.keyboard.up("d")
    assert page.locator("#mode_select").input_value() == "user"
    page.keyboard.up("w")
    expect(page.locator("#throttle")).to_have_text("0.00")
    speed = read_speed(page)
    wait_for_speed(page, lambda now: 0.1 < now < 0.8 * speed)  # it coasts
    page.keyboard.down("s")
    wait_for_speed(page, lambda now: now < 0.15)
    page.keyboard.up("s")
    wait_for_speed(page, lambda now: now < 0.04)
    page.wait_for_timeout(500)
    driven = count()
    assert driven > 10
    page.wait_for_timeout(1000)
    assert count() == driven, "a car that has come to a halt is recorded"

    page.keyboard.press("Backspace")
    page.wait_for_timeout(1000)
    assert count() == driven, "a car that was put back is recorded"
    page.keyboard.press("Delete")
    expect(page.locator("#toast")).to_have_text(f"Deleted the last {min(driven, 100)} records.")

    page.locator("#look").click()
    page.locator("#look-name").fill("Anna")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#look-text")).to_have_text("Anna")
    kept = folder / ".web" / "look.json"
    wait_until(lambda: kept.exists() and json.loads(kept.read_text(encoding="utf-8"))["look"]["car_name"] == "Anna")

    page.keyboard.down("w")
    chromium.wait_on_page(page, lambda: count() > driven + 10, "nothing is recorded any more")
    page.keyboard.up("w")
    assert car.end() == 0
    records = list(TubReader(folder / "data"))
    taken_back = range(max(0, driven - 100), driven)
    assert len(records) > 10
    assert not {record.index for record in records} & {*taken_back}
    assert all(record.values["pos/speed"] > 0.04 for record in records)
