"""`donkey rl --generalist`: what it stands for, and where it learns."""

import time

import torch

from donkeysim.cli.commands.rl import make_task
from donkeysim.learn.files.places import read_cars, read_places
from donkeysim.rl import session
from donkeysim.rl.actor_file import read_actor
from donkeysim.rl.progress import Check
from donkeysim.rl.task import list_places
from donkeysim.world.specs import RoadSpec


def test_it_is_four_options_and_what_is_said_counts():
    task = make_task({"generalist": True})
    assert (task.places, task.teacher, task.has_colour, task.randomization) == (60, "expert", True, "real")
    assert task.laps == 1
    own = make_task({"generalist": True, "places": 3, "randomization": "mild"})
    assert (own.places, own.randomization, own.teacher) == (3, "mild", "expert")
    assert make_task({"generalist": False}).places == 0


def test_it_learns_in_places_of_seeds_of_their_own_and_is_checked_on_the_named_track():
    setup = make_task({"generalist": True, "places": 2, "randomization": "mild"}).make_setup()
    assert [scene.name for scene in setup.scenes] == ["generated_track", "random_place", "random_place"]
    assert [scene.road for scene in setup.scenes[1:]] == [RoadSpec(seed=1), RoadSpec(seed=2)]
    assert [scene.name for scene in setup.checks.scenes] == ["generated_track"]
    assert list_places([5]) != list_places([6])


def test_it_learns_until_its_steps_are_used_and_the_last_policy_is_the_pilot(tmp_path, monkeypatch):
    found = iter([2.0, 0.5, 0.1, 0.1, 0.1])  # laps: the first check passes, later ones get worse

    class Told:
        def check(self, _drive):
            return (Check("here", next(found), 1, 0, 1, 1.0, 0.5, 0.0),)

        def close(self):
            pass

    monkeypatch.setattr(session, "_open_checkers", lambda _setup, _laps: [Told()])
    monkeypatch.setattr(session, "FIRST_CHECK_VARIED", 200)
    task = make_task({"generalist": True, "places": 1, "randomization": "mild", "car_count": 16})
    limit = session.Limit(600.0, steps=500)
    training = session.TrainingSession(task, tmp_path, limit, time.perf_counter())
    result = training.run()
    assert result.steps >= 500
    assert not result.is_passed
    assert result.checks[0].laps == 0.1
    assert (*read_places(result.pilot), *read_cars(result.pilot)) == ("random_place",)
    kept = read_actor(result.pilot)
    for ours, theirs in zip(training.actor.parameters(), kept.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
