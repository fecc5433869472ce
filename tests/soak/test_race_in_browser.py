"""Chromium follows a real race on laptop, phone and projector: cameras cut, the past is shown again, somebody wins."""

import pytest
from playwright.sync_api import expect, sync_playwright

from e2e import chromium
from e2e.simulator_process import SimulatorProcess

pytestmark = [pytest.mark.soak, chromium.NEEDED]

DRIVERS = ("Anna=fast", "Ben=steady", "Chen=human", "Dai=steady", "Eva=human", "Finn=steady", "Gao=human", "Hugo=fast")
RACE = ("--track", "harbour_town", "--rules", "robo_racing_carnage", "--laps", "4")
SCREENS = {"/": (1366, 768), "/wall": (1920, 1080), "/?phone": (390, 844)}
PATIENCE = 240_000


class RaceServer(SimulatorProcess):
    """`donkey race host`, ended with the block."""

    command = ("donkeysim", "race", "host")


def read_clock(page):
    clock = page.locator("#race-clock").inner_text()
    minutes, seconds = clock.lstrip("−").split(":")
    return (60.0 * float(minutes) + float(seconds)) * (-1.0 if clock.startswith("−") else 1.0)


def test_a_race_is_followed_replayed_and_won(tmp_path):
    pilots = [word for driver in DRIVERS for word in ("--pilot", driver)]
    options = (*RACE, *pilots, "--out", str(tmp_path), "--page-port", "0")
    with RaceServer(*options, page=True) as server, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        pages, faults = {}, []
        for path, (width, height) in SCREENS.items():
            pages[path] = browser.new_page(viewport={"width": width, "height": height})
            pages[path].on("pageerror", lambda error: faults.append(str(error)))
            pages[path].goto(server.page_address + path)
        page, wall, phone = pages.values()
        expect(page.locator("#race-session")).to_have_text("Paddock", timeout=PATIENCE)
        page.locator("#tab-engineer").click()
        page.locator("#start-race").click()
        expect(wall.locator("#lights")).to_be_visible(timeout=60_000)
        expect(wall.locator("body")).to_have_attribute("data-session", "race", timeout=60_000)
        shown = set()
        for _ in range(60):
            page.wait_for_timeout(250)
            shown |= set(page.locator(".plate:visible bdi").all_inner_texts())
        assert len(shown) > 1, "the cameras stay with one car"
        for other in pages.values():
            before = chromium.count_pictures(other)
            chromium.wait_on_page(other, lambda other=other, before=before: chromium.count_pictures(other) > before + 5)
            assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
            expect(other.locator("#tower-lines .line")).to_have_count(len(DRIVERS))
        page.locator("#tab-journal").click()
        page.locator("#journal .incident .jump").last.click()
        expect(page.locator("#replay-sign")).to_be_visible()
        before = chromium.count_pictures(page)
        chromium.wait_on_page(page, lambda: chromium.count_pictures(page) > before + 5)
        assert read_clock(page) < 5.0 < read_clock(phone)
        expect(page.locator(".line.chosen")).to_have_count(1)
        page.keyboard.press("l")
        expect(page.locator("#go-live")).to_have_attribute("aria-pressed", "true")
        for screen in (page, wall):
            expect(screen.locator("#steps li")).to_have_count(3, timeout=PATIENCE)
        expect(page.locator("#steps bdi").first).not_to_be_empty()
        assert faults == []
        browser.close()
