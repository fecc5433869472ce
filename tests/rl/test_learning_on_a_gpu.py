"""What `donkey rl --device` refuses, and when."""

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.rl.session import Limit, TrainingSession
from donkeysim.rl.task import TrainingTask


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"device": "cud"}, "unknown device 'cud'; did you mean 'cuda'"),
        ({"device": "cuda", "reward": "reward.py"}, "a reward of your own and the device 'cuda'"),
        ({"device": "cuda", "source": "pilot.h5"}, "a pilot to start from and the device 'cuda'"),
    ],
)
def test_what_a_gpu_does_not_do_is_refused(options, told):
    with pytest.raises(SpecError, match=told):
        TrainingTask(**options)


def test_a_randomization_that_a_gpu_does_not_draw_is_refused_before_tracks_are_built(tmp_path, monkeypatch):
    monkeypatch.setattr("donkeysim.rl.session.share_scene", None)
    with pytest.raises(SpecError, match=r"has .*delay\.action.*, which a GPU does not draw"):
        TrainingSession(TrainingTask(device="cuda", randomization="real"), tmp_path, Limit(1.0), 0.0)


def test_a_machine_without_a_gpu_says_so(monkeypatch):
    setup = TrainingTask(device="cuda").make_setup()
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SpecError, match="finds no GPU; install PyTorch with CUDA"):
        setup.check_device()
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    setup.check_device()
