"""Angles and throttles become targets, and outputs become angles and throttles, as in the original."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from donkeysim.car.keys import KINDS as CONFIG_KINDS
from donkeysim.core.errors import SpecError
from donkeysim.learn.kinds import KINDS, PilotSpec, decode_outputs, encode_targets, get_kind

SPEC = PilotSpec()


def encode(kind, angle, throttle, location=None):
    return encode_targets(KINDS[kind], SPEC, np.array([angle]), np.array([throttle]), location)


@given(st.floats(-1, 1), st.floats(0, 0.76))
def test_bins_give_back_what_they_were_given_to_half_a_bin(angle, throttle):
    targets = encode("categorical", angle, throttle)
    outputs = [targets["angle_out"][0], targets["throttle_out"][0]]
    assert [row.sum() for row in outputs] == [1.0, 1.0]
    decoded = decode_outputs(KINDS["categorical"], outputs, SPEC)
    assert decoded == pytest.approx((angle, throttle), abs=1 / 14 + 1e-6)
    assert abs(decoded[1] - throttle) <= 0.02 + 1e-6


def test_values_beyond_the_bins_count_as_the_last_bin():
    targets = encode("categorical", -1.4, 5.0)
    assert targets["angle_out"][0].argmax() == 0
    assert targets["throttle_out"][0].argmax() == 19
    assert encode("behavior", 3.0, -0.4)["throttle_out"][0].argmax() == 0


def test_the_throttle_that_is_inferred_falls_from_left_to_right():
    throttles = [decode_outputs(KINDS["inferred"], [np.float32([a])], SPEC)[1] for a in (-1, 0, 1, 7)]
    assert throttles == pytest.approx([1.0, math.exp(-0.25) - 0.025, math.exp(-0.5) - 0.05, math.exp(-0.5) - 0.05])


def test_numbers_are_not_bounded():
    assert decode_outputs(KINDS["rnn"], [np.float32([2.5, -3.0])], SPEC) == (2.5, -3.0)
    assert decode_outputs(KINDS["linear"], [np.float32([2.5]), np.float32([-3.0])], SPEC) == (2.5, -3.0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("localizer", "categorical", "behavior")])
def test_targets_are_what_the_outputs_should_say(kind):
    targets = encode(kind, -0.5, 0.25)
    assert tuple(targets) == KINDS[kind].output_names
    assert all(rows.shape[0] == 1 and rows.dtype == np.float32 for rows in targets.values())
    assert np.concatenate(list(targets.values()), axis=1)[0].tolist() in ([-0.5, 0.25], [-0.5])


def test_a_location_is_one_of_those_that_the_configuration_counts():
    targets = encode("localizer", 0.1, 0.2, np.array([9]))
    assert targets["zloc"].tolist() == [[0.0] * 9 + [1.0]]
    outputs = [rows[0] for rows in targets.values()]
    assert decode_outputs(KINDS["localizer"], outputs, SPEC) == pytest.approx((0.1, 0.2, 9))
    with pytest.raises(SpecError, match="locations 10 to 10, but NUM_LOCATIONS = 10 allows 0 to 9"):
        encode("localizer", 0.1, 0.2, np.array([10]))
    with pytest.raises(SpecError, match="localizer/location"):
        encode("localizer", 0.1, 0.2)


@pytest.mark.original(
    "Pilots",
    "`--type tflite_linear`, `tensorrt_linear`, `fastai_linear`, `coral_tflite_linear`",
    "mean `linear`: the file says what runs it",
)
def test_the_originals_prefixes_name_the_same_types():
    assert get_kind("tflite_linear") is KINDS["linear"]
    assert get_kind("tensorrt_rnn") is KINDS["rnn"]
    for name in ("fastai_linear", "coral_tflite_linear"):
        assert get_kind(name) is KINDS["linear"]
        assert CONFIG_KINDS["DEFAULT_MODEL_TYPE"].takes(name)


def test_examples_take_as_many_records_as_the_type_looks_back():
    counts = {kind: KINDS[kind].count_records(SPEC) for kind in KINDS}
    assert counts.pop("memory") == 4
    assert counts.pop("rnn") == counts.pop("3d") == 3
    assert set(counts.values()) == {1}
