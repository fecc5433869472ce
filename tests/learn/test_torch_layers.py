"""The faster clone of a model computes what the model computes."""

import numpy as np
import pytest

from donkeysim.learn.architectures import build_model
from donkeysim.learn.kinds import KINDS
from stand_ins.untrained_models import SmallConfig


def make_inputs(model, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.random((4, *tensor.shape[1:]), dtype=np.float32) for tensor in model.inputs]


def make_draws():
    import torch

    from donkeysim.learn.shares import PartGenerator

    draws = PartGenerator()
    draws.generator = torch.Generator()
    return draws


def flatten(outputs):
    import torch

    outputs = outputs if isinstance(outputs, list) else [outputs]
    return torch.cat([output.reshape(-1) for output in outputs])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_clone_answers_as_the_model(kind):
    import torch

    from donkeysim.learn.torch_layers import make_fast

    model = build_model(kind, SmallConfig)
    inputs = make_inputs(model)
    with torch.no_grad():
        ours = flatten(make_fast(model, make_draws())(inputs, training=False))
        assert ours.numpy() == pytest.approx(flatten(model(inputs, training=False)).numpy(), abs=1e-5)


@pytest.mark.parametrize("kind", ["linear", "categorical", pytest.param("rnn", marks=pytest.mark.soak)])
def test_gradients_are_those_of_the_model_when_nothing_is_dropped(kind, monkeypatch):
    import torch

    from donkeysim.learn import torch_layers

    model = build_model(kind, SmallConfig)
    for layer in model.layers:
        inner = torch_layers._peel(layer)
        if hasattr(inner, "rate"):
            inner.rate = 0.0
    inputs = make_inputs(model)
    gradients = []
    # a level so small that it is taken for a dropout, of which nothing is dropped
    monkeypatch.setattr(torch_layers, "_draw_kept", lambda count, level, generator: torch.ones(count, dtype=bool))
    fast = torch_layers.make_fast(model, make_draws())
    for layer in fast.layers:
        if isinstance(layer, torch_layers._Fused) and layer._inner.activation.__name__ == "relu":
            layer._level = 1e-6
    for network in (model, fast):
        for variable in model.trainable_variables:
            variable.value.grad = None
        flatten(network(inputs, training=True)).square().sum().backward()
        gradients.append([variable.value.grad.clone() for variable in model.trainable_variables])
    for one, other in zip(*gradients, strict=True):
        least = 1e-5 * max(1.0, float(one.abs().max()))
        assert ((other - one).abs() <= (1e-3 * one.abs()).clip(min=least)).all()  # `approx` takes seconds


def test_dropout_drops_its_share_and_keeps_the_mean():
    import torch

    from donkeysim.learn.torch_layers import _drop

    generator = torch.Generator().manual_seed(1)
    x = torch.full((100, 1001), 2.0, requires_grad=True)
    y = _drop(x * 1.0, round(256 * 0.2), generator)
    y.sum().backward()
    dropped = float((y == 0).float().mean())
    assert dropped == pytest.approx(0.2, abs=0.01)
    assert float(y.detach().mean()) == pytest.approx(2.0, rel=0.01)
    assert torch.equal(x.grad == 0, y == 0)
    assert not torch.equal(y[:, 0] == 0, y[:, 1] == 0)


def test_a_negative_number_passes_neither_forward_nor_backward():
    import torch

    from donkeysim.learn.torch_layers import _drop

    x = torch.tensor([[-1.0, 3.0]], requires_grad=True)
    y = _drop(x * 1.0, 0, torch.Generator())
    y.sum().backward()
    assert y.tolist() == [[0.0, 3.0]]
    assert x.grad.tolist() == [[0.0, 1.0]]
