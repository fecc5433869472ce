"""The watching page over the real program: from the menu to a driving car, its reset, the exit and Ctrl-C."""

import re
import time

import chromium
import numpy as np
import pytest
from chromium import wait_for_pictures
from gym_client import GymClient, LaneKeeper
from playwright.sync_api import expect
from simulator_process import SimulatorProcess

from waiting import wait_until

NAME = "<img src=x onerror=window.hacked=1>"
COMPILE_MS = 200_000
"""Longest wait for a scene when kernels must be compiled on a busy machine."""
LOOK = {
    "msg_type": "car_config",
    "body_style": "car01",
    "body_r": "20",
    "body_g": "90",
    "body_b": "230",
    "car_name": NAME,
    "font_size": "40",
}

pytestmark = [pytest.mark.visit, chromium.NEEDED]


@pytest.fixture(scope="module")
def simulator():
    with SimulatorProcess("--page-port", "0", page=True) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def page(browser, simulator):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(simulator.page_address)
    return page


@pytest.fixture(scope="module")
def client(simulator, page):
    """A client in the scene that the page's menu loaded."""
    page.get_by_role("button", name="generated track").click()
    expect(page.get_by_role("heading", name="Nobody drives here yet")).to_be_visible(timeout=COMPILE_MS)
    client = GymClient(simulator.address, configuration=[LOOK])
    client.wait_until_loaded()
    yield client
    client.close()


def drive(client, seconds):
    keeper, end = LaneKeeper(), time.monotonic() + seconds
    while time.monotonic() < end:
        client.drive(*keeper.decide(client.observe()))


def read_grid(page):
    return chromium.read_pixels(page, [[x / 12, y / 8] for x in range(1, 12) for y in range(1, 8)])


def test_a_client_gets_its_car_in_the_scene_that_the_page_loaded(client, page, simulator):
    expect(page.locator("#cars bdi")).to_have_text(NAME)
    expect(page.locator("#scene-name")).to_have_text("generated track")
    wait_for_pictures(page)
    assert page.evaluate("window.hacked") is None
    chip = page.locator("#cars .chip").evaluate("(chip) => getComputedStyle(chip).backgroundColor")
    assert chip == "rgb(20, 90, 230)"


def test_the_page_shows_the_car_drive(client, page):
    client.observe()
    wait_for_pictures(page)
    before = read_grid(page)
    drive(client, 4.0)
    wait_for_pictures(page)
    after = read_grid(page)
    moved = np.abs(np.subtract(after, before)) > 12
    assert moved.any(axis=1).sum() > 15
    shown = float(page.locator("#speed-now").inner_text())
    assert shown == pytest.approx(client.telemetry["speed"], abs=0.4)
    assert re.search(r"\d+ cm (right|left)|on the path", page.locator("#cte-metres").inner_text())


@pytest.mark.parametrize("view", ["Top", "Camera", "Chase"])
def test_every_view_is_a_picture_of_the_place(client, page, view):
    page.get_by_role("button", name=view, exact=True).click()
    wait_for_pictures(page)
    colours = {tuple(channel // 16 for channel in pixel) for pixel in read_grid(page)}
    assert len(colours) > 5


def test_reset_on_the_page_puts_the_car_back(client, page):
    drive(client, 1.5)
    resets = client.telemetry["reset_count"]
    page.get_by_role("button", name="Reset car").click()
    wait_until(lambda: client.observe()["reset_count"] > resets)
    assert client.observe()["speed"] < 0.3


def test_exit_brings_page_and_client_back_to_the_menu(client, page):
    page.get_by_role("button", name="Exit scene").click()
    expect(page.locator("#exit-text")).to_have_text("One client goes back to the menu with it.")
    page.locator("#exit-dialog").get_by_role("button", name="Exit scene").click()
    # The client, as the original's, chooses its scene again as soon as it hears of the menu.
    wait_until(lambda: [event["msg_type"] for event in client.events].count("car_loaded") == 2)
    assert [event["msg_type"] for event in client.events].count("scene_selection_ready") == 1
    expect(page.locator("#cars bdi")).to_have_count(1)
    wait_for_pictures(page)


def test_ctrl_c_ends_the_program_promptly_with_the_page_open(client, page, simulator):
    wait_for_pictures(page)
    began = time.monotonic()
    assert simulator.interrupt() == 0
    assert time.monotonic() - began < 5
    expect(page.get_by_role("heading", name="The simulator cannot be reached")).to_be_visible()
    assert not any("Traceback" in line for line in simulator.lines)
