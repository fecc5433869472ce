"""Laps of generated_track in real time: a real car folder, driven by pressing the control page's keys in a browser."""

import json
import re
import time

import pytest
from playwright.sync_api import expect, sync_playwright
from websockets.sync.client import connect

from donkeysim.tub.reader import TubReader
from e2e import chromium
from e2e.car_process import CarProcess, make_car

pytestmark = [pytest.mark.soak, chromium.NEEDED]

LAPS = 2
SPEED = 1.2
"""Aimed at [m/s]."""
STEADY_THROTTLE = 0.17
"""Holds about that speed."""


class KeyDriver:
    """Presses keys by what the page's reports say."""

    def __init__(self, page):
        self.page = page
        self.angle = self.cte = 0.0
        self.presses = 0

    def follow(self, report):
        cte = report["cte"]
        wanted = max(-1.0, min(1.0, -0.35 * cte - 1.25 * (cte - self.cte)))
        self.cte = cte
        steps = round((wanted - self.angle) / 0.1)
        self.press("l" if steps > 0 else "j", min(abs(steps), 5))
        self.angle = max(-1.0, min(1.0, self.angle + 0.1 * max(-5, min(5, steps))))
        steps = round((STEADY_THROTTLE + 0.5 * (SPEED - report["speed"]) - report["user"][1]) / 0.05)
        self.press("i" if steps > 0 else "k", min(abs(steps), 2))

    def press(self, key, times):
        for _ in range(times):
            self.page.keyboard.press(key)
            self.presses += 1


def read_newest(reports):
    """Return the newest report that has come."""
    report, timeout = None, 5
    while True:
        try:
            report = json.loads(reports.recv(timeout)).get("report", report)
        except TimeoutError:
            assert report, "no report came"
            return report
        timeout = 0 if report else 5


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desktop", "phone"])
def test_a_lap_is_driven_by_key_presses(tmp_path, size):
    folder = make_car(tmp_path / "car", "WEB_KEYS_HOLD = True\n")
    with sync_playwright() as playwright, CarProcess(folder) as car:
        browser = chromium.launch(playwright)
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        address = car.wait_for(r"You can now go to http://(\S+) to drive your car")[1]
        with connect(f"ws://{address}/wsDrive?reports=1", proxy=None) as reports:
            page.goto(f"http://{address}/drive")
            expect(page.locator("#on-road")).to_have_text("on road", timeout=60_000)
            page.keyboard.press("r")
            driver, seen, began = KeyDriver(page), [], time.monotonic()
            while not seen or seen[-1]["lap_count"] < LAPS:
                seen.append(read_newest(reports))
                driver.follow(seen[-1])
                assert time.monotonic() - began < 40 * LAPS, seen[-1]
        expect(page.locator("#last-lap")).not_to_have_text("–")
        expect(page.locator("#record-count")).to_have_text(re.compile(r"\d{3}"))
        page.keyboard.press(" ")
        expect(page.locator("#throttle")).to_have_text("0.00")
        browser.close()
        assert car.end() == 0
    record_count = len(TubReader(folder / "data"))
    figures = {
        "case": "key_laps",
        "laps": [round(lap, 2) for lap in seen[-1]["lap_times"]],
        "presses": driver.presses,
        "records": record_count,
        "most_off_path_cm": round(12.5 * max(abs(report["cte"]) for report in seen), 1),
        "least_rate": round(min(report["rate"] for report in seen[20:]), 2),
    }
    print("\n" + json.dumps(figures))
    assert all(report["on_road"] for report in seen)
    assert all(report["hit"] == "" for report in seen)
    assert record_count > 20 * 15 * LAPS * 0.9
