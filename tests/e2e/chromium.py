"""The browser that page tests use: headless Chromium, as quiet as it can be."""

import shutil
from collections import defaultdict

import pytest
from playwright.sync_api import expect

from waiting import PATIENCE, wait_until

PATH = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NEEDED = pytest.mark.skipif(PATH is None, reason="no Chromium on this machine")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The last such list counts: what pages notice of Playwright's own, and the address bar, which each window prepares.
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,HttpsUpgrades,PaintHolding,ThirdPartyStoragePartitioning,"
    "WebUIOmniboxAimPopup,WebUIOmniboxPopup",
]


HELD = (*"wasdijkl", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight")
"""Keys that a test may still hold at its end."""

FORGET = "() => { try { localStorage.clear(); sessionStorage.clear(); } catch {} }"


def launch(playwright):
    expect.set_options(timeout=PATIENCE * 1000.0)
    return playwright.chromium.launch(executable_path=PATH, args=ARGUMENTS)


class Pages:
    """Pages of a browser, handed from test to test: to open one anew takes a processor a second, to go on a third."""

    def __init__(self, browser):
        self._browser = browser
        self._spare = defaultdict(list)
        self._lent = []

    def open(self, width, height, handlers=None, **options):
        """Return an empty page that remembers nothing.

        Args:
            width: Of the window [pixels].
            height: Likewise.
            handlers: What is called at a page's events, by their name.
            options: Of the browser's context, as what the page believes to be shown on.
        """
        key = tuple(sorted(options.items()))
        page = self._spare[key].pop() if self._spare[key] else self._browser.new_context(**options).new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(PATIENCE * 1000.0)
        for event, handler in (handlers or {}).items():
            page.on(event, handler)
        self._lent.append((key, page, handlers or {}))
        return page

    def put_back(self):
        """Take back what is lent; the next test finds nothing of it."""
        for key, page, handlers in self._lent:
            for event, handler in handlers.items():
                page.remove_listener(event, handler)
            if page.is_closed():
                page.context.close()
                continue
            page.evaluate(FORGET)
            page.goto("about:blank")
            page.context.clear_cookies()
            for held in HELD:
                page.keyboard.up(held)
            self._spare[key].append(page)
        self._lent.clear()


def count_pictures(page):
    return int(page.evaluate("document.getElementById('picture').dataset.count ?? 0"))


def wait_for_pictures(page, more=3):
    """Wait on this side: the page's policy forbids what `wait_for_function` would evaluate there."""
    wanted = count_pictures(page) + more
    wait_on_page(page, lambda: count_pictures(page) >= wanted, "no new pictures")


def wait_on_page(page, is_so, what="it did not happen"):
    """Wait until something is true while the page is served."""
    wait_until(is_so, what, pause=lambda seconds: page.wait_for_timeout(1000.0 * seconds))


def read_pixels(page, points):
    """Return the colours of the main view at points given as shares of its width and height."""
    return page.evaluate(
        """(points) => {
          const from = document.getElementById("picture");
          const copy = document.createElement("canvas");
          [copy.width, copy.height] = [from.width, from.height];
          const pen = copy.getContext("2d");
          pen.drawImage(from, 0, 0);
          return points.map(([x, y]) => [...pen.getImageData(x * from.width, y * from.height, 1, 1).data].slice(0, 3));
        }""",
        points,
    )


def launch_drawing(playwright):
    """Launch one that draws with WebGL, on the processor."""
    arguments = [argument for argument in ARGUMENTS if argument != "--disable-gpu"]
    return playwright.chromium.launch(
        executable_path=PATH, args=[*arguments, "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    )


def count_drawn(page):
    """Return how many pictures the browser has drawn."""
    return int(page.evaluate("document.querySelector('.drawn-here')?.dataset.count ?? 0"))
