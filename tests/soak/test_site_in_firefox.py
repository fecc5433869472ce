"""A site in Firefox, driven by WebDriver BiDi, which it speaks by itself: `make soak ARGS="-k firefox"`."""

import contextlib
import itertools
import json
import re
import shutil
import subprocess
import time

import pytest
from benchmarks.site_visit.served_folder import serve_folder
from playwright.sync_api import sync_playwright
from websockets.sync.client import connect

from donkeysim.site.folder import write_site
from donkeysim.world.specs import SceneSpec
from e2e import chromium
from waiting import PATIENCE

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

pytestmark = [pytest.mark.soak, pytest.mark.skipif(FIREFOX is None, reason="no Firefox on this machine")]

LOOK = """JSON.stringify({
  ...document.body.dataset,
  cover: document.getElementById("cover").hidden,
  said: document.getElementById("cover-text").textContent,
  speed: document.getElementById("speed").textContent,
  lap: document.getElementById("lap").textContent,
})"""


class Firefox:
    """A headless one with an empty profile."""

    def __init__(self, profile, size):
        width, height = size
        words = ["--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
        self.process = subprocess.Popen(
            [FIREFOX, *words, f"--width={width}", f"--height={height}"], stderr=subprocess.PIPE, text=True
        )
        for line in self.process.stderr:
            if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                break
        self.socket = connect(f"{found[1]}/session", max_size=None, open_timeout=PATIENCE)
        self.numbers = itertools.count(1)
        self.ask("session.new", capabilities={})
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method, **parameters):
        """Return what a command gives."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv(timeout=PATIENCE))).get("id") != number:
            pass
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, address):
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def evaluate(self, expression):
        """Return what a script in the page says, as text."""
        target = {"context": self.context}
        result = self.ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert result["type"] == "success", result
        return result["result"].get("value")

    def look(self):
        return json.loads(self.evaluate(LOOK))

    def press(self, key, kind):
        source = {"type": "key", "id": "keys", "actions": [{"type": kind, "value": key}]}
        self.ask("input.performActions", context=self.context, actions=[source])

    def close(self):
        with contextlib.suppress(Exception):
            self.socket.close()
        self.process.terminate()
        self.process.wait(20)
        self.process.stderr.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "out"
    write_site(out, [SceneSpec("generated_track")], report=lambda _: None)
    with serve_folder(out) as address:
        yield address


@pytest.fixture
def firefox(tmp_path, request):
    profile = tmp_path / "profile"
    profile.mkdir()
    browser = Firefox(profile, request.param)
    yield browser
    browser.close()


def wait(is_so, what):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


@pytest.mark.parametrize("firefox", [(1366, 768), (500, 900)], indirect=True, ids=["laptop", "phone"])
def test_firefox_draws_drives_and_laps(firefox, address):
    firefox.open(address)
    wait(lambda: int(firefox.look().get("drawn", 0)) > 10, firefox.look)
    firefox.press("w", "keyDown")
    wait(lambda: float(firefox.look()["speed"]) > 0.5, firefox.look)
    firefox.press("w", "keyUp")
    firefox.evaluate("document.querySelector('[data-driver=pilot]').click()")
    before = firefox.look()
    wait(lambda: int(firefox.look()["frames"]) > int(before["frames"]) + 40, firefox.look)
    wait(lambda: firefox.look()["lap"] != "–", firefox.look)


LAP = """(async () => {
  const { Machine } = await import(`${location.origin}/machine.js`);
  const { Arrival } = await import(`${location.origin}/place_file.js`);
  const { Expert } = await import(`${location.origin}/expert.js`);
  const { Run, replay } = await import(`${location.origin}/laps.js`);
  const site = await (await fetch("/site.json")).json();
  const module = await WebAssembly.compile(await (await fetch(`/${site.kernels}`)).arrayBuffer());
  const arrival = new Arrival();
  arrival.add(new Uint8Array(await (await fetch(`/${site.places[0].file}`)).arrayBuffer()));
  arrival.add(null);
  const machine = await Machine.open(arrival, module, site.kernels);
  const expert = new Expert(machine.header), run = new Run(), seen = [];
  const drive = CONTROLS ?? Array.from({ length: 800 }, () => null);
  for (const given of drive) {
    const [angle, throttle] = given ?? expert.drive(machine).map((value) => Math.round(127 * value));
    seen.push([angle, throttle]);
    machine.step(-angle / 127, throttle / 127, 0);
    run.note(angle, throttle, machine);
  }
  const picture = machine.drawPilot();
  const sum = picture.reduce((total, value, index) => (total * 31 + value + index) % 2147483647, 7);
  const pose = machine.after.pose;
  return JSON.stringify({ time: run.last.time, again: replay(machine, run.last.controls).time, pose, sum, seen });
})()"""


@pytest.mark.parametrize("firefox", [(1366, 768)], indirect=True, ids=["laptop"])
def test_a_lap_is_the_same_in_firefox(firefox, address):
    """The same controls give the same car to the last bit, and the same picture, whichever browser drives."""
    firefox.open(address)
    told = json.loads(firefox.evaluate(LAP.replace("CONTROLS", "null")))
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page()
        page.goto(address)
        other = json.loads(page.evaluate(LAP.replace("CONTROLS", json.dumps(told["seen"]))))
        browser.close()
    assert 10 < told["time"] < 30
    assert other == told
    assert told["again"] == told["time"]
