"""Proximal policy optimisation from pictures: many cars drive, then the network learns from what they met.

`donkey rl` runs this; `examples/cleanrl_ppo_pixels.py` is the same algorithm as a program of one file:

    python examples/cleanrl_ppo_pixels.py --seed 0        # learns until it has driven ten laps, ten minutes at most

What it takes to learn from pictures in seconds: 128 cars at once; a small network on a small picture; ten decisions a
second; a critic that observes speed and place on the road as numbers, where the policy sees its picture and its last
steering only; pictures shifted at random by a pixel or two; rewards that need no patience. The policy's steering is
drawn towards its last one, so that it is smooth.

References:
    Schulman et al. 2017, Proximal policy optimization algorithms, https://arxiv.org/abs/1707.06347 (the objective);
    Schulman et al. 2015, High-dimensional continuous control using generalized advantage estimation,
    https://arxiv.org/abs/1506.02438; Pinto et al. 2017, Asymmetric actor critic, https://arxiv.org/abs/1710.06542;
    Kostrikov et al. 2020, Image augmentation is all you need, https://arxiv.org/abs/2004.13649 (shifted pictures);
    Andrychowicz et al. 2020, What matters in on-policy reinforcement learning, https://arxiv.org/abs/2006.05990.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from donkeysim.learn.shares import Adam, Shares, set_gradients
from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.setup import ObservationSpec

PART_SIZE = 512
"""Steps of a part of a batch; parts are worked on by as many threads as there are cores."""


@dataclass(frozen=True)
class PpoSettings:
    """What learning depends on, beside the course.

    Attributes:
        rollout: Steps of each car between two updates.
        epochs: How often an update looks at each step.
        batch_size: Steps of a batch.
        learning_rate: At the beginning; it falls to a tenth over `horizon` steps of all cars together.
        horizon: See there.
        discount: Of rewards, per step: those of the next three seconds count.
        trace: Lambda of the advantages.
        clip: Greatest change of an action's likelihood that earns anything.
        value_weight: Of the critic's error.
        spread: Natural logarithm of the actions' standard deviation at the beginning.
        largest_gradient: Longer ones are shortened.
        critic_first: Updates in which only the critic learns: for policies that can drive already.
    """

    rollout: int = 32
    epochs: int = 3
    batch_size: int = 1024
    learning_rate: float = 1e-3
    horizon: int = 600_000
    discount: float = 0.97
    trace: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.5
    spread: float = -1.0
    largest_gradient: float = 0.5
    critic_first: int = 0


class Actor(nn.Module):
    """From a crop of the picture and the last action to the next one: steering (+ = right) and throttle, -1 to 1.

    Attributes:
        observation: What it sees.
        observed: What the cars have to observe for it.
    """

    KEPT = 0.5
    """How much of the last steering goes into the next one, before both are bounded; of a policy that sees several
    pictures nothing, as pilots remember either pictures or commands."""

    LEVEL = 0.45
    """Taken from the brightness, so that it is about 0 in the mean."""

    SHIFT = 2
    """Greatest shift of pictures to learn from, up or down and to a side [pixel]."""

    _kept: torch.Tensor

    def __init__(self, observation: ObservationSpec, filters: tuple[int, ...] = (8, 16, 16), width: int = 64) -> None:
        super().__init__()
        self.observation, self.filters, self.width = observation, filters, width
        self.observed = ("camera" if observation.has_colour else "grey",)
        channels = (observation.shape[0], *filters)
        sizes = ((5, 3), (3, 2), (3, 1))
        self.convolutions = nn.ModuleList(
            _begin(nn.Conv2d(before, after, size, stride))
            for before, after, (size, stride) in zip(channels[:-1], filters, sizes, strict=True)
        )
        feature_count = self.look(torch.zeros(1, *observation.shape)).numel()
        self.dense = _begin(nn.Linear(feature_count, width))
        self.command = _begin(nn.Linear(width, 2), gain=0.01)
        kept = torch.tensor([self.KEPT if observation.pictures == 1 else 0.0, 0.0])
        self.register_buffer("_kept", kept, persistent=False)

    def read(self, seen: Mapping[str, Any]) -> torch.Tensor:
        """Return the crops that the cars see, uint8, shape [n, channels, height, width]."""
        return self.observation.read_crop(seen[self.observed[0]])

    def vary(self, crop: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Return crops to learn from, 0 to 1: all shifted by the same few pixels; what comes in repeats the edge."""
        height, width = crop.shape[-2:]
        down, right = torch.randint(0, 2 * self.SHIFT + 1, (2,), generator=generator).tolist()
        wide = functional.pad(crop.float() / 255.0, (self.SHIFT,) * 4, mode="replicate")
        return wide[..., down : down + height, right : right + width]

    def forward(self, crop: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """Return the mean of the next actions.

        Args:
            crop: 0 to 1, or 0 to 255 as uint8, shape [n, channels, height, width].
            last: The actions before, shape [n, 2].
        """
        return self.decide(self.understand(crop), last)

    def understand(self, crop: torch.Tensor) -> torch.Tensor:
        """Return the policy's features of crops before it decides, -1 to 1, shape [n, width]."""
        return torch.tanh(self.sum_up(crop))

    def sum_up(self, crop: torch.Tensor) -> torch.Tensor:
        """Return these features before their tanh, of any size."""
        crop = crop if crop.is_floating_point() else crop.float() / 255.0
        features: torch.Tensor = self.dense(self.look(crop).flatten(1))
        return features

    def decide(self, understood: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """Return the mean of the next actions, of what `understand` returned and the actions before."""
        return torch.tanh(self.command(understood) + last * self._kept)

    def look(self, crop: torch.Tensor) -> torch.Tensor:
        """Return what the convolutions find in crops, shape [n, channels, rows, columns]."""
        x = (crop - self.LEVEL).contiguous(memory_format=torch.channels_last)
        for convolution in self.convolutions:
            x = functional.relu(convolution(x))
        return x


class InformedActor(nn.Module):
    """An actor with privileged observations, the simulator's numbers, in place of a picture: a teacher, not a pilot."""

    observed = ("vector",)

    def __init__(self, size: int) -> None:
        super().__init__()
        self.hidden = nn.Sequential(_begin(nn.Linear(size, 64)), nn.Tanh(), _begin(nn.Linear(64, 64)), nn.Tanh())
        self.command = _begin(nn.Linear(64, 2), gain=0.01)

    def read(self, seen: Mapping[str, Any]) -> torch.Tensor:
        """Return the numbers about the cars, shape [n, size]."""
        numbers: torch.Tensor = seen["vector"]
        return numbers

    def vary(self, privileged: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Return the numbers as they are."""
        del generator
        return privileged

    def forward(self, privileged: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """Return the mean of the next actions; the ones before are among the numbers already."""
        del last
        return torch.tanh(self.command(self.hidden(privileged)))


def _begin(layer: Any, gain: float = math.sqrt(2.0)) -> Any:
    """Return a layer with orthogonal weights and no bias."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


@dataclass
class Rollout:
    """A number of steps of all cars: shape [steps, cars, ...]."""

    seen: torch.Tensor
    """What the actors saw."""
    last: torch.Tensor
    """The actions before."""
    privileged: torch.Tensor
    """What the critic observed; one step more than the others."""
    action: torch.Tensor
    log_prob: torch.Tensor
    """Logarithm of the actions' likelihood."""
    reward: torch.Tensor
    ended: torch.Tensor
    """1 where the task's rules ended an episode."""
    over: torch.Tensor
    """1 where an episode ended or was cut off."""
    is_live: torch.Tensor
    """False where a new episode began instead of a step."""


class PpoTrainer:
    """Actor, critic and their cars.

    Attributes:
        cars: To learn with.
        actor: The policy.
        critic: Of the actor, while it learns.
        figures: Of the last update, by name.
        departures: Where episodes ended in the last rollout: index of the scene, x, y [m], shape [n, 3].
        is_student: Whether the policy sees pictures, as a pilot does.
    """

    ready_ends: float = 8.0
    """Many, as it explores: without that it drives well while every seventh second still ends an episode."""

    def __init__(self, cars: TrainingCars, actor: Actor | InformedActor, settings: PpoSettings, shares: Shares) -> None:
        """Make the critic.

        Args:
            cars: Observe what the actor needs, and "vector".
            actor: Drives; may know something already.
            shares: Threads that learn, opened.
        """
        self.cars, self.actor, self.settings, self._shares = cars, actor, settings, shares
        wide = _begin(nn.Linear(cars.count_privileged(), 128)), _begin(nn.Linear(128, 128))
        last = _begin(nn.Linear(128, 1), gain=1.0)
        self.critic = nn.Sequential(wide[0], nn.Tanh(), wide[1], nn.Tanh(), last).to(cars.device)
        self.spread = nn.Parameter(torch.full((2,), settings.spread, device=cars.device))
        self.weights = [*actor.parameters(), self.spread, *self.critic.parameters()]
        self.optimizer = Adam(self.weights, settings.learning_rate, eps=1e-5)
        self.figures, self.departures = dict[str, float](), np.zeros((0, 3))
        self.is_student = isinstance(actor, Actor)
        self._updates = 0

    def advance(self) -> None:
        """Drive a rollout and learn from it."""
        rollout = self.drive()
        self.improve(rollout, *self.judge(rollout))

    @property
    def steps(self) -> int:
        """Of all cars together."""
        return self.cars.steps

    def begin(self, seed: int) -> None:
        """Begin new episodes."""
        self.cars.begin(seed)

    def describe(self) -> dict[str, Any]:
        """Return all that has been learned, for `restore`."""
        return {
            "actor": self.actor.state_dict(),
            "critic": self.critic.state_dict(),
            "spread": self.spread.detach(),
            "optimizer": self.optimizer.describe(),
            "updates": self._updates,
            "steps": self.cars.steps,
            "laps": self.cars.laps,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from what `describe` returned."""
        self.actor.load_state_dict(state["actor"])
        self.critic.load_state_dict(state["critic"])
        with torch.no_grad():
            self.spread.copy_(state["spread"])
        self.optimizer.restore(state["optimizer"])
        self._updates, self.cars.steps, self.cars.laps = state["updates"], state["steps"], state["laps"]

    # -- driving ------------------------------------------------------------------------------------------------------

    def drive(self) -> Rollout:
        """Let all cars drive a rollout, with actions drawn around the actor's."""
        cars = self.cars
        rollout = self._make_rollout()
        with torch.no_grad():
            for now in range(self.settings.rollout):
                rollout.seen[now] = self.actor.read(cars.seen)
                rollout.privileged[now] = cars.seen["vector"]
                rollout.last[now] = cars.last
                mean = self.actor(rollout.seen[now], cars.last)
                rollout.action[now] = mean + self.spread.exp() * torch.randn_like(mean)
                rollout.log_prob[now] = self._weigh(rollout.action[now], mean)
                outcome = cars.step(rollout.action[now].clamp(-1.0, 1.0))
                for name, values in outcome._asdict().items():
                    getattr(rollout, name)[now] = values
            rollout.privileged[-1] = cars.seen["vector"]
        self.figures, self.departures = cars.take_figures()
        return rollout

    def _make_rollout(self) -> Rollout:
        """Return room for what will be met."""
        steps, cars, device = self.settings.rollout, self.cars.env.num_envs, self.cars.device
        seen = self.actor.read(self.cars.seen)
        numbers = {name: torch.zeros(steps, cars, device=device) for name in ("log_prob", "reward", "ended", "over")}
        return Rollout(
            seen=torch.zeros(steps, *seen.shape, dtype=seen.dtype, device=device),
            last=torch.zeros(steps, cars, 2, device=device),
            privileged=torch.zeros(steps + 1, *self.cars.seen["vector"].shape, device=device),
            action=torch.zeros(steps, cars, 2, device=device),
            is_live=torch.ones(steps, cars, dtype=torch.bool, device=device),
            **numbers,
        )

    def _weigh(self, action: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
        """Return the logarithm of actions' likelihood but for a constant, shape [n]."""
        return (-0.5 * ((action - mean) / self.spread.exp()).square() - self.spread).sum(-1)

    # -- learning -----------------------------------------------------------------------------------------------------

    def judge(self, rollout: Rollout) -> tuple[torch.Tensor, torch.Tensor]:
        """Return by how much each action was better than expected, and what the critic should have said."""
        settings = self.settings
        with torch.no_grad():
            value = self.critic(rollout.privileged).squeeze(-1)
        following = settings.discount * value[1:] * (1.0 - rollout.ended)
        error = rollout.reward + following - value[:-1]
        advantage, later = torch.zeros_like(error), torch.zeros_like(error[0])
        for now in reversed(range(len(error))):
            later = error[now] + settings.discount * settings.trace * (1.0 - rollout.over[now]) * later
            advantage[now] = later
        return advantage, advantage + value[:-1]

    def improve(self, rollout: Rollout, advantage: torch.Tensor, target: torch.Tensor) -> None:
        """Take some steps along the clipped objective."""
        settings = self.settings
        share = max(0.1, 1.0 - self.cars.steps / settings.horizon)
        self.optimizer.learning_rate = settings.learning_rate * share
        parts = (
            rollout.seen,
            rollout.last,
            rollout.action,
            rollout.log_prob,
            rollout.privileged[:-1],
            advantage,
            target,
        )
        live = torch.nonzero(rollout.is_live.flatten()).squeeze(1)
        flat = [part.flatten(0, 1) for part in parts]
        losses = []
        for _ in range(settings.epochs):
            for rows in self._deal(live):
                losses.append(self._take_step([part[rows] for part in flat]))  # noqa: PERF401  (a step, not a value)
        self._updates += 1
        policy, value = np.mean(losses, axis=0).tolist()
        self.figures |= {
            "policy": policy,
            "value": value,
            "steering_spread": self.spread[0].exp().item(),
            "throttle_spread": self.spread[1].exp().item(),
        }

    def _deal(self, live: torch.Tensor) -> Iterator[torch.Tensor]:
        """Yield the rows of each batch of one look at all."""
        order = live[torch.randperm(len(live), device=live.device)]
        count = max(1, len(order) // self.settings.batch_size)
        yield from order.tensor_split(count)

    def _take_step(self, batch: list[torch.Tensor]) -> tuple[float, float]:
        """Take a step and return the losses of policy and critic."""
        advantage = batch[-2]
        batch[-2] = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        count = max(1, len(advantage) // PART_SIZE) if self.cars.device == "cpu" else 1
        parts = list(zip(*(part.tensor_split(count) for part in batch), strict=True))
        found = self._shares.work(parts, self._weigh_part)
        shares = [len(part[0]) / len(advantage) for part in parts]
        set_gradients(self.weights, shares, [gradients for gradients, _, _ in found])
        nn.utils.clip_grad_norm_(self.weights, self.settings.largest_gradient)
        self.optimizer.step()
        policy, value = np.average([losses for _, *losses in found], axis=0, weights=shares).tolist()
        return policy, value

    def _weigh_part(self, part: tuple[torch.Tensor, ...]) -> tuple[tuple[torch.Tensor, ...], float, float]:
        """Return the gradients of a part of a batch, and the losses of policy and critic."""
        seen, last, action, log_prob, privileged, advantage, target = part
        varied = self.actor.vary(seen, self._shares.draws.generator)
        ratio = (self._weigh(action, self.actor(varied, last)) - log_prob).exp()
        clipped = ratio.clamp(1.0 - self.settings.clip, 1.0 + self.settings.clip)
        policy = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        value = (self.critic(privileged).squeeze(-1) - target).square().mean()
        is_patient = self._updates < self.settings.critic_first
        gradients = torch.autograd.grad(
            (0.0 if is_patient else 1.0) * policy + self.settings.value_weight * value, self.weights
        )
        return gradients, policy.item(), value.item()
