"""TensorBoard's own reader finds the figures of every update."""

import sys

import pytest

from donkeysim.core.errors import DonkeySimError
from donkeysim.rl.curve import TensorBoardWriter
from stand_ins.told_learning import make_check, make_update


def read_scalars(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder)).Reload()
    return {
        tag: [(event.step, round(event.value, 4)) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]
    }


def test_what_was_told_is_read_back_across_a_resumption(tmp_path):
    first = TensorBoardWriter(tmp_path)
    for number in (1, 2, 3):
        first(make_update(number))
    first.close()
    second = TensorBoardWriter(tmp_path, steps=8192)
    second(make_update(3, reward=0.5, checks=(make_check(laps=4.5),)))
    second.close()
    scalars = read_scalars(tmp_path)
    assert scalars["learning/reward"] == [(4096, 0.01), (8192, 0.02), (12288, 0.5)]
    assert scalars["learning/ends"][-1] == (12288, 4.0)
    assert scalars["loss/value"][0] == (4096, 1.5)
    assert scalars["check_laps/oval"] == [(12288, 4.5)]


def test_without_tensorboard_the_sentence_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(DonkeySimError, match=r"needs TensorBoard; install it .*\[rl\]"):
        TensorBoardWriter(tmp_path)
