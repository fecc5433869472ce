"""Races at length: a hundred are verified, hostile cars spoil no one's race, a tournament comes from one command."""

import dataclasses
import functools
import json
import random
import time
from collections import Counter

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from donkeysim.cli.donkey import run
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.drivers.steering import Action
from donkeysim.learn.pilot import BUILT_IN_PILOT, load_pilot
from donkeysim.racing.export.report_page import ReportExport
from donkeysim.racing.export.walk import export_race
from donkeysim.racing.rules import act
from donkeysim.racing.rules.director import RACE
from donkeysim.racing.rules.rule_book import list_rule_books, load_rule_book
from donkeysim.racing.run import race_run
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.race_run import PilotRace
from donkeysim.racing.run.racer import DRIVERS, DriverRacer, PilotRacer
from donkeysim.racing.run.tournament import load_tournament, report_race
from donkeysim.racing.run.verify import verify_race
from donkeysim.sim import place
from donkeysim.sim.simulator import Simulator
from e2e.chromium import launch

pytestmark = pytest.mark.soak


@pytest.fixture(autouse=True, scope="module")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "share_scene", functools.cache(place.share_scene))
        yield


class Hostile:
    """Drives into others: backwards through the field, or at full throttle from behind."""

    camera = None

    def __init__(self, is_backwards):
        self.is_backwards = is_backwards

    def reset(self, simulator, row, seed):
        self.frames = 0
        self.driver = PathFollower(simulator.get_scene(row), simulator.car_spec, "steady")

    def decide(self, simulator, row):
        self.frames += 1
        if self.is_backwards:
            return Action(0.3 if self.frames % 100 < 50 else -0.3, -0.5, 0.0)
        if self.frames % 80 < 60:
            return Action(self.driver.drive(simulator.ledger, row).steer, 1.0, 0.0)
        return Action(0.0, 0.0, 1.0)


def free_for_all(name, laps):
    """A rule book without qualifying, for as many cars as there are."""
    book = load_rule_book(name)
    race = dataclasses.replace(book.race, laps=laps)
    return dataclasses.replace(
        book, cars=99, qualifying=None, race=race, start=dataclasses.replace(book.start, grid="entry")
    )


TRACKS = ("reading_room", "harbour_town", "carpet_hall", "generated_track", "maker_hall")
"""From 8 to 38 m long."""


@pytest.fixture
def poses(monkeypatch):
    """Positions and orientations of all cars after every frame of whatever simulator steps."""
    kept, step = [], Simulator.step

    def step_and_keep(self, *words):
        step(self, *words)
        kept.append(np.hstack([self.ledger.position, self.ledger.orientation]))

    monkeypatch.setattr(Simulator, "step", step_and_keep)
    return kept


def test_a_hundred_short_races_are_verified(tmp_path, poses):
    confirmed, frames, books, tracks = 0, 0, Counter(), Counter()
    for seed in range(100):
        rng = random.Random(seed)
        name, track = rng.choice(list_rule_books()), rng.choice(TRACKS)
        book = free_for_all(name, 1)
        racers = [DriverRacer(rng.choice(DRIVERS)) for _ in range(rng.randint(1, 4))] + [Hostile(rng.random() < 0.5)]
        cars = tuple(f"car {row}" for row in range(len(racers)))

        def interfere(director, rng=rng, cars=cars):
            if director.is_held:
                return [act.Continue()]
            if director.session != RACE or not director.run.rows or rng.random() > 0.004:
                return []
            row = rng.choice(director.run.rows)
            known = [item.number for item in director.run.incidents if item.number not in director.run.undone]
            acts = [act.Pause(), act.Penalise(row, seconds=1.0), act.PutBack(row)]
            return [rng.choice([*acts, *map(act.Undo, known[:1])])]

        poses.clear()
        race = PilotRace(RacePlan(track, name, book, cars, seed), racers, tmp_path / f"race{seed}.dlog")
        record = race.run(engineer=interfere)
        report_race(record)
        driven = np.array(poses)
        poses.clear()
        found = verify_race(record.file)
        assert found.is_confirmed, (seed, name, track, found.list_complaints())
        assert np.array_equal(driven, np.array(poses)), (seed, name, track)
        confirmed, frames = confirmed + 1, frames + len(driven)
        books[name] += 1
        tracks[track] += 1
    print(json.dumps({"confirmed": confirmed, "frames": frames, "rule books": books, "tracks": tracks}))
    assert confirmed == 100
    assert set(books) == set(list_rule_books())
    assert set(tracks) == set(TRACKS)


def test_hostile_cars_spoil_no_ones_race(tmp_path):
    racers = [DriverRacer("steady" if row % 2 else "fast") for row in range(14)] + [Hostile(True), Hostile(False)]
    names = (*(f"car {row}" for row in range(14)), "backwards", "rammer")
    plan = RacePlan("generated_track", "club", free_for_all("virtual_race_league", 10), names, 1)
    result = PilotRace(plan, racers, tmp_path / "race.dlog").run().result
    assert [placing.status for placing in result.placings if placing.row < 14] == ["finished"] * 14
    assert verify_race(tmp_path / "race.dlog").is_confirmed


def test_a_double_elimination_of_eight_comes_from_one_command(tmp_path, monkeypatch):
    pilots = ["fast", "steady", "human", "A=fast", "B=steady", "C=human", "built-in", "D=built-in"]
    words = [word for pilot in pilots for word in ("--pilot", pilot)]
    monkeypatch.chdir(tmp_path)
    assert run(["race", "tournament", *words, "--out", "evening"]) == 0
    tournament = load_tournament(tmp_path / "evening")
    assert sorted(name for names in tournament.ranking for name in names) == sorted(tournament.plan.names)
    assert len(tournament.results) in (14, 15)
    for match in tournament.results:
        assert run(["race", "verify", f"evening/{match}.dlog"]) == 0


def test_twenty_pilots_race_within_a_minute():
    pilots = [load_pilot(BUILT_IN_PILOT) for _ in range(20)]
    racers = [PilotRacer(pilot, pilot.image_shape) for pilot in pilots]
    names = tuple(f"pilot {row}" for row in range(20))
    plan = RacePlan("generated_track", "club", free_for_all("virtual_race_league", 3), names)
    race = race_run.PilotRace(plan, racers)
    begun, worked = time.perf_counter(), time.process_time()
    record = race.run()
    took, busy = time.perf_counter() - begun, time.process_time() - worked
    print(f"20 pilots: {record.time:.0f} s of racing in {took:.1f} s, {busy:.1f} s of a processor's time")
    assert sum(placing.status == "finished" for placing in record.result.placings) >= 15


def test_a_report_opens_in_a_browser_without_a_network(tmp_path):
    names = tuple(f"<img src=x onerror=alert({row})> {row}" for row in range(16))
    racers = [DriverRacer(DRIVERS[row % 3]) for row in range(16)]
    plan = RacePlan("reading_room", "club", free_for_all("robo_racing_carnage", 3), names)
    record = PilotRace(plan, racers, tmp_path / "race.dlog").run()
    export_race(record.file, [ReportExport(tmp_path / "race.html")])
    told = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for width, scheme in ((1280, "light"), (390, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True)
            page.on("console", lambda message: told.append(message.text))
            page.on("pageerror", lambda error: told.append(str(error)))
            page.on("dialog", lambda dialog: told.append(dialog.message))
            page.goto((tmp_path / "race.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.locator("img").count() == 0
            assert page.locator(".chips button").first.inner_text() == record.result.placings[0].name[:40]
            page.locator(".chips button").first.click()
            first = record.result.placings[0].row
            faded = page.evaluate(
                "(first) => [...document.querySelectorAll('.car')].filter((drawn) => drawn.style.opacity === '0.1')"
                ".map((drawn) => drawn.classList.contains(first))",
                f"car-{first}",
            )
            assert len(faded) > 15
            assert not any(faded)
            page.close()
        browser.close()
    assert told == []
