"""The networks are the original's: names, sizes, parameters."""

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.learn.architectures import build_model
from donkeysim.learn.kinds import KINDS
from stand_ins.untrained_models import PARAMETER_COUNTS, SmallConfig, get_model, list_kinds


@pytest.mark.parametrize("kind", list_kinds())
def test_a_network_has_as_many_parameters_as_the_originals(kind):
    model = get_model(kind)
    assert model.count_params() == PARAMETER_COUNTS[kind]
    assert tuple(model.output_names) == KINDS[kind].output_names
    assert model.name == KINDS[kind].model_name
    assert model.inputs[0].name == "img_in"


def test_layers_without_a_name_are_counted_as_in_a_fresh_session_of_the_original():
    widths = {layer.name: layer.units for layer in get_model("imu").layers if hasattr(layer, "units")}
    expected = {"dense": 100, "dense_1": 14, "dense_2": 14, "dense_3": 14, "dense_4": 50, "dense_5": 50}
    assert widths == {**expected, "out_0": 1, "out_1": 1}
    widths = {layer.name: layer.units for layer in get_model("rnn").layers if hasattr(layer, "units")}
    assert widths == {
        "LSTM_seq": 128, "LSTM_fin": 128, "dense_1": 128, "dense_2": 64, "dense_3": 10, "model_outputs": 2
    }  # fmt: skip


def test_dropouts_are_the_originals():
    rates = [layer.rate for layer in get_model("memory").layers if hasattr(layer, "rate")]
    assert sorted(rates) == [0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2]


@pytest.mark.parametrize("kind", list_kinds())
def test_pictures_of_other_sizes_and_other_lengths_change_the_inputs(kind):
    model = get_model(kind, SmallConfig)
    sequence = (4,) if KINDS[kind].history == "pictures" else ()
    assert model.inputs[0].shape == (None, *sequence, 80, 96, 1)
    further = {"memory": [8], "imu": [6], "behavior": [3]}
    assert [tensor.shape[1] for tensor in model.inputs[1:]] == further.get(kind, [])


def test_pictures_that_are_too_small_are_refused_in_one_sentence():
    class Tiny:
        IMAGE_W, IMAGE_H = 160, 60

    with pytest.raises(SpecError, match="160x60 are too small for the layers of the type linear"):
        build_model("linear", Tiny)


@pytest.mark.parametrize("kind", list_kinds())
def test_the_size_that_the_sentence_names_is_enough_for_every_type(kind):
    class Least:
        IMAGE_W, IMAGE_H = 77, 77

    assert build_model(kind, Least).outputs


def test_an_unknown_type_is_answered_with_the_nearest():
    with pytest.raises(SpecError, match="'linaer'; did you mean 'linear'"):
        build_model("linaer", object())


def test_impossible_sizes_are_refused():
    class Odd:
        IMAGE_DEPTH = 2

    class Empty:
        BEHAVIOR_LIST = ()

    with pytest.raises(SpecError, match="IMAGE_DEPTH=2 are not valid"):
        build_model("linear", Odd)
    with pytest.raises(SpecError, match="length of BEHAVIOR_LIST is 0"):
        build_model("behavior", Empty)
