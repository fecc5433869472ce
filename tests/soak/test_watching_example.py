"""The Python that the watching page shows runs as it is: a car joins the scene, also on a track of one's own."""

import subprocess
import sys

import pytest
from playwright.sync_api import expect, sync_playwright

from donkeysim.world.tracks.new_track import write_new_track
from e2e import chromium
from e2e.simulator_process import SimulatorProcess

pytestmark = [pytest.mark.soak, chromium.NEEDED]


@pytest.mark.parametrize("scene", ["warren", "own_track"])
def test_the_example_puts_a_car_into_the_running_scene(tmp_path, scene):
    if scene == "own_track":
        write_new_track("own_track", tmp_path)
        scene = str(tmp_path / "own_track.toml")
    options = ("--scene", scene, "--page-port", "0")
    with SimulatorProcess(*options, page=True) as simulator, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page()
        page.goto(simulator.page_address)
        expect(page.locator("#hint")).to_contain_text("env.reset()", timeout=200_000)
        example = subprocess.Popen([sys.executable, "-c", page.locator("#hint").inner_text()], stderr=subprocess.PIPE)
        try:
            expect(page.locator("#cars button")).to_have_count(1, timeout=60_000)
            expect(page.locator("#lap")).to_be_visible()
            page.wait_for_timeout(3000)
            assert example.poll() is None, example.stderr.read().decode()
        finally:
            example.kill()
            example.communicate(timeout=20)
        expect(page.locator("#cars button")).to_have_count(0)
        browser.close()
