"""Teachers: the path follower, which knows the scene, and what turns its control into an action."""

from __future__ import annotations

import numpy as np
import torch

from donkeysim.drivers.lap_time import GripUse
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.learn.rl.cars import Cars
from donkeysim.learn.rl.course import THROTTLE_RANGE, find_speeds
from donkeysim.learn.rl.ppo import InformedActor

GRIP = GripUse(0.8, 0.4)


class PathTeacher:
    """The path follower, along the middle of the road."""

    def __init__(self, env: TrackVectorEnv, share: float) -> None:
        """Plan the speed on each scene, at most a share of the fast pace car's mean one."""
        simulator = env.fleet.simulator
        speeds = find_speeds(env)
        self._followers = [
            PathFollower(simulator.get_scene(world), simulator.car_spec, "steady", GRIP, 1.1 * share * speed)
            for world, speed in enumerate(speeds)
        ]

    def advise(self, cars: Cars) -> torch.Tensor:
        """Return the follower's controls as actions."""
        ledger, count = cars.env.fleet.simulator.ledger, len(self._followers)
        actions = [self._followers[car % count].drive(ledger, car) for car in range(cars.env.num_envs)]
        low, high = THROTTLE_RANGE
        table = np.array([(-action.steer, action.throttle) for action in actions], np.float32)
        table[:, 1] = 2.0 * (table[:, 1] - low) / (high - low) - 1.0
        return torch.from_numpy(np.clip(table, -1.0, 1.0))


class InformedTeacher:
    """An actor that is told what the simulator knows, and has learned to drive with it."""

    def __init__(self, actor: InformedActor) -> None:
        self._actor = actor

    def advise(self, cars: Cars) -> torch.Tensor:
        """Return what it means to do."""
        with torch.no_grad():
            advice: torch.Tensor = self._actor(self._actor.read(cars.seen), cars.last)
        return advice
