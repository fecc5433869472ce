"""A batch learnt in parts on several threads: the same weights however many there are, and those of the whole batch."""

import threading

import numpy as np
import pytest

from donkeysim.learn.architectures import build_model
from donkeysim.learn.backend import import_keras
from donkeysim.learn.batches import TrainingBatch
from donkeysim.learn.kinds import get_kind
from donkeysim.learn.options import TrainingOptions
from stand_ins.untrained_models import SmallConfig


def make_batch(model, count=20):
    rng = np.random.default_rng(4)
    pictures = rng.integers(0, 256, (count, *model.inputs[0].shape[1:]), dtype=np.uint8)
    outputs = {name: rng.random((count, *tensor.shape[1:]), dtype=np.float32) for name, tensor in outputs_of(model)}
    return TrainingBatch(pictures, np.zeros((count, 0), np.float32), outputs)


def outputs_of(model):
    return zip(model.output_names, model.outputs, strict=True)


def learn(kind, part_size, thread_count, monkeypatch, dropout=True, steps=2):
    """Return the weights after some steps and the mean losses."""
    import torch

    from donkeysim.learn import fit as module

    monkeypatch.setattr(module, "PART_SIZE", part_size)
    import_keras().utils.set_random_seed(3)
    model = build_model(kind, SmallConfig)
    for layer in [] if dropout else model.layers:
        if hasattr(layer, "rate"):
            layer.rate = 0.0
    before = torch.get_num_threads()
    torch.set_num_threads(thread_count)
    try:
        trainer = module.Trainer(model, get_kind(kind), TrainingOptions(optimizer="sgd", train_precision="float32"))
        batch = make_batch(model)
        losses = trainer.learn(iter([batch] * steps), lambda *_: None, len(batch) * steps)
        assert torch.get_num_threads() == thread_count, "others find PyTorch as it was"
    finally:
        torch.set_num_threads(before)
    return np.concatenate([weight.ravel() for weight in model.get_weights()]), losses


@pytest.mark.parametrize("count", [1, 2])
def test_one_thread_is_the_one_that_asks(count):
    """What a library's own threads do to the memory of new ones, in a worker of Ray for example, costs nothing then."""
    import torch

    from donkeysim.learn.shares import Shares

    shares, before = Shares(0), torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with shares.opened():
            found = shares.work(range(4), lambda _: threading.get_ident())
    finally:
        torch.set_num_threads(before)
    assert (set(found) == {threading.get_ident()}) == (count == 1)


@pytest.mark.parametrize("kind", ["linear", "rnn"])
def test_the_weights_do_not_depend_on_the_number_of_threads(kind, monkeypatch):
    one, one_losses = learn(kind, 6, 1, monkeypatch)
    for count in (2, 3):
        other, losses = learn(kind, 6, count, monkeypatch)
        assert np.array_equal(one, other)
        assert losses == one_losses


def test_parts_learn_what_the_whole_batch_learns(monkeypatch):
    parts, losses = learn("linear", 6, 2, monkeypatch, dropout=False)
    whole, whole_losses = learn("linear", 20, 2, monkeypatch, dropout=False)
    untouched, _ = learn("linear", 20, 2, monkeypatch, dropout=False, steps=1)
    assert (np.abs(parts - whole) <= np.maximum(1e-3 * np.abs(whole), 1e-6)).all()  # `approx` takes seconds
    assert np.abs(whole - untouched).max() > 1e-5, "else nothing was learnt"
    assert losses["loss"] == pytest.approx(whole_losses["loss"], rel=1e-5)


def test_each_part_drops_others(monkeypatch):
    parts, _ = learn("linear", 10, 2, monkeypatch)
    whole, _ = learn("linear", 20, 2, monkeypatch)
    assert np.abs(parts - whole).max() > 1e-6


def test_a_pilot_whose_examples_see_each_other_learns_whole_batches(monkeypatch):
    from donkeysim.learn import fit as module

    monkeypatch.setattr(module, "PART_SIZE", 6)
    for kind, count in (("3d", 1), ("linear", 4)):
        model = build_model(kind, SmallConfig)
        trainer = module.Trainer(model, get_kind(kind), TrainingOptions())
        assert len(trainer._split(make_batch(model))) == count
