"""Reward functions of AWS DeepRacer run as they are, and are told what its guide lists."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.envs.deepracer import adapt_deepracer, load_deepracer
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.reset import Start
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import ChallengeSpec, SceneSpec

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples" / "deepracer").glob("*.py"))
GUIDE = {
    *("all_wheels_on_track", "x", "y", "closest_objects", "closest_waypoints", "distance_from_center", "is_crashed"),
    *("is_left_of_center", "is_offtrack", "is_reversed", "heading", "objects_distance", "objects_heading"),
    *("objects_left_of_center", "objects_location", "objects_speed", "progress", "speed", "steering_angle", "steps"),
    *("track_length", "track_width", "waypoints"),
}
"""The parameters of the developer guide."""


@pytest.fixture(scope="module")
def fleet():
    """Three cars alone."""
    made = Fleet(Experiment(), 3, frame_skip=2)
    made.open(None)
    return made


@pytest.fixture
def step(fleet):
    """On the path, beside the road, backwards; after two seconds."""
    fleet.begin(range(3), {0: Start(1.0), 1: Start(1.0, offset=-0.6), 2: Start(4.0, yaw=math.pi)})
    for _ in range(20):
        step = fleet.advance(np.zeros(3), np.full(3, 0.2))
    return step


def tell(step):
    """Return what functions are told of each car."""
    seen = []
    adapt_deepracer(lambda params: seen.append(params) or 1.0)(step)
    return seen


def test_a_function_gets_what_the_guide_lists(step):
    first, beside, backwards = tell(step)
    assert set(first) == GUIDE
    assert first["all_wheels_on_track"]
    assert not first["is_left_of_center"]
    assert first["track_width"] == pytest.approx(1.25, abs=0.01)
    assert first["distance_from_center"] == pytest.approx(0.25 + step.offset[0], abs=0.03)
    assert beside["is_offtrack"]
    assert not beside["all_wheels_on_track"]
    assert backwards["is_reversed"]
    assert backwards["progress"] == 0.0
    assert first["steps"] == 20
    assert len(first["waypoints"]) == 108
    assert first["closest_waypoints"][1] == first["closest_waypoints"][0] + 1
    assert adapt_deepracer(lambda params: params["speed"])(step) == pytest.approx(
        np.hypot(step.forward_speed, step.left_speed)
    )
    assert (first["closest_objects"], first["objects_location"]) == ([0, 0], [])  # what stands about is beside the road


def test_waypoints_lie_on_the_middle_of_the_road(step):
    params = tell(step)[0]
    (x0, y0), (x1, y1) = (params["waypoints"][number] for number in params["closest_waypoints"])
    away = ((x1 - x0) * (params["y"] - y0) - (y1 - y0) * (params["x"] - x0)) / math.hypot(x1 - x0, y1 - y0)
    assert abs(away) == pytest.approx(params["distance_from_center"], abs=0.02)
    assert (away > 0.0) == params["is_left_of_center"]


def test_a_wheel_is_beside_the_road_before_the_middle_is(step):
    room = float(step.width_right[0])
    near = replace(step, offset=np.full(3, -room + 0.125), heading_error=np.array([0.0, math.pi / 2, 0.0]))
    assert [params["all_wheels_on_track"] for params in tell(near)][:2] == [True, False]


def test_progress_is_a_hundred_when_a_round_is_done_and_begins_anew(step):
    length = step.path_length
    done = replace(step, furthest=length * [0.5, 1.001, 1.5], progress=length * [0.01, 0.01, 0.01])
    assert [params["progress"] for params in tell(done)] == pytest.approx([50.0, 100.0, 50.0])


def test_the_last_waypoint_of_a_round_is_followed_by_the_first(step):
    last = replace(step, node_index=np.full(3, 107, np.int32))
    assert tell(last)[0]["closest_waypoints"] == [107, 0]


def test_things_on_the_road_and_other_cars_are_objects():
    scene = SceneSpec("generated_track", challenges=ChallengeSpec(cones=3, seed=5))
    fleet = Fleet(Experiment((scene,)), 1, cars_per_world=2)
    fleet.open(None)
    fleet.begin([0], {0: Start(3.0), 1: Start(4.0, offset=0.3)})
    for _ in range(10):
        step = fleet.advance(np.zeros(2), np.array([0.0, 0.3]))
    first, second = tell(step)
    path = step.paths[0]
    found = path.frame.locate(*step.props[0][:, :2].T)
    on_road = np.flatnonzero(
        (-path.width_right[found.node] < found.offset) & (found.offset < path.width_left[found.node])
    )
    cones = len(on_road)
    assert 0 < cones < len(step.props[0])
    assert first["objects_location"][:-1] == [(x, y) for x, y in step.props[0][on_road, :2].tolist()]
    assert first["objects_location"][-1] == (second["x"], second["y"])
    assert first["objects_speed"] == [0.0] * cones + [second["speed"]]
    assert first["objects_heading"][-1] == second["heading"]
    assert first["objects_left_of_center"][-1] == second["is_left_of_center"]
    away = first["objects_distance"][-1] - first["progress"] / 100.0 * first["track_length"]
    assert away == pytest.approx(step.along[1] - step.along[0], abs=1e-6)
    behind, ahead = first["closest_objects"]
    places, length = [*found.along[on_road], step.along[1]], first["track_length"]
    assert ahead == int(np.argmin([(place - step.along[0]) % length for place in places]))
    assert behind == int(np.argmin([(step.along[0] - place) % length for place in places]))


def test_the_ten_examples_use_every_parameter_and_run(step):
    assert len(FILES) == 10
    asked = {name for file in FILES for name in re.findall(r'params\["(\w+)"\]', file.read_text(encoding="utf-8"))}
    assert asked == GUIDE
    table = (ROOT / "docs/envs/deepracer.md").read_text(encoding="utf-8")
    for file in FILES:
        reward = load_deepracer(file)(step)
        assert reward.shape == (3,)
        assert reward[0] > 1e-3, file.name
        used = sorted(set(re.findall(r'params\["(\w+)"\]', file.read_text(encoding="utf-8"))))
        assert f"| [`{file.name}`]" in table
        assert ", ".join(f"`{name}`" for name in used) in table


def test_every_car_has_global_names_of_its_own(tmp_path, step):
    file = tmp_path / "counting.py"
    file.write_text("calls = 0\n\ndef reward_function(params):\n    global calls\n    calls += 1\n    return calls\n")
    reward = load_deepracer(file)
    assert [reward(step).tolist() for _ in range(2)] == [[1.0] * 3, [2.0] * 3]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def reward(params):\n    return 1.0\n", "has no function reward_function; define"),
        ("def reward_function(params:\n", "cannot be read as Python"),
        ("import no_such_module\n", r"cannot be run \(ModuleNotFoundError"),
    ],
)
def test_a_file_that_is_no_reward_is_refused(tmp_path, text, told):
    (tmp_path / "reward.py").write_text(text)
    with pytest.raises(SpecError, match=told):
        load_deepracer(tmp_path / "reward.py")
    with pytest.raises(SpecError, match=r"cannot be read as Python \(.*give a file"):
        load_deepracer(tmp_path / "nowhere.py")


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda params: params["sped"], "asks for the parameter 'sped', which is none; there are all_wheels_on_track"),
        (lambda params: None, "returned None as reward; it must return a finite number"),
        (lambda params: math.nan, "returned nan as reward"),
        (lambda params: 10**400, r"returned 10+\.\.\. as reward"),
    ],
)
def test_a_function_that_says_nothing_is_told_so(step, function, told):
    with pytest.raises(SpecError, match=told):
        adapt_deepracer(function)(step)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("return {'wide': 1}['narrow']", r"reward.py failed in .*reward.py, line 3 \(KeyError: 'narrow'\); mend it"),
        ("return 1.0 / 0.0", r"reward.py failed in .*reward.py, line 3 \(ZeroDivisionError: "),
        ("return math.sqrt(-1.0) + float('a')", r"failed in .*reward.py, line 3 \(ValueError: "),
        ("return statistics.mean([])", r"failed in .*reward.py, line 3 \(StatisticsError: "),
        ("return params['sped']", "asks for the parameter 'sped', which is none"),
        ("return params.get('sped', 1.0) / params['stepps']", "asks for the parameter 'stepps', which is none"),
    ],
)
def test_a_function_that_fails_is_told_where(tmp_path, step, line, told):
    (tmp_path / "reward.py").write_text(f"import math, statistics\ndef reward_function(params):\n    {line}\n")
    with pytest.raises(SpecError, match=told) as caught:
        load_deepracer(tmp_path / "reward.py")(step)
    assert caught.value.__cause__ is not None


def test_a_function_may_catch_a_parameter_that_is_none(step):
    def reward_function(params):
        try:
            return params["sped"]
        except KeyError:
            return 2.0

    assert adapt_deepracer(reward_function)(step).tolist() == [2.0] * 3
