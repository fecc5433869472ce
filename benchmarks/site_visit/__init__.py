"""The simulator in a page: bytes and seconds to the first picture, pictures and car steps a second, in Chromium.

Cold: a browser that has never been there, on a network of 20 Mbit/s and 20 ms that the browser itself slows down to.
"""

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Playwright, sync_playwright

from benchmarks.measure import Figure
from benchmarks.site_visit.served_folder import serve_folder
from benchmarks.watching import ARGUMENTS
from donkeysim.cli.commands.site import list_defaults
from donkeysim.sim.simulator import Simulator
from donkeysim.site.folder import Site, write_site
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

TRACK = "generated_track"
NETWORK = {"offline": False, "latency": 20, "downloadThroughput": 20e6 / 8, "uploadThroughput": 20e6 / 8}
VISITS = 5
SECONDS = 4.0

NOTE_FIRST = """
new MutationObserver(() => {
  if (document.body?.dataset.drawn && !window.firstPicture) window.firstPicture = performance.now();
}).observe(document, { attributes: true, subtree: true });
"""

COUNT = """async (milliseconds) => {
  const read = () => [document.body.dataset.drawn, document.body.dataset.frames].map(Number);
  const [before, began] = [read(), performance.now()];
  await new Promise((done) => setTimeout(done, milliseconds));
  const seconds = (performance.now() - began) / 1000;
  return read().map((count, index) => (count - before[index]) / seconds);
}"""

STEP = """async ([name, count]) => {
  const { Machine } = await import(`${location.origin}/machine.js`);
  const { Arrival } = await import(`${location.origin}/place_file.js`);
  const site = await (await fetch("site.json")).json();
  const module = await WebAssembly.compile(await (await fetch(site.kernels)).arrayBuffer());
  const arrival = new Arrival();
  const { file } = site.places.find((place) => place.name === name);
  arrival.add(new Uint8Array(await (await fetch(file)).arrayBuffer()));
  arrival.add(null);
  const machine = await Machine.open(arrival, module, site.kernels);
  const measure = (work) => {
    for (let index = 0; index < 50; index++) work();
    const began = performance.now();
    for (let index = 0; index < count; index++) work();
    return 1000 * count / (performance.now() - began);
  };
  const physics = measure(() => machine.step(0.1, 0.3, 0));
  machine.restart();
  return [physics, measure(() => { machine.step(0.1, 0.3, 0); machine.drawPilot(); })];
}"""


def run() -> list[Figure]:
    """Write a site of the original's places and visit it."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        out = Path(folder) / "site"
        site = write_site(out, [SceneSpec(name) for name in list_defaults()], report=lambda _: None)
        with serve_folder(out) as address:
            visits = [visit(playwright, address) for _ in range(VISITS)]
            rate, beats = watch(playwright, address)
            physics, steps = count_steps(playwright, address)
    seconds = [second for second, _ in visits]
    return [
        *describe_sizes(site, max(count for _, count in visits)),
        describe("first picture of a cold visit", statistics.median(seconds), min(seconds), "s", most=2.0),
        describe("pictures of 640x480 drawn while a pilot drives", rate, rate, "/s", goal=59.0),
        describe("beats of the simulator meanwhile", beats, beats, "/s", goal=19.5),
        describe("car steps of 1/20 s without pictures", physics, physics, "/s"),
        describe("car steps with a picture of 160x120, one thread", steps, steps, "/s", goal=1500.0),
        describe("the same as a share of this machine's own", steps / count_own_steps(), 0.0, ""),
    ]


def describe(what: str, value: float, best: float, unit: str, **asked: float) -> Figure:
    return Figure("site_visit", what, value, best or value, unit, **asked)  # type: ignore[arg-type]


def describe_sizes(site: Site, visited: int) -> list[Figure]:
    """Return what comes over the wire for the first place, and the largest place."""
    largest = max(place.size for place in site.places) / 1e6
    return [
        describe("over the wire until it drives, generated_track", visited / 1e6, 0.0, "MB", most=5.0),
        describe("the largest of the original's eleven places", largest, 0.0, "MB", most=8.0),
    ]


def open_page(playwright: Playwright) -> Page:
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
    return browser.new_page(viewport={"width": 640, "height": 480})


def visit(playwright: Playwright, address: str) -> tuple[float, int]:
    """Return when the first picture was drawn [s] and how many bytes had come, in a new browser."""
    page = open_page(playwright)
    session, bytes_seen = page.context.new_cdp_session(page), []

    def note(event: dict[str, Any]) -> None:
        bytes_seen.append(int(event["encodedDataLength"]))

    session.on("Network.loadingFinished", note)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", NETWORK)
    page.add_init_script(NOTE_FIRST)
    page.goto(address)
    drawn = wait(page, "window.firstPicture ?? null")
    counted = sum(bytes_seen)
    close(page)
    return float(drawn) / 1000, counted


def wait(page: Page, expression: str) -> Any:
    """Return what an expression says as soon as it says something."""
    until = time.perf_counter() + 60
    while (value := page.evaluate(expression)) is None:
        if time.perf_counter() > until:
            raise RuntimeError(f"nothing was drawn; the page says {page.locator('#cover-text').text_content()!r}")
        page.wait_for_timeout(20)
    return value


def watch(playwright: Playwright, address: str) -> tuple[float, float]:
    """Return how many pictures are drawn and how many frames pass a second while the pilot drives."""
    page = open_page(playwright)
    page.goto(address)
    wait(page, "document.body.dataset.drawn ?? null")
    page.locator("[data-driver=pilot]").click()
    page.wait_for_timeout(2000)
    drawn, frames = page.evaluate(COUNT, 1000 * SECONDS)
    close(page)
    return drawn, frames


def count_steps(playwright: Playwright, address: str) -> tuple[float, float]:
    """Return car steps a second in a page, without and with the pilot's picture."""
    page = open_page(playwright)
    page.goto(f"{address}/site.json")
    physics, steps = page.evaluate(STEP, [TRACK, 3000])
    close(page)
    return physics, steps


def count_own_steps() -> float:
    """Return the same with a picture in this process, on one thread."""
    simulator = Simulator(WorldSpec(scene=SceneSpec(TRACK)))
    car = simulator.add_car()
    simulator.configure_camera(car, CameraSpec())
    simulator.drive_car(car, 0.1, 0.3, 0.0)
    for _ in range(50):
        simulator.step()
        simulator.render()
    began, count = time.perf_counter(), 3000
    for _ in range(count):
        simulator.step()
        simulator.render()
    return count / (time.perf_counter() - began)


def close(page: Page) -> None:
    browser = page.context.browser
    assert browser is not None
    browser.close()
