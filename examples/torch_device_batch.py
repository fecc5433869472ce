"""Many drivers at once on a device, with PyTorch: each car drives by weights of its own, and the best tenth lives on.

    pip install ".[rl]"                                                   # in the checkout
    python examples/torch_device_batch.py                                 # on this machine's cores, some seconds
    python examples/torch_device_batch.py --device cuda --cars 16384      # on a GPU

What the cars see and what they are asked to do never leaves the device: `torch.from_dlpack` shows PyTorch the batch's
own memory, once, and every step writes it anew.
"""

import argparse

import gymnasium

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.core.errors import describe_install

try:
    import torch
except ImportError as error:
    raise SystemExit(f"{error}. This example needs PyTorch; install it {describe_install('rl')}") from None


def drive(cars: gymnasium.vector.VectorEnv, weights: torch.Tensor, steps: int) -> torch.Tensor:
    """Return what each car earns in its first episode, with weights of shape [cars, 2, numbers + 1]."""
    seen, _ = cars.reset(seed=1)
    earned = torch.zeros(len(weights), device=weights.device)
    alive = torch.ones_like(earned)
    for _ in range(steps):
        told = torch.cat([seen, torch.ones_like(seen[:, :1])], dim=1)
        actions = torch.tanh(torch.einsum("can,cn->ca", weights, told))
        seen, reward, terminated, truncated, _ = cars.step(actions)
        earned += reward * alive
        alive *= ~(terminated | truncated)
    return earned


def search(cars: gymnasium.vector.VectorEnv, device: str, generations: int, steps: int) -> list[float]:
    """Search for good weights by the cross-entropy method and return what the best tenth earned, each time."""
    count, numbers = cars.num_envs, cars.single_observation_space.shape[0]
    mean, spread = torch.zeros(2, numbers + 1, device=device), torch.ones(2, numbers + 1, device=device)
    best = []
    for generation in range(generations):
        weights = mean + spread * torch.randn(count, 2, numbers + 1, device=device)
        earned = drive(cars, weights, steps)
        top = earned.topk(max(2, count // 10))
        chosen = weights[top.indices]
        mean, spread = chosen.mean(dim=0), chosen.std(dim=0) + 0.05
        best.append(float(top.values.mean()))
        print(f"generation {generation + 1}: the best tenth earned {best[-1]:.1f} points in {steps / 20:.0f} s")
    return best


def main(arguments: list[str] | None = None) -> list[float]:
    """Read the command line and search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--cars", type=int, default=128)
    parser.add_argument("--generations", type=int, default=12)
    parser.add_argument("--steps", type=int, default=200, help="twentieths of a second that each generation drives")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    cars = gymnasium.make_vec(
        "donkeysim/GeneratedTrack-v0",
        num_envs=options.cars,
        device=options.device,
        observe="vector",
        convert=torch.from_dlpack,
    )
    best = search(cars, options.device, options.generations, options.steps)
    cars.close()
    return best


if __name__ == "__main__":
    main()
