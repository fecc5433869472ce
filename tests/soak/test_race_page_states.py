"""The race page in every state, size, language and scheme, and for hours."""

import asyncio
import re

import pytest
from playwright.sync_api import expect

from donkeysim.racing.show.race_view import Mark
from donkeysim.web.access import Access
from e2e import chromium
from stand_ins.scripted_race import GREEN, RACERS
from stand_ins.served_race import ServedRace

pytestmark = [pytest.mark.soak, chromium.NEEDED]

SIZES = ((360, 640), (390, 844), (844, 390), (820, 1180), (1366, 768), (1920, 1080))
STATES = {
    "paddock": {"is_paddock": True, "moment": 0.0},
    "countdown": {"moment": GREEN - 1.5},
    "yellow": {"moment": GREEN + 24.0},
    "held": {"moment": GREEN + 24.0, "is_held": True},
    "late": {"moment": GREEN + 52.0, "count": 24},
    "over": {"moment": GREEN + 90.0, "count": 24},
    "file": {"moment": GREEN + 70.0, "is_live": False},
}

OUTSIDE = """() => [...document.querySelectorAll("button, h1, h2, p, select, canvas, .line")]
  .filter((element) => element.checkVisibility() && !element.closest(".visually-hidden, .line, pre"))
  .filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && (box.left < -1 || box.right > innerWidth + 1);
  })
  .map((element) => element.id || element.className || element.textContent)"""


@pytest.fixture(scope="module")
def served():
    served = ServedRace()
    yield served
    served.close()


@pytest.fixture
def open_page(browser, served):
    contexts, faults = [], []

    def open_page(path="/", **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(served.address + path)
        expect(page.locator("#race-head")).to_be_visible()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(("scheme", "code"), [("light", "en"), ("dark", "zh"), ("light", "ja")])
def test_nothing_is_outside_the_page(open_page, served, state, scheme, code):
    served.set(**STATES[state])
    page = open_page(color_scheme=scheme, locale=code)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(250)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("code", ["zh", "ja"])
def test_every_word_of_the_page_is_in_its_language(open_page, served, code):
    page = open_page(locale=code, viewport={"width": 1366, "height": 900})
    for fields in STATES.values():
        served.set(**fields)
        served.stage.names = ["1", "2", "3", "4", "5", "6", "7", "8", *RACERS[8 : fields.get("count", 8)]]
        page.reload()
        expect(page.locator("#race-head")).to_be_visible()
        if fields.get("is_live", True):
            page.locator("#tab-engineer").click()
        shown = page.locator("#stage").inner_text().replace(page.locator("#journal").inner_text(), "")
        for name in (*RACERS, "Robo Racing League: Carnage", "Grid", "GO", "DNF", "Waiting for more cars: 3 of 4"):
            shown = shown.replace(name, "")
        assert re.findall("[A-Za-z]{4,}", shown) == [] or set(re.findall("[A-Za-z]{4,}", shown)) <= {"here"}


def test_hours_of_incidents_leave_no_more_in_the_page_than_the_last_two_hundred(open_page, served):
    served.set(24)
    stage = served.stage

    def tell(_clock):
        stage.told = getattr(stage, "told", 0) + 40
        marks = range(stage.told, stage.told + 200)
        return tuple(Mark(0.001 * number, 0.0, f"incident {number}", 1 + number % 24, number) for number in marks)

    stage._marks = tell
    page = open_page(viewport={"width": 1366, "height": 900})
    expect(page.locator("#journal li")).to_have_count(200)
    page.wait_for_timeout(1000)
    count = "document.querySelectorAll('*').length"
    before, told = page.evaluate(count), stage.told
    page.wait_for_timeout(15_000)
    assert stage.told > told + 2000
    assert abs(page.evaluate(count) - before) < 20


def test_four_pictures_of_a_slow_race_are_never_asked_for_twice_at_once(open_page, served):
    served.set(8)
    waits = []

    async def take_slowly(view, car_id, width, height, at=None):
        waits.append((view, car_id))
        assert waits.count((view, car_id)) == 1, "asked for while it is drawn"
        await asyncio.sleep(0.12)
        waits.remove((view, car_id))
        return await type(served.stage).take_picture(served.stage, view, car_id, width, height, at)

    served.stage.take_picture = take_slowly
    page = open_page(viewport={"width": 1366, "height": 900})
    page.locator("body").press("c")
    page.locator("body").press("q")
    page.wait_for_timeout(6000)
    widths = [call[3] for call in served.stage.calls if call[:2] == ("take_picture", "chase")]
    assert widths[-1] < max(widths)  # smaller pictures, and no queue


def come_from_elsewhere(app):
    async def moved(scope, receive, send):
        await app({**scope, "client": ("192.0.2.9", 5555)}, receive, send)

    return moved


def test_who_has_no_token_watches_and_controls_nothing(browser):
    served = ServedRace(come_from_elsewhere, Access(token="abcdefghjk"))
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.goto(served.address)
    expect(page.locator("#journal li").first).to_be_visible()
    for hidden in ("#tab-engineer", "#panel-engineer", "#journal .undo >> nth=0", "#reset", "#exit"):
        expect(page.locator(hidden)).to_be_hidden()
    page.locator("#tab-join").click()
    expect(page.locator("#qr")).to_be_visible()
    page.goto(f"{served.address}/?token=abcdefghjk")
    expect(page.locator("#tab-engineer")).to_be_visible()
    page.close()
    served.close()


def test_the_past_stands_still_while_nobody_looks(open_page, served):
    served.set(8)
    page = open_page(viewport={"width": 1366, "height": 900})
    page.locator("#journal .jump", has_text="Gao").click()
    page.wait_for_timeout(400)
    page.evaluate(
        """() => {
          Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
          document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    page.wait_for_timeout(400)
    count, last = served.stage.picture_count, served.list_pictures()[-1][2]
    page.wait_for_timeout(1500)
    assert served.stage.picture_count == count
    page.evaluate("() => { delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange')); }")
    chromium.wait_on_page(page, lambda: served.stage.picture_count > count + 3)
    assert served.list_pictures()[count][2] - last < 0.5
