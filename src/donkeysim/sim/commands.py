"""What may be done to a simulator: its one door, as data.

`Simulator.apply` carries a command out, the action log is their list, and a replay applies them again.

`rows` are rows of cars, `None` all that are there; lists and arrays will do. World frame, metres, radians.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from donkeysim.core.types import FloatArray
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, SceneSpec

if TYPE_CHECKING:
    Rows: TypeAlias = Sequence[int]
    Numbers: TypeAlias = Sequence[float] | FloatArray
    Points: TypeAlias = Sequence[tuple[float, float, float]] | FloatArray
    Turns: TypeAlias = Sequence[tuple[float, float, float, float]] | FloatArray
else:  # as a log holds them
    Rows, Numbers = list[int], list[float]
    Points, Turns = list[tuple[float, float, float]], list[tuple[float, float, float, float]]


class Drive(msgspec.Struct, array_like=True, tag=21):
    """Ask cars for something from now on; one number for each row, None leaves it as it is."""

    rows: Rows | None
    steer: Numbers | None
    """-1 to 1, + = left."""
    throttle: Numbers | None
    """-1 to 1."""
    brake: Numbers | None
    """0 to 1."""


class Join(msgspec.Struct, array_like=True, tag=22):
    """Put a car on the first free place of the start grid of each of these worlds, which may come more than once."""

    worlds: Rows
    bodies: list[BodySpec | None]
    """Of each; None, or no bodies at all: the default. Fewer than worlds: in turns."""


class Leave(msgspec.Struct, array_like=True, tag=23):
    """Take cars out of their worlds and free their slots."""

    rows: Rows


class Retire(msgspec.Struct, array_like=True, tag=24):
    """Take cars off the road, out of sight; a recall or a restore brings them back, with their looks and sensors."""

    rows: Rows


class Recall(msgspec.Struct, array_like=True, tag=38):
    """Bring retired cars back onto the road, where they were."""

    rows: Rows


class Dress(msgspec.Struct, array_like=True, tag=25):
    """Give cars another body."""

    rows: Rows
    body: BodySpec


class SetCamera(msgspec.Struct, array_like=True, tag=26):
    """Set cars' cameras, or their second ones; None switches them off."""

    rows: Rows
    camera: CameraSpec | None
    second: bool = False


class SetLidar(msgspec.Struct, array_like=True, tag=27):
    """Set cars' lidars; None switches them off."""

    rows: Rows
    lidar: LidarSpec | None


class Reset(msgspec.Struct, array_like=True, tag=28):
    """Put cars back at their spawn poses, at rest, wheels straight, brake held until they are asked for something."""

    rows: Rows


class Move(msgspec.Struct, array_like=True, tag=29):
    """Put cars somewhere else; they keep their velocities. No orientation: facing along +x."""

    rows: Rows
    position: Points
    orientation: Turns | None


class Pose(msgspec.Struct, array_like=True, tag=30):
    """Put cars somewhere, at rest, wheels straight; laps and hits stay."""

    rows: Rows
    position: Points
    orientation: Turns


class PutOnPath(msgspec.Struct, array_like=True, tag=31):
    """Put cars on or beside the paths of their scenes, wheels straight, brake released; laps and hits stay."""

    rows: Rows
    along: Numbers
    """Length of the path from node 0: modulo the length of a closed path, else cut to its ends."""
    offset: Numbers
    """From the path, + = left of it."""
    yaw: Numbers
    """Against the direction of the path, + = left."""
    speed: Numbers | None = None
    """Along the nose [m/s]; None: at rest."""


class SetSpawn(msgspec.Struct, array_like=True, tag=32):
    """Say where resets put cars."""

    rows: Rows
    position: Points
    orientation: Turns


class ClearHits(msgspec.Struct, array_like=True, tag=33):
    """Forget what cars touched."""

    rows: Rows | None = None


class Seed(msgspec.Struct, array_like=True, tag=34):
    """Draw the random numbers of worlds from seeds of their own, whichever rows of the batch they are."""

    worlds: Rows
    seeds: Rows


class Restore(msgspec.Struct, array_like=True, tag=35):
    """Go back to a snapshot of this simulator, or of one with the same `WorldSpec`.

    Cars keep looks and sensors; one that has left since has again what it had, one that never joined here what is given
    to a new one.
    """

    snapshot: Any
    """A `snapshot.Snapshot`; in a log the number of a moment that it holds."""
    worlds: Rows | None = None
    """Only these; the others continue as they are."""


class SetParams(msgspec.Struct, array_like=True, tag=36):
    """Set the parameters of all cars, rows of `physics.kernels.layout`, float64."""

    packed: bytes


class ChangeScene(msgspec.Struct, array_like=True, tag=37):
    """Continue in another place, or on another road: all cars on its grid as after a reset; the clock runs on."""

    scene: SceneSpec
    keeps_cars: bool = False
    """Cars stay where they are: the path is the same, other things stand about."""


Command: TypeAlias = (
    Drive
    | Join
    | Leave
    | Retire
    | Recall
    | Dress
    | SetCamera
    | SetLidar
    | Reset
    | Move
    | Pose
    | PutOnPath
    | SetSpawn
    | ClearHits
    | Seed
    | Restore
    | SetParams
    | ChangeScene
)


class CommandLog(Protocol):
    """Who hears of all that is done to a simulator, in order."""

    def note(self, command: Command) -> None:
        """Take note of a command that has been carried out."""

    def note_step(self, step_count: int) -> None:
        """Take note of a frame that has passed."""

    def close(self) -> None:
        """Take note of the end."""
