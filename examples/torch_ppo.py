"""Proximal policy optimisation in one file, with PyTorch alone: a car learns to lap from numbers about the road.

    pip install ".[rl]"                                   # in the checkout
    python examples/torch_ppo.py                          # learns, then drives three laps and says how
    python examples/torch_ppo.py --steps 2000000 --out pilot.pt
    python examples/torch_ppo.py --drive pilot.pt

The algorithm is that of Schulman et al. 2017 (https://arxiv.org/abs/1707.06347), with generalised advantages (Schulman
et al. 2015, https://arxiv.org/abs/1506.02438).
"""

import argparse
import time
from dataclasses import dataclass

import gymnasium
import numpy as np

import donkeysim  # noqa: F401  (registers the environments)
from donkeysim.core.errors import describe_install

try:
    import torch
    from torch import nn
except ImportError as error:
    raise SystemExit(f"{error}. This example needs PyTorch; install it {describe_install('rl')}") from None

ENV_ID = "donkeysim/GeneratedTrack-v0"
TASK = {"observe": "vector", "throttle_range": (-0.2, 0.3)}


@dataclass(frozen=True)
class Settings:
    """What learning depends on."""

    car_count: int = 64
    rollout: int = 64
    epochs: int = 4
    batch_size: int = 1024
    learning_rate: float = 1e-3
    discount: float = 0.99
    trace: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.5
    entropy_weight: float = 0.0
    largest_gradient: float = 0.5


class Policy(nn.Module):
    """Two small networks: what to do, as the mean of a normal distribution, and how good things are."""

    def __init__(self, observation_size: int, action_size: int, width: int = 64) -> None:
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(observation_size, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, action_size),
        )
        self.critic = nn.Sequential(
            nn.Linear(observation_size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        self.log_spread = nn.Parameter(torch.full((action_size,), -1.2))

    def distribution(self, observation: torch.Tensor) -> torch.distributions.Normal:
        """Return the distribution of actions, shape [n, action_size]."""
        return torch.distributions.Normal(self.actor(observation), self.log_spread.exp())

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        """Return the rewards to be expected, discounted, shape [n]."""
        return self.critic(observation).squeeze(-1)


def learn(step_limit: int, seed: int, settings: Settings, threads: int | None) -> Policy:
    """Return a policy that has driven so many steps."""
    torch.manual_seed(seed)
    env = gymnasium.make_vec(
        ENV_ID, num_envs=settings.car_count, autoreset_mode="SameStep", time_limit=30.0, threads=threads, **TASK
    )
    policy = Policy(env.single_observation_space.shape[0], env.single_action_space.shape[0])
    optimizer = torch.optim.Adam(policy.parameters(), settings.learning_rate, eps=1e-5)
    seen, _ = env.reset(seed=seed)
    begun, steps = time.perf_counter(), 0
    while steps < step_limit:
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1.0 - steps / step_limit)
        rollout, seen = drive(env, policy, seen, settings)
        improve(policy, optimizer, rollout, settings)
        steps += settings.car_count * settings.rollout
        print(
            f"{steps:>9,} steps  {steps / (time.perf_counter() - begun):>7,.0f} steps/s  reward per step "
            f"{rollout['reward'].mean():.3f}  ended per 1,000 steps {1000 * rollout['ended'].mean():.2f}",
            flush=True,
        )
    env.close()
    return policy


def drive(
    env: gymnasium.vector.VectorEnv, policy: Policy, seen: np.ndarray, settings: Settings
) -> tuple[dict, np.ndarray]:
    """Return what all cars met in a stretch of steps, with advantages, and what they see now."""
    parts: dict[str, list[torch.Tensor]] = {
        name: [] for name in ("seen", "action", "chance", "value", "reward", "next", "over", "ended")
    }
    with torch.no_grad():
        for _ in range(settings.rollout):
            now = torch.as_tensor(seen)
            distribution = policy.distribution(now)
            action = distribution.sample()
            seen, reward, ended, cut, info = env.step(action.numpy())
            after = seen.copy()
            for car in np.flatnonzero(ended | cut):
                after[car] = info["final_obs"][car]
            parts["seen"].append(now)
            parts["action"].append(action)
            parts["chance"].append(distribution.log_prob(action).sum(-1))
            parts["value"].append(policy.value(now))
            parts["reward"].append(torch.as_tensor(reward, dtype=torch.float32))
            parts["next"].append(policy.value(torch.as_tensor(after)) * torch.as_tensor(~ended))
            parts["over"].append(torch.as_tensor(ended | cut))
            parts["ended"].append(torch.as_tensor(ended, dtype=torch.float32))
    rollout = {name: torch.stack(tensors) for name, tensors in parts.items()}
    advantage, following = torch.zeros_like(rollout["value"]), torch.zeros(env.num_envs)
    for index in reversed(range(settings.rollout)):
        error = rollout["reward"][index] + settings.discount * rollout["next"][index] - rollout["value"][index]
        following = error + settings.discount * settings.trace * following * ~rollout["over"][index]
        advantage[index] = following
    rollout["advantage"] = advantage
    rollout["target"] = advantage + rollout["value"]
    return rollout, seen


def improve(policy: Policy, optimizer: torch.optim.Optimizer, rollout: dict, settings: Settings) -> None:
    """Take some steps along the clipped objective."""
    flat = {name: tensor.flatten(0, 1) for name, tensor in rollout.items()}
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(flat["seen"])).split(settings.batch_size):
            distribution = policy.distribution(flat["seen"][rows])
            ratio = (distribution.log_prob(flat["action"][rows]).sum(-1) - flat["chance"][rows]).exp()
            advantage = flat["advantage"][rows]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(1.0 - settings.clip, 1.0 + settings.clip)
            loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
            loss = (
                loss + settings.value_weight * (policy.value(flat["seen"][rows]) - flat["target"][rows]).square().mean()
            )
            loss = loss - settings.entropy_weight * distribution.entropy().sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), settings.largest_gradient)
            optimizer.step()


def show(policy: Policy, laps: int) -> bool:
    """Drive laps from the start without chance, print how it went, and return whether they were all driven."""
    env = gymnasium.make(ENV_ID, **TASK, lap_limit=laps, time_limit=60.0 * laps, starts_at_random=False)
    seen, _ = env.reset(seed=0)
    ended = cut = False
    while not (ended or cut):
        with torch.no_grad():
            action = policy.actor(torch.as_tensor(seen)[None])[0].numpy()
        seen, _, ended, cut, info = env.step(action.clip(-1.0, 1.0))
    env.close()
    fault = "it left the road or hit something" if ended else "no fault"
    print(f"{info['laps']} of {laps} lap{'s' * (laps != 1)}, the last one in {info['lap_time']:.1f} s; {fault}")
    return info["laps"] >= laps


def main() -> int:
    """Learn or load, then show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_500_000, help="of all cars together (default 1,500,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--laps", type=int, default=3, help="to show at the end")
    parser.add_argument("--threads", type=int, help="of the simulator (default: one per core)")
    parser.add_argument("--out", help="file to keep the policy in")
    parser.add_argument("--drive", metavar="FILE", help="show a kept policy instead of learning")
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small are slower on more
    if options.drive:
        policy = torch.load(options.drive, weights_only=False)
    else:
        policy = learn(options.steps, options.seed, Settings(), options.threads)
        if options.out:
            torch.save(policy, options.out)
    return 0 if show(policy, options.laps) else 1


if __name__ == "__main__":
    raise SystemExit(main())
