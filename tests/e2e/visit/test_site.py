"""A site in a browser: the same car and the same pictures as in this process, driven, recorded, raced and shared.

Its kernels take half a minute to compile.
"""

import json
import math
import os
import subprocess
import sys

import chromium
import numpy as np
import pytest
from benchmarks.site_visit.served_folder import serve_folder
from playwright.sync_api import expect
from visiting import OPEN, PLACES, TRACK, decode, evaluate, open_page, read, wait

from donkeysim.core.kernel_folders import CACHE_FOLDER
from donkeysim.tub.folder import open_tubs
from stand_ins import frozen_drive
from stand_ins.frozen_drive import AXES, EVERY, drive

pytestmark = [pytest.mark.visit, chromium.NEEDED]

PLAIN_KERNELS = CACHE_FOLDER.parent / "plain"
"""Where kernels for such a processor are kept."""

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


def test_keys_drive_and_a_drive_becomes_a_tub_that_trains(page, address, tmp_path):
    open_page(page, address)
    page.keyboard.press("v")
    assert page.locator("#sight").input_value() == "seat"
    page.keyboard.press("r")
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
    wanted = count_records(page) + 160  # through a bend
    wait(page, lambda: count_records(page) > wanted, "nothing is recorded")
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
      const kept = encode(new Uint8Array(lap.controls.buffer));
      return { kept, time: lap.time, again: again.time, place: read.place, text, off, gap, broken, late };
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
    expect(page.locator("#best")).to_be_empty()  # it is somebody else's
    kept = {"time": lap["time"], "controls": lap["kept"]}
    page.evaluate(
        "([key, kept]) => localStorage.setItem(key, JSON.stringify(kept))", [f"donkeysim-best-/-{TRACK.name}", kept]
    )
    page.goto("about:blank")
    open_page(page, address)
    page.get_by_role("button", name="You", exact=True).click()
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
    assert page.locator("#best").text_content().startswith("best ")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#toast")).to_contain_text("You race against a lap of")


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


def test_it_works_without_a_network_after_the_first_visit(browser, site):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    with serve_folder(site) as address:
        open_page(page, address)
        listed = page.evaluate("fetch('site.json').then((answer) => answer.json())")
        for file in (listed["places"][0]["file"], listed["pilots"][0]["file"], "shared/viewer/three.js"):
            kept = f"caches.match('{file}').then((found) => Boolean(found))"
            wait(page, lambda kept=kept: page.evaluate(kept), f"{file} is not kept")
    page.reload()
    wait(page, lambda: read(page, "drawn") > 0, "nothing was drawn without a network")
    page.get_by_role("button", name="Pilot", exact=True).click()
    expect(page.locator("[aria-pressed=true][data-driver]")).to_have_text("Pilot")
    context.close()


def test_the_place_that_was_asked_for_last_is_the_one(page, address):
    """Whichever arrives first, and however far the other one has come."""
    open_page(page, address)
    for pause in (0, 30, 120, 350):
        page.locator("#place").select_option("generated_track")
        page.wait_for_timeout(pause)
        page.locator("#place").select_option("waveshare")
        expect(page.locator("#cover")).to_be_hidden()
        page.wait_for_timeout(600)
        page.keyboard.press("r")
        wait(page, lambda: count_records(page, "REC") > 0, "nothing is recorded")
        with page.expect_download() as download:
            page.locator("#save").click()
        assert download.value.suggested_filename == "donkeysim-waveshare.zip"
        page.keyboard.press("r")


def count_records(page, word=""):
    """Return how many records the page says there are, 0 where it does not say it with this word."""
    text = page.locator("#rec").text_content()
    return int("".join(filter(str.isdigit, text)) or 0) if word in text else 0


def test_a_recording_stays_when_one_drives_elsewhere(page, address):
    open_page(page, address)
    page.keyboard.press("r")
    wait(page, lambda: count_records(page) > 30, "nothing is recorded")
    page.keyboard.press("Delete")
    page.locator("#place").select_option("waveshare")
    expect(page.locator("#save")).to_be_hidden()
    expect(page.locator("#record")).to_have_attribute("aria-pressed", "false")
    page.locator("#place").select_option("generated_track")
    expect(page.locator("#save")).to_be_visible()


def test_links_that_lead_nowhere_say_so(page, address):
    open_page(page, address, "#place=nope")
    expect(page.locator("#toast")).to_have_text("This site has no place called Nope.")
    page.evaluate("location.hash = '#lap=garbage'")
    expect(page.locator("#toast")).to_have_text("This link holds no lap.")
    page.evaluate("location.hash = '#place=waveshare'")
    expect(page.locator("#place")).to_have_value("waveshare")


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


def test_who_opens_the_page_as_a_file_reads_what_to_do(browser, site, page, address):
    open_page(page, address)
    expect(page.locator("#stuck")).to_have_count(0)
    alone = browser.new_page()
    alone.goto((site / "index.html").as_uri())
    expect(alone.get_by_text("Open this page from a web server, not as a file")).to_be_visible(timeout=30_000)
    alone.close()


def test_the_words_on_the_keys_cover_no_button(page, address):
    open_page(page, address)
    for width in (880, 1000, 1366):
        page.set_viewport_size({"width": width, "height": 640})
        words, tools, camera = (page.locator(name).bounding_box() for name in ("#keys", ".tools", ".pilot-view"))
        assert camera["x"] + camera["width"] <= words["x"], width
        assert words["x"] + words["width"] <= tools["x"], width


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
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en-US"
    )
    page = context.new_page()
    open_page(page, address)
    expect(page.locator("#who-note")).to_have_text("The expert drives. Take over with the stick.")
    box = page.locator("#stick").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] - 50)
    wait(page, lambda: float(page.locator("#speed").text_content()) > 0.5, "the car does not drive")
    page.mouse.up()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
