"""`donkey rl --generalist`: what it stands for, and where it learns."""

from donkeysim.cli.commands.rl import make_task
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
