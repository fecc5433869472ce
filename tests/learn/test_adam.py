"""Adam of `donkey rl`: PyTorch's own, without its compiler."""

import subprocess
import sys

import torch

from donkeysim.learn.shares import Adam


def make_weights() -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(3)
    return [torch.nn.Parameter(torch.randn(size, generator=draw)) for size in ((4, 3), (5,), (2, 2, 3, 3))]


def give_gradients(weights: list[torch.Tensor], seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    for weight in weights:
        weight.grad = torch.randn(weight.shape, generator=draw)


def test_it_steps_as_pytorch_does() -> None:
    ours, theirs = make_weights(), make_weights()
    adam, oracle = Adam(ours, 0.01, eps=1e-5), torch.optim.Adam(theirs, 0.01, eps=1e-5)
    for step in range(20):
        adam.learning_rate = oracle.param_groups[0]["lr"] = 0.01 / (1 + step)
        for weights in (ours, theirs):
            give_gradients(weights, step)
        adam.step()
        oracle.step()
        for own, other in zip(ours, theirs, strict=True):
            assert torch.equal(own, other)


def test_it_resumes_from_its_own_state_and_from_pytorchs() -> None:
    begun = make_weights()
    oracle = torch.optim.Adam(begun, 0.01)
    give_gradients(begun, 1)
    oracle.step()
    first = Adam(begun, 0.01)
    first.restore(oracle.state_dict())
    second = Adam([weight.detach().clone().requires_grad_() for weight in begun], 0.01)
    second.restore(first.describe())
    for adam in (first, second):
        give_gradients(adam.weights, 2)
        adam.step()
    oracle_weights = make_weights()
    again = torch.optim.Adam(oracle_weights, 0.01)
    for seed in (1, 2):
        give_gradients(oracle_weights, seed)
        again.step()
    for expected, *found in zip(oracle_weights, first.weights, second.weights, strict=True):
        for weight in found:
            assert torch.equal(weight, expected)


def test_a_start_does_not_wait_for_the_compiler() -> None:
    lines = (
        "import sys, torch",
        "import donkeysim.rl.session",
        "from donkeysim.learn.shares import Adam",
        "weight = torch.nn.Parameter(torch.ones(2))",
        "weight.grad = torch.ones(2)",
        "torch.nn.utils.clip_grad_norm_([weight], 1.0)",
        "Adam([weight], 0.1).step()",
        "sys.exit('torch._dynamo' in sys.modules)",
    )
    assert subprocess.run([sys.executable, "-c", "\n".join(lines)], check=False).returncode == 0
