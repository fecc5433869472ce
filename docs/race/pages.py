"""Take the pictures of the race page for the guide: `python docs/race/pages.py` from the root of a checkout.

It holds a real race, `donkey race host` with drivers of the house, opens its page, wall and overlay in a browser,
starts the race from the page, and writes JPEG files beside this one; takes some minutes. Needs the extra `dev` and a Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
QUALITY = 82
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
TRACK, RULES, LAPS = "mini_monaco", "robo_racing_carnage", 3
PILOTS = ("Anna=fast", "Ben=steady", "小红车=human", "さくら=steady", "Eva=fast", "Finn=human")
PATIENCE = 300_000
"""For kernels to compile, and for the race to end [ms]."""

HIDDEN = "document.querySelector('.toast')?.remove()"


def main() -> None:
    """Take them all."""
    words = ["race", "host", "--track", TRACK, "--rules", RULES, "--laps", str(LAPS), "--port", "0", "--page-port", "0"]
    pilots = [word for pilot in PILOTS for word in ("--pilot", pilot)]
    program = "import sys; from donkeysim.cli.donkey import main; sys.exit(main())"
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        line = [sys.executable, "-u", "-c", program, *words, *pilots, "--out", str(Path(folder) / "race")]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=folder) as host:
            try:
                take_all(browser, read_address(host))
            finally:
                host.terminate()
        browser.close()


def read_address(host: subprocess.Popen[str]) -> str:
    """Return the page's address, as the program prints it."""
    assert host.stdout is not None
    address = next(found[0] for line in host.stdout if (found := re.search(r"http://[\w.]+:\d+", line)))
    threading.Thread(target=host.stdout.read, daemon=True).start()
    return address


def take_all(browser: Browser, address: str) -> None:
    """Follow the race from the paddock to its end."""
    page = open_page(browser, address, 1600, 900, "light")
    page.locator("#race-head").wait_for(timeout=PATIENCE)
    wall = open_page(browser, f"{address}/wall", 1920, 1080, "dark")
    wall.locator("#tower-lines .line").first.wait_for(timeout=PATIENCE)
    take(wall, "page-wall-paddock")
    page.locator("#tab-engineer").click()
    page.locator("#start-race").click()
    page.locator("#lights").wait_for(timeout=PATIENCE)
    wall.locator("body[data-session=race]").wait_for(timeout=PATIENCE)
    page.locator("#tab-journal").click()
    page.wait_for_timeout(25_000)
    take(page, "page")
    take(wall, "page-wall")
    wall.close()
    page.keyboard.press("c")
    page.keyboard.press("q")
    take(page, "page-split")
    page.keyboard.press("q")
    take_overlay(browser, address)
    phone = open_page(browser, address, 390, 844, "dark", scale=2)
    phone.locator("#language").select_option("ja")
    take(phone, "page-phone")
    phone.close()
    page.locator("#podium").wait_for(timeout=PATIENCE)
    page.keyboard.press("b")
    take(page, "page-result")
    page.locator("#journal .incident .jump").first.click()
    page.locator("#replay-sign").wait_for()
    take(page, "page-replay")


def take_overlay(browser: Browser, address: str) -> None:
    """Take the overlay upon a picture of the race, as streaming software would put it there."""
    page = open_page(browser, f"{address}/overlay?rows=6&scale=1.3", 480, 480, "dark")
    page.locator("#tower-lines .line").first.wait_for()
    take(page, "page-overlay")
    page.close()


def open_page(browser: Browser, address: str, width: int, height: int, scheme: str, scale: int = 1) -> Page:
    """Open a page in a window of its own."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale, locale="en"
    )
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
