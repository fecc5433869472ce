"""Specs refuse what no simulator could do with them, in a sentence that names the field."""

import math

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.world.specs import CameraSpec, ChallengeSpec, LidarSpec, RoadSpec, SceneSpec


@pytest.mark.parametrize(
    ("kind", "given", "sentence"),
    [
        (LidarSpec, {"sweep_increment": 0.0}, "it takes 0.00436332 to 6.28319 rad (0.25° to 360°)."),
        (LidarSpec, {"sweep_increment": math.radians(-2.0)}, "(0.25° to 360°)"),
        (LidarSpec, {"level_count": 0}, "level_count is 0; it takes 1 to 128."),
        (LidarSpec, {"level_count": 1.5}, "level_count is 1.5; it takes a whole number."),
        (LidarSpec, {"max_range": math.inf}, "max_range is inf; it takes 0.0125 to 1250 m."),
        (LidarSpec, {"max_range": -1}, "max_range is -1.0; it takes 0.0125 to 1250 m."),
        (LidarSpec, {"noise": math.nan}, "noise is nan; it takes 0 to 125 m."),
        (LidarSpec, {"angle_delta": math.nan}, "angle_delta is nan, but must be finite."),
        (LidarSpec, {"position": (0.0, math.inf, 0.0)}, "position is (0.0, inf, 0.0), but must be finite."),
        (CameraSpec, {"position": (math.nan, 0, 0)}, "position is (nan, 0.0, 0.0), but must be finite."),
        (CameraSpec, {"rotation": (0, 0)}, "rotation is (0, 0); it takes three numbers."),
        (CameraSpec, {"width": "64"}, "width is '64'; it takes a whole number."),
        (CameraSpec, {"fov": 4.0}, "it takes 1° to 175° (vertical)."),
        (RoadSpec, {"seed": "x"}, "seed is 'x'; it takes a whole number."),
        (RoadSpec, {"turn": None}, "turn is None; it takes a number."),
        (ChallengeSpec, {"cones": "many"}, "cones is 'many'; it takes a whole number."),
        (SceneSpec, {"folders": "tracks"}, "folders is 'tracks'; it takes a list of texts, as ['tracks']."),
        (SceneSpec, {"name": None}, "name is None; it takes a text."),
    ],
)
def test_an_impossible_value_is_refused_in_a_sentence(kind, given, sentence):
    with pytest.raises(SpecError) as told:
        kind(**given)
    assert str(told.value).endswith(sentence) or sentence in str(told.value)


@pytest.mark.parametrize("degrees", [0.25, 360.0])
def test_a_limit_in_degrees_is_within_however_it_was_turned_into_radians(degrees):
    for increment in (math.radians(degrees), degrees * math.pi / 180.0, degrees / 180.0 * math.pi):
        assert LidarSpec(sweep_increment=increment).sweep_increment == increment
