"""People of different skill and style, to learn from and to judge learning by: late, trembling, cutting, wide, slow.

A person sees the road as it was a reaction time ago, looks ahead along it, means a curvature that leads there (pure
pursuit), and has hands that follow what it means slowly, shake, or press keys. What is recorded is what the hands do.
`human_driver` is the one that teaches: it sees the present, and its records hold what it means.

References:
    Coulter, Implementation of the pure pursuit path tracking algorithm, CMU-RI-TR-92-01 (1992).
    McRuer, Jex, A review of quasi-linear pilot models, IEEE Trans. Human Factors in Electronics 8 (1967): a pure
    delay and a lag of the muscles.
    Donges, A two-level model of driver steering behavior, Human Factors 20 (1978): preview and correction.
"""

import functools
import math
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from donkeysim.core.config import read_toml
from donkeysim.drivers.driving_line import LineTable, count_points_per_node, measure_room
from donkeysim.drivers.human_driver import PERIOD, ROOM_KEPT, SLIP_FACTOR, plan_thumb, press_pedal
from donkeysim.drivers.lap_time import GripUse, find_axles, make_powertrain
from donkeysim.drivers.steering import Action
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec

BEND = 0.5
"""Curvature of the road at which a style is as far to the inside or outside as it goes [1/m]."""


@dataclass(frozen=True)
class DrivingStyle:
    """How somebody drives; `styles.toml` has those with names, and where the figures come from.

    Attributes:
        what: In a few words.
        speed: Greatest speed [m/s].
        grip: Share of the grip used in bends, from 0 to 1.
        look_ahead: Distance of the point that is steered to [m].
        reaction: Age of what is seen [s].
        lag: Time constant with which the hands follow what is meant [s].
        hand_speed: Greatest change of the steering [1/s]; full lock is 1.
        shake: Standard deviation of the hands' shaking, in steering.
        shake_time: Time over which the shaking is like itself [s].
        inside: How much nearer to the inside of bends [m]; negative: to the outside.
        wander: Standard deviation of the distance from the line that is meant [m], changing over `wander_time`.
        wander_time: [s]
        dead_zone: Less steering than this is not given; the hands rest.
        step: Steering comes in steps of this size, as keys give it; 0: any.
        pedal_step: The throttle comes in such steps; 0: any.
    """

    what: str
    speed: float = 1.3
    grip: float = 0.45
    look_ahead: float = 0.7
    reaction: float = 0.1
    lag: float = 0.05
    hand_speed: float = 8.0
    shake: float = 0.04
    shake_time: float = 0.4
    inside: float = 0.0
    wander: float = 0.03
    wander_time: float = 3.0
    dead_zone: float = 0.0
    step: float = 0.0
    pedal_step: float = 0.0


@functools.cache
def load_styles() -> dict[str, DrivingStyle]:
    """Return the styles that have names."""
    table = read_toml(Path(__file__).with_name("styles.toml"))
    return {name: msgspec.convert(row, DrivingStyle) for name, row in table.items()}


class Person:
    """Drives one car in a style; keep one per car, call `drive` every 1/20 s. Same seed, same drive.

    Attributes:
        plan: The line and the speed along it.
    """

    def __init__(self, scene: Scene, car: CarSpec, style: DrivingStyle, seed: int = 0) -> None:
        self.plan, self._throttle = plan_thumb(scene, car, GripUse(style.grip, style.grip), style.speed)
        self._style = style
        self._line = LineTable(self.plan)
        self._factor = count_points_per_node(scene.path)
        left, right = measure_room(scene.path, self.plan)
        bend = np.clip(self.plan.curvature / BEND, -1.0, 1.0)
        width = max(3, round(style.look_ahead / float(self.plan.length.mean())))
        bend = np.convolve(np.concatenate((bend[-width:], bend, bend[:width])), np.full(width, 1.0 / width), "same")
        wanted = style.inside * bend[width:-width]
        self._aside = np.clip(wanted, -np.maximum(right - ROOM_KEPT, 0.0), np.maximum(left - ROOM_KEPT, 0.0)).tolist()
        front, rear = find_axles(car)
        self._base = front - rear
        self._gain = car.steer_gain
        self._train = make_powertrain(car)
        self._random = np.random.default_rng(seed)
        self._shake = self._wander = self._hands = 0.0
        self._seen: deque[tuple[float, float, float]] = deque(maxlen=1 + round(style.reaction / PERIOD))

    def drive(self, ledger: Ledger, car: int) -> Action:
        """Return what the hands do now with the car of a row."""
        x, y, _ = ledger.position[car].tolist()
        index, _ = self._line.locate(x, y, int(ledger.node_index[car]) * self._factor, 3 * self._factor)
        self._seen.append((x, y, float(ledger.yaw[car])))
        meant = self._aim(index)
        self._move_hands(meant)
        self._shake = self._drift(self._shake, self._style.shake, self._style.shake_time)
        steer = self._press_keys(self._hands + self._shake)
        return Action(steer, self._press(ledger, car, index), 0.0)

    def _aim(self, index: int) -> float:
        """Return the steering that is meant: towards the line ahead, from where the car was seen."""
        x, y, yaw = self._seen[0]
        self._wander = self._drift(self._wander, self._style.wander, self._style.wander_time)
        target = self._line.advance(index, self._style.look_ahead)
        heading = float(self.plan.heading[target])
        aside = self._aside[target] + self._wander
        dx = self._line.x[target] - aside * math.sin(heading) - x
        dy = self._line.y[target] + aside * math.cos(heading) - y
        turn = math.sin(math.atan2(dy, dx) - yaw)
        angle = math.atan(self._base * 2.0 * turn / max(math.hypot(dx, dy), 0.5 * self._style.look_ahead))
        return max(-1.0, min(1.0, SLIP_FACTOR * angle / self._gain))

    def _move_hands(self, meant: float) -> None:
        style = self._style
        wanted = meant if abs(meant) >= style.dead_zone else 0.0
        move = (wanted - self._hands) * (1.0 - math.exp(-PERIOD / style.lag))
        most = style.hand_speed * PERIOD
        self._hands += max(-most, min(most, move))

    def _press_keys(self, steer: float) -> float:
        step = self._style.step
        steer = step * round(steer / step) if step else steer
        return max(-1.0, min(1.0, steer))

    def _press(self, ledger: Ledger, car: int, index: int) -> float:
        throttle = press_pedal(ledger, car, index, self._line, self._throttle, self._train)
        step = self._style.pedal_step
        return min(1.0, step * math.ceil(throttle / step - 0.5)) if step else throttle

    def _drift(self, value: float, size: float, time: float) -> float:
        """Return the next value of a process that forgets itself over a time."""
        keep = math.exp(-PERIOD / time)
        return keep * value + math.sqrt(1.0 - keep * keep) * size * float(self._random.normal())
