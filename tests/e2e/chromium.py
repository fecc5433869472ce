"""The browser that page tests use: headless Chromium, as quiet as it can be."""

from __future__ import annotations

import shutil

from playwright.sync_api import expect

from waiting import PATIENCE, wait_until

PATH = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch(playwright):
    expect.set_options(timeout=PATIENCE * 1000.0)
    return playwright.chromium.launch(executable_path=PATH, args=ARGUMENTS)


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
