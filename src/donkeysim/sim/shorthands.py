"""Commands for one car, as methods: each makes a command and hands it to `apply`."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from donkeysim.core.frames import Quaternion, Vector
from donkeysim.sim import commands
from donkeysim.sim.snapshot import Snapshot
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec


class CommandShorthands:
    """What may be done to single cars."""

    @abstractmethod
    def apply(self, command: commands.Command) -> Any:
        """Carry out a command."""

    def add_car(self, world: int = 0, body: BodySpec | None = None) -> int:
        """Put a car on the first free place of the start grid and return its row.

        Raises:
            CapacityError: Every slot of the world is taken, or the grid has no free place.
        """
        rows: list[int] = self.apply(commands.Join([world], [body]))
        return rows[0]

    def remove_car(self, car: int) -> None:
        """Take a car out of its world and free its slot."""
        self.apply(commands.Leave([car]))

    def drive_car(
        self, car: int, steer: float | None = None, throttle: float | None = None, brake: float | None = None
    ) -> None:
        """Ask a car for something from now on, see `commands.Drive`; None leaves it as it is."""
        turn, push = None if steer is None else [steer], None if throttle is None else [throttle]
        self.apply(commands.Drive([car], turn, push, None if brake is None else [brake]))

    def configure_car(self, car: int, body: BodySpec) -> None:
        """Dress a car."""
        self.apply(commands.Dress([car], body))

    def configure_camera(self, car: int, camera: CameraSpec | None, second: bool = False) -> None:
        """Set a car's camera, or its second one; None switches it off."""
        self.apply(commands.SetCamera([car], camera, second))

    def configure_lidar(self, car: int, lidar: LidarSpec | None) -> None:
        """Set a car's lidar; None switches it off."""
        self.apply(commands.SetLidar([car], lidar))

    def reset_car(self, car: int) -> None:
        """Put a car back at its spawn pose, at rest, wheels straight, brake held until it is asked for something."""
        self.apply(commands.Reset([car]))

    def move_car(self, car: int, position: Vector, orientation: Quaternion | None = None) -> None:
        """Put a car somewhere else [m, world frame]; it keeps its velocity. No orientation: facing along +x."""
        turned = None if orientation is None else [_list_four(orientation)]
        self.apply(commands.Move([car], [_list_three(position)], turned))

    def place_car(self, car: int, position: Vector, orientation: Quaternion) -> None:
        """Put a car somewhere [m, world frame], at rest, wheels straight; laps and hits stay."""
        self.apply(commands.Pose([car], [_list_three(position)], [_list_four(orientation)]))

    def put_on_path(self, car: int, along: float, offset: float = 0.0, yaw: float = 0.0) -> None:
        """Put a car on its scene's path, at rest, brake released; see `commands.PutOnPath`."""
        self.apply(commands.PutOnPath([car], [float(along)], [float(offset)], [float(yaw)]))

    def set_spawn(self, car: int, position: Vector, orientation: Quaternion) -> None:
        """Say where a reset puts a car [m, world frame] and how it turns it."""
        self.apply(commands.SetSpawn([car], [_list_three(position)], [_list_four(orientation)]))

    def retire_car(self, car: int) -> None:
        """Take a car off the road, out of sight; it keeps its looks and sensors, and a restore brings it back."""
        self.apply(commands.Retire([car]))

    def recall_car(self, car: int) -> None:
        """Bring a retired car back; see `commands.Recall`."""
        self.apply(commands.Recall([car]))

    def clear_hits(self, cars: Sequence[int] | None = None) -> None:
        """Forget what these cars (default: all cars) touched."""
        self.apply(commands.ClearHits(None if cars is None else list(cars)))

    def restore(self, snapshot: Snapshot, worlds: Sequence[int] | None = None) -> None:
        """Go back to a snapshot of this simulator, or of one with the same `WorldSpec`.

        Args:
            worlds: Only these; the others continue as they are.

        Raises:
            ShapeError: The snapshot is of a simulator with other numbers of worlds, cars or props.
            SpecError: It was taken in another place, or on another road.
        """
        self.apply(commands.Restore(snapshot, None if worlds is None else list(worlds)))

    def seed_world(self, world: int, seed: int) -> None:
        """Draw a world's random numbers from a seed of its own, whichever row of the batch it is."""
        self.apply(commands.Seed([world], [seed]))


def _list_three(vector: Sequence[float]) -> Vector:
    x, y, z = map(float, vector)
    return (x, y, z)


def _list_four(turn: Sequence[float]) -> Quaternion:
    w, x, y, z = map(float, turn)
    return (w, x, y, z)
