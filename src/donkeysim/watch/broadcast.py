"""The director of pictures: which camera beside the track shows each car, and which car is worth watching.

What it decides follows from the frames alone, so that a replay cuts as the race did, and viewers share pictures.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from donkeysim.core.types import IntArray
from donkeysim.render.moment import Moment
from donkeysim.watch.tv import TrackCameras, place_cameras

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

# Shorter shots are felt as flicker; a gain keeps two cameras that see a car equally well from taking turns.
LEAST_SHOT, LEAST_GAIN = 1.5, 0.2
"""A camera is kept for so long [s], and longer as long as no other one is worth so much more."""

# Who overtakes, and what comes of it, takes about five seconds; after fifteen a viewer wants to know about the others.
LEAST_STORY, LONG_STORY = 5.0, 15.0
"""A car is watched for so long at least [s], and becomes less interesting after the longer time."""

BOREDOM = 0.1
"""By so much a second."""

TURN_SECONDS = 10.0
"""Where no car is worth more than another, they are watched by turns, each for so long [s]."""


class Cuts(NamedTuple):
    """What is decided at one moment.

    Attributes:
        camera: Of `TrackCameras`, by row; -1: none sees that car.
        chosen: Row of the car that is worth watching; -1: there is none.
    """

    camera: IntArray
    chosen: int


class Broadcast:
    """Decides frame by frame, on the thread that steps; its cameras are placed on another one.

    Attributes:
        cameras: Of the scene; None until they are placed.
        cuts: The latest.
        wants_cameras: Whether they are to be placed at all.
    """

    def __init__(self, wants_cameras: bool = True) -> None:
        self.cameras: TrackCameras | None = None
        self.wants_cameras, self._is_placing = wants_cameras, False
        self.cuts = Cuts(np.zeros(0, np.int32), -1)
        self._scene: object = None
        self._renderer: object = None
        self._noted_at = 0.0
        self._cut_at = np.zeros(0)
        self._chosen_at = 0.0

    def prepare(self, simulator: Simulator) -> None:
        """Place the cameras now and here; it takes less than a second."""
        self._begin(simulator)
        self._is_placing = True
        self._place(simulator, simulator.keep_moment())

    def note(self, simulator: Simulator, rows: Mapping[int, int], worth: Mapping[int, float] | None, at: float) -> Cuts:
        """Decide what is shown of a moment.

        Args:
            rows: The cars that are watched, by their ids.
            worth: How much each car is worth watching, by row: up to 3 for what is news. None: all alike.
            at: The moment on the time line [s].
        """
        if simulator.renderer is not self._renderer or at < self._noted_at:
            self._begin(simulator)
        self._noted_at = at
        if self.wants_cameras and not self._is_placing:
            self._is_placing, arguments = True, (simulator, simulator.keep_moment())
            threading.Thread(target=self._place, args=arguments, name="tv cameras", daemon=True).start()
        watched = sorted(row for row in rows.values() if simulator.ledger.present[row])
        beside = [row for row in watched if simulator.get_scene(row) is self._scene]
        self.cuts = Cuts(self._choose_cameras(simulator, np.array(beside, int), at), self._choose(watched, worth, at))
        return self.cuts

    def _begin(self, simulator: Simulator) -> None:
        count = len(simulator.ledger.present)
        if simulator.scene is not self._scene:
            self.cameras, self._is_placing = None, False
        self._scene, self._renderer, self._noted_at = simulator.scene, simulator.renderer, -np.inf
        self.cuts, self._cut_at = Cuts(np.full(count, -1, np.int32), -1), np.full(count, -np.inf)
        self._chosen_at = -np.inf

    def _place(self, simulator: Simulator, moment: Moment) -> None:
        scene = simulator.scene
        cameras = place_cameras(scene, simulator.renderer, moment)
        if scene is self._scene:
            self.cameras = cameras

    def _choose_cameras(self, simulator: Simulator, rows: np.ndarray, at: float) -> IntArray:
        """Keep each car's camera until another one shows the car much better, or this one does not see it any more."""
        camera = self.cuts.camera
        if self.cameras is None or not len(rows):
            return camera
        worth = self.cameras.worth[:, self.cameras.find_cells(simulator.ledger.along[rows])]
        best, index = np.argmax(worth, axis=0), np.arange(len(rows))
        kept = np.where(camera[rows] < 0, 0.0, worth[camera[rows], index])
        is_long = at - self._cut_at[rows] >= LEAST_SHOT
        cuts = (kept == 0.0) | (is_long & (worth[best, index] > kept + LEAST_GAIN))
        if not cuts.any():
            return camera
        camera = camera.copy()
        camera[rows[cuts]] = np.where(worth[best, index] > 0.0, best, -1)[cuts]
        self._cut_at[rows[cuts]] = at
        return camera

    def _choose(self, rows: list[int], worth: Mapping[int, float] | None, at: float) -> int:
        """Return the row of the car that is worth watching."""
        chosen = self.cuts.chosen
        if not rows:
            return -1
        if worth is None:
            return rows[int(at / TURN_SECONDS) % len(rows)]
        if chosen in rows and at - self._chosen_at < LEAST_STORY:
            return chosen
        rated = {row: value for row, value in worth.items() if row in rows}
        if chosen in rated:
            rated[chosen] += 0.1 - BOREDOM * max(0.0, at - self._chosen_at - LONG_STORY)
        best = max(rated, key=lambda row: (rated[row], -row), default=rows[0])
        if best != chosen:
            self._chosen_at = at
        return best
