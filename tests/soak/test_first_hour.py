"""The first hour of somebody new, as a script in a browser: in three languages, on a laptop and on a phone.

Everything is real: `donkey_sim --drive`, the control page, training, the watching page. Each of the six goes to three
places, drives there by keys and by Expert, leaves the road and comes back, records, trains, drives with what was
trained, and watches. After each step all that driving needs must lie inside the window.

DONKEYSIM_PICTURES names a folder for pictures of the steps that the guide shows; they were taken so.
"""

import io
import os
import re
import subprocess
import sys
import time
import urllib.request
from itertools import chain, cycle
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from e2e import chromium
from e2e.simulator_process import SimulatorProcess
from waiting import wait_until

pytestmark = [pytest.mark.soak, chromium.NEEDED]

LANGUAGES = {"en": "en-US", "zh": "zh-CN", "ja": "ja-JP"}
SIZES = {
    "laptop": {"viewport": {"width": 1366, "height": 768}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
# The first of each has no walls that keep a car on its road.
PLACES = {
    ("en", "laptop"): ("warren", "mini_monaco", "warehouse"),
    ("en", "phone"): ("generated_road", "circuit_launch", "waveshare"),
    ("zh", "laptop"): ("generated_track", "mountain_track", "thunderhill"),
    ("zh", "phone"): ("warren", "roboracingleague_1", "warehouse"),
    ("ja", "laptop"): ("generated_road", "waveshare", "circuit_launch"),
    ("ja", "phone"): ("generated_track", "mini_monaco", "sparkfun_avc"),
}
NEEDED = {
    "picture": ("screen", "view", "speed", "place"),
    "gauges": ("steering", "throttle"),
    "actions": ("brake_button", "record_button", "reset_button"),
    "choices": ("mode_select", "pilot_select", "throttle_mode_select", "max_throttle_select"),
    "stick": ("joystick_container",),
    "readings": ("lap", "last-lap", "best-lap", "cte", "on-road", "hit"),
}
"""All that driving needs: ids of elements of the control page."""

SHOWN = {
    "en-laptop-warren-expert",
    "en-laptop-off-the-road",
    "en-laptop-recording",
    "en-laptop-own-pilot",
    "en-laptop-watching",
    "zh-phone-warren-expert",
    "ja-phone-watching",
}
"""Steps whose pictures are in docs/guide/first-hour.md."""

RECORDS = 250
"""As many are recorded by each before training."""


class Program(SimulatorProcess):
    """`donkey_sim --drive` as `make run` starts it, on free ports, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.car = folder / "mycar"
        words = ("--scene", "generated_track", "--pace-car", "--drive", str(self.car), "--page-port", "0")
        environment = {**os.environ, "WEB_CONTROL_PORT": "0", "PYTHONUNBUFFERED": "1"}
        super().__init__(*words, page=True, environment=environment)
        find = lambda: re.search(r"go to (http://\S+) to drive", "\n".join(self.lines))  # noqa: E731
        self.control_page = wait_until(find, lambda: self.lines, seconds=300.0)[1]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with Program(tmp_path_factory.mktemp("first-hour")) as program:
        yield program


class Newcomer:
    """Somebody with one browser, who looks at everything and needs no scroll bar."""

    def __init__(self, browser, program, language, size):
        self.program, self.name = program, f"{language}-{size}"
        self.context = browser.new_context(locale=LANGUAGES[language], **SIZES[size])
        self.faults = []
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.goto(program.control_page + "/drive")
        expect(self.page.locator("body")).to_have_attribute("data-link", "live")
        expect(self.page.locator("html")).to_have_attribute("lang", re.compile(language))

    # -- what is seen -------------------------------------------------------------------------------------------------

    def look(self, step):
        """Assert that nothing needed lies outside the window, and keep a picture."""
        width, height = self.page.viewport_size["width"], self.page.viewport_size["height"]
        expect(self.page.locator("#view")).to_be_visible()  # a drawn picture has come
        for needed in chain(*NEEDED.values()):
            box = self.page.locator(f"#{needed}").bounding_box()
            assert box, f"{needed} is not shown at {step}"
            inside = box["x"] >= 0 and box["y"] >= 0
            inside &= box["x"] + box["width"] <= width + 0.5 and box["y"] + box["height"] <= height + 0.5
            assert inside, f"{needed} is outside the window of {width}x{height} at {step}: {box}"
        assert self.page.evaluate("() => window.scrollY") == 0
        keep_picture(self.page, f"{self.name}-{step}")

    def read_speed(self):
        return float(self.page.locator("#speed-value").text_content())

    def wait(self, is_so, what, seconds=60.0):
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline, f"{what}; the program said: {self.program.lines[-12:]}"
            self.page.wait_for_timeout(50)

    # -- what is done -------------------------------------------------------------------------------------------------

    def go_to(self, place):
        self.page.locator("#place").click()
        tile = self.page.locator(f'.choice[data-place="{place}"]')
        expect(tile).to_be_visible()
        tile.click()
        expect(self.page.locator("#place-name")).to_have_text(place, timeout=120_000)
        self.wait(lambda: self.read_speed() < 0.1, "the car does not rest at its start")

    def drive_by_keys(self):
        """Hold W: it drives; let go: it coasts to a halt by itself."""
        self.page.locator("#mode_select").select_option("user")
        self.page.locator("#mode_select").blur()
        self.page.keyboard.down("w")
        self.wait(lambda: self.read_speed() > 0.3, "W does not move the car")
        self.page.keyboard.press("a")
        self.page.keyboard.press("d")
        assert self.page.locator("#mode_select").input_value() == "user", "letters that drive start no pilot"
        self.page.keyboard.up("w")
        expect(self.page.locator("#throttle")).to_have_text("0.00")
        self.wait(lambda: self.read_speed() < 0.1, "it does not coast to a halt")

    def stand(self):
        """Take over and brake."""
        self.page.locator("#mode_select").select_option("user")
        self.page.locator("body").press(" ")
        if self.page.evaluate("() => !document.getElementById('brake_button').classList.contains('primary')"):
            self.page.locator("body").press(" ")
        self.wait(lambda: self.read_speed() < 0.1, "the car does not stop")

    def drive_by_expert(self):
        """Let Expert drive for a while: it moves, and stays on the road."""
        self.page.locator("#pilot_select").select_option("Expert")
        self.page.locator("#reset_button").click()
        self.page.locator("#mode_select").select_option("local")
        self.wait(lambda: self.read_speed() > 0.4, "Expert does not drive")
        self.page.wait_for_timeout(3000)
        assert self.read_speed() > 0.2
        assert self.page.locator("#road-note").is_hidden()

    def leave_the_road_and_come_back(self):
        """Drive straight off, read the banner, press Backspace."""
        self.page.locator("#max_throttle_select").select_option("1")
        self.page.locator("#mode_select").select_option("user")
        self.page.locator("#mode_select").blur()
        for key in "wa":
            self.page.keyboard.down(key)
        self.wait(self.page.locator("#road-note").is_visible, "it stays on the road")
        for key in "wa":
            self.page.keyboard.up(key)
        self.page.locator("body").press(" ")
        self.look("off-the-road")
        self.page.locator("body").press("Backspace")
        expect(self.page.locator("#road-note")).to_be_hidden()
        self.page.locator("#max_throttle_select").select_option("0.3")

    def record(self):
        """Record while weaving from the start by keys: nobody learns to steer from a straight line."""
        self.page.locator("body").press("Backspace")
        self.wait(lambda: self.read_speed() < 0.01, "it does not rest at its start")
        self.page.locator("#max_throttle_select").select_option("0.2")
        self.page.locator("#max_throttle_select").blur()
        before, sides = self.count_records(), cycle("addaad")
        self.page.locator("body").press("r")
        expect(self.page.locator("#recording-badge")).to_have_class(re.compile("waits"))
        self.page.wait_for_timeout(1000)
        assert self.count_records() == before, "a standing car is recorded"
        self.page.keyboard.down("w")
        self.wait(lambda: self.count_records() >= before + RECORDS or self.weave(next(sides)), "nothing is recorded")
        self.look("recording")
        self.page.keyboard.up("w")
        self.take_back(before)
        self.page.locator("body").press("r")
        expect(self.page.locator("#recording-badge")).to_be_hidden()
        self.stand()
        self.page.locator("#max_throttle_select").select_option("0.3")

    def weave(self, side):
        """Steer to a side for a moment; a car that has left the road goes back to its start."""
        if self.page.locator("#road-note").is_visible():
            self.page.locator("body").press("Backspace")
            self.page.keyboard.up("w")
            self.page.keyboard.down("w")
        self.page.keyboard.down(side)
        self.page.wait_for_timeout(150)
        self.page.keyboard.up(side)

    def take_back(self, before):
        """Delete the last five seconds, and what was driven while the key was found."""
        self.wait(lambda: self.read_speed() < 0.05, "it does not coast to a halt")
        standing = self.count_records()
        self.page.keyboard.press("Delete")
        expect(self.page.locator("#toast")).to_have_text(re.compile("100"))
        assert self.count_records() == standing >= before + RECORDS, "pictures of deleted records stay"

    def count_records(self):
        return len(list((self.program.car / "data" / "images").glob("*.jpg")))

    def train(self):
        """Train a little, as the guide's line does; return the pilot's name on the page."""
        with (self.program.car / "myconfig.py").open("a", encoding="utf-8") as file:
            file.write("\nMAX_EPOCHS = 2\n")
        words = ["train", "--tub", "data", "--model", f"models/{self.name}.h5"]
        done = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=self.program.car, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return f"{self.name}.onnx"

    def drive_with(self, pilot):
        """Choose the pilot that was trained; it drives, well or not."""
        option = self.page.locator(f'#pilot_select option[value="{pilot}"]')
        self.wait(lambda: option.count() == 1, "the pilot does not come into the list")
        self.page.locator("#reset_button").click()
        self.page.locator("#pilot_select").select_option(pilot)
        self.page.locator("#mode_select").select_option("local")
        expect(self.page.locator("#pilot_select")).to_have_value(pilot)
        self.wait(
            lambda: self.page.locator("#throttle").text_content() not in ("0.00", "-0.00"), "the pilot wants nothing"
        )
        self.look("own-pilot")
        self.stand()

    def watch(self):
        """Follow the link: one's own car is shown, in one's own language."""
        with self.context.expect_page() as opened:
            self.page.locator("#watching").click()
        watching = opened.value
        watching.on("pageerror", lambda error: self.faults.append(str(error)))
        chromium.wait_for_pictures(watching)
        expect(watching.locator("html")).to_have_attribute("lang", re.compile(self.name[:2]))
        keep_picture(watching, f"{self.name}-watching")
        watching.close()


def keep_picture(page, name):
    folder = os.environ.get("DONKEYSIM_PICTURES")
    if folder and name in SHOWN:
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.save(Path(folder) / f"first-hour-{name}.jpg", quality=82)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("language", "size"), PLACES)
def test_a_first_hour_needs_no_scroll_bar(browser, program, language, size):
    newcomer = Newcomer(browser, program, language, size)
    newcomer.wait(lambda: newcomer.page.locator("#speed").is_visible(), "no car", 300.0)
    for place in PLACES[language, size]:
        if newcomer.page.locator("#place-name").text_content() != place:
            newcomer.go_to(place)
        newcomer.look(place)
        newcomer.drive_by_keys()
        newcomer.drive_by_expert()
        newcomer.look(f"{place}-expert")
        if place == PLACES[language, size][0]:
            newcomer.leave_the_road_and_come_back()
    newcomer.stand()
    newcomer.record()
    newcomer.drive_with(newcomer.train())
    newcomer.watch()
    newcomer.context.close()
    assert newcomer.faults == []


def test_the_program_ends_with_ctrl_c_and_has_lost_nothing(program):
    count = len(list((program.car / "data" / "images").glob("*.jpg")))
    assert program.interrupt() == 0, program.lines
    program._reader.join(10)
    assert any(f"of the {count} recorded are deleted" in line for line in program.lines), program.lines[-5:]
    with pytest.raises(OSError):
        urllib.request.urlopen(program.control_page, timeout=2)
