"""Races of clients: who takes part, what they are told, who comes back; the file holds what happened."""

import dataclasses

import pytest
from tests.serve.test_simulation import SimulationRig

from donkeysim.core.errors import SceneError, SpecError
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.racing.host.paddock import RaceOffer
from donkeysim.racing.host.race_host import RaceHost
from donkeysim.racing.rules import act
from donkeysim.racing.rules.rule_book import Penalty, Qualifying, Race, RuleBook, StartRules
from donkeysim.racing.run.race_file import load_report
from donkeysim.racing.run.racer import DriverRacer
from donkeysim.racing.run.verify import verify_race
from donkeysim.serve import picture_budget
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import SceneSpec, load_car
from donkeysim.world.tracks.catalogue import share_scene
from standing import write_track
from waiting import wait_until

BOOK = RuleBook("Club", "", "", "", Race(laps=1), start=StartRules(settle=0.1, countdown=0.2), cars=4)


class HostedRaces(SimulationRig):
    """Races on an oval of 21 m, and clients who drive as they please."""

    def __init__(self, track, folder, book=BOOK, max_cars=6, **offer):
        super().__init__(experiment=Experiment((SceneSpec(track),)), max_cars=max_cars)
        self.told, self.ends = [], 0
        self.offer = RaceOffer(track, "club", book, folder, report=self.told.append, end=self.end, **offer)
        self.races = RaceHost(self.simulation, self.offer, self.clock)
        self.simulation.load_scene(track)
        self.follower = PathFollower(share_scene(SceneSpec(track)), load_car("original"), "fast")

    def end(self):
        self.ends += 1

    def join(self, *clients, **info):
        """Let clients come, say who they are, and wait until they have cars."""
        for client in clients:
            self.simulation.join(client)
            self.say(client, "car_config", car_name=f"driver {client}")
            if info:
                self.say(client, "racer_info", **info)
        self.beat(21)
        self.settle()

    def settle(self):
        """Wait until everybody who has come has a car, or was told why not: plates are drawn on a thread."""

        def is_settled():
            self.races.seat_next()
            self.collect()
            return all(known.is_told for known in self.races._competitors)

        wait_until(is_settled)

    def leave(self, *clients):
        for client in clients:
            self.simulation.leave(client)
        self.collect()

    def beat(self, count=1, drivers=()):
        """Let time pass; these clients drive round the track, if they have a car."""
        for _ in range(count):
            for client in drivers:
                car = self.simulation.clients[client].car
                if car is not None:
                    steer, throttle, brake = self.follower.drive(self.simulation.simulator.ledger, car.row)
                    self.say(client, "control", steering=-steer, throttle=throttle, brake=brake)
            self.clock.advance(0.05)
            self.simulation.beat()
            self.collect()

    def race_to_the_end(self, drivers, most=900):
        while self.races.race is not None and most:
            self.beat(drivers=drivers)
            most -= 1
        assert self.races.race is None, "it has not ended"
        return self.told[-1].result

    def types(self, client):
        """Return what a client was told, without the pings."""
        return [message["msg_type"] for message in self.take(client) if message["msg_type"] != "ping"]

    def place(self, name):
        return next(placing for placing in self.told[-1].result.placings if placing.name == name)


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    return write_track(tmp_path_factory.mktemp("tracks"), "lines = [1.5]\n", "oval")


@pytest.fixture
def hosted(track, tmp_path):
    made = HostedRaces(track, tmp_path)
    yield made
    made.simulation.close()


# -- coming -----------------------------------------------------------------------------------------------------------


def test_whoever_comes_is_asked_about_its_car_and_then_gets_it(hosted):
    hosted.simulation.join(1)
    hosted.say(1, "control", steering=0, throttle=0, brake=1)
    assert hosted.types(1) == ["need_car_config"], "the original brakes before it says who it is: no fault"
    hosted.say(1, "cam_config", img_w=64, img_h=48)
    hosted.say(1, "car_config", car_name="Anna", body_r=1, body_g=2, body_b=3)
    hosted.beat(10)
    assert hosted.types(1) == [], "it has a second for saying more"
    hosted.beat(12)
    hosted.settle()
    hosted.beat()
    assert hosted.types(1)[:3] == ["scene_loaded", "car_loaded", "telemetry"]
    row = hosted.simulation.clients[1].car.row
    simulator = hosted.simulation.simulator
    assert (simulator.get_body(row).name, simulator.get_body(row).colour) == ("Anna", (1, 2, 3))
    assert simulator.get_camera(row).width == 64


def test_names_are_told_apart_and_kept_short(hosted):
    for client, name in enumerate(["Anna", "Anna", "", "x" * 500, "new\nline\x07"], 1):
        hosted.simulation.join(client)
        hosted.say(client, "car_config", car_name=name)
    hosted.beat(22)
    hosted.settle()
    names = [hosted.simulation.simulator.get_body(row).name for row in range(5)]
    assert names == ["Anna", "Anna 2", "car 3", "x" * 32, "newline"]


def test_the_scene_belongs_to_the_race_engineer(hosted):
    hosted.join(1)
    hosted.take(1)
    for kind, fields in (("exit_scene", {}), ("load_scene", {"scene_name": "warehouse"}), ("step_mode", {})):
        hosted.say(1, kind, **fields)
        assert "only the race engineer may" in hosted.take(1, "refusal")[0]["error"]
    hosted.say(1, "load_scene", scene_name="oval")
    assert hosted.take(1, "refusal") == [], "it is what runs"
    for question in (hosted.simulation.exit_scene, hosted.simulation.add_pace_car):
        with pytest.raises(SceneError, match="races are held here"):
            question()


# -- a race -----------------------------------------------------------------------------------------------------------


def test_a_race_of_clients_and_a_driver_of_the_house_is_driven_told_and_verified(track, tmp_path):
    hosted = HostedRaces(track, tmp_path, local_racers={"Hans": DriverRacer("steady")}, cars=2, races=1)
    hosted.join(1, 2)
    hosted.received.clear()
    hosted.beat(2)
    assert hosted.races.race is not None, "it starts with two cars"
    result = hosted.race_to_the_end((1, 2))
    hosted.settle()
    assert {placing.name: placing.status for placing in result.placings} == dict.fromkeys(
        ("driver 1", "driver 2", "Hans"), "finished"
    )
    assert hosted.ends == 1
    told = hosted.take(1)
    others = [message["msg_type"] for message in told if message["msg_type"] not in ("telemetry", "ping")]
    assert others == [
        "race_start",
        "collision_with_starting_line",
        "cross_start",
        "collision_with_starting_line",
        "cross_start",
        "race_stop",
        "scene_loaded",
        "car_loaded",
    ]
    laps = [float(message["lap_time"]) for message in told if message["msg_type"] == "cross_start"]
    assert laps[0] == 0.0
    assert laps[1] / 1000.0 == pytest.approx(hosted.place("driver 1").best_lap, abs=1e-3)
    report = load_report(tmp_path / "race.json")
    assert report.result == result
    found = verify_race(tmp_path / "race.dlog")
    assert found.is_confirmed, found.list_complaints()
    hosted.beat(2, (1,))
    assert hosted.races.race is None, "the races are over"
    assert "telemetry" in hosted.types(1), "everybody drives about in the paddock again"
    hosted.simulation.close()


def test_nobody_moves_before_green_where_cars_are_held(track, tmp_path):
    book = dataclasses.replace(BOOK, start=StartRules(settle=1.0, countdown=1.0, holds=True))
    hosted = HostedRaces(track, tmp_path, book)
    hosted.join(1)
    hosted.races.start_race()
    hosted.beat(35, (1,))
    ledger = hosted.simulation.simulator.ledger
    assert abs(ledger.forward_speed[0]) < 0.01
    hosted.beat(15, (1,))
    assert ledger.forward_speed[0] > 0.3
    hosted.simulation.close()


def test_who_comes_during_a_race_waits_for_the_next_one(hosted):
    hosted.join(1)
    hosted.races.start_race()
    hosted.join(2)
    assert "you get a car when it is over" in hosted.take(2, "refusal")[0]["error"]
    with pytest.raises(SpecError, match="a race is under way"):
        hosted.races.start_race()
    hosted.race_to_the_end((1,))
    hosted.settle()
    assert "car_loaded" in hosted.types(2)
    hosted.races.start_race()
    assert set(hosted.races.race.run.director.entries.values()) == {"driver 1", "driver 2"}


def test_who_found_no_room_comes_first_in_the_next_race(track, tmp_path):
    hosted = HostedRaces(track, tmp_path, dataclasses.replace(BOOK, cars=2))
    hosted.join(1, 2, 3)
    hosted.beat()
    hosted.take(3)
    hosted.races.start_race()
    hosted.collect()
    assert set(hosted.races.race.run.director.entries.values()) == {"driver 1", "driver 2"}
    assert "you get a car when it is over" in hosted.take(3, "refusal")[0]["error"]
    hosted.race_to_the_end((1, 2))
    assert "telemetry" in hosted.types(3), "its last one, again and again: it would wait for ever"
    hosted.settle()
    hosted.races.start_race()
    assert set(hosted.races.race.run.director.entries.values()) == {"driver 1", "driver 3"}
    hosted.simulation.close()


def test_a_track_without_a_start_line_is_refused_at_once(tmp_path):
    with pytest.raises(SpecError, match="has no start line; a race needs one"):
        HostedRaces(write_track(tmp_path, "", "endless"), tmp_path)


def test_a_race_needs_somebody(hosted):
    with pytest.raises(SpecError, match="nobody is here to race"):
        hosted.races.start_race()
    with pytest.raises(SpecError, match="no race is under way"):
        hosted.races.act(act.Pause())


# -- going and coming back --------------------------------------------------------------------------------------------


def test_a_client_that_comes_back_with_its_guid_gets_its_car_again(hosted):
    hosted.join(1, guid="7")
    hosted.join(2)
    hosted.races.start_race()
    hosted.beat(40, (1, 2))
    ledger = hosted.simulation.simulator.ledger
    way = float(ledger.along[0])
    hosted.leave(1)
    hosted.beat(20, (2,))
    assert not ledger.present[0], "nobody can run into it"
    hosted.join(3)
    assert hosted.simulation.clients[3].car is None, "somebody else does not get it"
    hosted.join(4, guid="7")
    assert ledger.present[0]
    assert ledger.along[0] == pytest.approx(way, abs=0.3)
    assert "car_loaded" in hosted.types(4)
    result = hosted.race_to_the_end((2, 4))
    assert {placing.name: placing.status for placing in result.placings} == dict.fromkeys(
        ("driver 1", "driver 2"), "finished"
    )
    assert verify_race(hosted.offer.folder / "race.dlog").is_confirmed


def test_without_a_guid_the_same_name_is_the_same_driver(hosted):
    hosted.join(1, guid="0")
    hosted.races.start_race()
    hosted.beat(20, (1,))
    hosted.leave(1)
    hosted.simulation.join(9)
    hosted.say(9, "car_config", car_name="driver 1")
    hosted.beat(22)
    hosted.settle()
    assert hosted.simulation.clients[9].car is not None


def test_who_has_gone_is_not_lined_up_again(hosted):
    hosted.join(1, 2)
    hosted.races.start_race()
    hosted.beat(20, (1, 2))
    hosted.leave(2)
    hosted.races.act(act.Restart())
    assert hosted.simulation.simulator.ledger.present.tolist() == [1, 0]


def test_who_does_not_come_back_has_not_finished(hosted):
    hosted.join(1, 2)
    hosted.races.start_race()
    hosted.beat(20, (1, 2))
    hosted.leave(2)
    hosted.race_to_the_end((1,))
    assert (hosted.place("driver 2").status, hosted.place("driver 2").why) == ("did not finish", "absent")
    hosted.settle()
    hosted.races.start_race()
    assert list(hosted.races.race.run.director.entries.values()) == ["driver 1"]


def test_the_race_ends_when_everybody_has_gone(hosted):
    hosted.join(1)
    hosted.races.start_race()
    hosted.beat(20, (1,))
    hosted.leave(1)
    hosted.beat(230)
    assert hosted.races.race is None
    hosted.join(5)
    assert "car_loaded" in hosted.types(5)


# -- what drivers and the engineer may do -----------------------------------------------------------------------------


def test_a_reset_in_a_race_is_a_stuck_car(track, tmp_path):
    book = dataclasses.replace(BOOK, penalty=(Penalty(("stuck",), seconds=5.0, put_back="path"),))
    hosted = HostedRaces(track, tmp_path, book)
    hosted.join(1)
    hosted.races.start_race()
    hosted.say(1, "reset_car")
    assert not hosted.races.race.run.director.run.incidents, "not on the grid"
    hosted.beat(40, (1,))
    for _ in range(3):
        hosted.say(1, "reset_car")
    assert hosted.simulation.simulator.ledger.forward_speed[0] == 0.0
    assert hosted.simulation.simulator.ledger.along[0] > 0.5, "not back to the start"
    hosted.race_to_the_end((1,))
    assert hosted.place("driver 1").penalty == 5.0, "asked for three times, heard once"
    assert verify_race(tmp_path / "race.dlog").is_confirmed
    hosted.simulation.close()


def test_in_a_race_nobody_is_put_elsewhere_but_everybody_may_ask_where_the_path_is(hosted):
    hosted.join(1)
    hosted.races.start_race()
    hosted.say(1, "set_position", pos_x=1, pos_y=0, pos_z=1)
    hosted.say(1, "node_position", index=3)
    refusal, node = hosted.take(1, "refusal", "node_position")
    assert (refusal["error"], node["index"]) == ("set_position: not in a race.", 3)


def test_time_stands_still_in_a_pause_and_clients_hear_on(hosted):
    hosted.join(1)
    hosted.races.start_race()
    hosted.beat(40, (1,))
    hosted.races.act(act.Pause())
    ledger = hosted.simulation.simulator.ledger
    place = ledger.position[0].tolist()
    hosted.take(1)
    hosted.beat(10, (1,))
    assert ledger.position[0].tolist() == place
    assert hosted.types(1) == ["telemetry"] * 10
    hosted.races.act(act.Continue())
    hosted.race_to_the_end((1,))
    assert verify_race(hosted.offer.folder / "race.dlog").is_confirmed


def test_the_disqualified_are_told_and_get_a_car_after_the_race(hosted):
    hosted.join(1, 2)
    hosted.races.start_race()
    hosted.beat(40, (1, 2))
    hosted.races.act(act.Penalise(0, out=True, why="rude"))
    hosted.beat(1, (2,))
    assert hosted.take(1, "DQ") == [{"msg_type": "DQ", "missed_cp": False}]
    hosted.say(1, "reset_car")
    assert hosted.take(1, "refusal") == [], "it is late, and no fault"
    hosted.say(1, "cam_config", img_w=80, img_h=60)
    hosted.beat(22, (2,))
    last, *again = (message["time"] for message in hosted.take(1, "telemetry"))
    assert set(again) == {last}, "it would wait for ever; time does not go on for it"
    assert 1 <= len(again) <= 3
    hosted.race_to_the_end((2,))
    assert hosted.place("driver 1").status == "disqualified"
    hosted.settle()
    assert "car_loaded" in hosted.types(1)
    camera = hosted.simulation.simulator.get_camera(hosted.simulation.clients[1].car.row)
    assert camera.width == 80, "what it said meanwhile is not forgotten"


def test_a_race_that_was_cut_short_is_told_and_can_be_replayed_so_far(hosted, caplog):
    hosted.join(1)
    hosted.races.start_race()
    hosted.beat(40, (1,))
    hosted.simulation.close()
    assert f"the race was broken off after 2.0 s: its file in {hosted.offer.folder} has no result." in caplog.messages
    found = verify_race(hosted.offer.folder / "race.dlog")
    assert found.deviation is None
    assert found.claimed is None


def test_watchers_see_the_cars_of_the_race_only(hosted):
    hosted.join(1, 2)
    hosted.races.start_race()
    hosted.beat(5)
    assert [row.name for row in hosted.simulation.list_cars()] == ["driver 1", "driver 2"]
    assert not any(row.is_pace_car for row in hosted.simulation.list_cars())
    hosted.leave(2)
    hosted.beat(1)
    assert [row.name for row in hosted.simulation.list_cars()] == ["driver 1"]


def test_the_page_sees_the_paddock_the_race_and_its_result(hosted):
    hosted.join(1, 2)
    view = hosted.races.show_race()
    assert (view.session, view.waiting.text) == ("paddock", "the race engineer starts the race.")
    assert [line.name for line in view.tower] == ["driver 1", "driver 2"]
    hosted.races.start_race()
    hosted.beat(40, (1, 2))
    view = hosted.races.show_race()
    assert view.session == "race"
    assert view.clock == pytest.approx(40 * 0.05 - 0.3, abs=0.11)
    assert {line.car for line in view.tower} == {row.car_id for row in hosted.simulation.list_cars()}
    hosted.race_to_the_end((1, 2))
    view = hosted.races.show_race()
    assert (view.session, view.is_over) == ("paddock", True)
    assert [line.status for line in view.tower] == ["finished"] * 2


def test_the_paddock_lists_those_whom_the_host_races_in_the_colours_of_their_race(track, tmp_path):
    hosted = HostedRaces(track, tmp_path, local_racers={"Hans": DriverRacer("steady"), "Ute": DriverRacer("fast")})
    hosted.join(1)
    waiting = {line.name: line for line in hosted.races.show_race().tower}
    assert [(line.row, line.name, line.is_here) for line in waiting.values()] == [
        (0, "driver 1", True),
        (1, "Hans", True),
        (2, "Ute", True),
    ]
    assert (waiting["Hans"].car, waiting["Ute"].car) == (-1, -1)
    hosted.races.start_race()
    hosted.beat(1, (1,))
    racing = {line.name: line.colour for line in hosted.races.show_race().tower}
    assert racing == {name: line.colour for name, line in waiting.items()}


def test_a_race_begins_after_a_while_with_whoever_is_there(track, tmp_path):
    hosted = HostedRaces(track, tmp_path, wait=3.0, races=2, pause=5.0)
    hosted.beat(80)
    assert (hosted.races.race, hosted.races.waiting.text) == (None, "somebody has to come.")
    hosted.join(1)
    hosted.beat()
    assert hosted.races.race is not None
    hosted.race_to_the_end((1,))
    hosted.settle()
    hosted.beat(30)
    assert hosted.races.waiting.text == "the next race starts in 4 s at the earliest."
    hosted.beat(80)
    assert hosted.races.race is not None
    hosted.race_to_the_end((1,))
    hosted.beat(200)
    assert (hosted.races.race, hosted.races.waiting.text) == (None, "the races are over.")
    hosted.simulation.close()


def test_an_error_of_our_own_ends_the_race_and_not_the_evening(hosted, monkeypatch):
    hosted.join(1)
    hosted.races.start_race()
    hosted.beat(20, (1,))
    monkeypatch.setattr(hosted.races.race.run.director, "advance", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        hosted.beat()
    hosted.simulation.recover()
    assert hosted.races.race_count == 0, "with --races 1 the evening would be over"
    hosted.settle()
    assert "car_loaded" in hosted.types(1)
    hosted.races.start_race()
    hosted.race_to_the_end((1,))
    assert verify_race(hosted.offer.folder / "race-2.dlog").is_confirmed


# -- what went wrong once ---------------------------------------------------------------------------------------------


def test_a_moment_is_told_once_however_long_a_pause_after_it_lasts(hosted):
    hosted.join(1)
    hosted.races.start_race()
    while not hosted.take(1, "cross_start"):
        hosted.beat(drivers=(1,))
    hosted.races.act(act.Pause())
    hosted.beat(5, (1,))
    assert set(hosted.types(1)) == {"telemetry"}
    assert not hosted.races.race.run.events


def test_who_may_go_before_green_has_a_false_start_and_a_driver_of_the_house_waits(track, tmp_path):
    book = dataclasses.replace(
        BOOK, start=StartRules(settle=0.1, countdown=2.0), penalty=(Penalty(("false_start",), seconds=5.0),)
    )
    hosted = HostedRaces(track, tmp_path, book, local_racers={"Hans": DriverRacer("steady")})
    hosted.join(1)
    hosted.races.start_race()
    hosted.beat(5, (1,))
    hosted.races.act(act.Pause())
    hosted.races.act(act.Continue())
    hosted.beat(30, (1,))
    incidents = hosted.races.race.run.director.run.incidents
    assert [(item.kind, item.row) for item in incidents] == [("false_start", 0)], "Hans waits, after a pause, too"
    hosted.simulation.close()


def test_who_leaves_the_grid_comes_back_to_its_place_on_the_grid(track, tmp_path):
    book = dataclasses.replace(BOOK, start=StartRules(settle=4.0, countdown=4.0))
    hosted = HostedRaces(track, tmp_path, book)
    hosted.join(1, 2)
    hosted.races.start_race()
    hosted.beat(2)
    ledger = hosted.simulation.simulator.ledger
    place = ledger.position[1].tolist()
    hosted.leave(2)
    hosted.beat(85)
    hosted.simulation.join(3)
    hosted.say(3, "car_config", car_name="driver 2")
    hosted.say(3, "cam_config", img_w=64, img_h=48)
    hosted.beat(21)
    hosted.settle()
    hosted.beat()
    assert ledger.present[1]
    assert ledger.position[1].tolist() == pytest.approx(place, abs=0.01)
    assert hosted.races.race.run.director.session == "countdown"
    assert not hosted.races.race.run.director.run.incidents, "it has not jumped the start"
    assert hosted.simulation.simulator.get_camera(1).width == 64, "it has another camera now"
    hosted.simulation.close()


def test_a_watcher_who_leaves_takes_nobodys_place_in_the_race_away(hosted):
    hosted.join(1, guid="a")
    hosted.races.start_race()
    hosted.join(2)
    hosted.take(2)
    hosted.say(2, "control", steering=0, throttle=1, brake=0)
    assert hosted.types(2) == [], "that it drives on unasked is no fault"
    hosted.beat(20, (1,))
    hosted.leave(1)
    hosted.leave(2)
    hosted.join(3, guid="a")
    assert hosted.simulation.clients[3].car is not None
    assert not hosted.races._keep_alive._lines.keys() - {3}, "nothing is kept of who has gone"


def test_qualifying_alone_hears_who_waits_and_a_restart_leaves_nobody_out(track, tmp_path):
    book = dataclasses.replace(BOOK, qualifying=Qualifying(laps=1, alone=True), start=StartRules(grid="qualifying"))
    hosted = HostedRaces(track, tmp_path, book)
    hosted.join(1, 2, 3)
    hosted.races.start_race()
    simulator = hosted.simulation.simulator
    hosted.say(2, "cam_config", img_w=64, img_h=48)
    hosted.leave(3)
    hosted.beat(5, (1, 2))
    with pytest.raises(SpecError, match="no car of this run"):
        hosted.races.act(act.PutBack(1))
    while not simulator.ledger.present[1]:
        hosted.beat(drivers=(1, 2))
    assert simulator.get_camera(1).width == 64, "it was heard while the car was off the track"
    hosted.races.act(act.Restart())
    assert hosted.races.race.run.director._grid == [0, 1, 2], "qualified, on its way, and not yet its turn"
    assert simulator.ledger.present.tolist() == [1, 1, 0], "the third one is not here"
    hosted.race_to_the_end((1, 2))
    assert verify_race(tmp_path / "race.dlog").is_confirmed
    hosted.simulation.close()


def test_who_finds_no_place_in_the_paddock_gets_one_when_somebody_leaves_or_after_the_race(track, tmp_path):
    hosted = HostedRaces(track, tmp_path, max_cars=1)
    hosted.join(1, 2, 3)
    assert "all 1 places" in hosted.take(2, "refusal")[0]["error"]
    assert hosted.races.show_race().tower[1].name == "driver 2"
    hosted.races.start_race()
    hosted.race_to_the_end((1,))
    hosted.settle()
    cars = {client: hosted.simulation.clients[client].car is not None for client in (1, 2, 3)}
    assert cars == {1: False, 2: True, 3: False}, "it is another one's turn"
    hosted.simulation.join(4)
    hosted.leave(2)
    hosted.settle()
    assert hosted.simulation.clients[3].car is not None
    hosted.simulation.close()


def test_a_grid_that_is_too_short_is_told_at_once_and_more_comers_than_places_wait(tmp_path):
    short = write_track(tmp_path, "lines = [1.5]\n", "short")
    path = tmp_path / "short.toml"
    path.write_text(path.read_text().replace("slots = 56", "slots = 3"))
    with pytest.raises(SpecError, match="4 cars cannot start on short: there is room for 3; take fewer"):
        HostedRaces(short, tmp_path, cars=4)
    hosted = HostedRaces(short, tmp_path, local_racers={"Hans": DriverRacer("steady")})
    hosted.join(1, 2, 3)
    hosted.races.start_race()
    assert list(hosted.races.race.run.director.entries.values()) == ["driver 1", "driver 2", "Hans"]
    hosted.simulation.close()


def test_a_folder_that_takes_nothing_holds_races_up_and_loses_no_result(track, tmp_path):
    folder = tmp_path / "evening"
    folder.write_text("no folder")
    hosted = HostedRaces(track, folder, cars=1, pause=0.0)
    hosted.join(1)
    hosted.beat(3)
    assert hosted.races.race is None
    assert hosted.races.waiting.text.startswith("the race cannot be held: the action log")
    folder.unlink()
    hosted.beat(180)
    assert hosted.races.race is None, "it is not tried at every beat"
    hosted.beat(21)
    assert hosted.races.race is not None
    (folder / "race.json").mkdir()
    hosted.race_to_the_end((1,))
    assert hosted.place("driver 1").status == "finished", "the terminal shows it all the same"
    hosted.beat()
    assert hosted.races.waiting.text.startswith("the result cannot be written: ")
    hosted.simulation.close()


def test_a_client_that_changes_its_mind_all_the_time_keeps_nobody_from_getting_a_car(hosted):
    hosted.simulation.join(1)
    for count in range(100):
        hosted.say(1, "car_config", car_name="fickle", font_size=10 + count % 90)
    hosted.beat(101)
    for count in range(20):
        hosted.say(1, "car_config", car_name="fickle", font_size=10 + count)
        hosted.beat()
    assert hosted.simulation.plate_jobs._thread._work_queue.qsize() <= 1
    hosted.join(2)
    assert hosted.simulation.clients[2].car is not None


def test_a_camera_that_does_not_fit_among_the_others_holds_no_race_up(hosted, monkeypatch):
    monkeypatch.setattr(picture_budget, "MOST_PIXELS", 3 * 160 * 120)
    hosted.simulation.join(1)
    hosted.say(1, "cam_config", img_w=1920, img_h=1080)
    hosted.join(2)
    assert "does not fit" in hosted.take(1, "refusal")[0]["error"]
    hosted.races.start_race()
    hosted.beat(2)
    assert "does not fit" in hosted.take(1, "refusal")[0]["error"]
    assert hosted.simulation.simulator.get_camera(0).width == 160
