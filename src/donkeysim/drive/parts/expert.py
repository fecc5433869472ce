"""The expert: the pace car's driver as a pilot, for places that no trained pilot knows.

It sees no picture. It knows the place, from the same files as the simulator, and finds the car on it by its telemetry;
so it drives at a simulator elsewhere too, where that reports positions and runs a place that is known here.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from donkeysim.core import frames
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.world.ledger import Ledger
from donkeysim.world.specs import CarSpec, SceneSpec
from donkeysim.world.state import HIT_NONE
from donkeysim.world.telemetry import Telemetry
from donkeysim.world.tracks import load_scene

if TYPE_CHECKING:
    from donkeysim.drivers.path_follower import PathFollower
    from donkeysim.world.scene import Scene

EXPERT = "Expert"
"""Its name in lists of pilots."""

STYLE = "steady"

ROLLING = 0.3
"""Above this speed the motor may brake [m/s]."""

# 2 m each way at 0.25 m a node: more than a car drives between two loops.
NODE_REACH = 8
"""Nodes before and behind the car's last one among which it is looked for."""

LOST_DISTANCE = 1.5
"""Farther from all of these it is looked for along the whole path [m]."""

# A start takes less than half a second to that speed; a car that is slower for longer pushes against something.
STUCK_SPEED, STUCK_SECONDS = 0.05, 1.0
"""A car slower than this [m/s] for this long [s] stands against something."""

logger = logging.getLogger(__name__)


class _Knowledge(NamedTuple):
    """What is known of a place; `driver` is None when nothing can be."""

    place: str
    driver: PathFollower | None
    nodes: FloatArray
    """Of its path, x and y [m], shape [node_count, 2]."""


class ExpertPilot:
    """Drives along the path. Implements `core.pilot.Pilot`; its channel is the telemetry."""

    kind = "expert"
    input_names = ("sim/telemetry",)

    def __init__(
        self,
        car: CarSpec,
        find_place: Callable[[], str],
        find_scene: Callable[[str], SceneSpec] = SceneSpec,
        load: Callable[[SceneSpec], Scene] = load_scene,
    ) -> None:
        """Know nothing yet.

        Args:
            find_place: Returns the name of the place where the car is, "" for nowhere.
            find_scene: Returns what the place of a name is made of.
            load: Makes it, which takes a second.
        """
        self._car = car
        self._find_place, self._find_scene, self._load = find_place, find_scene, load
        self._known = _Knowledge("", None, np.zeros((0, 2)))
        self._learning = ""
        self._row = _Row(car)

    def run(self, image: ByteArray | None, telemetry: Telemetry | None = None, *_: Any) -> tuple[float, float]:
        """Return angle and throttle; 0 and 0 until it knows the place."""
        del image
        place = self._find_place()
        if place != self._known.place:
            self._begin_to_learn(place)
            return 0.0, 0.0
        if self._known.driver is None or telemetry is None or telemetry.pos_x is None:
            return 0.0, 0.0
        if telemetry.totalNodes not in (None, len(self._known.nodes)):
            self._give_up(f"the road of {place} is another one there than here")
            return 0.0, 0.0
        steer, throttle, brake = self._known.driver.drive(self._row.read(telemetry, self._known.nodes), 0)
        if brake > 0.0:  # pilots have no brake; the motor backwards does the same while the car rolls
            throttle = -brake if telemetry.speed > ROLLING else 0.0
        return frames.steer_to_wire(steer), throttle

    def reset(self) -> None:
        """Forget that the car was stuck."""
        self._row = _Row(self._car)

    def _begin_to_learn(self, place: str) -> None:
        if place and place != self._learning:
            self._learning = place
            threading.Thread(target=self._learn, args=(place,), name="expert", daemon=True).start()

    def _learn(self, place: str) -> None:
        from donkeysim.drivers.path_follower import PathFollower  # 40 MB with the compiler, which only it needs here

        try:
            scene = self._load(self._find_scene(place))
            self._known = _Knowledge(place, PathFollower(scene, self._car, STYLE), scene.path.position[:, :2])
            logger.info("the expert knows %s", place)
        except DonkeySimError as error:
            self._known = _Knowledge(place, None, np.zeros((0, 2)))
            logger.error("the expert does not know %s: %s", place, error)
        self._learning = ""

    def _give_up(self, reason: str) -> None:
        logger.error("the expert cannot drive here: %s.", reason)
        self._known = self._known._replace(driver=None)


class _Row:
    """One car's row of a ledger, as far as telemetry goes."""

    def __init__(self, car: CarSpec) -> None:
        self._radius = car.wheel_radius
        rows: dict[str, Any] = {field.name: np.zeros(1) for field in fields(Ledger)}
        rows |= {name: np.zeros((1, 3)) for name in ("position", "velocity")}
        rows |= {"cars_per_world": 1, "present": np.ones(1, np.uint8), "touching": np.full((1, 1), HIT_NONE)}
        rows |= {"wheel_load": np.full((1, 4), 0.25 * car.mass * car.gravity), "wheel_speed": np.zeros((1, 4))}
        rows |= {"node_index": np.zeros(1, np.int32), "on_road": np.ones(1, bool)}
        self._rows = Ledger(**rows)
        self._moved = 0.0
        self._node = -1

    def read(self, telemetry: Telemetry, nodes: FloatArray) -> Ledger:
        """Return the row of a moment; its position must be known.

        Args:
            nodes: Of the path [m], shape [node_count, 2].
        """
        rows = self._rows
        rows.time[0] = telemetry.time
        rows.position[0] = frames.vector_from_unity(_join(telemetry, "pos"))
        rows.yaw[0] = yaw = -math.radians(telemetry.yaw)
        forward, left, up = frames.vector_from_unity(_join(telemetry, "vel"))
        cosine, sine = math.cos(yaw), math.sin(yaw)
        rows.velocity[0] = (forward * cosine - left * sine, forward * sine + left * cosine, up)
        rows.yaw_rate[0] = -telemetry.gyro_y
        rows.upright[0] = math.cos(math.radians(telemetry.pitch)) * math.cos(math.radians(telemetry.roll))
        rows.node_index[0] = self._find_node(telemetry, nodes)
        rows.on_road[0] = telemetry.on_road is not False
        rows.wheel_speed[0] = forward / self._radius
        self._note_stuck(telemetry)
        return rows

    def _find_node(self, telemetry: Telemetry, nodes: FloatArray) -> int:
        """Return the node where the car is: the active one that it reports may stay behind, as the original's does."""
        place, count = self._rows.position[0, :2], len(nodes)
        begin = (telemetry.activeNode or 0) if self._node < 0 else self._node
        near = (begin + np.arange(-NODE_REACH, NODE_REACH + 1)) % count
        away = np.hypot(*(nodes[near] - place).T)
        if away.min() > LOST_DISTANCE:
            near, away = np.arange(count), np.hypot(*(nodes - place).T)
        self._node = int(near[np.argmin(away)])
        return self._node

    def _note_stuck(self, telemetry: Telemetry) -> None:
        if telemetry.speed > STUCK_SPEED or telemetry.time < self._moved:
            self._moved = telemetry.time
        self._rows.touching[0] = 0 if telemetry.time - self._moved > STUCK_SECONDS else HIT_NONE


def _join(telemetry: Telemetry, group: str) -> tuple[float, float, float]:
    x, y, z = (getattr(telemetry, f"{group}_{axis}") or 0.0 for axis in "xyz")
    return (x, y, z)
