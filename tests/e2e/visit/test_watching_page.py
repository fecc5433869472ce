"""The watching page in a real browser, over a stage without a simulator."""

import itertools
import re

import chromium
import pytest
from chromium import wait_for_pictures
from playwright.sync_api import expect

from donkeysim.core.errors import SceneError
from donkeysim.watch.spectator import create_app
from donkeysim.web.access import THIS_MACHINE, Access
from donkeysim.world.specs import RoadSpec
from stand_ins.served_app import ServedApp
from stand_ins.watched_stage import WatchedStage
from waiting import wait_until

HOSTILE = [
    "<img src=x onerror=window.hacked=1>",
    "<script>window.hacked=1</script>",
    '"><svg onload=window.hacked=1>',
    "{{constructor.constructor('window.hacked=1')()}}",
    "\u202egnp.rac\nsecond line <b>bold</b>",
    "W" * 900,
    "   ",
]

pytestmark = [pytest.mark.visit, chromium.NEEDED]


class ServedStage(ServedApp):
    """A stage and its page."""

    def __init__(self, wrap=lambda app: app, access=THIS_MACHINE):
        super().__init__()
        self.stage = WatchedStage(names=["pace", "Ada", "Grace"], time=45.0)
        self.control = ""
        self.app = wrap(
            create_app(
                self.stage,
                wire_port=9191,
                access=access,
                environments={"generated_track": "donkey-generated-track-v0"},
                find_control=lambda: self.control,
            )
        )
        self.start(self.app)

    def wait_for_view(self, view, car):
        """Wait until the page asks for a view of a car; pictures of the one before may still be under way."""
        asked = lambda: (view, car) in {call[1:3] for call in list(self.stage.calls)}  # noqa: E731
        wait_until(asked, f"nobody asked for {view} of car {car}")


@pytest.fixture
def served():
    served = ServedStage()
    yield served
    served.close()


@pytest.fixture
def open_page(pages, served):
    faults = []
    handlers = {
        "pageerror": lambda error: faults.append(str(error)),
        "request": lambda request: faults.append(request.url) if is_foreign(request.url, served) else None,
    }

    def open_page(width=1280, height=900, **options):
        page = pages.open(width, height, handlers, **options)
        page.goto(served.address)
        return page

    yield open_page
    assert faults == []


def is_foreign(url, served):
    return not url.startswith((served.address, "blob:", "data:"))


def test_a_running_scene_is_shown_live(open_page, served):
    page = open_page()
    wait_for_pictures(page)
    assert chromium.read_pixels(page, [[0.5, 0.2]])[0] == pytest.approx([150, 190, 225], abs=12)
    expect(page.locator("#scene-name")).to_have_text("generated track")
    expect(page.locator("#lap")).to_have_text("3")
    expect(page.locator("#last-lap")).to_have_text("19.90")
    before = page.locator("#speed-now").inner_text()
    served.stage.time = 47.0
    expect(page.locator("#speed-now")).not_to_have_text(before)
    expect(page.locator("#clock")).to_have_text("0:45.9")


def test_the_view_and_the_car_can_be_chosen_by_mouse_and_by_key(open_page, served):
    page = open_page()
    wait_for_pictures(page)
    page.get_by_role("button", name="Top", exact=True).click()
    page.get_by_role("button", name="Grace").click()
    wait_for_pictures(page)
    served.wait_for_view("top", 3)
    expect(page.locator("#watched")).to_have_text("Grace")
    page.locator("body").press("v")
    page.locator("body").press("p")
    expect(page.locator("#watched")).to_have_text("Ada")
    wait_for_pictures(page)
    served.wait_for_view("camera", 2)
    expect(page.locator("#inset")).to_be_hidden()
    expect(page.get_by_role("button", name="Ada")).to_have_attribute("aria-pressed", "true")


def test_everything_works_by_keyboard_alone(open_page, served):
    page = open_page()
    wait_for_pictures(page, 1)
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.innerText || document.activeElement.id"))
    text = " ".join(seen)
    for name in ("Exit", "Chase", "Top", "Reset car", "Ada"):
        assert name in text


def test_reset_puts_the_watched_car_back(open_page, served):
    page = open_page()
    page.get_by_role("button", name="Ada").click()
    expect(page.locator("#watched")).to_have_text("Ada")
    with page.expect_response("**/cars/2/reset") as answered:
        page.get_by_role("button", name="Reset car").click()
    assert answered.value.status == 200
    assert ("reset_car", 2) in served.stage.calls


def test_exit_asks_first_and_the_menu_loads_a_scene(open_page, served):
    page = open_page()
    page.get_by_role("button", name="Exit scene").click()
    expect(page.locator("#exit-text")).to_have_text("2 clients go back to the menu with it.")
    page.get_by_role("button", name="Stay").click()
    assert ("exit_scene",) not in served.stage.calls
    page.get_by_role("button", name="Exit scene").click()
    page.locator("#exit-dialog").get_by_role("button", name="Exit scene").click()
    expect(page.get_by_role("heading", name="Choose a scene")).to_be_visible()
    assert page.locator(".scene-card").count() == 4
    page.get_by_role("button", name="warehouse").click()
    expect(page.locator("#scene-name")).to_have_text("warehouse")
    wait_for_pictures(page)


def test_what_the_stage_refuses_is_shown_as_one_sentence(open_page, served):
    served.stage.scene_name = None
    page = open_page()
    expect(page.locator(".scene-card").first).to_be_visible()

    async def refuse(name):
        raise SceneError("warehouse is running; exit it first, then load 'generated_road'.")

    served.stage.load_scene = refuse
    page.get_by_role("button", name="generated road").click()
    expect(page.get_by_role("alert")).to_have_text("warehouse is running; exit it first, then load 'generated_road'.")


def test_loading_tells_what_is_being_done(open_page, served):
    served.stage.is_loading, served.stage.loading_stage = True, "compiling kernels, 3 of 11: camera"
    page = open_page()
    expect(page.get_by_role("heading", name="Loading generated track")).to_be_visible()
    expect(page.locator("#loading-stage")).to_have_text("compiling kernels, 3 of 11")
    served.stage.is_loading = False
    wait_for_pictures(page)


def test_an_empty_scene_shows_the_place_and_what_one_may_do_there(open_page, served):
    served.stage.names = []
    page = open_page()
    expect(page.get_by_role("heading", name="Nobody drives here yet")).to_be_visible()
    served.wait_for_view("place", 0)
    wait_for_pictures(page)
    expect(page.locator("#hint")).to_contain_text('gymnasium.make("donkey-generated-track-v0"')
    expect(page.locator("#hint")).to_contain_text('"port": 9191')
    page.get_by_role("button", name="Drive here").click()
    command = "donkey drive --simulator 127.0.0.1:9191 --track generated_track"
    expect(page.locator("#command")).to_have_text(command)
    page.locator("#copy-command").click()
    expect(page.locator("#toast")).to_be_visible()
    expect(page.get_by_role("button", name="Reset car")).to_be_hidden()
    served.stage.names = ["late"]
    served.wait_for_view("chase", 1)
    expect(page.locator("#waiting")).to_be_hidden()


def test_a_pace_car_can_be_added_and_taken_away(open_page, served):
    served.stage.names = []
    page = open_page()
    page.locator("#pace-offer").click()
    expect(page.locator("#cars bdi")).to_have_text(["pace"])
    page.get_by_role("button", name="Remove the pace car").click()
    expect(page.get_by_role("heading", name="Nobody drives here yet")).to_be_visible()
    assert [call for call in served.stage.calls if call[0] == "set_pace_car"] == [
        ("set_pace_car", True),
        ("set_pace_car", False),
    ]


def test_ones_own_car_comes_before_the_pace_car_and_the_address_may_name_it(open_page, served):
    page = open_page()
    expect(page.locator("#cars bdi")).to_have_text(["Ada", "Grace", "pace"])
    expect(page.locator("#watched")).to_have_text("Ada")
    page.goto(f"{served.address}/?car=Grace")
    expect(page.locator("#watched")).to_have_text("Grace")
    page.locator("#cars button", has_text="pace").click()
    expect(page.locator("#watched")).to_have_text("pace")
    page.wait_for_timeout(300)
    expect(page.locator("#watched")).to_have_text("pace")


def test_the_car_that_joins_is_watched_instead_of_the_pace_car_that_nobody_chose(open_page, served):
    served.stage.names = ["pace"]
    page = open_page()
    expect(page.locator("#watched")).to_have_text("pace")
    served.stage.names = ["pace", "mine"]
    expect(page.locator("#watched")).to_have_text("mine")
    expect(page.locator("#cars bdi")).to_have_text(["mine", "pace"])


def test_a_control_page_of_this_machine_is_linked_to(open_page, served):
    page = open_page()
    wait_for_pictures(page, 1)
    expect(page.locator("#control")).to_be_hidden()
    served.control = "http://localhost:8887/drive"
    expect(page.get_by_role("link", name="Drive")).to_have_attribute("href", served.control)
    served.stage.names = []
    expect(page.get_by_role("link", name="Drive here")).to_have_attribute("href", served.control)


@pytest.mark.parametrize(
    ("code", "empty", "pace"),
    [("zh", "这里还没有小车行驶", "添加领跑车"), ("ja", "まだ誰も走っていません", "ペースカーを追加")],
)
def test_every_text_is_there_in_the_language_chosen(open_page, served, code, empty, pace):
    page = open_page()
    wait_for_pictures(page, 1)
    page.locator("#language").select_option(code)
    expect(page.locator("#pace-car")).to_have_text(pace)
    foreign = re.compile("[A-Za-z]{4,}")
    known = {"donkeysim", "generated", "track", "pace", "Grace", "English", "Python"}
    for names in (["pace", "", "Grace"], []):
        served.stage.names = names
        expect(page.locator("#cars bdi")).to_have_count(len(names))
        page.wait_for_timeout(700)
        shown = page.locator("body").inner_text()
        for example in page.locator("code").all_inner_texts():
            shown = shown.replace(example, "")
        assert set(foreign.findall(shown)) <= known
    expect(page.get_by_role("heading", name=empty)).to_be_visible()


def test_names_from_clients_are_text_never_markup(open_page, served):
    served.stage.names = list(HOSTILE)
    served.stage.last_hit = HOSTILE[0]
    page = open_page()
    wait_for_pictures(page)
    rows = page.locator("#cars bdi")
    assert rows.count() == len(HOSTILE)
    assert rows.nth(0).inner_text() == HOSTILE[0]
    assert rows.nth(4).inner_text() == "gnp.rac"
    assert rows.nth(6).inner_text() == "Car 7"
    for index in range(len(HOSTILE)):
        page.locator("#cars button").nth(index).click()
    expect(page.locator("#last-hit")).to_have_text(HOSTILE[0])
    wait_for_pictures(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img:not(.qr), main script, #cars svg, #cars b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_inline_script_cannot_run_at_all(open_page, served):
    page = open_page()
    refused = page.evaluate(
        """() => {
          try { document.body.innerHTML = "<img src=x onerror=window.hacked=1>"; return false; } catch { return true; }
        }"""
    )
    assert refused
    page.evaluate(
        """() => {
          const button = document.createElement("button");
          button.setAttribute("id", "try");
          try { button.setAttribute("onclick", "window.hacked=1"); } catch {}
          document.body.append(button);
          button.click();
        }"""
    )
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("site", ["http://evil.example/", "http://localhost:4444/", "http://127.0.0.1:4444/"])
def test_another_site_in_the_same_browser_can_neither_read_change_nor_watch(browser, served, site):
    context = browser.new_context()
    page = context.new_page()
    page.route(site, lambda route: route.fulfill(body="<title>evil</title>", content_type="text/html"))
    page.goto(site)
    outcome = page.evaluate(
        """async (target) => ({
          read: await fetch(target + "/outline").then(() => "read", () => "refused"),
          watch: await new Promise((done) => {
            const socket = new WebSocket(target.replace("http", "ws") + "/state");
            socket.onopen = () => done("open");
            socket.onclose = () => done("refused");
          }),
          change: await fetch(target + "/exit", { method: "POST", mode: "no-cors", body: "{}" })
            .then(() => "sent", () => "not sent"),
        })""",
        served.address,
    )
    context.close()
    assert (outcome["read"], outcome["watch"]) == ("refused", "refused")
    assert ("exit_scene",) not in served.stage.calls


def test_a_page_that_nobody_sees_asks_for_nothing(open_page, served):
    page = open_page()
    wait_for_pictures(page)
    hide = """(state) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, "hidden")

    def is_quiet():
        drawn = served.stage.picture_count
        page.wait_for_timeout(500)
        return served.stage.picture_count == drawn

    wait_until(is_quiet, "it goes on asking for pictures")
    page.evaluate(hide, "visible")
    wait_for_pictures(page)


def test_a_slow_stage_is_asked_for_smaller_pictures_and_never_for_two_at_once(open_page, served):
    served.stage.picture_delay = 0.15
    page = open_page()
    wait_for_pictures(page, 1)
    widths = lambda: [call[3] for call in served.stage.calls if call[1:2] == ("chase",)]  # noqa: E731
    first = widths()[0]
    chromium.wait_on_page(page, lambda: widths()[-1] < first, "it asks for pictures as large as before")
    assert served.stage.most_at_once == 1


def test_the_page_connects_again_after_the_simulator_was_restarted(open_page, served):
    page = open_page()
    wait_for_pictures(page)
    port = int(served.address.rsplit(":", 1)[1])
    served.stop()
    expect(page.get_by_role("heading", name="The simulator cannot be reached")).to_be_visible()
    served.start(served.app, port)
    wait_for_pictures(page)
    expect(page.locator("#link")).to_have_text("Live")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_at_any_size(open_page, served, scheme):
    served.stage.names = [f"racer number {index}" for index in range(16)]
    page = open_page(color_scheme=scheme)
    for width, height in ((360, 640), (390, 844), (844, 390), (820, 1180), (1000, 700), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        wait_for_pictures(page, 2)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        screen = page.locator("#screen").bounding_box()
        assert screen["width"] >= 0.5 * width
        buttons = page.locator(".controls button:visible, #exit").all()
        assert all(button.bounding_box()["height"] >= 32 for button in buttons)
        parts = page.locator(".controls :is(.segments, .watched, select, small, .button):visible").all()
        boxes = [part.bounding_box() for part in parts]
        assert not [pair for pair in itertools.combinations(boxes, 2) if overlap(*pair)], width


def overlap(one, other):
    """Return whether two boxes on the page have more than a pixel in common."""
    return all(
        one[at] + one[size] > other[at] + 1 and other[at] + other[size] > one[at] + 1
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.parametrize("road", [None, RoadSpec()])
def test_all_of_the_bar_is_in_sight_in_every_language(open_page, served, road):
    served.control, served.stage.road = "http://localhost:8887/drive", road
    page = open_page()
    expect(page.get_by_role("link", name="Drive")).to_be_visible()
    for code in ("en", "zh", "ja"):
        page.locator("#language").select_option(code)
        for width, height in ((360, 640), (390, 844), (844, 390), (1366, 768)):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (code, width)
            boxes = [part.bounding_box() for part in page.locator(".bar > :is(a, button, label):visible").all()]
            assert len(boxes) == (4 if road else 3)
            assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes), (code, width)


def test_the_whole_map_lies_in_a_laptops_window(open_page, served):
    served.stage.names = ["pace"]
    page = open_page(1366, 768)
    expect(page.locator("#map")).to_be_visible()
    box = page.locator("#map").bounding_box()
    assert box["y"] + box["height"] <= 768


LIE = """async ([width, height]) => {
  const { fitOutline } = await import("/shared/outline.js");
  const { point } = fitOutline({ left: [[0, 0], [8, 0]], right: [[0, 3], [8, 3]], path: [[4, 1]] }, width, height);
  const [[x, y], [right], [, up]] = [point(0, 0), point(1, 0), point(0, 1)];
  return right > x && up < y;
}"""


@pytest.mark.parametrize("size", [(300, 200), (200, 300)])
def test_a_map_lies_as_on_every_other_picture_of_the_track_whatever_its_room(open_page, size):
    assert open_page().evaluate(LIE, size)


def test_the_keys_of_the_page_are_listed_each_beside_what_it_does(open_page, served):
    page = open_page(1366, 768)
    for key, what in (("C", "chase"), ("S", "seat"), ("T", "top"), ("V", "camera")):
        expect(page.locator(".keys > span:visible", has_text=what)).to_have_text(re.compile(rf"{key}\s+{what}"))


def test_sixteen_cars_are_listed_and_one_that_leaves_is_gone(open_page, served):
    served.stage.names = [f"racer {index}" for index in range(16)]
    page = open_page()
    expect(page.locator("#cars button")).to_have_count(16)
    page.get_by_role("button", name="racer 15").click()
    expect(page.locator("#watched")).to_have_text("racer 15")
    served.stage.names.pop()
    expect(page.locator("#cars button")).to_have_count(15)
    expect(page.locator("#watched")).to_have_text("racer 14")
    wait_for_pictures(page)


def come_from_elsewhere(app):
    """Let every request seem to come from another machine."""

    async def moved(scope, receive, send):
        await app({**scope, "client": ("192.0.2.9", 5555)}, receive, send)

    return moved


@pytest.fixture
def served_to_others():
    served = ServedStage(come_from_elsewhere, Access(token="abcdefghjk"))
    yield served
    served.close()


NOTE = "You can only watch. To control the simulator, open the address with ?token= that it printed when it started."


def test_who_has_no_token_watches_is_told_so_and_has_no_buttons(pages, served_to_others):
    stage = served_to_others.stage
    page = pages.open(1280, 900)
    page.goto(served_to_others.address)
    wait_for_pictures(page)
    expect(page.locator("#watch-only")).to_have_text(NOTE)
    for button in ("#exit", "#road", "#reset", "#pace-car"):
        expect(page.locator(button)).to_be_hidden()
    expect(page.get_by_role("button", name="Top", exact=True)).to_be_visible()
    page.locator("body").press("r")
    stage.scene_name = None
    expect(page.get_by_role("heading", name="No scene has been chosen yet")).to_be_visible()
    expect(page.locator(".scene-card").first).to_be_disabled()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert {call[0] for call in stage.calls} == {"take_picture"}


def test_the_address_with_the_token_gives_the_buttons_and_keeps_them(pages, served_to_others):
    page = pages.open(1280, 900)
    page.goto(f"{served_to_others.address}/?token=abcdefghjk")
    assert page.url == f"{served_to_others.address}/"
    wait_for_pictures(page)
    expect(page.locator("#watch-only")).to_be_hidden()
    with page.expect_response("**/cars/2/reset") as answered:
        page.get_by_role("button", name="Reset car").click()
    assert answered.value.status == 200
    page.goto(served_to_others.address)
    expect(page.get_by_role("button", name="Exit scene")).to_be_visible()
