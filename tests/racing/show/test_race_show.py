"""A race file in the watching page: every moment of it, with the race as it stood; a plain log, too."""

import asyncio

import pytest

from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError, SceneError
from donkeysim.core.image import decode_picture
from donkeysim.racing.rules import act
from donkeysim.racing.rules.rule_book import Race, RuleBook, StartRules
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.race_run import RaceRun
from donkeysim.racing.run.racer import DriverRacer
from donkeysim.racing.show.race_show import RaceShow
from donkeysim.racing.show.recording import RaceRecording
from donkeysim.racing.show.timing import CarLook, Timing
from donkeysim.record.recorder import open_simulator
from donkeysim.watch.watchable import CHOSEN
from donkeysim.world.specs import SceneSpec, WorldSpec

TRACK = "harbour_town"
BOOK = RuleBook(
    "Club", "", "", "", Race(laps=1, limit=4.0, order="distance"), start=StartRules(settle=0.5, countdown=1.0)
)


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A race that was watched while it was driven: its file and its recording."""
    path = tmp_path_factory.mktemp("show") / "race.dlog"
    run = RaceRun(RacePlan(TRACK, "club", BOOK, ("Ada", "Ben")), [DriverRacer("fast"), DriverRacer("steady")], path)
    recording, timing, has_acted = RaceRecording(), Timing(), False
    recording.broadcast.prepare(run.simulator)
    run.begin()
    while not run.is_over:
        if run.director.session == "race" and not has_acted:
            has_acted = True
            for done in (act.Pause(), act.Penalise(1, seconds=2.0, why="rude"), act.Continue()):
                run.apply(done)
        run.pass_frame()
        timing.note(run.director, run.simulator.ledger, run.events)
        looks = {row: CarLook(row, (0, 0, 0)) for row in range(2)}
        recording.note(run.simulator, {0: 0, 1: 1}, timing.draw(run.director, looks))
    run.finish()
    return path, recording


@pytest.fixture(scope="module")
def show(live):
    show = RaceShow(live[0])
    assert show.is_loading
    show.play()
    return show


def ask(show, at):
    return asyncio.run(show.show_race(at))


def test_the_file_is_played_and_is_the_same(show):
    assert (show.is_loading, show.loading_stage, show.scene_name) == (False, "", TRACK)
    assert (show.replay.deviation, show.replay.broken) == (None, "")
    line = show.time_line()
    assert (line.end, line.is_live) == (pytest.approx(show.replay.time), False)
    assert show.outline() is not None


def test_any_moment_shows_the_race_as_it_stood(show):
    grid, racing, over = ask(show, 0.2), ask(show, 3.5), ask(show, None)
    assert (grid.session, racing.session, over.session) == ("grid", "race", "over")
    assert racing.clock == pytest.approx(3.5 - 1.5, abs=0.06)
    assert [line.name for line in over.tower] == ["Ada", "Ben"]
    assert over.tower[1].penalty == 2.0
    assert {mark.text for mark in over.marks} >= {"race begins", "red flag to all", "the race is over"}
    assert "Ben: penalty of the race engineer, 2 s, 0 laps (rude)" in [mark.text for mark in racing.marks]


def test_a_replay_cuts_as_the_race_did_and_shows_the_same(live, show):
    _, recording = live
    assert show.time_line().end == pytest.approx(recording.time_line().end)
    for driven, played in zip(recording._frames, show._recording._frames, strict=True):
        assert (driven.chosen, driven.camera.tolist()) == (played.chosen, played.camera.tolist())
        assert (driven.cars == played.cars).all()
    assert recording.find_view(3.0).tower[0].gap == ask(show, 3.0).tower[0].gap


def test_cars_and_pictures_are_those_of_the_moment(show):
    begin, later = (asyncio.run(show.list_cars(at)) for at in (0.2, 4.0))
    assert [car.name for car in begin] == ["Ada", "Ben"]
    assert begin[0].pose != later[0].pose
    pictures = [asyncio.run(show.take_picture("tv", CHOSEN, 96, 64, at)) for at in (0.2, 4.0)]
    assert decode_picture(pictures[0]).shape == (64, 96, 3)
    assert pictures[0] != pictures[1]
    with pytest.raises(SceneError, match="no car 9"):
        asyncio.run(show.take_picture("chase", 9, 96, 64, 1.0))


def test_what_has_been_driven_cannot_be_changed(show):
    for refused in (
        show.load_scene("pallet_hall"),
        show.exit_scene(),
        show.set_pace_car(True),
        show.reset_car(0),
        show.act(act.Pause()),
        show.start_race(),
    ):
        with pytest.raises(DonkeySimError):
            asyncio.run(refused)
    assert (show.scene_names(), show.joining()) == ((), None)


def test_a_plain_log_has_a_time_line_and_no_race_and_playing_it_can_be_stopped(tmp_path):
    simulator = open_simulator(WorldSpec(SceneSpec(TRACK)), log=tmp_path / "run.dlog")
    simulator.add_car()
    for _ in range(30):
        simulator.drive_car(0, 0.0, 0.5)
        simulator.step()
    simulator.close()
    show = RaceShow(tmp_path / "run.dlog")
    show.stop()
    show.play()
    assert (show.is_loading, show.time_line(), asyncio.run(show.list_cars())) == (True, None, [])
    show = RaceShow(tmp_path / "run.dlog")
    show.play()
    assert ask(show, 1.0) is None
    assert show.time_line().end == pytest.approx(1.5)
    assert len(asyncio.run(show.list_cars(1.0))) == 1
    assert asyncio.run(show.take_picture("chase", CHOSEN, 96, 64, 1.0))[:2] == b"\xff\xd8"


def test_a_log_is_watched_or_filmed(capsys):
    assert run(["replay", "race.dlog", "--watch", "--film", "race.mp4"]) != 0
    assert "give one of them" in "".join(capsys.readouterr())
