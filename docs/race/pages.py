"""Take the pictures of the race page for the guide: `python docs/race/pages.py` from the root of a checkout.

It races eight drivers and shows the race file in a browser (`donkey replay --watch`), at the same moments each time;
then it holds a live race (`donkey race host`) for wall and overlay. Writes JPEG files beside this one; takes minutes.
Needs the extra `dev`, a Chromium, and that ports 9091 and 9093 are free.
"""

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
QUALITY = 82
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
PROGRAM = "import sys; from donkeysim.cli.donkey import main; sys.exit(main())"
RACE = ["--track", "harbour_town", "--rules", "robo_racing_carnage", "--laps", "4"]
DRIVERS = ("Anna=fast", "Ben=steady", "Chen=human", "Dai=steady", "Eva=human", "Finn=steady", "Gao=human", "Hugo=fast")
MIDDLE, FOUR = 33.0, 39.5
"""Moments in the middle of the race, on the time line [s]; the second for four pictures at once."""

PATIENCE = 300_000
"""For kernels to compile, and for cars to come [ms]."""


def main() -> None:
    """Take them all."""
    drivers = [word for driver in DRIVERS for word in ("--pilot", driver)]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        place = Path(folder)
        subprocess.run([sys.executable, "-c", PROGRAM, "race", *RACE, *drivers, "--out", "race"], cwd=place, check=True)
        with show("replay", "race/race.dlog", "--watch", "--port", "0", folder=place) as address:
            take_file(browser, address)
        with show("race", "host", *RACE, *drivers, "--out", "live", folder=place) as address:
            take_live(browser, address)
        browser.close()


@contextlib.contextmanager
def show(*words: str, folder: Path) -> Iterator[str]:
    """Run `donkey` with these words as long as the block lasts; yields the address of its page."""
    line = [sys.executable, "-u", "-c", PROGRAM, *words]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=folder) as program:
        try:
            assert program.stdout is not None
            found = (re.search(r"http://[\w.]+:\d+", line) for line in program.stdout)
            address = next((match[0] for match in found if match), None)
            if address is None:
                raise SystemExit(f"donkey {words[0]} showed no page; are ports 9091 and 9093 free?")
            threading.Thread(target=program.stdout.read, daemon=True).start()
            yield address
        finally:
            program.terminate()


def take_file(browser: Browser, address: str) -> None:
    """Take the pictures of a race that is over."""
    page = open_page(browser, address, 1600, 900, "light")
    seek(page, MIDDLE)
    take(page, "page")
    seek(page, FOUR)
    page.keyboard.press("c")
    page.keyboard.press("q")
    take(page, "page-split")
    page.keyboard.press("q")
    page.keyboard.press("b")
    page.locator("#journal .incident .jump").first.click()
    page.wait_for_timeout(2500)
    page.evaluate("scrollTo(0, 0)")
    take(page, "page-replay")
    phone = open_page(browser, address, 390, 844, "dark", scale=2)
    phone.locator("#language").select_option("ja")
    seek(phone, MIDDLE)
    take(phone, "page-phone")


def take_overlay(page: Page, overlay: Page) -> None:
    """Take the overlay upon a picture of the race, as streaming software puts it there."""
    ground = Image.open(io.BytesIO(page.locator("#screen").screenshot())).convert("RGBA").resize((1280, 720))
    ground.alpha_composite(Image.open(io.BytesIO(overlay.screenshot(omit_background=True))).convert("RGBA"))
    ground.convert("RGB").save(HERE / "page-overlay.jpg", quality=QUALITY)


def take_live(browser: Browser, address: str) -> None:
    """Take the wall before a race and while it is on, and the overlay."""
    page = open_page(browser, address, 1366, 768, "light")
    page.locator("#tab-engineer").wait_for(timeout=PATIENCE)
    wall = open_page(browser, f"{address}/wall", 1920, 1080, "dark")
    wall.locator("body[data-session=paddock]").wait_for(timeout=PATIENCE)
    take(wall, "page-wall-paddock")
    page.locator("#tab-engineer").click()
    page.locator("#start-race").click()
    wall.locator("body[data-session=race]").wait_for(timeout=PATIENCE)
    overlay = open_page(browser, f"{address}/overlay?rows=6", 1280, 720, "dark")
    wall.wait_for_timeout(25_000)
    take(wall, "page-wall")
    take_overlay(page, overlay)


def seek(page: Page, moment: float) -> None:
    """Show a moment of the race, and go on from there."""
    page.locator("#time-line").wait_for(timeout=PATIENCE)
    page.locator("#seek").fill(str(moment))
    page.evaluate("document.activeElement.blur()")


def open_page(browser: Browser, address: str, width: int, height: int, scheme: str, scale: int = 1) -> Page:
    """Open a page in a window of its own."""
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme, device_scale_factor=scale, locale="en")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    return page


def take(page: Page, name: str) -> None:
    """Write a picture after the page has run for a while."""
    page.wait_for_timeout(2500)
    page.screenshot(path=HERE / f"{name}.jpg", type="jpeg", quality=QUALITY)


if __name__ == "__main__":
    main()
