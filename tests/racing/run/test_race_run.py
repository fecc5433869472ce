"""A race in this process: it ends, its file can be verified, and whatever is changed about it is found."""

import dataclasses
import functools
import json

import msgspec
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules import act
from donkeysim.racing.rules.director import RACE, Director
from donkeysim.racing.rules.rule_book import Penalty, Race, RuleBook, StartRules, Watch
from donkeysim.racing.run import race_file
from donkeysim.racing.run.race_file import RacePlan, load_report
from donkeysim.racing.run.race_run import PilotRace
from donkeysim.racing.run.racer import DriverRacer, PilotRacer
from donkeysim.racing.run.tournament import report_race
from donkeysim.racing.run.verify import amend_race, verify_race
from donkeysim.record import action_log
from donkeysim.record.replay import Replay
from donkeysim.world.telemetry import Telemetry

TRACK = "harbour_town"
BOOK = RuleBook("Club", "", "", "", Race(laps=1), start=StartRules(settle=0.5, countdown=1.0))


def plan_race(names, book=BOOK, seed=0):
    return RacePlan(TRACK, "club", book, tuple(names), seed)


class Pest:
    """Drives straight ahead until it hits something, and backs out of it."""

    camera = None

    def reset(self, simulator, row, seed):
        self.frames = 0

    def decide(self, simulator, row):
        self.frames += 1
        return 0.0, 0.6 if self.frames % 60 < 45 else -0.6, 0.0


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """A race of two drivers and a pest, of whom the race engineer has taken note."""
    path = tmp_path_factory.mktemp("race") / "race.dlog"
    book = dataclasses.replace(
        BOOK,
        race=dataclasses.replace(BOOK.race, limit=40.0),
        penalty=(
            Penalty(("stuck",), put_back="path"),
            Penalty(("obstacle",), seconds=2.0, out="disqualified", out_after=3),
        ),
    )
    asked = []

    def engineer(director):
        if director.is_held:
            return [act.Continue()]
        if director.session == RACE and not asked:
            asked.append(director)
            return [act.Pause(), act.Penalise(0, seconds=1.5, why="a paint that blinds")]
        return []

    race = PilotRace(
        plan_race(["fast", "steady", "pest"], book), [DriverRacer("fast"), DriverRacer("steady"), Pest()], path
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(action_log, "BLOCK_BYTES", 2000)  # so that a part of the file holds a part of the race
        record = race.run(engineer=engineer)
    return record, report_race(record)


def test_all_are_classified(driven):
    record, _ = driven
    by_name = {placing.name: placing for placing in record.result.placings}
    assert (by_name["fast"].status, by_name["steady"].status) == ("finished", "finished")
    assert by_name["fast"].penalty >= 1.5
    assert by_name["pest"].status == "disqualified"
    assert by_name["pest"].why == "obstacle"


def test_a_verified_race_is_the_same_again(driven):
    record, report = driven
    found = verify_race(record.file)
    assert found.is_confirmed, found.list_complaints()
    assert found.counted == record.result == report.result
    assert load_report(record.file.with_suffix(".json")) == report


def test_the_file_is_an_action_log(driven):
    replay = Replay(driven[0].file)
    assert sum(1 for _ in replay.play()) > 100
    assert (replay.deviation, replay.broken) == (None, "")


def copy_race(record, folder):
    copy = folder / "race.dlog"
    for suffix in (".dlog", ".json"):
        copy.with_suffix(suffix).write_bytes(record.file.with_suffix(suffix).read_bytes())
    return copy


def test_a_race_is_judged_again_after_it_and_its_file_keeps_that(driven, tmp_path):
    record, _ = driven
    copy = copy_race(record, tmp_path)
    before = {placing.name: placing for placing in record.result.placings}
    given = next(incident for incident in record.result.incidents if incident.kind == "engineer")
    report = amend_race(copy, [act.Undo(given.number), act.Penalise(1, seconds=100.0, why="a protest")])
    after = {placing.name: placing for placing in report.result.placings}
    assert after["fast"].penalty == before["fast"].penalty - 1.5
    assert after["steady"].time == pytest.approx(before["steady"].time + 100.0)
    found = verify_race(copy)
    assert found.is_confirmed, found.list_complaints()
    assert found.counted == load_report(copy.with_suffix(".json")).result == report.result
    assert sorted(path.name for path in tmp_path.iterdir()) == ["race.dlog", "race.json"]
    twice = amend_race(copy, [act.Penalise(0, out=True)])
    assert twice.result.placings[-1].status == "disqualified"
    assert verify_race(copy).is_confirmed


def test_a_race_that_is_over_is_not_driven_again(driven, tmp_path):
    copy = copy_race(driven[0], tmp_path)
    for wrong, told in (
        (act.Restart(), "it can only be penalised"),
        (act.PutBack(0), "does not drive now"),
        (act.Undo(99), "no. 99"),
        (act.Penalise(0, laps=1), "give seconds, or disqualify it"),
    ):
        with pytest.raises(SpecError, match=told):
            amend_race(copy, [wrong])
    assert copy.read_bytes() == driven[0].file.read_bytes()


def test_a_race_file_with_penalty_laps_after_the_finish_from_before_they_were_refused_still_verifies(tmp_path):
    def engineer(director):
        given = any(incident.kind == "engineer" for incident in director.run.incidents)
        return [act.Penalise(0, laps=1)] if director.run.logs[0].is_off and not given else []

    book = dataclasses.replace(BOOK, race=dataclasses.replace(BOOK.race, limit=40.0))
    race = PilotRace(plan_race("ab", book), [DriverRacer("fast"), DriverRacer("steady")], tmp_path / "race.dlog")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Director, "apply", functools.partialmethod(Director.apply, is_logged=True))
        record = race.run(engineer=engineer)
    assert record.result.placings[-1].status == "did not finish"
    assert verify_race(record.file).is_confirmed


def test_a_result_that_was_changed_is_found(driven, tmp_path):
    record, _ = driven
    copy = tmp_path / "race.dlog"
    copy.write_bytes(record.file.read_bytes())
    told = json.loads(record.file.with_suffix(".json").read_text())
    told["result"]["placings"][0]["time"] -= 1.0
    copy.with_suffix(".json").write_text(json.dumps(told))
    assert verify_race(copy).list_complaints() == [
        "the result in the JSON file beside it is not the one that was counted"
    ]


def test_a_file_that_breaks_off_is_found(driven, tmp_path):
    copy = tmp_path / "race.dlog"
    content = driven[0].file.read_bytes()
    copy.write_bytes(content[: len(content) // 2])
    complaints = verify_race(copy).list_complaints()
    assert any("not whole" in complaint for complaint in complaints)
    assert any("holds no result" in complaint for complaint in complaints)


def test_rules_that_were_changed_give_another_result(driven, monkeypatch):
    def unpack(text):
        note = race_file.unpack_note(text)
        if isinstance(note, RacePlan):
            return msgspec.structs.replace(note, book=dataclasses.replace(note.book, penalty=()))
        return note

    monkeypatch.setattr("donkeysim.racing.run.verify.unpack_note", unpack)
    complaints = verify_race(driven[0].file).list_complaints()
    assert "the result in the file is not the one that was counted" in complaints


def test_the_same_seed_is_the_same_race_and_another_is_not():
    times = [
        [
            placing.time
            for placing in PilotRace(plan_race("ab", seed=seed), [DriverRacer("fast"), DriverRacer("fast")])
            .run()
            .result.placings
        ]
        for seed in (1, 1, 2)
    ]
    assert times[0] == times[1] != times[2]


def test_a_pilot_sees_its_own_camera_and_readings():
    seen = []

    class Pilot:
        kind, input_names = "imu", ("imu/acl_x", "gyro/gyro_z")

        def reset(self):
            seen.clear()

        def run(self, image, *others):
            seen.append((image.shape, others))
            return 0.0, 0.3

    book = dataclasses.replace(BOOK, race=Race(laps=1, limit=0.5))
    PilotRace(plan_race(["pilot"], book), [PilotRacer(Pilot(), (60, 80, 3))]).run()
    assert len(seen) == 10
    assert {shape for shape, _ in seen} == {(60, 80, 3)}
    assert all(len(others) == 2 for _, others in seen)
    assert any(others[0] != 0.0 for _, others in seen)


def test_cars_that_race_alone_never_meet():
    book = dataclasses.replace(BOOK, race=Race(laps=1, alone=True, clock="line", limit=60.0), cars=9)
    result = PilotRace(plan_race("abc", book), [DriverRacer("fast"), Pest(), DriverRacer("fast")]).run().result
    by_name = {placing.name: placing for placing in result.placings}
    assert by_name["a"].status == by_name["c"].status == "finished"
    assert abs(by_name["a"].time - by_name["c"].time) < 0.5


def test_a_slowed_car_is_slow():
    penalty = Penalty(("put_back",), slow_speed=0.3, slow_time=100.0)
    book = dataclasses.replace(BOOK, race=Race(laps=1, limit=6.0), penalty=(penalty,))
    speeds, asked = [], []

    class Watched(DriverRacer):
        def decide(self, simulator, row):
            speeds.append(float(simulator.ledger.forward_speed[row]))
            return super().decide(simulator, row)

    def engineer(director):
        if director.session == RACE and not asked and len(speeds) > 20:
            asked.append(len(speeds))
            return [act.PutBack(0)]
        return []

    PilotRace(plan_race(["fast"], book), [Watched("fast")]).run(engineer=engineer)
    assert max(speeds[: asked[0]]) > 0.8
    assert 0.2 < max(speeds[asked[0] + 1 :]) < 0.45


class Still:
    """Stands, or drives straight on after a while."""

    camera = None

    def __init__(self, throttle=0.0):
        self.throttle = throttle

    def reset(self, simulator, row, seed):
        pass

    def decide(self, simulator, row):
        return 0.0, self.throttle, 0.0 if self.throttle else 1.0


@pytest.mark.parametrize(
    ("throttles", "blamed", "kind"), [((0.0, 0.0, 0.4), (2, 0), "rear_end"), ((-0.4, 0.0, 0.0), (0, 2), "backed_into")]
)
def test_cars_that_really_touch_are_judged_by_how_they_drove(throttles, blamed, kind):
    # The third place on the grid is right behind the first.
    book = dataclasses.replace(BOOK, race=Race(laps=1, limit=3.0), watch=Watch(still=0.0))
    racers = [Still(throttle) for throttle in throttles]
    result = PilotRace(plan_race("abc", book), racers).run().result
    first = result.incidents[0]
    assert ((first.row, first.other), first.kind) == (blamed, kind)


@pytest.mark.parametrize(
    ("names", "told"), [([], "name one or more"), (["a", "a"], "a name of its own"), ("abc", "let 2 on the track")]
)
def test_impossible_races_are_refused(names, told):
    book = dataclasses.replace(BOOK, cars=2)
    with pytest.raises(SpecError, match=told):
        PilotRace(plan_race(names, book), [DriverRacer("fast")] * len(names))


def test_an_open_road_is_no_circuit():
    with pytest.raises(SpecError, match="closed circuit"):
        PilotRace(msgspec.structs.replace(plan_race("a"), track="flat"), [DriverRacer("fast")])


def test_a_log_without_a_race_is_told(tmp_path):
    from donkeysim.record.recorder import open_simulator
    from donkeysim.world.specs import SceneSpec, WorldSpec

    open_simulator(WorldSpec(SceneSpec(TRACK)), log=tmp_path / "run.dlog").close()
    with pytest.raises(SpecError, match="without a race"):
        verify_race(tmp_path / "run.dlog")


def test_every_imu_channel_is_a_reading():
    from donkeysim.tub.reader import SIMULATED_IMU_CHANNELS

    assert {name.split("/")[1] for name in SIMULATED_IMU_CHANNELS} <= set(Telemetry.__annotations__)
