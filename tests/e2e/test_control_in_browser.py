"""The control page in a real browser: keys, joystick, modes, recording, languages, and a connection that breaks."""

import json
import re

import chromium
import numpy as np
import pytest
from playwright.sync_api import expect
from websockets.sync.client import connect

from donkeysim.drive.look import Look
from donkeysim.world.specs import BODY_STYLES
from stand_ins.drawn_views import COLOURS, StandInViews
from stand_ins.driven_page import DrivenPage
from stand_ins.traveller import StandInTraveller
from stand_ins.watched_stage import make_telemetry
from waiting import PATIENCE

pytestmark = chromium.NEEDED

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


@pytest.fixture
def car():
    with DrivenPage("http://localhost:9093") as car:
        yield car


@pytest.fixture
def stepped():
    """A car whose page has the original's keys: each press is a step, and what they ask for holds."""
    with DrivenPage(WEB_KEYS_HOLD=True) as car:
        yield car


@pytest.fixture
def open_page(pages, car):
    faults = []
    handlers = {
        "pageerror": lambda error: faults.append(str(error)),
        "request": lambda request: faults.append(request.url) if is_foreign(request.url) else None,
    }

    def open_page(width=1280, height=800, address=None, **options):
        page = pages.open(width, height, handlers, **{"locale": "en-US", **options})
        page.goto((address or car.address) + "/drive")
        expect(page.locator("body")).to_have_attribute("data-link", "live")
        expect(page.locator("#rate")).to_contain_text("Hz")  # so it has heard what keys do in this car
        return page

    yield open_page
    assert faults == []


def allow_full_throttle(page):
    page.locator("#max_throttle_select").select_option("1")


def is_foreign(url):
    return not re.match(r"(http|ws)s?://(127\.0\.0\.1|localhost):\d+/|data:", url)


PICTURES_LOADED = "() => [...document.querySelectorAll('.choice img')].every((picture) => picture.complete)"


def read_shade(page):
    """Return the colour in the middle of what the browser shows of the film."""
    return page.evaluate(
        """() => {
          const film = document.getElementById("mpeg-image");
          if (!film.naturalWidth) return null;
          const copy = document.createElement("canvas");
          [copy.width, copy.height] = [film.naturalWidth, film.naturalHeight];
          const pen = copy.getContext("2d");
          pen.drawImage(film, 0, 0);
          return [...pen.getImageData(80, 60, 1, 1).data].slice(0, 3);
        }"""
    )


# ---- what it shows -----------------------------------------------------------------------------------------------


def test_the_film_runs_in_the_page(open_page, car):
    page = open_page()
    car.wait_for(lambda: read_shade(page) is not None and read_shade(page)[1] > 100)
    shades = set()
    car.wait_for(lambda: shades.add(read_shade(page)[0]) or len(shades) > 4)
    assert page.locator("#mpeg-image").bounding_box()["height"] > 400


def test_the_car_and_its_loop_are_shown(open_page, car):
    page = open_page()
    expect(page.locator("#rate")).to_have_text("20.0 Hz")
    expect(page.locator("#latency")).to_have_text("4 ms")
    expect(page.locator("#last-lap")).to_have_text("19.25")
    expect(page.locator("#best-lap")).to_have_text("19.25")
    expect(page.locator("#laps li")).to_have_count(2)
    expect(page.locator("#on-road")).to_have_text("on road")
    expect(page.locator("#cte")).to_have_text(re.compile(r"cm (left|right)|on it"))
    expect(page.locator("#speed-value")).to_have_text(re.compile(r"\d\.\d"))
    expect(page.locator("#watching")).to_have_attribute("href", "http://localhost:9093")


def test_while_the_simulator_gets_ready_the_page_says_so(open_page, car):
    car.inputs["telemetry"] = None
    page = open_page()
    expect(page.get_by_text("The simulator is getting ready")).to_be_visible()
    del car.inputs["telemetry"]
    expect(page.locator("#speed")).to_be_visible()
    expect(page.locator("#awaiting")).to_be_hidden()


# ---- where it drives ---------------------------------------------------------------------------------------------


@pytest.fixture
def traveller():
    return StandInTraveller()


@pytest.fixture
def views():
    return StandInViews()


@pytest.fixture
def travelling(traveller, views):
    with DrivenPage(traveller=traveller, views=views) as car:
        yield car


def test_while_the_built_in_simulator_compiles_the_page_says_so(open_page, travelling):
    """It knows its place, and where it could go, before it senses anything."""
    travelling.inputs["telemetry"] = None
    page = open_page(address=travelling.address)
    expect(page.locator("#place-name")).to_have_text("generated_track")
    expect(page.get_by_text("The simulator is getting ready")).to_be_visible()


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_a_place_is_chosen_by_its_picture_and_the_car_goes_there(open_page, travelling, traveller, size):
    page = open_page(*size, address=travelling.address)
    missing = []
    page.on("response", lambda response: missing.append(response.url) if response.status == 404 else None)
    expect(page.locator("#place-name")).to_have_text("generated_track")
    page.locator("#place").click()
    choices = page.locator("#places-list .choice")
    expect(choices).to_have_count(len(traveller.places))
    travelling.wait_for(lambda: page.evaluate(PICTURES_LOADED))
    assert page.locator("#places-list img").count() == len(traveller.places) - 1, "a track of one's own has none"
    assert missing == []
    assert page.locator("#places-list [aria-current=true]").inner_text() == "generated_track"
    page.locator("[data-place=warren]").click()
    expect(page.locator("#places")).to_be_hidden()
    travelling.wait_for(lambda: traveller.place == "warren")
    expect(page.locator("#place-name")).to_have_text("warren")


def test_in_the_menu_the_choice_opens_by_itself_once(open_page, travelling, traveller):
    page = open_page(address=travelling.address)
    expect(page.locator("#place-name")).to_have_text("generated_track")
    traveller.place = ""
    expect(page.locator("#places-title")).to_have_text("The simulator is in its menu: choose where to drive.")
    page.locator("#places-close").click()
    travelling.wait_for_loops()
    expect(page.locator("#places")).to_be_hidden()
    expect(page.locator("#place-name")).to_have_text("in the menu")


def test_why_the_car_could_not_go_there_is_said(open_page, travelling, traveller):
    page = open_page(address=travelling.address)
    traveller.trouble = "exit_scene: only programs on this machine may do this."
    expect(page.locator("#toast")).to_have_text(traveller.trouble)


def test_a_car_that_cannot_be_sent_elsewhere_offers_nothing(open_page, car):
    page = open_page()
    expect(page.locator("#rate")).to_have_text("20.0 Hz")
    expect(page.locator("#place")).to_be_hidden()
    expect(page.locator("#view")).to_be_hidden()


# ---- a gentle start ----------------------------------------------------------------------------------------------


def test_throttle_is_limited_to_a_third_until_somebody_wants_more(open_page, stepped):
    page = open_page(address=stepped.address)
    for _ in range(12):
        page.keyboard.press("ArrowUp")
    stepped.wait_for_wish(lambda wish: wish.throttle == 0.3)
    page.locator("#max_throttle_select").select_option("0.5")
    page.locator("#max_throttle_select").blur()
    page.keyboard.press("i")
    stepped.wait_for_wish(lambda wish: wish.throttle == 0.35)


def test_off_the_road_the_page_says_how_to_come_back(open_page, car):
    page = open_page()
    expect(page.locator("#on-road")).to_have_text("on road")
    expect(page.locator("#road-note")).to_be_hidden()
    telemetry = make_telemetry(1.0)
    telemetry.on_road = False
    car.inputs["telemetry"] = telemetry
    expect(page.locator("#road-note")).to_be_visible()
    page.locator("#back_button").click()
    car.wait_for(lambda: any(wish.reset for wish in car.wishes))
    car.wishes.clear()
    page.keyboard.press("Backspace")
    car.wait_for(lambda: any(wish.reset for wish in car.wishes))


# ---- keys --------------------------------------------------------------------------------------------------------


def test_i_k_j_l_step_throttle_and_steering_as_on_the_originals_page(open_page, stepped):
    page = open_page(address=stepped.address)
    allow_full_throttle(page)
    for key in "iiikll":
        page.keyboard.press(key)
    stepped.wait_for_wish(lambda wish: wish[:2] == (0.2, 0.1))
    for key in "jjjj":
        page.keyboard.press(key)
    stepped.wait_for_wish(lambda wish: wish[:2] == (-0.2, 0.1))
    expect(page.locator("#steering")).to_have_text("-0.20")
    for _ in range(30):
        page.keyboard.press("k")
    stepped.wait_for_wish(lambda wish: wish.throttle == -1.0)
    for _ in range(15):
        page.keyboard.press("l")
    stepped.wait_for_wish(lambda wish: wish.angle == 1.0)


def test_arrows_drive_too_but_not_while_a_choice_has_the_focus(open_page, stepped):
    page = open_page(address=stepped.address)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    stepped.wait_for_wish(lambda wish: wish[:2] == (-0.1, 0.05))
    page.locator("#max_throttle_select").focus()
    page.keyboard.press("ArrowUp")
    page.locator("#max_throttle_select").blur()
    page.keyboard.press("ArrowLeft")
    stepped.wait_for_wish(lambda wish: wish.angle == -0.2)
    assert stepped.wish.throttle == 0.05


def test_held_keys_drive_and_let_go_of_they_coast(open_page, car):
    page = open_page()
    for ahead, left in ("wa", "ij", "wj", ("ArrowUp", "ArrowLeft")):
        before = len(car.wishes)
        page.keyboard.down(ahead)
        car.wait_for_wish(lambda wish: wish[:2] == (0.0, 0.3))
        page.keyboard.down(left)
        car.wait_for_wish(lambda wish: wish[:2] == (-1.0, 0.3))
        page.keyboard.up(left)
        car.wait_for_wish(lambda wish: wish[:2] == (0.0, 0.3))
        page.keyboard.up(ahead)
        car.wait_for_wish(lambda wish: wish[:2] == (0.0, 0.0))
        expect(page.locator("#brake_button")).to_have_text("Stop")
        throttles = [wish.throttle for wish in car.wishes[before:]]
        assert any(0.0 < throttle < 0.3 for throttle in throttles), f"it grows by {ahead}"


def test_the_other_keys_go_back_and_right_and_opposite_ones_cancel(open_page, car):
    page = open_page()
    for back, right in ("sd", "kl", ("ArrowDown", "ArrowRight")):
        page.keyboard.down(back)
        page.keyboard.down(right)
        car.wait_for_wish(lambda wish: wish[:2] == (1.0, -0.3))
        page.keyboard.down("w")
        page.keyboard.down("a")
        car.wait_for_wish(lambda wish: wish[:2] == (0.0, 0.0))
        for key in (back, right, "w", "a"):
            page.keyboard.up(key)
        car.wait_for_loops()


def test_keys_that_nobody_holds_any_more_are_let_go_when_the_window_is_left(open_page, car):
    page = open_page()
    page.keyboard.down("w")
    car.wait_for_wish(lambda wish: wish.throttle == 0.3)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    car.wait_for_wish(lambda wish: wish.throttle == 0.0)


def test_letters_that_drive_start_no_pilot_and_say_how_one_is_started(open_page, car):
    page = open_page()
    for key in "asdm":
        page.keyboard.press(key)
    expect(page.locator("#toast")).to_contain_text("Shift + D, it drives")
    car.wait_for_loops()
    assert {wish.mode for wish in car.wishes} == {"user"}
    page.keyboard.press("Shift+D")
    car.wait_for_wish(lambda wish: wish.mode == "local")
    page.keyboard.press("w")
    expect(page.locator("#toast")).to_contain_text("you take over")
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-link", "live")
    page.keyboard.press("u")
    page.keyboard.press("d")
    car.wait_for_wish(lambda wish: wish.mode == "user")
    expect(page.locator("#toast")).to_be_hidden()


def test_a_keyboard_of_another_alphabet_drives_by_the_places_of_its_keys(open_page, car):
    page = open_page()
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ц', code: 'KeyW', bubbles: true}))")
    car.wait_for_wish(lambda wish: wish.throttle == 0.3)
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keyup', {key: 'ц', code: 'KeyW', bubbles: true}))")
    car.wait_for_wish(lambda wish: wish.throttle == 0.0)


def test_the_badge_says_while_nothing_is_recorded(open_page, car):
    page = open_page()
    car.inputs["is_recorded"] = False
    page.keyboard.press("r")
    expect(page.locator("#recording-badge")).to_have_text("REC waits" + "until you drive")
    expect(page.locator("#rec-why")).to_be_visible()
    telemetry = make_telemetry(1.0, 2)
    telemetry.on_road = False
    car.inputs["telemetry"] = telemetry
    expect(page.locator("#rec-why")).to_have_text("until you are back on the road")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#rec-why")).to_be_hidden()
    car.inputs["is_recorded"] = True
    expect(page.locator("#recording-badge")).to_have_text("REC")


@pytest.mark.parametrize("way", ["key", "button"])
def test_the_last_seconds_are_deleted_and_the_page_says_how_many_records(open_page, car, way):
    page = open_page()
    expect(page.locator("#rate")).to_be_visible()
    page.keyboard.press("Delete") if way == "key" else page.locator("#erase_button").click()
    car.wait_for(lambda: sum(wish.erase for wish in car.wishes) == 1)
    car.inputs |= {"record_count": 112, "erased_count": 100}
    expect(page.locator("#toast")).to_have_text("Deleted the last 100 records.")
    expect(page.locator("#record-count")).to_have_text("12")


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_name_colour_and_body_are_chosen_on_the_page(open_page, travelling, traveller, size):
    page = open_page(*size, address=travelling.address)
    expect(page.locator("#look-text")).to_have_text("car")
    page.locator("#look").click()
    bodies = page.locator("#look-body option").evaluate_all("options => options.map((option) => option.value)")
    assert tuple(bodies) == BODY_STYLES
    page.locator("#look-name").fill("Anna wins")
    page.locator("#look-colour").fill("#1060d0")
    page.locator("#look-body").select_option("f1")
    page.get_by_role("button", name="Done").click()
    travelling.wait_for(lambda: traveller.look == Look("Anna wins", "f1", (16, 96, 208)))
    expect(page.locator("#look-text")).to_have_text("Anna wins")
    assert travelling.wish[:2] == (0.0, 0.0), "what is typed drives nobody"


def test_a_car_that_cannot_look_otherwise_offers_nothing(open_page, car):
    page = open_page()
    expect(page.locator("#rate")).to_have_text("20.0 Hz")
    expect(page.locator("#look")).to_be_hidden()


def test_space_stops_from_wherever_the_focus_is(open_page, car):
    page = open_page()
    expect(page.locator("#brake_button")).to_have_text(re.compile("Start"))
    for focus in ("#record_button", "#mode_select", "#reset_button", "#joystick_container", "#w1"):
        page.locator(focus).focus()
        page.keyboard.down("w")
        page.keyboard.press("r")
        car.wait_for_wish(lambda wish: wish.throttle > 0.0 and wish.recording)
        expect(page.locator("#brake_button")).to_have_text(re.compile("Stop"))
        page.keyboard.press(" ")
        car.wait_for_wish(lambda wish: wish[:4] == (0.0, 0.0, "user", False))
        expect(page.locator("#brake_button")).to_have_text(re.compile("Start"))
        car.wait_for_loops()
        assert car.wish.throttle == 0.0, "a key that is still down counts when it is pressed anew"
        page.keyboard.up("w")
    assert car.count_buttons("w1") == 0


def test_who_records_while_a_pilot_drives_is_told_that_nothing_is_recorded(open_page, car):
    page = open_page()
    page.keyboard.press("Shift+D")
    car.wait_for_wish(lambda wish: wish.mode == "local")
    car.inputs["recording"] = False  # as the car's loop has it
    page.keyboard.press("r")
    expect(page.locator("#toast")).to_contain_text("RECORD_DURING_AI")
    expect(page.locator("#recording-badge")).to_be_hidden()


def test_letters_choose_modes_and_record(open_page, car):
    page = open_page()
    for key, mode in (
        *(("Shift+S", "local_angle"), ("Shift+D", "local"), ("u", "user"), ("Shift+A", "local"), ("u", "user")),
    ):
        page.keyboard.press(key)
        car.wait_for_wish(lambda wish, mode=mode: wish.mode == mode)
        expect(page.locator("#mode_select")).to_have_value(mode)
    for mode in ("local_angle", "local", "user"):
        page.keyboard.press("Shift+M")
        car.wait_for_wish(lambda wish, mode=mode: wish.mode == mode)
    page.keyboard.press("r")
    car.wait_for_wish(lambda wish: wish.recording)
    expect(page.locator("#record_button")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#recording-badge")).to_be_visible()
    expect(page.locator("#record-count")).to_have_text(re.compile(r"[1-9]"))
    page.keyboard.press("r")
    car.wait_for_wish(lambda wish: not wish.recording)


def test_the_space_bar_stops_a_pilot_at_once(open_page, car):
    page = open_page()
    page.keyboard.press("Shift+D")
    car.wait_for_wish(lambda wish: wish.mode == "local")
    page.keyboard.press(" ")
    car.wait_for_wish(lambda wish: wish.mode == "user")


def test_numbers_are_the_pilots_where_it_drives_and_yours_where_you_do(open_page, car):
    page = open_page()
    telemetry = make_telemetry(1.0)
    telemetry.steering_angle, telemetry.throttle = -0.4, 0.3
    car.inputs["telemetry"] = telemetry
    for key, numbers in (("u", ("0.00", "0.00")), ("Shift+S", ("-0.40", "0.00")), ("Shift+D", ("-0.40", "0.30"))):
        page.keyboard.press(key)
        expect(page.locator("#steering")).to_have_text(numbers[0])
        expect(page.locator("#throttle")).to_have_text(numbers[1])


def test_shortcuts_of_the_browser_do_not_drive(open_page, stepped):
    page = open_page(address=stepped.address)
    page.keyboard.press("Control+i")
    page.keyboard.press("Alt+l")
    page.keyboard.press("k")
    stepped.wait_for_wish(lambda wish: wish[:2] == (0.0, -0.05))


# ---- mouse and finger --------------------------------------------------------------------------------------------


def test_the_joystick_drives_records_and_stops_when_let_go(open_page, car):
    page = open_page()
    allow_full_throttle(page)
    box = page.locator("#joystick_container").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] / 4, y - box["height"] / 4, steps=4)
    car.wait_for_wish(lambda wish: 0.5 < wish.angle < 0.7 and 0.5 < wish.throttle < 0.7 and wish.recording)
    page.mouse.move(x, y - 2 * box["height"])
    car.wait_for_wish(lambda wish: abs(wish.angle) < 0.01 and wish.throttle == 1.0)
    page.mouse.up()
    car.wait_for_wish(lambda wish: wish[:4] == (0.0, 0.0, "user", False))


def test_a_finger_drives_on_a_phone_and_the_page_does_not_scroll(open_page, car):
    page = open_page(**PHONE)
    allow_full_throttle(page)
    page.locator("#joystick_container").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    box = page.locator("#joystick_container").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)
    send = lambda kind, points: touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})  # noqa: E731
    send("touchStart", [{"x": x, "y": y}])
    for step in range(1, 6):
        send("touchMove", [{"x": x - 12 * step, "y": y - 16 * step}])
    car.wait_for_wish(lambda wish: wish.angle < -0.3 and wish.throttle > 0.5)
    send("touchEnd", [])
    car.wait_for_wish(lambda wish: wish[:2] == (0.0, 0.0))
    assert page.evaluate("scrollY") == before


def test_in_local_angle_letting_the_joystick_go_keeps_the_mode(open_page, car):
    page = open_page()
    allow_full_throttle(page)
    page.keyboard.press("Shift+S")
    box = page.locator("#joystick_container").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    page.mouse.down()
    car.wait_for_wish(lambda wish: wish.throttle > 0.3 and wish.mode == "local_angle")
    page.mouse.up()
    car.wait_for_wish(lambda wish: wish.throttle == 0.0 and not wish.recording)
    assert car.wish.mode == "local_angle"


def test_max_throttle_limits_and_constant_throttle_waits_for_start(open_page, stepped):
    page = open_page(address=stepped.address)
    page.locator("#max_throttle_select").select_option("0.3")
    for _ in range(10):
        page.keyboard.press("i")
    stepped.wait_for_wish(lambda wish: wish.throttle == 0.3)
    page.keyboard.press(" ")
    page.locator("#throttle_mode_select").select_option("constant")
    stepped.wait_for_loops()
    assert stepped.wish.throttle == 0.0
    page.locator("#brake_button").click()
    stepped.wait_for_wish(lambda wish: wish.throttle == 0.3)
    page.keyboard.press("j")
    stepped.wait_for_wish(lambda wish: wish[:2] == (-0.1, 0.3))
    page.locator("#max_throttle_select").select_option("0.2")
    stepped.wait_for_wish(lambda wish: wish.throttle == 0.2)
    page.locator("#brake_button").click()
    stepped.wait_for_wish(lambda wish: wish.throttle == 0.0)


def test_buttons_of_the_page_work_once_per_press(open_page, car):
    page = open_page()
    page.locator("#w2").click()
    car.wait_for(lambda: car.count_buttons("w2") == 1)
    page.locator("#reset_button").click()
    car.wait_for(lambda: sum(wish.reset for wish in car.wishes) == 1)
    page.locator("#record_button").click()
    car.wait_for_wish(lambda wish: wish.recording)
    car.wait_for_loops()
    assert car.count_buttons("w2") == 1


def test_mode_and_pilot_are_chosen_from_lists(open_page, car):
    page = open_page()
    options = page.locator("#mode_select option").all_inner_texts()
    assert options == ["User (U)", "Local Angle (Shift + S) – auto steer", "Local Pilot (Shift + D) – full auto"]
    page.locator("#mode_select").select_option("local")
    car.wait_for_wish(lambda wish: wish.mode == "local")
    expect(page.locator("#mode-note")).to_contain_text("No pilot is chosen")
    page.locator("#pilot_select").select_option("small.onnx")
    car.wait_for_wish(lambda wish: wish.pilot == "small.onnx")
    expect(page.locator("#mode-note")).to_have_text("")
    expect(page.locator("#mode-badge")).to_have_text("Local Pilot")


def test_a_gamepad_drives_and_records(open_page, car):
    page = open_page()
    allow_full_throttle(page)
    page.get_by_role("radio", name="Gamepad").check(force=True)
    expect(page.locator("#control-note")).to_contain_text("press any of its buttons")
    page.evaluate(
        """() => {
          window.axes = [0, 0, 0, 0];
          navigator.getGamepads = () => [null, { connected: true, axes: window.axes }];
        }"""
    )
    page.evaluate("window.axes = [0, -0.5, 0.4, 0]")
    car.wait_for_wish(lambda wish: wish[:2] == (0.4, 0.5) and wish.recording)
    page.evaluate("window.axes = [0, 0.1, 0.03, 0]")
    car.wait_for_wish(lambda wish: wish[:2] == (0.0, 0.0) and not wish.recording)


def tilt(page, beta, gamma):
    page.evaluate(
        """([beta, gamma]) => window.dispatchEvent(new DeviceOrientationEvent("deviceorientation", { beta, gamma }))""",
        [beta, gamma],
    )


def test_tilting_a_phone_drives_once_started(open_page, car):
    page = open_page(**PHONE)
    allow_full_throttle(page)
    page.get_by_role("radio", name="Tilt").click(force=True)
    tilt(page, 45, 0)
    page.locator("#brake_button").click()
    tilt(page, 45, 0)
    tilt(page, 17.5, 20)
    car.wait_for_wish(lambda wish: wish[:2] == (0.5, 0.5))
    page.locator("#brake_button").click()
    car.wait_for_wish(lambda wish: wish[:2] == (0.0, 0.0))
    tilt(page, 0, 30)
    car.wait_for_loops()
    assert car.wish[:2] == (0.0, 0.0)


def test_tilt_says_why_it_is_off(open_page, car):
    page = open_page()
    page.get_by_role("radio", name="Tilt").click(force=True)
    expect(page.locator("#control-note")).to_have_text("This device has no motion sensors.")
    expect(page.locator('[name="control_mode"][value="joystick"]')).to_be_checked()
    page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })")
    page.get_by_role("radio", name="Tilt").click(force=True)
    expect(page.locator("#control-note")).to_contain_text("WEB_CONTROL_TLS = True")


# ---- together with others ----------------------------------------------------------------------------------------


def test_what_other_clients_and_parts_do_is_shown(open_page, car):
    page = open_page()
    with connect(f"ws://127.0.0.1:{car.port}/wsDrive", proxy=None, open_timeout=PATIENCE) as other:
        other.send(json.dumps({"angle": -0.5, "throttle": 0.25, "drive_mode": "local_angle", "recording": True}))
        expect(page.locator("#mode_select")).to_have_value("local_angle")
        expect(page.locator("#steering")).to_have_text("-0.50")
        expect(page.locator("#throttle")).to_have_text("0.25")
        expect(page.locator("#record_button")).to_have_attribute("aria-pressed", "true")
        assert car.wish[:2] == (-0.5, 0.25)


def test_a_page_stops_what_another_drives(open_page, car):
    page = open_page()
    with connect(f"ws://127.0.0.1:{car.port}/wsDrive", proxy=None, open_timeout=PATIENCE) as other:
        for throttle, said in ((0.25, "Stop"), (0.0, "Start"), (0.25, "Stop")):
            other.send(json.dumps({"angle": 0.0, "throttle": throttle, "recording": True}))
            expect(page.locator("#brake_button")).to_have_text(said)
        page.keyboard.press(" ")
        car.wait_for_wish(lambda wish: wish.throttle == 0.0 and not wish.recording)
        expect(page.locator("#brake_button")).to_have_text("Start")


def test_an_idle_gamepad_leaves_the_car_to_another_page(open_page, car):
    page = open_page()
    page.get_by_role("radio", name="Gamepad").check(force=True)
    page.evaluate("() => { navigator.getGamepads = () => [{ connected: true, axes: [0, 0, 0, 0] }]; }")
    page.locator("#throttle_mode_select").select_option("constant")
    with connect(f"ws://127.0.0.1:{car.port}/wsDrive", proxy=None, open_timeout=PATIENCE) as other:
        other.send(json.dumps({"angle": 0.3, "throttle": 0.2}))
        expect(page.locator("#brake_button")).to_have_text("Stop")
        car.wait_for_loops()
        assert car.wish[:2] == (0.3, 0.2)
        other.send(json.dumps({"angle": 0.0, "throttle": 0.0, "brake": True}))
        expect(page.locator("#brake_button")).to_have_text("Start")
        car.wait_for_loops()
        assert car.wish[:2] == (0.0, 0.0)


def test_steering_ends_no_brake(open_page, travelling, traveller):
    page = open_page(address=travelling.address)
    page.keyboard.press(" ")
    page.keyboard.press(" ")
    travelling.wait_for(lambda: traveller.is_braking)
    page.keyboard.press("a")
    travelling.wait_for_loops()
    assert traveller.is_braking


def test_stop_and_a_page_that_is_closed_brake_and_a_key_that_is_let_go_coasts(open_page, travelling, traveller):
    page = open_page(address=travelling.address)
    drives = lambda: travelling.wait_for_wish(lambda wish: wish.throttle > 0.2)  # noqa: E731
    page.keyboard.down("w")
    drives()
    page.keyboard.up("w")
    travelling.wait_for_wish(lambda wish: wish.throttle == 0.0)
    assert not traveller.is_braking
    page.keyboard.down("w")
    drives()
    page.keyboard.press(" ")
    travelling.wait_for(lambda: traveller.is_braking)
    page.keyboard.up("w")
    page.locator("#brake_button").click()
    travelling.wait_for(lambda: not traveller.is_braking)
    page.keyboard.down("w")
    drives()
    page.close()
    travelling.wait_for(lambda: traveller.is_braking)


def test_closing_the_page_stops_the_car(open_page, car):
    page = open_page()
    page.keyboard.down("w")
    car.wait_for_wish(lambda wish: wish.throttle > 0.2)
    page.close()
    car.wait_for_wish(lambda wish: wish.throttle == 0.0)


def test_a_page_that_hangs_stops_the_car_and_says_so_afterwards(open_page, car):
    page = open_page()
    page.keyboard.down("w")
    car.wait_for_wish(lambda wish: wish.throttle > 0.0)
    page.evaluate("() => { const end = performance.now() + 900; while (performance.now() < end); }")
    expect(page.get_by_role("alert").filter(has_text="half a second")).to_be_visible()
    car.wait_for_loops()
    assert car.wish.throttle == 0.0
    expect(page.locator("#brake_button")).to_have_text(re.compile("Start"))


def test_a_lost_connection_is_shown_and_found_again(open_page, car):
    page = open_page()
    page.keyboard.down("w")
    port = car.port
    car.stop()
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("#speed")).to_be_hidden()
    expect(page.locator("body")).to_have_attribute("data-link", "lost")
    expect(page.locator("#brake_button")).to_have_text(re.compile("Start"))
    with DrivenPage(WEB_CONTROL_PORT=port) as again:
        expect(page.locator("#lost")).to_be_hidden()
        again.wait_for(lambda: (read_shade(page) or [0, 0])[1] > 100)
        again.wait_for_loops()
        assert again.wish[:2] == (0.0, 0.0)
        page.keyboard.up("w")
        page.keyboard.down("w")
        again.wait_for_wish(lambda wish: wish.throttle > 0.0)


# ---- languages and sizes -----------------------------------------------------------------------------------------


def test_the_browsers_language_is_spoken(open_page):
    for locale, tag, start in (("zh-TW", "zh-Hans", "启动"), ("ja-JP", "ja", "スタート"), ("de-DE", "en", "Start")):
        page = open_page(locale=locale)
        expect(page.locator("#brake-text")).to_have_text(start)
        assert page.evaluate("document.documentElement.lang") == tag


def test_another_language_is_chosen_and_kept(open_page, car):
    page = open_page()
    page.locator("#language").select_option("ja")
    expect(page.locator("#brake-text")).to_have_text("スタート")
    expect(page.locator("#mode-badge")).to_have_text("ユーザー")
    page.reload()
    expect(page.locator("#brake-text")).to_have_text("スタート")
    expect(page.locator("body")).to_have_attribute("data-link", "live")
    page.keyboard.down("i")
    car.wait_for_wish(lambda wish: wish.throttle > 0.0)


READ_BOXES = "(names) => names.map((name) => document.querySelector(name).getBoundingClientRect().toJSON())"


def test_nothing_overflows_and_stop_and_joystick_are_in_reach_at_any_size(open_page):
    page = open_page(color_scheme="dark")
    expect(page.locator("#rate")).to_be_visible()
    for language in ("en", "ja"):
        page.locator("#language").select_option(language)
        for width, height in ((360, 640), (390, 844), (844, 390), (667, 375), (820, 1180), (1024, 640), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            boxes = page.evaluate(READ_BOXES, ["#mpeg-image", "#brake_button", "#record_button", "#joystick_container"])
            film, *buttons, pad = boxes
            assert film["height"] >= 0.25 * height
            assert all(box["bottom"] <= height and box["height"] >= 44 for box in buttons)
            assert pad["width"] >= (160 if width < 1000 or height > 1000 else 96)
            assert pad["bottom"] <= height or height > width


NEEDED = (
    *("#screen", "#speed", "#steering", "#throttle", "#mode-badge", "#recording-badge", "#view_select", "#place"),
    *(
        "#brake_button",
        "#record_button",
        "#record-count",
        "#erase_button",
        "#reset_button",
        "#look",
        "#mode_select",
        "#pilot_select",
    ),
    *(".segments", "#joystick_container", "#throttle_mode_select", "#max_throttle_select"),
    *("#lap", "#last-lap", "#best-lap", "#cte", "#on-road", "#hit"),
)

FIND_MISFITS = """(needed) => needed.filter((name) => {
  const element = document.querySelector(name);
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const isInside = left < right && left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  const above = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return !isInside || name !== "#screen" && !element.contains(above) && !above.contains(element);
})"""

FIND_CUT = """() =>
  [...document.querySelectorAll(".tiles dd, .segments span, .actions span, #place-name, .mode, .said")]
  .filter((element) => {
    const [box, around] = [element, element.parentElement].map((one) => one.getBoundingClientRect());
    const isOneLine = !element.matches(".tiles dd, .segments span, .actions span")
      || box.height < 1.7 * parseFloat(getComputedStyle(element).fontSize);
    const isCut = element.clientWidth && element.scrollWidth > element.clientWidth;
    const isOutside = box.right > around.right + 1 || box.left < around.left - 1;
    return box.width && (isCut || isOutside || !isOneLine);
  }).map((element) => element.textContent)"""

FIND_CUT_CHOICES = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  return [...document.querySelectorAll("main select")].filter((select) => {
    const style = getComputedStyle(select);
    pen.font = style.font;
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return pen.measureText(select.selectedOptions[0].text).width > room + 1;
  }).map((select) => select.selectedOptions[0].text);
}"""


SIZES = ((1366, 768), (390, 844))
MORE_SIZES = (*SIZES, (844, 390), (1024, 768), (1280, 640), (1280, 720), (1366, 600), (1920, 1080))


def test_all_that_driving_needs_is_seen_without_scrolling_in_every_language(open_page, travelling):
    telemetry = make_telemetry(1.0, hit="grandstand")
    telemetry.cte, telemetry.on_road = -12.48, False
    pilot = {"pilots": ("Expert", "generated_track.onnx", "anywhere.onnx"), "pilot": "generated_track.onnx"}
    travelling.inputs |= {"telemetry": telemetry, "record_count": 4940, "is_recorded": False, **pilot}
    page = open_page(address=travelling.address)
    expect(page.locator("#view")).to_be_visible()
    page.keyboard.press("r")
    expect(page.locator("#record-count")).to_have_text("4940")
    for key, note, places in (("u", "#road-note", ()), ("Shift+D", "#mode-note", ("warehouse", "generated_road"))):
        travelling.inputs["pilot_places"] = places
        page.keyboard.press(key)
        expect(page.locator(note)).to_be_visible()
        for code, tag in (("en", "en"), ("zh", "zh-Hans"), ("ja", "ja")):
            page.locator("#language").select_option(code)
            expect(page.locator("html")).to_have_attribute("lang", tag)
            for width, height in MORE_SIZES if code == "ja" else SIZES:
                page.set_viewport_size({"width": width, "height": height})
                where = (code, note, width, height)
                legend = [".keys"] if width >= 1280 else []
                assert page.evaluate(FIND_MISFITS, [*NEEDED, *legend, note]) == [], where
                if (width, height) in SIZES:
                    assert page.evaluate(FIND_CUT) + page.evaluate(FIND_CUT_CHOICES) == [], where


# ---- how the car is seen -----------------------------------------------------------------------------------------


def wait_for_view(page, view):
    shade = lambda: chromium.read_pixels(page, [(0.5, 0.5)])[0]  # noqa: E731
    is_shown = lambda: np.abs(np.subtract(shade(), COLOURS[view])).max() < 12  # noqa: E731
    chromium.wait_on_page(page, is_shown, f"the view {view} is not shown")


def test_people_see_the_car_drawn_and_what_its_pilot_sees_beside_it(open_page, travelling, views):
    page = open_page(address=travelling.address)
    wait_for_view(page, "chase")
    screen, film = (page.locator(name).bounding_box() for name in ("#screen", "#mpeg-image"))
    assert film["width"] < 0.2 * screen["width"]
    assert read_shade(page)[1] > 100, "the pilot's film runs on"
    page.locator("#view_select").select_option("seat")
    wait_for_view(page, "seat")
    page.keyboard.press("v")
    assert page.locator("#mpeg-image").bounding_box()["width"] == screen["width"]
    travelling.wait_for_loops()
    asked = len(views.asked)
    travelling.wait_for_loops()
    assert len(views.asked) == asked, "nothing is drawn that nobody sees"
    page.reload()
    expect(page.locator("#view_select")).to_have_value("camera")
    expect(page.locator("#screen")).to_have_attribute("data-view", "camera")
    page.keyboard.press("v")
    wait_for_view(page, "chase")
    page.close()
    travelling.wait_for(lambda: views.viewer_count == 0)


def test_while_nobody_can_draw_the_car_the_pilots_picture_is_shown_and_nothing_is_offered(open_page, travelling, views):
    views.is_blind = True
    page = open_page(address=travelling.address)
    travelling.wait_for(lambda: views.asked)
    expect(page.locator("#view")).to_be_hidden()
    expect(page.locator("#toast")).to_be_hidden()
    assert page.locator("#mpeg-image").bounding_box() == page.locator("#screen").bounding_box()
    views.is_blind = False
    wait_for_view(page, "chase")
    expect(page.locator("#view")).to_be_visible()


def test_everything_has_a_name_for_those_who_do_not_see_it(open_page):
    page = open_page()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll(
          "button, select, input, a, [role=group], [role=application], section, img")].filter((element) => {
          if (element.closest("[hidden]")) return false;
          const label = element.labels?.[0]?.textContent ?? "";
          const name = element.getAttribute("aria-label") ?? element.getAttribute("alt") ?? "";
          return !(name + label + element.textContent).trim() && element.getAttribute("alt") !== "";
        }).map((element) => element.outerHTML)"""
    )
    assert nameless == []
    for name in ("Mode & Pilot", "Pilot", "Max throttle", "Language"):
        expect(page.get_by_role("combobox", name=name, exact=True)).to_be_visible()


def test_the_socket_test_page_floods_and_stops(pages, car):
    page = pages.open(1280, 800)
    page.goto(car.address + "/wsTest")
    expect(page.locator("#count")).to_have_text("connected")
    page.locator("#start").click()
    expect(page.locator("#count")).to_have_text(re.compile(r"\d+ messages/s"))
    car.wait_for(lambda: len({wish.throttle for wish in car.wishes}) > 5)
    page.close()
    car.wait_for_wish(lambda wish: wish.throttle == 0.0)
