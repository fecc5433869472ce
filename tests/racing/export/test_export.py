"""What is made of a race file says what the race was: MCAP, Parquet and the report, read back."""

import base64
import dataclasses
import hashlib
import itertools
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from mcap.reader import make_reader
from tests.racing.run.test_race_run import Pest

from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.files import choose_free
from donkeysim.core.image import decode_picture
from donkeysim.racing.export import parquet_file
from donkeysim.racing.export.charts import Curve, Side, draw_chart, fit_colour, format_time, show_name
from donkeysim.racing.export.mcap_file import SCHEMAS, McapExport
from donkeysim.racing.export.parquet_file import COLUMNS, ParquetExport
from donkeysim.racing.export.report_page import ReportExport, format_report
from donkeysim.racing.export.story import StoryKeeper, price_incidents
from donkeysim.racing.export.walk import CAR_COLUMNS, RaceWalk, export_race
from donkeysim.racing.rules import act
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.director import RACE
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.rules.rule_book import Penalty, Race, RuleBook, StartRules, Watch
from donkeysim.racing.rules.run import Run
from donkeysim.racing.rules.standings import Outcome
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.race_run import PilotRace
from donkeysim.racing.run.racer import DriverRacer
from donkeysim.racing.run.tournament import report_race
from donkeysim.record import action_log
from donkeysim.record.replay import Replay

BOOK = RuleBook(
    "Club <i>",
    "",
    "",
    "",
    Race(laps=1, limit=20.0),
    start=StartRules(settle=0.5, countdown=0.5),
    penalty=(Penalty(("obstacle",), seconds=2.0, out="disqualified", out_after=1),),
)
NAMES = ("Anna", "steady", '<b>"pest"</b>')
CHOSEN = (1, 40, 160)
"""Frames whose values are compared."""


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """A race of two drivers and a pest, of whom the race engineer has taken note."""
    asked = []

    def engineer(director):
        if director.session == RACE and not asked:
            asked.append(director)
            return [act.Penalise(0, seconds=1.5, why="a paint that blinds")]
        return []

    path = tmp_path_factory.mktemp("race") / "race.dlog"
    racers = [DriverRacer("fast"), DriverRacer("steady"), Pest()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(action_log, "BLOCK_BYTES", 2000)  # so that a part of the file holds a part of the race
        made = PilotRace(RacePlan("reading_room", "club", BOOK, NAMES), racers, path).run(engineer=engineer)
    report_race(made)
    return made


@pytest.fixture(scope="module")
def files(record, tmp_path_factory):
    """All that is made of it."""
    folder = tmp_path_factory.mktemp("exports")
    exports = [
        McapExport(folder / "race.mcap", ["Anna"]),
        ParquetExport(folder / "race.parquet"),
        ReportExport(folder / "race.html"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_file, "GROUP_ROWS", 200)
        verdict = export_race(record.file, exports)
    assert verdict.is_confirmed, verdict.list_complaints()
    return folder


@pytest.fixture(scope="module")
def ledgers(record):
    """Poses and speeds at the chosen frames, as a replay shows them, and how many frames there are."""
    replay, kept = Replay(record.file), {}
    for frame, _ in enumerate(replay.play(), start=1):
        if frame in CHOSEN:
            ledger = replay.simulator.ledger
            kept[frame] = (ledger.position.copy(), ledger.orientation.copy(), ledger.forward_speed.copy())
    return kept, replay.step_count


# -- MCAP -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def messages(files):
    """Messages by topic: (time [ns], name of the schema, content)."""
    told = {}
    with (files / "race.mcap").open("rb") as stream:
        for schema, channel, message in make_reader(stream).iter_messages(log_time_order=False):
            content = json.loads(message.data)
            told.setdefault(channel.topic, []).append((message.log_time, schema.name, content))
    return told


def test_an_mcap_file_has_all_topics_with_their_schemas(files, messages, record, ledgers):
    assert {topic: told[0][1] for topic, told in messages.items()} == {
        "/track": "foxglove.SceneUpdate",
        "/cars": "foxglove.SceneUpdate",
        "/tf": "foxglove.FrameTransforms",
        "/car/0/telemetry": "donkeysim.Telemetry",
        "/car/1/telemetry": "donkeysim.Telemetry",
        "/car/2/telemetry": "donkeysim.Telemetry",
        "/car/0/camera": "foxglove.CompressedImage",
        "/standing": "donkeysim.Standing",
        "/incident": "donkeysim.Incident",
        "/journal": "foxglove.Log",
    }
    assert len(messages["/tf"]) == ledgers[1]
    assert len(messages["/car/0/camera"]) == len(messages["/car/0/telemetry"])
    assert [line[2]["message"] for line in messages["/journal"]] == [line.text for line in record.journal]
    numbers = [told[2]["incident"]["number"] for told in messages["/incident"]]
    assert numbers == [incident.number for incident in record.result.incidents]
    with (files / "race.mcap").open("rb") as stream:
        reader = make_reader(stream)
        assert {chunk.compression for chunk in reader.get_summary().chunk_indexes} == {"zstd"}
        schemas = {schema.name: json.loads(schema.data) for schema in reader.get_summary().schemas.values()}
        (attachment,) = reader.iter_attachments()
    assert schemas == SCHEMAS
    result = msgspec.json.decode(msgspec.json.encode(record.result))
    assert json.loads(attachment.data)["result"] == result
    assert messages["/standing"][-1][2]["placings"] == result["placings"]


def test_times_in_an_mcap_file_are_simulated_and_rise(messages):
    for told in messages.values():
        times = [time for time, _, _ in told]
        assert times == sorted(times)
    assert [time for time, _, _ in messages["/tf"]] == [
        50_000_000 * frame for frame in range(1, len(messages["/tf"]) + 1)
    ]
    stamps = [(told["timestamp"]["sec"], told["timestamp"]["nsec"]) for _, _, told in messages["/standing"]]
    assert [10**9 * sec + nsec for sec, nsec in stamps] == [time for time, _, _ in messages["/standing"]]


def test_poses_in_an_mcap_file_are_those_of_the_race(messages, ledgers):
    for frame, (position, orientation, speed) in ledgers[0].items():
        time, _, content = messages["/tf"][frame - 1]
        for transform in content["transforms"]:
            row = int(transform["child_frame_id"].split()[1])
            assert list(transform["translation"].values()) == position[row].tolist()
            assert [transform["rotation"][axis] for axis in "wxyz"] == orientation[row].tolist()
            (telemetry,) = (told for at, _, told in messages[f"/car/{row}/telemetry"] if at == time)
            assert telemetry["speed"] == speed[row]


def test_a_camera_in_an_mcap_file_shows_pictures(messages):
    pictures = [base64.b64decode(content["data"]) for _, _, content in messages["/car/0/camera"]]
    first, last = decode_picture(pictures[0]), decode_picture(pictures[-1])
    assert first.shape == (120, 160, 3)
    assert np.abs(first.astype(float) - last).mean() > 5


def test_cars_that_are_gone_are_taken_out_of_the_scene(messages):
    shown = [{entity["id"] for entity in content["entities"]} for _, _, content in messages["/cars"]]
    assert shown[0] == {"car 0", "car 1", "car 2"}
    assert shown[-1] < shown[0]
    assert all(content["deletions"][0]["type"] == 1 for _, _, content in messages["/cars"]), "whole after a jump"


def test_schemas_can_be_read_without_looking_elsewhere():
    for name, schema in SCHEMAS.items():
        assert (schema["title"], schema["type"]) == (name, "object")
        assert "$ref" not in json.dumps(schema)
    told = SCHEMAS["donkeysim.Telemetry"]["properties"]
    assert set(told) == {"timestamp", "row", "name", *(column.name for column in CAR_COLUMNS)}
    time = SCHEMAS["foxglove.Log"]["properties"]["timestamp"]
    assert (time["title"], set(time["properties"])) == ("time", {"sec", "nsec"})


# -- Parquet ----------------------------------------------------------------------------------------------------------


def test_a_table_has_a_row_for_each_car_and_frame(files, record, ledgers):
    file = pq.ParquetFile(files / "race.parquet")
    table = file.read()
    assert table.num_rows == 3 * ledgers[1]
    assert max(file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)) <= 202
    columns = table.to_pydict()
    assert columns["name"] == list(NAMES) * ledgers[1]
    for frame, (position, _, speed) in ledgers[0].items():
        for row in range(3):
            at = 3 * (frame - 1) + row
            assert (columns["frame"][at], columns["row"][at]) == (frame, row)
            assert columns["time"][at] == pytest.approx(frame / 20.0)
            if columns["present"][at]:
                assert [columns[axis][at] for axis in "xyz"] == position[row].tolist()
                assert columns["speed"][at] == speed[row]
            else:
                assert columns["x"][at] is None
    assert columns["place"][-3:] == [next(p.place for p in record.result.placings if p.row == row) for row in range(3)]
    assert {hit for hit in columns["hit"] if hit is not None}, "the pest hits something"
    assert columns["session"][-1] == "over"


def test_a_table_tells_its_units_and_its_race(files, record):
    schema = pq.read_schema(files / "race.parquet")
    assert schema.names == [column.name for column in COLUMNS]
    assert schema.field("yaw_rate").metadata == {b"unit": b"rad/s", b"description": b"positive turning left"}
    facts = pq.read_metadata(files / "race.parquet").metadata
    assert msgspec.json.decode(facts[b"race"], type=RacePlan) == record.plan
    assert json.loads(facts[b"result"])["track"] == "reading_room"
    assert json.loads(facts[b"complaints"]) == []


# -- the report -------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Looks for what is not closed, and for what a page would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.loads, self.tags = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_report_needs_nothing_else_and_says_how_it_ended(files, record):
    text = (files / "race.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert page.loads == []
    assert "url(" not in text
    winner = record.result.placings[0]
    assert f"<h1>{winner.name} wins</h1>" in text
    assert format_time(winner.time) in text
    assert format_time(winner.best_lap) in text
    assert "disqualified: touched an obstacle" in text
    assert "penalty of the race engineer (<bdi>a paint that blinds</bdi>)" in text
    assert hashlib.sha256(record.file.read_bytes()).hexdigest() in text
    assert "the result are the same" in text


def test_names_in_a_report_are_words_and_its_only_script_is_its_own(files):
    text = (files / "race.html").read_text(encoding="utf-8")
    assert "<b>" not in text.partition("Classification")[2]
    assert "&lt;b&gt;&quot;pest&quot;&lt;/b&gt;" in text
    assert "Club &lt;i&gt;" in text
    (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in text


def test_the_best_lap_and_places_of_incidents_are_kept(record):
    walk, keeper = RaceWalk(record.file), StoryKeeper()
    for _ in walk.play():
        keeper.note(walk)
    story = keeper.make_story(walk, walk.conclude())
    anna = next(car for car in story.cars if car.name == "Anna")
    assert len(anna.best.speed) == pytest.approx(20.0 * anna.placing.best_lap, abs=2.0)
    assert anna.ends == pytest.approx([anna.placing.time - 1.5], abs=1e-6)
    hit = next(item for item in story.incidents if item.incident.kind == "obstacle")
    assert (hit.cost, len(hit.place)) == ("2 s", 2)
    nobody = dataclasses.replace(
        story, cars=tuple(dataclasses.replace(car, laps=(), ends=(), best=None) for car in story.cars)
    )
    assert "Lap times" not in format_report(nobody, "race.dlog", "0")


def test_the_page_of_a_league_shows_points_evening_by_evening(tmp_path, monkeypatch, capsys):
    outcomes = [
        Outcome("evening-1/<race>", (("Anna", 1), ("<b>Ben</b>", 2)), (3.0, 1.0)),
        Outcome("evening-2", (("<b>Ben</b>", 1), ("Cleo", 2)), (3.0, 1.0)),
    ]
    monkeypatch.setattr("donkeysim.racing.run.tournament.read_league", lambda folder, points: outcomes)
    monkeypatch.chdir(tmp_path)
    for name in ("season.html", "season-2.html"):
        assert run(["race", "league", ".", "--html", "season.html"]) == 0
        assert f"saved {name}" in capsys.readouterr().out
    text = (tmp_path / "season.html").read_text(encoding="utf-8")
    assert Page(text).open == []
    assert "<h1>&lt;b&gt;Ben&lt;/b&gt; leads</h1>" in text
    assert re.findall(r"<td><b>(\d)</b></td>", text) == ["4", "3", "1"]
    assert "evening-1/&lt;race&gt;" in text
    assert text.count('class="curve"') == 3


# -- what is refused --------------------------------------------------------------------------------------------------


def rewrite(source, target, change):
    """Copy a race file, its steps changed."""
    reader = action_log.LogReader(source)
    writer = action_log.LogWriter(target, reader.head)
    steps = itertools.count(1)
    for event in reader.read_events():
        if isinstance(event, action_log.Stepped):
            change(next(steps), event)
        if not isinstance(event, action_log.Closed):
            writer.append(event)
    writer.close()
    return target


def test_a_race_that_is_not_the_same_again_is_refused_and_nothing_is_left(record, tmp_path):
    def spoil(step, event):
        event.checksum ^= step == 60

    path = rewrite(record.file, tmp_path / "race.dlog", spoil)
    folder = tmp_path / "exports"
    exports = [kind(folder / kind.__name__) for kind in (McapExport, ParquetExport, ReportExport)]
    with pytest.raises(SpecError, match=r"frame 60 of .* is not the same again, so nothing was written"):
        export_race(path, exports)
    assert list(folder.iterdir()) == []


def test_a_race_that_breaks_off_is_told_as_far_as_it_goes(record, tmp_path, capsys):
    content = record.file.read_bytes()
    (tmp_path / "race.dlog").write_bytes(content[: len(content) // 2])
    assert run(["race", "export", str(tmp_path / "race.dlog"), "--html"]) == 1
    assert "the file holds no result" in capsys.readouterr().out
    assert "A race without an end" in (tmp_path / "race.html").read_text(encoding="utf-8")


def test_an_unknown_camera_is_told_and_a_log_without_a_race(record, tmp_path):
    with pytest.raises(SpecError, match="no car of this race is called 'Ben'; they are: Anna"):
        export_race(record.file, [McapExport(tmp_path / "race.mcap", ["Ben"])])
    from donkeysim.record.recorder import open_simulator
    from donkeysim.world.specs import SceneSpec, WorldSpec

    open_simulator(WorldSpec(SceneSpec("reading_room")), log=tmp_path / "run.dlog").close()
    with pytest.raises(SpecError, match="without a race"):
        export_race(tmp_path / "run.dlog", [ReportExport(tmp_path / "race.html")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.dlog"]


@pytest.mark.parametrize(("export", "module"), [(McapExport, "mcap.writer"), (ParquetExport, "pyarrow")])
def test_a_missing_package_is_told_in_a_sentence(export, module, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DonkeySimError, match=r'need .*; install it .*\[export\]"'):
        export(tmp_path / "file")


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "race.html").touch()
    (tmp_path / "race-2.html").touch()
    assert choose_free(tmp_path / "race.html") == tmp_path / "race-3.html"


# -- parts ------------------------------------------------------------------------------------------------------------


def test_what_an_incident_cost_is_what_it_changed():
    penalties = (
        Penalty(("obstacle",), seconds=10.0, compounds=True, free=1, out="disqualified", out_after=3),
        Penalty(("cut",), voids_lap=True),
        Penalty(("wrong_way",), laps=2),
    )
    run_ = Run(Race(), penalties, Watch(), RaceCourse("somewhere", 10.0), {0: "a", 1: "b"}, [0, 1])
    kinds = [("obstacle", 0)] * 4 + [("cut", 1), ("cut", 1), ("wrong_way", 1), ("obstacle", 1)]
    run_.incidents = [Incident(number, 1.0, row, kind, 1) for number, (kind, row) in enumerate(kinds, start=1)]
    run_.undone = {2}
    assert price_incidents(penalties, run_) == {
        1: "",
        2: "",
        3: "10 s",
        4: "20 s",
        5: "the lap does not count",
        6: "",
        7: "2 laps",
        8: "",
    }
    run_.undone = set()
    assert price_incidents(penalties, run_)[4] == "30 s, disqualified"


def test_names_are_shown_on_one_line_without_tricks():
    assert show_name("<a>\n\tb & \N{RIGHT-TO-LEFT OVERRIDE}c") == "&lt;a&gt; b &amp; \N{REPLACEMENT CHARACTER}c"
    assert show_name("x" * 100, 10) == "xxxxxxx..."


@pytest.mark.parametrize(("seconds", "text"), [(None, ""), (7.1, "7.100"), (59.9996, "1:00.000"), (84.823, "1:24.823")])
def test_times_are_shown_as_on_a_stopwatch(seconds, text):
    assert format_time(seconds) == text


def test_colours_are_changed_only_where_they_would_not_be_seen():
    white, black = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
    assert fit_colour((200, 20, 20), white) == "#c81414"
    assert fit_colour((255, 255, 0), white) < "#b0b000"
    assert fit_colour((0, 0, 60), black) > "#00003c"


def test_names_at_ends_of_lines_near_each_other_do_not_touch():
    ends = [(2, 5), (3, 5), (9, 5), (10, 5), (10, 5), (10, 1)]
    curves = [Curve(row, f"car{row} with a name", [[(0.0, 1.0), end]]) for row, end in enumerate(ends)]
    svg = draw_chart("Places", curves, Side(0.0, 10.0, [0.0, 10.0]), Side(6.0, 1.0, [1.0, 6.0]))
    names = re.findall(r'<text class="name" x="([\d.]+)" y="([\d.]+)"', svg)
    places = [(float(x), float(y)) for x, y in names]
    assert len(places) == len(ends)
    for (x, y), (other, level) in itertools.combinations(places, 2):
        assert abs(x - other) >= 112 or abs(y - level) >= 14.9, places


def test_the_table_of_columns_in_the_docs_is_the_program_s():
    page = (Path(__file__).parents[3] / "docs" / "race" / "exports.md").read_text(encoding="utf-8")
    kinds = {"float": "float64", "int": "int32", "bool": "bool", "text": "string"}
    told = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$", page, re.MULTILINE)
    assert told == [(column.name, kinds[column.kind], column.unit, column.text) for column in COLUMNS]
    topics = dict(re.findall(r"^\| `(/\S+)` \| `(\S+)` \|", page, re.MULTILINE))
    assert set(topics.values()) == set(SCHEMAS)
