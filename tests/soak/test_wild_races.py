"""Wild races: whatever clients and race engineers do, each race can be counted again, bit for bit."""

import contextlib
import dataclasses
import os
import random

import pytest

from donkeysim.core.errors import DonkeySimError
from donkeysim.racing.rules import act
from donkeysim.racing.rules.rule_book import RuleBook, list_rule_books, load_rule_book
from donkeysim.racing.run.race_file import load_report
from donkeysim.racing.run.racer import DriverRacer
from donkeysim.racing.run.verify import verify_race
from racing.host.test_hosted_races import HostedRaces
from standing import write_track

pytestmark = pytest.mark.soak

SEEDS = int(os.environ.get("DONKEYSIM_SEEDS", "50"))
EVENTS = 200
CLIENTS = 7
NAMES = ("Anna", "Anna", "", "x" * 10_000, "new\nline", "\u202ekcab", "\U0001f697 car", "half \ud83d", "a=b", "0")
CONFIGS = (
    ("cam_config", {"img_w": 64, "img_h": 48}),
    ("cam_config", {"img_w": 1920, "img_h": 1080, "img_enc": "PNG"}),
    ("cam_config_b", {"img_w": 32, "img_h": 32}),
    ("lidar_config", {"deg_per_sweep_inc": 10.0, "num_sweeps_levels": 1}),
    ("car_config", {"car_name": "other", "body_style": "f1", "font_size": 40}),
    ("racer_info", {"racer_name": "somebody", "guid": "another"}),
)
OTHERS = (
    ("reset_car", {}),
    ("set_position", {"pos_x": 1, "pos_y": 0, "pos_z": 1}),
    ("load_scene", {"scene_name": "warehouse"}),
    ("exit_scene", {}),
    ("step_mode", {"step_mode": "synchronous"}),
    ("node_position", {"index": 3}),
    ("node_position", {"index": 30_000}),
)


class Wild:
    """Does what nobody expects, the same for the same seed."""

    def __init__(self, hosted: HostedRaces, seed: int) -> None:
        self.hosted, self.random, self.here, self.last = hosted, random.Random(seed), [], 0

    def do_something(self) -> None:
        chosen = self.random.choices(
            (self.join, self.leave, self.configure, self.ask, self.control, self.act), (12, 6, 12, 12, 20, 10)
        )[0]
        chosen()
        self.hosted.settle()
        self.hosted.beat(self.random.choice((0, 1, 3, 10, 25)), self.random.sample(self.here, len(self.here) // 2))

    def join(self) -> None:
        if len(self.here) == CLIENTS:
            return
        self.last += 1
        self.here.append(self.last)
        self.hosted.simulation.join(self.last)
        if self.random.random() < 0.8:
            self.hosted.say(self.last, "car_config", car_name=self.random.choice(NAMES))
        if self.random.random() < 0.5:
            self.hosted.say(self.last, "racer_info", guid=self.random.choice(("0", "", "1", "2", "3")))

    def leave(self) -> None:
        if self.here:
            self.hosted.leave(self.here.pop(self.random.randrange(len(self.here))))

    def configure(self) -> None:
        self.say(*self.random.choice(CONFIGS))

    def ask(self) -> None:
        self.say(*self.random.choice(OTHERS))

    def control(self) -> None:
        steering, throttle = self.random.uniform(-1, 1), self.random.uniform(-1, 1)
        self.say("control", steering=steering, throttle=throttle, brake=self.random.choice((0, 0, 1)))

    def say(self, kind: str, fields: dict | None = None, **more: object) -> None:
        if self.here:
            self.hosted.say(self.random.choice(self.here), kind, **(fields or more))

    def act(self) -> None:
        row, race = self.random.randrange(8), self.hosted.races.race
        acts = (
            act.Pause(),
            act.Continue(),
            act.Continue(),
            act.PutBack(row),
            act.Penalise(row, seconds=5.0, why="rude"),
            act.Penalise(row, out=self.random.random() < 0.3, laps=1),
            act.Undo(self.random.randrange(1, 12)),
            act.Restart() if self.random.random() < 0.3 else act.Continue(),
        )
        with contextlib.suppress(DonkeySimError):
            if race is None:
                self.hosted.races.start_race()
            else:
                self.hosted.races.act(self.random.choice(acts))
        self.hosted.collect()


def shorten(book: RuleBook) -> RuleBook:
    """Return a book whose sessions end soon."""
    qualifying = book.qualifying and dataclasses.replace(book.qualifying, limit=8.0, laps=1)
    race = dataclasses.replace(book.race, limit=20.0, laps=min(book.race.laps, 1))
    return dataclasses.replace(book, race=race, qualifying=qualifying)


def finish(hosted: HostedRaces) -> None:
    """Let the race under way go on to its end."""
    if hosted.races.race is not None:
        hosted.races.act(act.Continue())
        hosted.race_to_the_end((), 8000)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_happens_each_race_is_counted_again(seed, tmp_path):
    books = list_rule_books()
    book = shorten(load_rule_book(books[seed % len(books)]))
    if seed % 3 == 1:
        book = dataclasses.replace(book, practice=3.0)
    local_racers = {"Hans": DriverRacer("steady")} if seed % 2 else {}
    track = write_track(tmp_path, "lines = [1.5]\n", "oval")
    hosted = HostedRaces(track, tmp_path, book, max_cars=4 + seed % 4, local_racers=local_racers, pause=2.0)
    wild = Wild(hosted, seed)
    for _ in range(EVENTS):
        wild.do_something()
    finish(hosted)
    hosted.simulation.close()
    files = sorted(tmp_path.glob("race*.dlog"))
    assert len(files) == hosted.races.race_count
    for file in files:
        found = verify_race(file)
        assert found.is_confirmed, (file.name, found.list_complaints())
        assert load_report(file.with_suffix(".json")).result == found.counted
    print(f"seed {seed}, {book.title}: {len(files)} races confirmed")
