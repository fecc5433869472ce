"""Take the pictures of pages that the documentation shows, and the menu's pictures of the scenes.

`python docs/pictures/take.py [watching] [drawn] [control] [tubclean] [report] [race_report] [preview] [learning] [site]
[stress:FILE]` from anywhere; without words all but the last. Needs the extra `dev` and a Chromium; writes JPEG files
beside this one.

* watching: draws every scene of the menu with the project's own renderer; then starts `donkey_sim`, opens its page, and
  lets a pace car and three clients drive.
* drawn: starts `donkey_sim` in each of the original's places, and takes what the browser draws of the pace car.
* control: makes a car folder, lets the built-in pilot drive it, opens the control page in each of its languages, and
  its choice of places.
* tubclean: records a sample, and opens the tub page with something marked and something deleted.
* report: lets the built-in pilot drive three laps, and opens the report.
* stress:FILE: opens the report of a stress test, which takes long to drive (docs/guide/evaluate.md says how).
* race_report: races fourteen drivers, and opens the race's report.
* preview: writes a new track, opens its page, then makes a mistake in it.
* site: writes a site, and lets its pilot and its expert drive there.
* learning: lets a policy learn to drive, and opens its page meanwhile and at the end; takes some minutes.
"""

import contextlib
import io
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from donkeysim.car.folder import create_car
from donkeysim.core.image import encode_jpeg
from donkeysim.drive.sample import record_sample
from donkeysim.learn.pilot import BUILT_IN_PILOT
from donkeysim.sim.simulator import Simulator
from donkeysim.web.page import SCENE_PICTURES
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks import list_scenes
from donkeysim.world.tracks.catalogue import ORIGINAL_SCENES
from donkeysim.world.tracks.new_track import write_new_track

HERE = Path(__file__).parent
JPEG_QUALITY = 84
CLIENTS = (("Ada", "donkey", (40, 110, 220)), ("Grace", "cybertruck", (150, 152, 158)), ("Linus", "f1", (220, 50, 40)))
"""Name, body and paint."""
SITE_PLACES = ("generated_track", "waveshare")
SPEED = 1.62
"""Of every client [m/s]."""
ARGUMENTS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
DRAWN = "Number(document.querySelector('.drawn-here')?.dataset.count ?? 0)"
"""How many pictures the browser has drawn."""


class Driver:
    """A client that keeps to the path: steering from cte and its change."""

    def __init__(self, port: int, name: str, style: str, paint: tuple[int, int, int]) -> None:
        self.look = {"body_style": style, "car_name": name, "font_size": "60"}
        self.look |= {f"body_{channel}": str(value) for channel, value in zip("rgb", paint, strict=True)}
        self.socket = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        """Answer every telemetry with a control, until the connection ends."""
        before = 0.0
        for line in self.socket.makefile("r", encoding="ascii"):
            message = json.loads(line)
            if message["msg_type"] == "car_loaded":
                self.send("car_config", **self.look)
            if message["msg_type"] == "telemetry":
                cte = message["cte"]
                steering = -0.35 * cte - 2.5 * (cte - before)
                before = cte
                throttle = max(0.0, 0.8 * (SPEED - message["speed"]))
                self.send("control", steering=str(steering), throttle=str(throttle), brake="0")

    def send(self, kind: str, **fields: str) -> None:
        """Send one message."""
        self.socket.sendall(json.dumps({"msg_type": kind, **fields}).encode())


def main() -> None:
    """Take the pictures that the command line names."""
    takers = {
        "watching": take_watching,
        "drawn": take_drawn,
        "control": take_control,
        "tubclean": take_tubclean,
        "report": take_report,
        "race_report": take_race_report,
        "preview": take_preview,
        "learning": take_learning,
        "site": take_site,
    }
    words = sys.argv[1:] or [*takers]
    takers["stress"] = take_stress
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for word in words:
            name, _, file = word.partition(":")
            takers[name](browser, Path(file or folder))
        browser.close()


@contextlib.contextmanager
def run(*words: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a program of the project as long as the block lasts."""
    program = subprocess.Popen(
        [sys.executable, "-u", *words],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "WEB_CONTROL_PORT": "0"},
    )
    try:
        yield program
    finally:
        program.terminate()
        program.communicate(timeout=20)


def read_address(program: subprocess.Popen[str]) -> str:
    """Return the address of a page, as its program prints it first of all."""
    assert program.stdout is not None
    address = next(found[0] for line in program.stdout if (found := re.search(r"http://[\w.]+:\d+", line)))
    threading.Thread(target=program.stdout.read, daemon=True).start()
    return address


def take_watching(browser: Browser, folder: Path) -> None:
    """Take the pictures of the watching page, and those its menu shows."""
    for name in list_scenes():
        write_preview(name)
    words = "-m donkeysim.cli.donkey_sim --scene generated_track --port 9091 --page-port 0"
    with run(*words.split(), folder=folder) as program:
        take_all(browser, *read_addresses(program))


def take_drawn(browser: Browser, folder: Path) -> None:
    """Take what the browser draws of each of the original's places, as one picture of three columns."""
    names, (width, height), columns = ORIGINAL_SCENES, (560, 315), 3
    sheet = Image.new("RGB", (columns * width, -(-len(names) // columns) * height), "white")
    for index, name in enumerate(names):
        words = f"-m donkeysim.cli.donkey_sim --scene {name} --pace-car --port 0 --page-port 0"
        with run(*words.split(), folder=folder) as program:
            page = open_page(browser, f"{read_addresses(program)[1]}/?draw=high", 1366, 768, "light")
            while page.evaluate(DRAWN) < 1:
                page.wait_for_timeout(200)
            page.wait_for_timeout(5000)
            page.locator("#inset").evaluate("(inset) => inset.remove()")
            picture = Image.open(io.BytesIO(page.locator("#panes").screenshot()))
            page.context.close()
        place = index % columns * width, index // columns * height
        sheet.paste(picture.resize((width, height), Image.Resampling.LANCZOS), place)
    sheet.save(HERE / "drawn-places.jpg", quality=JPEG_QUALITY)


def take_control(browser: Browser, folder: Path) -> None:
    """Take the control page on a desktop in three languages while a pilot drives, its places, and it on a phone."""
    create_car(folder / "mysim", say=lambda _: None)
    with run("manage.py", "drive", "--model", str(BUILT_IN_PILOT), folder=folder / "mysim") as program:
        address = read_address(program)
        page = open_page(browser, f"{address}/drive", 1366, 768, "light")
        page.locator("#speed").wait_for(timeout=120_000)
        page.keyboard.press("Shift+D")
        page.locator("#laps li").nth(1).wait_for(timeout=120_000)
        for code, name in (("zh", "control-page-zh"), ("ja", "control-page-ja"), ("en", "control-page")):
            page.locator("#language").select_option(code)
            take(page, name)
        page.locator("#place").click()
        page.locator(".choice img").last.wait_for()
        page.wait_for_timeout(1000)
        take(page, "places")
        page.locator("#places-close").click()
        phone = open_page(browser, f"{address}/drive", 390, 844, "dark", scale=2)
        take(phone, "control-page-phone")


def take_preview(browser: Browser, folder: Path) -> None:
    """Take the preview of a new track on a desktop, and with a mistake on a phone."""
    track = write_new_track("my_track", folder)
    with run("-m", "donkeysim", "tracks", "preview", track.name, "--port", "0", folder=folder) as program:
        address = read_address(program)
        page = open_page(browser, address, 1280, 820, "light")
        page.locator("body[data-state=ready]").wait_for(timeout=120_000)
        page.locator("#at").fill("0.12")
        page.wait_for_timeout(1500)
        take(page, "preview")
        phone = open_page(browser, address, 390, 844, "dark", scale=2)
        track.write_text(track.read_text(encoding="utf-8").replace("radius = 1.0", "radus = 1.0"), encoding="utf-8")
        phone.locator("body[data-state=mistake]").wait_for(timeout=120_000)
        phone.wait_for_timeout(1500)
        take(phone, "preview-phone")


def take_tubclean(browser: Browser, folder: Path) -> None:
    """Take the tub page of a sampled drive."""
    tub = folder / "data"
    record_sample(tub, lap_count=2)
    with run("-m", "donkeysim", "tubclean", str(tub), "--port", "0", folder=folder) as program:
        page = open_page(browser, read_address(program), 1280, 960, "light")
        page.locator("#desk").wait_for()
        for first, last in ((120, 190), (430, 470)):
            mark(page, first, last)
            page.keyboard.press("Delete")
        mark(page, 210, 245)
        page.evaluate("document.getElementById('name').textContent = '~/mysim/data'")
        take(page, "tubclean")


def take_report(browser: Browser, folder: Path) -> None:
    """Take the report of the built-in pilot."""
    report = folder / "report.html"
    words = [sys.executable, "-m", "donkeysim", "evaluate", "--tracks", "generated_track", "--out", str(report)]
    subprocess.run(words, cwd=folder, check=True)
    take(open_page(browser, report.as_uri(), 1280, 960, "light"), "report")


def take_stress(browser: Browser, report: Path) -> None:
    """Take the report of a stress test."""
    take(open_page(browser, report.resolve().as_uri(), 1280, 960, "light"), "stress")


def take_race_report(browser: Browser, folder: Path) -> None:
    """Take the report of a race of fourteen."""
    names = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Grace", "Hugo", "Ivy", "Jan", "Kim", "Linus", "Mia", "Nils")
    racers = [f"{name}={('fast', 'steady', 'human')[place % 3]}" for place, name in enumerate(names)]
    words = [word for racer in racers for word in ("--pilot", racer)]
    donkey = [sys.executable, "-m", "donkeysim", "race"]
    subprocess.run([*donkey, *words, "--rules", "f1tenth", "--laps", "6", "--out", str(folder)], check=True)
    subprocess.run([*donkey, "export", str(folder / "race.dlog"), "--html"], check=True)
    take(open_page(browser, (folder / "race.html").as_uri(), 1280, 1500, "light"), "race-report")


def take_learning(browser: Browser, folder: Path) -> None:
    """Take the page of a policy that learns, on a phone on the way and on a desktop at the end."""
    with run("-m", "donkeysim", "rl", "--out", str(folder / "pilot"), folder=folder) as program:
        address = read_address(program)
        page = open_page(browser, address, 1280, 960, "light")
        phone = open_page(browser, address, 390, 844, "dark", scale=2)
        phone.locator("body[data-state=learning]").wait_for(timeout=300_000)
        watched = open_page(browser, f"{address}/?draw=low", 1280, 720, "light")
        watched.wait_for_timeout(9_000)
        watched.screenshot(path=HERE / "rl-page-ghosts.jpg", type="jpeg", quality=JPEG_QUALITY)
        watched.context.close()
        phone.wait_for_timeout(15_000)
        take(phone, "rl-page-phone")
        page.locator("#outcome code", has_text="report").wait_for(timeout=900_000)
        for row in page.locator("#outcome code").all():
            line = row.inner_text().replace(str(folder.resolve()), "~/mysim").replace(str(folder), "~/mysim")
            row.evaluate("(element, text) => { element.textContent = text; }", line)
        take(page, "rl-page")


def take_site(browser: Browser, folder: Path) -> None:
    """Take a page that simulates, with a pilot on a desktop and with a thumb on a phone."""
    with run("-m", "donkeysim", "site", "--track", *SITE_PLACES, folder=folder) as program:
        program.wait(240)
    with run("-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", "site", folder=folder) as server:
        address = read_address(server)
        page = open_page(browser, address, 1366, 768, "light")
        page.locator("#cover").wait_for(state="hidden", timeout=60_000)
        page.locator("#drawing").evaluate("node => { node.hidden = true; }")  # it speaks of this machine
        page.locator("[data-driver=pilot]").click()
        page.wait_for_timeout(9000)
        page.screenshot(path=HERE / "site.jpg", type="jpeg", quality=JPEG_QUALITY)
        phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
        phone.goto(f"{address}#place={SITE_PLACES[1]}")
        phone.locator("#cover").wait_for(state="hidden", timeout=60_000)
        phone.locator("[data-driver=expert]").click()
        phone.wait_for_timeout(7000)
        phone.screenshot(path=HERE / "site-phone.jpg", type="jpeg", quality=JPEG_QUALITY)


def mark(page: Page, first: int, last: int) -> None:
    """Mark a stretch of the tub."""
    for number, key in ((first, "i"), (last, "o")):
        page.locator("#jump").fill(str(number))
        page.locator("#jump").press("Enter")
        page.keyboard.press(key)


def write_preview(name: str) -> None:
    """Write the menu's picture of a scene: a car at the start, seen from behind and above."""
    simulator = Simulator(WorldSpec(scene=SceneSpec(name)))
    car = simulator.add_car(body=BodySpec(colour=(220, 60, 40)))
    simulator.step(240)
    x, y, z = simulator.ledger.position[car].tolist()
    yaw = float(simulator.ledger.yaw[car])
    back, left, up = 2.2, 0.9, 1.0
    place = (x - back * math.cos(yaw) - left * math.sin(yaw), y - back * math.sin(yaw) + left * math.cos(yaw), z + up)
    camera = CameraSpec(width=640, height=360, fov=math.radians(55.0), supersample=2)
    picture = simulator.view(0, place, (0.0, math.radians(14.0), yaw - math.radians(12.0)), camera)
    (SCENE_PICTURES / f"{name}.jpg").write_bytes(encode_jpeg(picture, JPEG_QUALITY))


def read_addresses(program: subprocess.Popen[str]) -> tuple[int, str]:
    """Return the port for clients and the page's address, as the program prints them."""
    assert program.stdout is not None
    port, address = 0, ""
    while not (port and address):
        line = program.stdout.readline()
        if found := re.search(r"(http://)?127\.0\.0\.1:(\d+)", line):
            port, address = (port, found[0]) if found[1] else (int(found[2]), address)
    threading.Thread(target=program.stdout.read, daemon=True).start()
    return port, address


def take_all(browser: Browser, wire_port: int, address: str) -> None:
    """Take the desktop, phone, dark and menu pictures."""
    page = open_page(browser, address, 1366, 768, "light")
    page.locator("#pace-offer").wait_for(timeout=120_000)
    take(page, "watching-empty")
    page.locator("#pace-offer").click()
    page.set_viewport_size({"width": 1360, "height": 1010})
    page.locator("#cars button").first.wait_for(timeout=120_000)
    drivers = []
    for client in CLIENTS:
        page.wait_for_timeout(4000)
        drivers.append(Driver(wire_port, *client))
    page.locator("#cars button", has_text=CLIENTS[0][0]).click()
    page.locator("#laps li").nth(1).wait_for(timeout=120_000)
    take(page, "watching")
    page.get_by_role("button", name="Top", exact=True).click()
    take(page, "watching-top")
    phone = open_page(browser, f"{address}/?car={CLIENTS[1][0]}", 390, 844, "dark", scale=2)
    phone.locator("#language").select_option("zh")
    phone.mouse.wheel(0, -4000)
    take(phone, "watching-phone")
    page.get_by_role("button", name="Exit scene").click()
    page.locator("#exit-dialog .danger").click()
    page.locator(".scene-card").first.wait_for()
    take(page, "watching-menu")
    for driver in drivers:
        driver.socket.close()


def open_page(browser: Browser, address: str, width: int, height: int, scheme: str, scale: int = 1) -> Page:
    """Open a page in a window of its own."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale
    )
    page = context.new_page()
    page.goto(address)
    return page


def take(page: Page, name: str) -> None:
    """Write a picture after the page has run for a while."""
    drawing = page.locator("#drawing select")
    is_drawn = drawing.count() > 0 and drawing.is_visible()
    if is_drawn:  # for this picture only: without a graphics chip it would take the processor from all else
        drawing.select_option("high")
    page.wait_for_timeout(4000)
    while is_drawn and page.evaluate(DRAWN) < 3 and page.locator(".drawn-here:visible").count():
        page.wait_for_timeout(200)
    page.screenshot(path=HERE / f"{name}.jpg", type="jpeg", quality=JPEG_QUALITY)
    if is_drawn:
        drawing.select_option("simulator")


if __name__ == "__main__":
    main()
