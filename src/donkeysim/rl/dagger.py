"""A student that learns from a teacher: it drives itself, and each step is labelled with the teacher's action there.

Who learns from a teacher's own drives only never sees how one comes back from the road's edge. So the student drives
(the teacher at first), the teacher says what it would do there, and the student learns from all that was ever said.

For pilots of other places examples are made more various while the student looks at them: mirrored, in other colours,
partly covered. It costs a fraction of what drawing other pictures would, and it takes away what a student could hold on
to in places it knows: that the road is grey, that the left line is yellow.

References:
    Ross et al. 2011, A reduction of imitation learning and structured prediction to no-regret online learning,
    https://arxiv.org/abs/1011.0686 (DAgger); Chen et al. 2019, Learning by cheating, https://arxiv.org/abs/1912.12294
    (a teacher with privileged observations: it gets as numbers what the student has to see); Shorten and Khoshgoftaar
    2019, A survey on image data augmentation for deep learning, https://doi.org/10.1186/s40537-019-0197-0; DeVries and
    Taylor 2017, Improved regularization of convolutional neural networks with cutout, https://arxiv.org/abs/1708.04552.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from torch import nn

from donkeysim.learn.shares import Adam, Shares, set_gradients
from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.ppo import Actor
from donkeysim.rl.setup import FRAME, FRAME_SKIP

# A mean of 128 errors is right to a tenth.
BLIND_SIZE = 128
"""Examples from which the error of a blind student is measured; few, as it is measured at each update."""

# 128 examples each: what a network makes of 256 does not stay in a core's cache, which took a fifth more time.
PARTS = 4
"""Of a batch, which threads share."""

_Draw: TypeAlias = Callable[..., torch.Tensor]

# Twice the range of the preset real (`world/randomizations/real.toml`), as what is seen once is learned from ten times.
GAMMA, GAIN, CONTRAST, LEVEL = 0.6, 0.3, 0.4, 0.15
"""Greatest change of each: of gamma, of each channel's gain and of contrast by its natural logarithm; of brightness."""

MIXED = 0.4
"""How much of each channel may go into another one: greens become blues, a line stays another colour than its road."""

# At most two fifths of the crop's height and width: bumpers, cables and other cars cover as much.
COVER_HEIGHT, COVER_WIDTH = 16, 32
"""Greatest size of what is covered [pixel of a crop of 40x80]."""

BUMPER, BUMPER_SHARE = 8, 0.3
"""Greatest height of a bumper at the lower edge, likewise, and in which share of the pictures there is one."""


class Teacher(Protocol):
    """Who says what to do."""

    def label(self, cars: TrainingCars) -> torch.Tensor:
        """Return the actions that each car should take now, -1 to 1, shape [car_count, 2]."""
        ...


@dataclass(frozen=True)
class DaggerSettings:
    """What learning depends on, beside course and teacher.

    Attributes:
        rollout: Steps of each car between two updates.
        batches: Of an update.
        batch_size: Examples of a batch.
        learning_rate: At the beginning; it falls to a tenth over `horizon` steps of all cars together.
        horizon: See there.
        capacity: Examples that are kept; then the oldest go.
        beta_steps: Steps of all cars together in which the teacher drives more and more seldom.
        noise: Standard deviation of what is added to the actions, so that the road's edges are seen too.
        throttle_weight: Of the throttle's error beside the steering's.
        push: Standard deviation of what is added to steering and throttle of every second car besides, and lasts: so
            they become faster and slower, and come further off their line, than the student would let them.
        push_time: How long that lasts, about [s].
        speed_weight: Of the error of the speed that the student is asked for while it learns; no pilot is.
        feature_weight: Of the mean square of the student's features before their tanh. All labels have much the same
            throttle at first, which drives all features the same way; without this they end where tanh is flat, and the
            student then learns slowly, or never.
        is_varied: Whether each look at an example is another one, see `augment`: for pilots of other places.
    """

    rollout: int = 16
    batches: int = 12
    batch_size: int = 512
    learning_rate: float = 2e-3
    horizon: int = 150_000
    capacity: int = 60_000
    beta_steps: int = 8_000
    noise: float = 0.15
    throttle_weight: float = 0.5
    push: tuple[float, float] = (0.0, 0.0)
    push_time: float = 1.5
    speed_weight: float = 0.0
    feature_weight: float = 3e-3
    is_varied: bool = False


class DaggerTrainer:
    """A policy that is taught, and its cars.

    Attributes:
        cars: To learn with.
        figures: Of the last update, by name.
        departures: Where episodes ended in the last rollout: index of the scene, x, y [m], shape [n, 3].
    """

    is_student: bool = True
    ready_ends: float = 2.5

    def __init__(
        self, cars: TrainingCars, actor: Actor, teacher: Teacher, settings: DaggerSettings, shares: Shares
    ) -> None:
        """Begin with nothing said yet.

        Args:
            cars: Observe what actor and teacher need.
            actor: Drives; may know something already.
            teacher: Says what to do.
            shares: Threads that learn, opened.
        """
        self.cars, self.actor, self.teacher, self.settings, self._shares = cars, actor, teacher, settings, shares
        device = cars.device
        self._speedometer = nn.Linear(actor.width, 1).to(device) if settings.speed_weight else None
        self.weights = [*actor.parameters(), *(self._speedometer.parameters() if self._speedometer else ())]
        self.optimizer = Adam(self.weights, settings.learning_rate)
        self.figures, self.departures = dict[str, float](), np.zeros((0, 3))
        self._crop = torch.zeros(settings.capacity, *actor.observation.shape, dtype=torch.uint8, device=device)
        self._last, self._labels = torch.zeros(2, settings.capacity, 2, device=device)
        self._speed = torch.zeros(settings.capacity, device=device)
        self._push = torch.zeros(cars.env.num_envs, 2, device=device)
        if any(settings.push):
            cars.is_judged = torch.arange(cars.env.num_envs, device=device) % 2 == 0
        self._count = 0

    def advance(self) -> None:
        """Drive a rollout, and learn from all labels so far."""
        self.drive()
        self.improve()

    @property
    def steps(self) -> int:
        """Of all cars together."""
        return self.cars.steps

    def begin(self, seed: int) -> None:
        """Begin new episodes."""
        self.cars.begin(seed)

    def describe(self) -> dict[str, Any]:
        """Return all that has been learned, for `restore`; what the teacher said is not kept, it is asked again."""
        return {
            "actor": self.actor.state_dict(),
            "optimizer": self.optimizer.describe(),
            "speedometer": self._speedometer.state_dict() if self._speedometer else {},
            "steps": self.cars.steps,
            "laps": self.cars.laps,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from what `describe` returned."""
        self.actor.load_state_dict(state["actor"])
        self.optimizer.restore(state["optimizer"])
        if self._speedometer is not None:
            self._speedometer.load_state_dict(state["speedometer"])
        self.cars.steps, self.cars.laps = state["steps"], state["laps"]

    def drive(self) -> None:
        """Let the student drive, and note what the teacher says."""
        for _ in range(self.settings.rollout):
            label, crop = self.teacher.label(self.cars), self.actor.read(self.cars.seen)
            self._keep(crop, self.cars.last, label, self.cars.find_speed())
            self.cars.step(self._choose(crop, label))
        self.figures, self.departures = self.cars.take_figures()

    def _choose(self, crop: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        """Return what the cars do: the student's wish or, at first, the teacher's for some of them, and some noise."""
        with torch.no_grad():
            wish = self.actor(crop, self.cars.last)
        beta_steps = max(0.0, 1.0 - self.cars.steps / self.settings.beta_steps)
        is_labelled = torch.rand(len(wish), 1, device=wish.device) < beta_steps
        noise = self.settings.noise * torch.randn_like(wish)
        action = torch.where(is_labelled, label, wish) + noise
        return (action + self._push_cars() if any(self.settings.push) else action).clamp(-1.0, 1.0)

    def _push_cars(self) -> torch.Tensor:
        """Return what is added to the actions of the cars that are not judged; it changes slowly."""
        left = math.exp(-FRAME * FRAME_SKIP / self.settings.push_time)
        fresh = torch.tensor(self.settings.push, device=self._push.device) * torch.randn_like(self._push)
        self._push = left * self._push + math.sqrt(1.0 - left * left) * fresh
        self._push[self.cars.is_judged] = 0.0
        return self._push

    def _keep(self, crop: torch.Tensor, last: torch.Tensor, label: torch.Tensor, speed: torch.Tensor) -> None:
        rows = torch.arange(self._count, self._count + len(crop), device=crop.device) % self.settings.capacity
        self._crop[rows], self._last[rows], self._labels[rows], self._speed[rows] = crop, last, label, speed
        self._count += len(crop)

    def improve(self) -> None:
        """Take some steps towards what the teacher said."""
        settings = self.settings
        share = max(0.1, 1.0 - self.cars.steps / settings.horizon)
        self.optimizer.learning_rate = settings.learning_rate * share
        known = min(self._count, settings.capacity)
        squares = [self._take_step(self._choose_rows(known, settings.batch_size)) for _ in range(settings.batches)]
        errors = np.sqrt(np.mean(squares, axis=0)).tolist()
        self.figures |= dict(zip(("steering_error", "throttle_error", "speed_error"), errors, strict=False))
        self.figures["blind_error"] = self._measure_blind(self._choose_rows(known, BLIND_SIZE))

    def _choose_rows(self, known: int, count: int) -> torch.Tensor:
        return torch.randint(0, known, (count,), device=self.cars.device)

    def _measure_blind(self, rows: torch.Tensor) -> float:
        """Return the steering's error if the student always saw the mean of what it sees, and knew its last action."""
        with torch.no_grad():
            understood = self.actor.understand(self._crop[rows])
            blind = self.actor.decide(understood.mean(0).expand_as(understood), self._last[rows])
        return float((blind - self._labels[rows])[:, 0].square().mean().sqrt())

    def _take_step(self, rows: torch.Tensor) -> list[float]:
        parts = list(rows.chunk(PARTS if self.cars.device == "cpu" else 1))
        found = self._shares.work(parts, self._weigh_part)
        shares = [len(part) / len(rows) for part in parts]
        set_gradients(self.weights, shares, [gradients for gradients, _ in found])
        nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimizer.step()
        mean: list[float] = np.mean([errors for _, errors in found], axis=0).tolist()
        return mean

    def _weigh_part(self, rows: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], list[float]]:
        """Return the gradients of a part of a batch, and its mean square errors: steering, throttle, speed if asked."""
        settings, generator = self.settings, self._shares.draws.generator
        seen = LabelledCrops(self.actor.vary(self._crop[rows], generator), self._last[rows], self._labels[rows])
        if settings.is_varied:
            seen = augment(seen, self.actor.observation.depth, generator)
        features = self.actor.sum_up(seen.crop)
        understood = torch.tanh(features)
        error = (self.actor.decide(understood, seen.last) - seen.label).square().mean(0)
        loss = error[0] + settings.throttle_weight * error[1] + settings.feature_weight * features.square().mean()
        if self._speedometer is None:
            return torch.autograd.grad(loss, self.weights), error.detach().tolist()
        wrong = (self._speedometer(understood)[:, 0] - self._speed[rows]).square().mean()
        whole = loss + settings.speed_weight * wrong
        return torch.autograd.grad(whole, self.weights), [*error.detach().tolist(), wrong.item()]


@dataclass(frozen=True)
class LabelledCrops:
    """What a student learns from.

    Attributes:
        crop: 0 to 1, shape [n, channels, height, width].
        last: The actions before, shape [n, 2].
        label: What the teacher says, shape [n, 2].
    """

    crop: torch.Tensor
    last: torch.Tensor
    label: torch.Tensor


def augment(examples: LabelledCrops, depth: int, generator: torch.Generator) -> LabelledCrops:
    """Return examples as they are in a mirror, half of them, in other colours and with something in the way.

    Args:
        examples: They stay as they are.
        depth: Channels of one picture; several pictures of an example change alike.
        generator: Of all chance, on this machine's processor.
    """
    count, device = len(examples.crop), examples.crop.device

    def draw(*shape: int) -> torch.Tensor:
        return torch.rand(count, *shape, generator=generator).to(device)

    side = torch.where(draw() < 0.5, -1.0, 1.0)
    turned = torch.stack((side, torch.ones_like(side)), 1)
    crop = torch.where(side[:, None, None, None] < 0.0, examples.crop.flip(3), examples.crop)
    pictures = crop.reshape(count, -1, depth, *crop.shape[2:])
    pictures = _cover(_recolour(pictures, draw), draw)
    return LabelledCrops(pictures.reshape(crop.shape), turned * examples.last, turned * examples.label)


def _recolour(pictures: torch.Tensor, draw: _Draw) -> torch.Tensor:
    """Return pictures, 0 to 1, shape [n, pictures, depth, height, width], with channels mixed and another exposure."""
    depth = pictures.shape[2]
    mix = torch.eye(depth, device=pictures.device) + MIXED * _spread(draw(depth, depth))
    mix = mix / mix.sum(2, keepdim=True).clamp(min=0.4)
    mixed = torch.einsum("nij,npjhw->npihw", mix, pictures).clamp(1e-3, 1.0)
    gain, gamma = (GAIN * _spread(draw(1, depth, 1, 1))).exp(), (GAMMA * _spread(draw(1, 1, 1, 1))).exp()
    contrast = (CONTRAST * _spread(draw(1, 1, 1, 1))).exp()
    level = 0.5 + LEVEL * _spread(draw(1, 1, 1, 1))
    return ((mixed**gamma * gain - 0.5) * contrast + level).clamp(0.0, 1.0)


def _cover(pictures: torch.Tensor, draw: _Draw) -> torch.Tensor:
    """Return pictures with a box of one grey somewhere, and at times a bumper at the lower edge."""
    height, width = pictures.shape[3:]
    row = torch.arange(height, device=pictures.device)[:, None]
    column = torch.arange(width, device=pictures.device)
    box = ((row - height * draw(1, 1)).abs() < 0.5 * COVER_HEIGHT * draw(1, 1)) & (
        (column - width * draw(1, 1)).abs() < 0.5 * COVER_WIDTH * draw(1, 1)
    )
    bumper = (row >= height - BUMPER * draw(1, 1)) & (draw(1, 1) < BUMPER_SHARE)
    return torch.where((box | bumper)[:, None, None], draw(1, 1, 1, 1), pictures)


def _spread(share: torch.Tensor) -> torch.Tensor:
    """Return numbers of 0 to 1 as -1 to 1."""
    return 2.0 * share - 1.0
