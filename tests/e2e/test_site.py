"""A site in a browser: the same car and the same pictures as in this process, driven, recorded, raced and shared.

Its kernels take half a minute to compile, so these tests are a run of their own: `make visit`.
"""

import base64
import json
import math
import os
import shutil
import subprocess
import sys

import chromium
import numpy as np
import pytest
from benchmarks.site_visit.served_folder import serve_folder
from playwright.sync_api import expect, sync_playwright

from donkeysim.core.kernel import CACHE_FOLDER
from donkeysim.learn.pilot import load_pilot
from donkeysim.site.folder import PILOTS, write_site
from donkeysim.site.freeze import freeze
from donkeysim.site.modules import name_module
from donkeysim.tub.folder import open_tubs
from donkeysim.world.specs import SceneSpec
from stand_ins import frozen_drive
from stand_ins.frozen_drive import AXES, EVERY, drive

pytestmark = [pytest.mark.site, pytest.mark.skipif(chromium.PATH is None, reason="no Chromium on this machine")]

TRACK = SceneSpec("generated_track")
PLACES = (TRACK, SceneSpec("waveshare"))

PLAIN_KERNELS = CACHE_FOLDER.parent / "plain"
"""Where kernels for such a processor are kept."""

OPEN = """
  const base = location.origin;
  const { Machine } = await import(`${base}/machine.js`);
  const { Arrival } = await import(`${base}/place_file.js`);
  const site = await (await fetch(`${base}/site.json`)).json();
  const module = await WebAssembly.compile(await (await fetch(`${base}/${site.kernels}`)).arrayBuffer());
  const open = async (name) => {
    const { file } = site.places.find((place) => place.name === name);
    const arrival = new Arrival();
    arrival.add(new Uint8Array(await (await fetch(`${base}/${file}`)).arrayBuffer()));
    arrival.add(null);
    return Machine.open(arrival, module, site.kernels);
  };
  const encode = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
"""

DRIVE = (
    "async ([name, controls, every, axes]) => {"
    + OPEN
    + """
  const machine = await open(name);
  const frames = [], pictures = [];
  controls.forEach(([angle, throttle], frame) => {
    machine.step(-angle / 127, throttle / 127, 0);
    frames.push(machine.after.pose);
    if (frame % every === 0) pictures.push(encode(machine.drawPilot()));
  });
  const eye = [machine.after.pose[0] - 0.7, machine.after.pose[1], machine.after.pose[2] + 0.3];
  const view = encode(machine.drawView(machine.after, null, { eye, axes }));
  return { frames, pictures, view };
}"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a site's folder."""
    out = tmp_path_factory.mktemp("site") / "out"
    write_site(out, PLACES, report=lambda _: None)
    return out


@pytest.fixture(scope="module")
def address(site):
    with serve_folder(site) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    context = browser.new_context(accept_downloads=True, viewport={"width": 1366, "height": 768}, locale="en-US")
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert faults == []


def evaluate(page, address, script, given):
    """Run a script on a bare page of the site, and return what it returns."""
    page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
    page.goto(f"{address}/site.json")
    return page.evaluate(script, given)


def read(page, name):
    return int(page.evaluate(f"document.body.dataset.{name} ?? 0"))


def wait(page, is_so, what):
    chromium.wait_on_page(page, is_so, what)


def open_page(page, address, place=""):
    page.goto(f"{address}/{place}")
    wait(page, lambda: read(page, "drawn") > 0 and read(page, "frames") > 0, "nothing was drawn")


def decode(text, *shape):
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(*shape).astype(int)


# Off the road and into what stands there: contacts, too, are the same.
CONTROLS = [(round(40 * math.sin(frame / 9)), 70 if frame < 150 else 40) for frame in range(300)]


@pytest.mark.parametrize("spec", PLACES, ids=lambda spec: spec.name)
def test_the_same_controls_give_the_same_car_and_the_same_pictures(page, address, spec, tmp_path):
    seen = evaluate(page, address, DRIVE, [spec.name, CONTROLS, EVERY, AXES])
    here, there = drive(spec.name, CONTROLS), drive_plainly(spec.name, tmp_path)
    assert np.ptp(here["poses"][:, :2]) > 1.0
    for own in (here, there):
        assert np.abs(own["poses"] - seen["frames"]).max() < 1e-9
    # Pages have no sum and product in one go. Where this processor has, edges of things may fall otherwise.
    for own, most, share in ((here, 255, 0.999), (there, 1, 0.9999)):
        for picture, other in zip((*own["pictures"], own["view"]), (*seen["pictures"], seen["view"]), strict=True):
            apart = np.abs(picture.astype(int) - decode(other, *picture.shape))
            assert apart.max() <= most
            assert (apart <= 1).mean() >= share


def drive_plainly(name, folder):
    """Return what `drive` does, by kernels for a processor that multiplies and adds one after the other."""
    given, out = folder / "controls.json", folder / "out.npz"
    given.write_text(json.dumps(CONTROLS))
    machine = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "DONKEYSIM_KERNEL_CACHE": str(PLAIN_KERNELS)}
    program = (sys.executable, frozen_drive.__file__, name, str(given), str(out))
    subprocess.run(program, env=os.environ | machine, check=True, timeout=240)
    return dict(np.load(out))


def test_a_pilot_in_the_page_decides_as_it_does_here(page, address):
    script = (
        "async ([name, files]) => {"
        + OPEN
        + """
      const { Pilot } = await import(`${base}/pilot.js`);
      const machine = await open(name);
      const answers = [];
      for (const file of files) {
        const pilot = new Pilot(await (await fetch(`${base}/${file}`)).arrayBuffer(), machine);
        machine.restart();
        for (let frame = 0; frame < 40; frame++) {
          const picture = machine.drawPilot(), seen = encode(picture);
          const [angle, throttle] = pilot.drive(picture);
          answers.push({ file, seen, angle, throttle });
          machine.step(-angle, throttle, 0);
        }
      }
      return answers;
    }"""
    )
    files = ["pilots/generated_track.onnx", "pilots/anywhere.onnx"]
    answers = evaluate(page, address, script, [TRACK.name, files])
    pilots = {file: load_pilot(PILOTS / file.removeprefix("pilots/")) for file in files}
    for answer in answers:
        angle, throttle = pilots[answer["file"]].run(decode(answer["seen"], 120, 160, 3).astype(np.uint8))
        assert answer["angle"] == pytest.approx(min(max(angle, -1), 1), abs=1e-4)
        assert answer["throttle"] == pytest.approx(min(max(throttle, -1), 1), abs=1e-4)
    assert max(abs(answer["angle"]) for answer in answers) > 0.05


def test_keys_drive_and_a_drive_becomes_a_tub_that_trains(page, address, tmp_path):
    open_page(page, address)
    page.keyboard.press("c")
    page.keyboard.down("w")
    speed = page.locator("#speed")
    wait(page, lambda: float(speed.text_content()) > 0.5, "the car does not drive")
    page.keyboard.up("w")
    page.keyboard.down("s")
    wait(page, lambda: float(speed.text_content()) < 0.5, "the car does not brake")
    page.keyboard.up("s")
    wait(page, lambda: speed.text_content() == "0.0", "the car does not come to a stop")
    standing = page.locator("#rec").text_content()
    page.wait_for_timeout(500)
    assert page.locator("#rec").text_content() == standing  # standing leaves no records
    page.get_by_role("button", name="Expert").click()
    wanted = int(standing.split()[-1]) + 160  # through a bend
    wait(page, lambda: int(page.locator("#rec").text_content().split()[-1]) > wanted, "nothing is recorded")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the drive").click()
    path = tmp_path / "drive.zip"
    download.value.save_as(path)
    (tub,) = open_tubs([str(path)])
    records = list(tub)
    assert len(records) > wanted
    assert np.std([record.values["user/angle"] for record in records]) > 0.05
    assert tub.places == ("generated_track",)
    assert max(record.values["user/throttle"] for record in records) > 0.3
    assert records[50].load_image().shape == (120, 160, 3)
    train(path, tmp_path)


def train(path, folder):
    from donkeysim.car.config import make_default_config
    from donkeysim.learn.train import train as learn

    config = make_default_config(folder / "car", {"MAX_EPOCHS": 1, "PRINT_MODEL_SUMMARY": False, "SHOW_PLOT": False})
    learn(config, [path], folder / "pilot.h5", "linear")
    assert (folder / "pilot.h5").is_file()


def test_a_lap_is_timed_shared_and_raced_against(page, address, browser):
    script = (
        "async ([name, place]) => {"
        + OPEN
        + """
      const { Expert } = await import(`${base}/expert.js`);
      const { Run, findGhost, readLap, replay, writeLap } = await import(`${base}/laps.js`);
      const machine = await open(name), expert = new Expert(machine.header), run = new Run();
      let lap = null, off = 0;
      for (let frame = 0; frame < 1200 && !lap; frame++) {
        const [angle, throttle] = expert.drive(machine).map((value) => Math.round(127 * value));
        machine.step(-angle / 127, throttle / 127, 0);
        off += machine.array("on_road")[0] === 0;
        lap = run.note(angle, throttle, machine);
      }
      const text = await writeLap(name, lap.controls), read = await readLap(text);
      const again = replay(machine, read.controls);
      const [first, last] = [findGhost(again, 0).pose, again.poses.at(-1).pose];
      const gap = Math.hypot(first[0] - last[0], first[1] - last[1]);
      const broken = await readLap("generated_track.@@"), late = findGhost(again, again.time + 1);
      return { time: lap.time, again: again.time, place: read.place, text, off, gap, broken, late };
    }"""
    )
    lap = evaluate(page, address, script, [TRACK.name, ""])
    assert lap["off"] == 0
    assert 10 < lap["time"] < 30
    assert lap["again"] == lap["time"]
    assert lap["place"] == TRACK.name
    assert lap["gap"] < 0.2  # a lap ends where it begins
    assert lap["broken"] is None
    assert lap["late"] is None
    assert len(lap["text"]) < 2000
    page.goto("about:blank")
    open_page(page, address, f"#lap={lap['text']}")
    expect(page.locator("#toast")).to_have_text(f"You race against a lap of {lap['time']:.2f} s")
    expect(page.locator("#best")).to_have_text(f"best {lap['time']:.2f}")


def test_the_page_laps_keeps_the_best_one_and_gives_a_link(page, address):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, address, "#place=waveshare")
    expect(page.locator("#place")).to_have_value("waveshare")
    wait(page, lambda: read(page, "laps") > 0, "the expert does not drive for who comes first")
    expect(page.locator("#who-note")).to_contain_text("The expert drives")
    expect(page.locator("#share")).to_be_hidden()  # nobody's own lap
    page.get_by_role("button", name="Pilot", exact=True).click()
    page.get_by_role("button", name="Share the best lap").click()
    expect(page.locator("#toast")).to_contain_text("is copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "#lap=waveshare." in link
    best = page.locator("#best").text_content()
    page.goto("about:blank")
    open_page(page, address, "#place=waveshare")
    assert float(page.locator("#best").text_content().split()[-1]) <= float(best.split()[-1])


def test_drivers_views_and_places_change(page, address):
    open_page(page, address)
    for name in ("Pilot", "Expert", "You"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator("[aria-pressed=true][data-driver]")).to_have_text(name)
        before = read(page, "frames")
        wait(page, lambda before=before: read(page, "frames") > before + 3, f"{name}: time stands still")
    for view in ("seat", "top", "chase"):
        page.locator("#sight").select_option(view)
        before = read(page, "drawn")
        wait(page, lambda before=before: read(page, "drawn") > before + 3, f"{view}: nothing is drawn")
    page.locator("#place").select_option("waveshare")
    expect(page.locator("#cover")).to_be_hidden()
    before = read(page, "drawn")
    wait(page, lambda: read(page, "drawn") > before + 3, "nothing is drawn there")
    page.locator("#language").select_option("zh")
    expect(page.locator("[data-driver=user]")).to_have_text("你")


def test_a_pilot_and_a_place_can_be_dropped(page, address, site, tmp_path):
    open_page(page, address)
    own = freeze(SceneSpec("carpet_hall"), name_module())
    files = {"own_hall.place": own, "mine.onnx": (site / "pilots" / "anywhere.onnx").read_bytes(), "old.h5": b"h5"}
    drop(page, "old.h5", files["old.h5"])
    expect(page.locator("#toast")).to_contain_text("donkey models --onnx")
    drop(page, "mine.onnx", files["mine.onnx"])
    expect(page.locator("#who-note")).to_have_text("mine.onnx drives")
    drop(page, "own_hall.place", files["own_hall.place"])
    expect(page.locator("#place")).to_have_value("own_hall")
    expect(page.locator("#cover")).to_be_hidden()
    drop(page, "broken.onnx", b"no pilot")
    expect(page.locator("#toast")).to_contain_text("no pilot in ONNX")
    drop(page, "other.place", freeze(SceneSpec("waveshare"), "kernels-of-yesterday.wasm"))
    expect(page.locator("#cover-text")).to_contain_text("another donkeysim")


def drop(page, name, content):
    page.evaluate(
        """([name, content]) => {
          const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], name));
          document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
        }""",
        [name, base64.b64encode(content).decode()],
    )


def test_it_works_without_a_network_after_the_first_visit(browser, site, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(site, copy)
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    with serve_folder(copy) as address:
        open_page(page, address)
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.reload()  # now by the service worker, which keeps the place, too
        wait(page, lambda: read(page, "drawn") > 0, "nothing was drawn")
        kept = "caches.match('places/generated_track.place').then((found) => Boolean(found))"
        wait(page, lambda: page.evaluate(kept), "the place is not kept")
    page.reload()
    wait(page, lambda: read(page, "drawn") > 0, "nothing was drawn without a network")
    context.close()


def test_a_hidden_page_rests_and_goes_on(page, address):
    open_page(page, address)
    set_hidden(page, True)
    page.wait_for_timeout(200)
    before = read(page, "frames")
    page.wait_for_timeout(600)
    assert read(page, "frames") == before
    set_hidden(page, False)
    wait(page, lambda: read(page, "frames") > before + 3, "time stands still")


def set_hidden(page, is_hidden):
    page.evaluate(
        """(isHidden) => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_a_machine_without_vectors_gets_one_sentence(page, address):
    page.add_init_script("WebAssembly.validate = () => false")
    page.goto(address)
    expect(page.locator("#cover-text")).to_contain_text("WebAssembly with vectors (SIMD)")
    expect(page.locator(".spinner")).to_be_hidden()


def test_nothing_is_asked_of_anybody_else(page, address):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, address)
    assert [url for url in asked if not url.startswith((address, "blob:", "data:"))] == []


def test_fingers_drive_on_a_phone(browser, address):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    open_page(page, address)
    box = page.locator("#stick").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] - 50)
    wait(page, lambda: float(page.locator("#speed").text_content()) > 0.5, "the car does not drive")
    page.mouse.up()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
