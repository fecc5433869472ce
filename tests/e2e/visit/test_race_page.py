"""A race on the watching page in a real browser, over a race by a script: any moment of it can be shown."""

import re

import chromium
import pytest
from chromium import wait_on_page
from msgspec.structs import replace
from playwright.sync_api import expect

from donkeysim.racing.rules.act import Pause, Penalise, PutBack, Restart, Undo
from stand_ins.scripted_race import GREEN
from stand_ins.served_race import ServedRace

pytestmark = [pytest.mark.visit, chromium.NEEDED]


@pytest.fixture(scope="module")
def served():
    served = ServedRace()
    yield served
    served.close()


@pytest.fixture(scope="module")
def window(browser):
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(30_000)
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    return page


@pytest.fixture
def open_race(served, window):
    def open_race(path="/", size=(1366, 768), **fields):
        served.set(**fields)
        window.set_viewport_size({"width": size[0], "height": size[1]})
        window.goto(served.address + path)
        expect(window.locator("#race-head")).to_be_visible()
        return window

    yield open_race
    assert window.faults == []


def read_line(page, name):
    """Return the texts of a car's line in the tower."""
    line = page.locator("#tower-lines .line", has_text=name)
    script = """(line) => Object.fromEntries(["place", "gap", "last", "best"].map((cell) =>
      [cell, line.querySelector(`:scope > .${cell}`).innerText]))"""
    return line.evaluate(script)


def wait_for_pictures(served, page, wanted, what):
    wait_on_page(page, lambda: wanted <= set(served.list_pictures()), what)


def test_the_tower_tells_places_gaps_laps_penalties_and_who_is_out(open_race):
    page = open_race(moment=60.0)
    expect(page.locator("#tower-lines .pick")).to_have_text(
        ["小红车", "Anna", "Ben", "さくら号", "Hugo", "Dai", "Gao", "Finn"]
    )
    assert read_line(page, "Ben") == {"place": "3", "gap": "+0.43", "last": "11.11", "best": "10.37"}
    assert [read_line(page, name)["gap"] for name in ("小红车", "Gao", "Finn")] == ["Leader", "DSQ", "DNF"]
    expect(page.locator(".line", has_text="Ben").locator(".penalty-badge")).to_have_text("+5 s")
    expect(page.get_by_role("img", name="Black flag")).to_be_visible()
    expect(page.get_by_role("img", name="Its client is gone")).to_be_visible()
    expect(page.locator(".best.fastest")).to_have_text("10.16")
    page.locator("body").press("g")
    expect(page.locator("#gap-mode")).to_have_text("Interval")
    assert read_line(page, "Ben")["gap"] == "+0.11"


def test_sectors_differ_by_colour_and_by_height(open_race):
    page = open_race(moment=GREEN + 70.0)
    expect(page.locator('#tower-lines [data-rank="best"]').first).to_be_visible()
    seen = page.evaluate(
        """() => Object.fromEntries(["best", "own", "slower"].map((rank) => {
          const style = getComputedStyle(document.querySelector(`[data-rank="${rank}"]`), "::before");
          return [rank, [parseFloat(style.height), style.backgroundColor]];
        }))"""
    )
    assert seen["best"][0] > seen["own"][0] > seen["slower"][0]
    assert len({colour for _, colour in seen.values()}) == 3


def test_lines_glide_to_new_places_and_keep_the_keyboard_unless_motion_is_unwelcome(open_race, served):
    page = open_race(moment=30.0)
    page.get_by_role("button", name="Ben", exact=True).focus()
    before = page.locator("#tower-lines .pick").all_inner_texts()
    count = """() => document.getAnimations().filter((one) => one.effect.target.matches("#tower-lines .line")).length"""
    served.stage.moment = 42.0
    wait_on_page(page, lambda: page.evaluate(count) > 0, "no line glides")
    assert page.locator("#tower-lines .pick").all_inner_texts() != before
    assert page.evaluate("document.activeElement.innerText") == "Ben"
    wait_on_page(page, lambda: page.evaluate(count) == 0, "lines glide for ever")
    page.emulate_media(reduced_motion="reduce")
    served.stage.moment = 30.0
    expect(page.locator("#tower-lines .pick")).to_have_text(before)
    assert page.evaluate(count) == 0
    page.emulate_media(reduced_motion="no-preference")


def test_cameras_choose_by_themselves_until_a_car_is_chosen(open_race, served):
    page = open_race(on_air=2)
    wait_for_pictures(served, page, {("tv", -1)}, "nobody asked for TV")
    expect(page.locator(".plate").first).to_have_text("3Ben+0.43")
    page.locator("#tower-lines .pick", has_text="Hugo").click()
    page.locator("body").press("s")
    wait_for_pictures(served, page, {("seat", 8), ("camera", 8)}, "nobody asked for Hugo's seat")
    expect(page.locator(".plate").first).to_have_text("5Hugo+1.82")
    page.get_by_role("button", name="Automatic").click()
    wait_for_pictures(served, page, {("seat", -1)}, "it is not automatic again")
    expect(page.locator("#inset")).to_be_hidden()


def test_four_pictures_show_the_first_four_or_cars_of_ones_choice(open_race, served):
    page = open_race()
    page.locator("body").press("c")
    page.locator("body").press("q")
    first = {("chase", car) for car in (3, 1, 2, 5)}
    wait_for_pictures(served, page, first, "not the first four")
    page.locator("body").press("2")
    page.locator("#tower-lines .pick", has_text="Dai").click()
    wait_for_pictures(served, page, {("chase", 4)}, "the picture does not show whom one chose")
    expect(page.locator(".plate bdi")).to_have_text(["小红车", "Dai", "Ben", "さくら号"])
    page.get_by_role("button", name="By place").click()
    expect(page.locator(".plate bdi")).to_have_text(["小红车", "Anna", "Ben", "さくら号"])


@pytest.mark.parametrize(("count", "share"), [(1, 1.0), (2, 0.5), (3, 0.25)])
def test_fewer_cars_than_four_have_larger_pictures(open_race, count, share):
    page = open_race(count=count)
    page.locator("body").press("q")
    expect(page.locator(".pane:visible")).to_have_count(count)
    screen, pane = (page.locator(place).first.bounding_box() for place in ("#screen", ".pane:visible"))
    assert pane["width"] * pane["height"] == pytest.approx(share * screen["width"] * screen["height"], rel=0.05)
    page.locator("body").press("q")


def test_a_picture_without_a_car_is_seen_while_the_next_car_would_go_there(open_race):
    page = open_race(count=2)
    body, marked = page.locator("body"), page.locator(".pane.marked:visible")
    body.press("q")
    body.press("4")
    expect(marked).to_have_class(re.compile("empty"))
    page.locator("#tower-lines .pick", has_text="Anna").click()
    expect(page.locator(".pane:visible .plate bdi")).to_have_text(["Anna", "Ben", "Anna"])
    for _ in range(2):
        page.locator("#tower-lines .pick", has_text="Anna").click()
        expect(marked).not_to_have_class(re.compile("empty"))
    body.press("q")


def test_the_next_car_is_the_one_after_that_in_the_marked_picture(open_race):
    page = open_race()
    body, plates = page.locator("body"), page.locator(".plate bdi")
    body.press("q")
    body.press("2")
    expect(plates).to_have_text(["小红车", "Anna", "Ben", "さくら号"])
    for key, shown in (("n", "Ben"), ("n", "さくら号"), ("p", "Ben")):
        body.press(key)
        expect(plates).to_have_text(["小红车", shown, "Ben", "さくら号"])
    body.press("q")


def test_the_table_of_a_long_race_shows_the_laps_that_were_driven(open_race, served):
    page = open_race(laps=100)
    heads, cells = page.locator("#lap-table thead th"), page.locator("#lap-table tbody tr").first.locator("td")
    expect(heads.last).to_have_text("Lap 60")
    expect(cells.first).not_to_be_empty()
    served.stage.moment = GREEN + 800.0
    leader = max(map(len, served.stage._chart(800.0).values())) - 1
    assert leader > 60
    expect(heads.last).to_have_text(f"Lap {leader}")
    expect(heads.nth(1)).to_have_text(f"Lap {leader - 60}")


def test_flags_lights_laps_and_the_podium_follow_the_race(open_race, served):
    page = open_race(moment=GREEN - 1.5)
    head = page.locator("#race-head")
    expect(page.locator("#count")).to_have_text("2")
    expect(page.locator("#lamps .lit")).to_have_count(2)
    expect(page.locator("#race-clock")).to_have_text("−0:01.5")
    served.stage.moment = GREEN + 0.5
    expect(page.locator("#count")).to_have_text("GO")
    for moment, flag, lap in ((GREEN + 23.0, "yellow", "Lap 3 / 5"), (GREEN + 30.0, "green", "Lap 3 / 5")):
        served.stage.moment = moment
        expect(head).to_have_attribute("data-flag", flag)
        expect(page.locator("#race-laps")).to_have_text(lap)
    served.stage.moment = GREEN + 70.0
    expect(page.locator("#steps bdi")).to_have_text(["小红车", "Anna", "Ben"])
    expect(page.locator("#steps .time").first).to_have_text("53.021 s")
    page.locator("#podium-close").click()
    expect(page.locator("#podium")).to_be_hidden()


def test_an_incident_of_the_journal_is_shown_slowly_from_three_seconds_before(open_race, served):
    page = open_race()
    page.locator("#journal .jump", has_text="Gao").click()
    begin = GREEN + 41.0 - 3.0
    early = lambda: [at for _, car, *at in served.list_pictures() if car == 7 and at]  # noqa: E731
    wait_on_page(page, lambda: len(early()) > 2, "no picture of the past")
    (first,), *_, (last,) = early()
    assert begin <= first < last < begin + 2.0
    expect(page.locator("#play-speed")).to_have_value("0.5")
    expect(page.locator("#replay-sign")).to_be_visible()
    expect(page.locator(".line.chosen .pick")).to_have_text("Gao")
    expect(page.locator("#race-clock")).to_have_text(re.compile(r"0:(38|39|40)\."))  # it follows the pictures
    page.locator("#go-live").click()
    expect(page.locator("#race-clock")).to_have_text("0:52.0")
    expect(page.locator(".line.chosen")).to_have_count(0)


SAID = """async () => {
  const { texts } = await import("/pages/words.js");
  const { tellMark, tellTime } = await import("/pages/moments.js");
  const said = ["qualifying begins (Anna)", "cool-down begins", "chequered flag to all", "black flag to Ben",
    "Ben is put back", "the race is over"].map((text) => tellMark({ text }, { tower: [] }));
  return [texts.code, ...said, tellTime({ time: null }), tellTime({ time: -3 })];
}"""


def test_the_journal_speaks_the_language_of_the_page(open_race):
    page = open_race()
    told = {}
    for code in ("ja", "en"):
        page.locator("#language").select_option(code)
        expect(page.locator("html")).to_have_attribute("lang", code)
        told[code] = page.evaluate(SAID)[1:]
    assert told["en"] == [
        "Qualifying begins (Anna)", "Cool-down begins", "Chequered flag: all", "Black flag: Ben", "Ben is put back",
        "Finished", "–", "−0:03.0",
    ]  # fmt: skip
    assert told["ja"][0] == "予選開始 (Anna)"
    assert not any(word in " ".join(told["ja"]) for word in ("begins", "flag", "all", "put back", "Finished"))


OF_WHOM = """async ([name, other]) => {
  const { tellMark } = await import("/pages/moments.js");
  const tower = [{ car: 901, row: 0, name }, { car: 902, row: 1, name: other }];
  const incident = { what: "", counts: true, seconds: 0, laps: 0, out: false };
  return [{ kind: "rear end", other: 1 }, { kind: "obstacle", what: "wall", other: -1 }]
    .map((kind) => tellMark({ car: 901, text: "", incident: { ...incident, ...kind } }, { tower }));
}"""


@pytest.mark.parametrize(("name", "other"), [("Bo", "Bobby"), ("car1", "car10"), ("a", "Anna")])
def test_an_incident_is_told_of_its_car_whatever_the_names_of_others(open_race, name, other):
    told = open_race().evaluate(OF_WHOM, [name, other])
    assert [text.partition(": ")[0] for text in told] == [name, name]
    assert told[0].endswith(f" ({other})")


def test_journal_tower_and_paddock_of_a_race_hold_no_english_in_other_languages(open_race, served):
    page = open_race()
    told = page.locator("#journal .jump bdi")
    lines = page.locator("#tower-lines .line")
    assert told.all_inner_texts() == [
        "Anna and Ben touched; nobody is to blame",
        "The race engineer takes back no. 1",
        "Anna: touched guard rail",
        "Gao: drove into a car from behind (Hugo)",
        "Ben: penalty of the race engineer: +5 s (cutting)",
        "Finn: was gone and did not come back in time; it does not count",
        "Dai is put back",
        "Dai: stood still, lay on its roof or was lost beside the road (asked to be put back)",
        "Ben: drove into a car from behind (Anna)",
        "Race begins",
    ]
    for code in ("zh", "ja"):
        page.locator("#language").select_option(code)
        expect(page.locator("html")).to_have_attribute("lang", re.compile(code))
        said = [*told.all_inner_texts(), *lines.evaluate_all("(lines) => lines.map((line) => line.title)")]
        served.stage.is_paddock = True
        page.reload()
        expect(page.locator("#race-note")).to_contain_text("3")
        said.append(page.locator("#race-note").inner_text())
        served.stage.is_paddock = False
        names = "|".join((*served.stage.names, "cutting"))
        assert [text for text in said if re.search("[A-Za-z]", re.sub(names, "", text))] == []
    page.locator("#language").select_option("en")


def test_the_time_line_is_played_by_keys(open_race, served):
    page = open_race()
    body = page.locator("body")
    for key in (" ", "ArrowLeft", ",", ","):
        body.press(key)
    expect(page.locator("#race-clock")).to_have_text("0:46.9")
    expect(page.locator("#play-time")).to_have_text("−0:05.1")
    wait_on_page(page, lambda: served.list_pictures()[-1][2:] == (54.9,), "not that frame")
    page.wait_for_timeout(150)
    count = len(served.list_pictures())
    page.wait_for_timeout(250)
    assert len(served.list_pictures()) == count  # a moment that stands still is drawn once
    expect(page.locator("#seek")).to_have_attribute("aria-valuetext", "−0:05.1")
    body.press("j")
    expect(page.locator("#play-speed")).to_have_value("0.5")
    body.press("+")
    expect(page.locator("#play-speed")).to_have_value("1")
    body.press("l")
    expect(page.locator("#go-live")).to_have_attribute("aria-pressed", "true")


def test_marks_of_the_time_line_are_reached_by_keyboard(open_race):
    page = open_race()
    marks = page.locator("#marks .mark")
    expect(marks).to_have_count(8)
    assert page.locator('#marks [tabindex="0"]').count() == 1
    page.locator('#marks [tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    named = page.evaluate("document.activeElement.title")
    assert named == "0:21.0 Dai: stood still, lay on its roof or was lost beside the road (asked to be put back)"
    page.keyboard.press("Enter")
    expect(page.locator("#replay-sign")).to_be_visible()
    assert page.evaluate("document.activeElement.title") == named


PLAYHEAD = """async () => {
  const { Playhead } = await import("/pages/playhead.js");
  let clock = 100;
  const head = new Playhead(() => clock);
  const seen = [];
  const note = () => seen.push([head.now(), head.speed, head.isPlaying]);
  head.update({ begin: 0, end: 50 }); note();
  head.setSpeed(0.5); clock += 4; note();
  head.jump(30); clock += 2; note();
  head.toggle(); clock += 9; note();
  head.step(2); note();
  head.rest(); head.toggle(); head.rest(); clock += 60; head.wake(); note();
  head.setSpeed(5); clock += 60; head.update({ begin: 0, end: 60 }); note();
  const film = new Playhead(() => clock);
  film.update({ begin: 5, end: 9 }, false); clock += 1;
  seen.push([film.now(), film.speed, film.isPlaying]);
  clock += 60; film.update({ begin: 5, end: 9 }, false);
  seen.push([film.now(), film.speed, film.isPlaying]);
  film.toggle(); clock += 2;
  seen.push([film.now(), film.speed, film.isPlaying]);
  return seen;
}"""


def test_the_playhead_moves_by_its_own_clock_and_catches_up_with_now(open_race):
    seen = open_race().evaluate(PLAYHEAD)
    live = [[None, 1, True], [50, 0.5, True], [28, 0.5, True], [28, 0.5, False], [28.1, 0.5, False], [28.1, 0.5, True]]
    assert seen == [*live, [None, 1, True], [6, 1, True], [9, 1, False], [7, 1, True]]


def test_a_race_file_is_played_from_its_beginning(open_race, served):
    page = open_race(is_live=False, moment=70.0)
    moments = lambda: [at[0] for _, _, *at in served.list_pictures() if at]  # noqa: E731
    wait_on_page(page, lambda: len(moments()) > 3, "no pictures")
    expect(page.locator("#race-session")).to_have_text("Grid")
    for gone in ("#go-live", "#tab-engineer", "#journal .undo >> nth=0"):
        expect(page.locator(gone)).to_be_hidden()
    assert moments()[0] < moments()[-1] < 5.0
    expect(page.locator("#link-text")).to_have_text("Replay")


def test_race_control_stops_penalises_puts_back_takes_back_and_asks_before_it_restarts(open_race, served):
    page = open_race()
    page.locator("#tab-engineer").click()
    page.locator("#hold-race").click()
    expect(page.locator("#hold-race")).to_have_text("Go on")
    expect(page.locator("#race-head")).to_have_attribute("data-flag", "red")
    page.locator("#engineer-car").select_option("Dai")
    page.locator("#put-back").click()
    page.locator("#penalty-seconds").fill("7.5")
    page.locator("#penalty-why").fill("clip at turn 2")  # letters are no keys of the page here
    page.locator("#penalise").click()
    page.locator("#tab-journal").click()
    page.get_by_role("button", name="Undo: Ben: penalty").click()
    expect(page.locator("#journal .undone")).to_have_count(1)
    page.locator("#tab-engineer").click()
    page.locator("#restart-race").click()
    page.get_by_role("button", name="Race on").click()
    page.locator("#restart-race").click()
    page.locator("#restart-dialog .danger").click()
    wanted = [Pause(), PutBack(3), Penalise(3, 7.5, 0, False, "clip at turn 2"), Undo(4), Restart()]
    wait_on_page(page, lambda: served.list_acts() == wanted, "other acts")


def test_a_race_in_the_paddock_is_joined_and_started(open_race, served):
    page = open_race(is_paddock=True, moment=0.0)
    expect(page.locator("#panel-join")).to_be_visible()
    expect(page.locator("#race-note")).to_have_text("The race starts with 4 cars; 3 of them are here.")
    expect(page.locator("#join-config")).to_contain_text('SIM_HOST = "192.168.1.20"\nSIM_PORT = 9091')
    expect(page.locator("#join-gym")).to_contain_text('gymnasium.make("donkey-generated-track-v0"')
    wait_on_page(page, lambda: page.evaluate("document.getElementById('qr').naturalWidth > 0"), "no code")
    page.locator("#tab-engineer").click()
    page.locator("#start-race").click()
    expect(page.locator("#race-session")).to_have_text("Grid")
    served.stage.place_to_join = None
    expect(page.locator("#tab-join")).to_be_hidden()


def test_between_two_races_there_is_a_now_beside_the_race_before(open_race, served):
    page = open_race(is_paddock=True, is_live=False, moment=200.0)
    expect(page.locator("#race-session")).to_have_text("Paddock")
    expect(page.locator("#steps bdi")).to_have_text(["小红车", "Anna", "Ben"])
    assert read_line(page, "Anna")["gap"] == "+0.41"
    page.locator("body").press("ArrowLeft")
    expect(page.locator("#race-session")).to_have_text("Race")
    page.locator("#go-live").click()
    page.locator("#tab-engineer").click()
    page.locator("#start-race").click()
    expect(page.locator("#race-session")).to_have_text("Grid")


def test_the_wall_shows_24_cars_without_scrolling_in_letters_for_the_back_row(open_race):
    page = open_race("/wall", (1920, 1080), count=24)
    expect(page.locator("#tower-lines .line")).to_have_count(24)
    last = page.locator("#tower-lines .line").last.bounding_box()
    assert last["y"] + last["height"] <= 1080
    assert page.evaluate("document.documentElement.scrollHeight") == 1080
    for place in (".line .pick", "#race-laps", ".join-address"):
        size = page.locator(place).last.evaluate("(element) => parseFloat(getComputedStyle(element).fontSize)")
        assert size >= 25, place
    shown = page.locator("button:visible").all()
    assert all("pick" in (button.get_attribute("class") or "") or button.get_attribute("id") for button in shown)
    for hidden in ("#controls", "#time-line", ".panels", ".bar"):
        expect(page.locator(hidden)).to_be_hidden()


def test_the_overlay_is_a_tower_on_nothing_as_the_address_says(open_race):
    page = open_race("/overlay?scale=1.5&side=right&rows=4", (1280, 720))
    expect(page.locator("#tower-lines .line")).to_have_count(4)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
    box = page.locator("#race-head").bounding_box()
    assert box["x"] > 640
    assert box["x"] + box["width"] <= 1280
    assert page.locator("button, select, input").count() == 0


HOSTILE = [
    "<img src=x onerror=window.hacked=1>",
    "\u202egnp.rac",
    "W" * 300,
    "🚗🏁" * 40,
    "مرحبا بالعالم",
    "a\u0301" * 90,
    " ",
]


@pytest.mark.parametrize("size", [(390, 844), (1366, 768)])
def test_hostile_names_stay_in_their_cells(open_race, served, size):
    page = open_race(size=size)
    served.stage.names = [*HOSTILE, "\n\nlate"]
    expect(page.locator("#tower-lines .pick", has_text="gnp.rac")).to_be_visible()
    page.locator("body").press("q")
    expect(page.locator(".plate").nth(3)).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    over = page.evaluate(
        """() => [...document.querySelectorAll("#tower-lines .line")].map((line) => {
          const [who, gap] = [".who", ".gap"].map((cell) => line.querySelector(cell).getBoundingClientRect());
          return who.right - gap.left;
        })"""
    )
    assert all(distance <= 1 for distance in over)


def test_numbers_do_not_move_the_page(open_race, served):
    page = open_race(moment=GREEN + 31.0)
    boxes = """() => ["race-clock", "screen", "tower", "map"].map((id) =>
      JSON.stringify(document.getElementById(id).getBoundingClientRect()))"""
    expect(page.locator("#race-clock")).to_have_text("0:31.0")
    before = page.evaluate(boxes)
    for moment, clock in ((GREEN + 32.1, "0:32.1"), (GREEN + 38.8, "0:38.8")):
        served.stage.moment = moment
        expect(page.locator("#race-clock")).to_have_text(clock)
        assert page.evaluate(boxes) == before


def test_an_incident_of_a_car_that_has_left_is_shown_with_it(open_race, served):
    page = open_race()
    lines = served.stage._line

    def leave(place, row, order, clock, fastest):
        line = lines(place, row, order, clock, fastest)
        return replace(line, car=-1) if line.status == "disqualified" else line

    served.stage._line = leave
    expect(page.locator("#tower-lines .pick", has_text="Gao")).to_be_disabled()
    page.locator("#journal .jump", has_text="Gao").click()
    expect(page.locator(".line.chosen .pick")).to_have_text("Gao")
