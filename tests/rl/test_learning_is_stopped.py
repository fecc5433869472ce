"""Ctrl-C during `donkey rl`: the pilot on disk is always the one that the figures are about."""

import json
import signal
import time
from dataclasses import asdict

import numpy as np
import pytest
import torch

from donkeysim.learn.files.session import OnnxSession
from donkeysim.learn.pilot import load_pilot
from donkeysim.rl import actor_file, session
from donkeysim.rl.actor_file import read_actor
from donkeysim.rl.check import Checker
from donkeysim.rl.progress import Check
from donkeysim.rl.session import Limit, TrainingSession
from donkeysim.rl.task import TrainingTask

TASK = TrainingTask(car_count=8, laps=1)

POOR = Check("generated_track", 0.2, 1, 1, 5, 0.5, 1.0, 0.05)

GOOD = Check("generated_track", 1.0, 1, 0, 5, 1.1, 1.0, 0.05)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A check after every update; each passes none of them."""
    monkeypatch.setattr(session, "FIRST_CHECK", 1)
    monkeypatch.setattr(session, "NEXT_CHECK", 1e-9)
    monkeypatch.setattr(session, "is_worth_a_check", lambda *_: True)
    monkeypatch.setattr(Checker, "check", lambda *_: (POOR,))


def learn(folder, is_resumed=False, watches=(), steps=1):
    return TrainingSession(TASK, folder, Limit(600.0, steps), time.perf_counter(), is_resumed).run(watches)


def interrupt_the_first(monkeypatch, module, name, interrupt):
    """Let the first call of a function be interrupted once it is done."""
    real, calls = getattr(module, name), []

    def call(*given):
        done = real(*given)
        calls.append(given)
        if len(calls) == 1:
            interrupt()
        return done

    monkeypatch.setattr(module, name, call)
    return calls


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def raise_interrupt(*_):
    raise KeyboardInterrupt


def answer(path):
    pilot = load_pilot(path)
    return pilot.run(np.random.default_rng(1).integers(0, 256, (120, 160, 3), np.uint8))


def assert_the_files_match(folder):
    assert answer(folder / "pilot.h5") == pytest.approx(answer(folder / "pilot.onnx"), abs=1e-6)


def test_a_stop_before_the_first_pilot_is_written_still_leaves_one(tmp_path, monkeypatch):
    calls = []

    def save(*given):
        calls.append(given)
        return raise_interrupt() if len(calls) == 1 else actor_file.save_pilot(*given)

    monkeypatch.setattr(session, "save_pilot", save)
    monkeypatch.setattr(Checker, "check", lambda *_: (GOOD,))
    outcome = learn(tmp_path)
    assert (outcome.was_interrupted, outcome.is_passed, outcome.checks) == (True, False, ())
    assert_the_files_match(tmp_path)


def test_ctrl_c_between_the_two_files_of_a_pilot_waits_until_both_are_written(tmp_path, monkeypatch):
    learn(tmp_path)
    before = answer(tmp_path / "pilot.onnx")
    monkeypatch.setattr(Checker, "check", lambda *_: (GOOD,))
    interrupt_the_first(monkeypatch, actor_file, "write_h5", press_ctrl_c)
    outcome = learn(tmp_path, is_resumed=True, steps=10_000)
    assert (outcome.was_interrupted, outcome.is_passed, outcome.checks) == (True, True, (GOOD,))
    assert_the_files_match(tmp_path)
    assert answer(tmp_path / "pilot.onnx") != before
    assert json.loads((tmp_path / "summary.json").read_text())["checks"] == [asdict(GOOD)]


def test_a_stop_in_a_later_check_leaves_the_figures_of_the_pilot_that_is_there(tmp_path, monkeypatch):
    learn(tmp_path)
    before = read_actor(tmp_path / "pilot.h5")
    monkeypatch.setattr(Checker, "check", lambda *_: (GOOD,))
    monkeypatch.setattr(session, "save_pilot", raise_interrupt)
    outcome = learn(tmp_path, is_resumed=True, steps=10_000)
    assert outcome.checks == (POOR,)
    assert json.loads((tmp_path / "summary.json").read_text())["checks"] == [asdict(POOR)]
    assert all(map(torch.equal, before.parameters(), read_actor(tmp_path / "pilot.h5").parameters()))


@pytest.mark.parametrize("missing", [["pilot.h5"], ["pilot.h5", "pilot.onnx"]])
def test_a_folder_whose_pilot_is_missing_goes_on_and_gets_one(missing, tmp_path, monkeypatch):
    monkeypatch.setattr(Checker, "check", lambda *_: (GOOD,))
    assert learn(tmp_path).is_passed
    for name in missing:
        (tmp_path / name).unlink()
    outcome = learn(tmp_path, is_resumed=True)
    assert (outcome.is_passed, outcome.checks) == (True, (GOOD,))
    assert_the_files_match(tmp_path)


def test_a_missing_onnx_is_made_from_the_best_policy_that_is_there(tmp_path):
    learn(tmp_path)
    before = answer(tmp_path / "pilot.onnx")
    (tmp_path / "pilot.onnx").unlink()
    assert learn(tmp_path, is_resumed=True, steps=100).checks == (POOR,)
    assert answer(tmp_path / "pilot.onnx") == pytest.approx(before, abs=1e-6)
    assert answer(tmp_path / "pilot.h5") == pytest.approx(before, abs=1e-6)


def test_a_pilot_that_is_removed_while_it_learns_is_written_again(tmp_path):
    outcome = learn(tmp_path, watches=[lambda _: (tmp_path / "pilot.h5").unlink(missing_ok=True)])
    assert outcome.checks == ()
    assert_the_files_match(tmp_path)


def test_a_pilot_that_cannot_be_written_whole_leaves_the_one_before(tmp_path, monkeypatch):
    learn(tmp_path)
    before = (tmp_path / "pilot.h5").read_bytes()
    monkeypatch.setattr(actor_file, "make_onnx", raise_interrupt)
    with pytest.raises(KeyboardInterrupt):
        actor_file.save_pilot(read_actor(tmp_path / "pilot.h5"), tmp_path / "pilot", ["elsewhere"])
    assert (tmp_path / "pilot.h5").read_bytes() == before
    assert isinstance(OnnxSession((tmp_path / "pilot.onnx").read_bytes(), tmp_path), OnnxSession)
