"""What cars wear and carry: bodies, names, cameras, lidars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray
from donkeysim.render.camera import Renderer
from donkeysim.render.camera_group import CameraGroup
from donkeysim.sim.camera_groups import CameraGroups, group_cameras
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec

_GROUPING_LIMIT = 64
"""How many choices of cars keep their camera groups."""


class Gear(NamedTuple):
    """What one car wears and carries; None for what is off."""

    body: BodySpec
    camera: CameraSpec | None
    second: CameraSpec | None = None
    lidar: LidarSpec | None = None


@dataclass
class Equipment:
    """Of all cars that are there or retired, by row.

    Attributes:
        body: How each is dressed.
        name: For who hits it.
        camera: By row and whether it is the second one; those switched off are not in it.
        lidar: Likewise.
        drawn: The camera groups of the last `render`.
    """

    body: dict[int, BodySpec] = field(default_factory=dict)
    name: dict[int, str] = field(default_factory=dict)
    camera: dict[tuple[int, bool], CameraSpec] = field(default_factory=dict)
    lidar: dict[int, LidarSpec] = field(default_factory=dict)
    drawn: CameraGroups = field(default_factory=CameraGroups)
    _left: dict[int, Gear] = field(default_factory=dict)
    _groups: dict[tuple[int, ...], CameraGroups] = field(default_factory=dict)
    _own_groups: dict[int, CameraGroups] = field(default_factory=dict)

    def dress(self, rows: Sequence[int], body: BodySpec, cars_per_world: int) -> None:
        """Note the body of cars; one without a name is called by its slot."""
        for car in rows:
            self.body[car], self.name[car] = body, body.name or f"car{car % cars_per_world}"

    def set_camera(self, rows: Sequence[int], camera: CameraSpec | None, second: bool = False) -> None:
        """Set cars' cameras; None switches them off."""
        for car in rows:
            self._own_groups.pop(car, None)
            if camera is None:
                self.camera.pop((car, second), None)
            else:
                self.camera[car, second] = camera
        self._groups.clear()

    def set_lidar(self, rows: Sequence[int], lidar: LidarSpec | None) -> None:
        """Set cars' lidars; None switches them off."""
        for car in rows:
            if lidar is None:
                self.lidar.pop(car, None)
            else:
                self.lidar[car] = lidar

    def get_body(self, car: int) -> BodySpec:
        """Return how a car is dressed; SpecError where there is none, and none has retired."""
        if car not in self.body:
            raise SpecError(f"there is no car {car}; cars now, retired ones included: {self._list_known()}.")
        return self.body[car]

    def group_bodies(self) -> dict[BodySpec, list[int]]:
        """Return which cars wear which body."""
        return group_alike(list(self.body), list(self.body.values()))

    def remove(self, rows: Sequence[int]) -> None:
        """Take everything away from cars; a moment that brings one back gives it back, see `take_left`."""
        for car in rows:
            if car in self.body:
                camera, second_camera = self.camera.get((car, False)), self.camera.get((car, True))
                self._left[car] = Gear(self.body[car], camera, second_camera, self.lidar.get(car))
        for second in (False, True):
            self.set_camera(rows, None, second)
        self.set_lidar(rows, None)
        for car in rows:
            self.body.pop(car, None)
            self.name.pop(car, None)

    def take_left(self, car: int, camera: CameraSpec) -> BodySpec:
        """Give a car without anything the sensors that the last one in its slot had when it left, and return its body.

        Args:
            car: Its row.
            camera: Of a car that nothing is known of, as of one that joins.
        """
        gear = self._left.pop(car, Gear(BodySpec(), camera))
        self.set_camera((car,), gear.camera)
        self.set_camera((car,), gear.second, second=True)
        self.set_lidar((car,), gear.lidar)
        return gear.body

    def require_retired(self, rows: Sequence[int], present: ByteArray) -> None:
        """Raise a SpecError that tells of the first row of some where no car is or has retired."""
        for car in rows:
            if car not in self.body:
                retired = [row for row in self._list_known() if not present[row]]
                raise SpecError(f"there is no car {car} that could be recalled; retired cars: {retired}.")

    def _list_known(self) -> list[int]:
        return sorted(map(int, self.body))

    def forget_groups(self) -> None:
        """Group the cameras anew when they are drawn next."""
        self._groups.clear()
        self._own_groups.clear()

    def find_own_groups(self, renderer: Renderer, car: int) -> CameraGroups:
        """Return groups of one car's cameras that no `render` draws into."""
        if car not in self._own_groups:
            self._own_groups[car] = group_cameras(renderer, (car,), self.camera)
        return self._own_groups[car]

    def render(self, renderer: Renderer, draw: Callable[[CameraGroup], None], cars: Sequence[int]) -> None:
        """Draw all cameras of these cars into `drawn`."""
        key = tuple(cars)
        drawn = self._groups.get(key)
        if drawn is None:
            if len(self._groups) >= _GROUPING_LIMIT:
                self._groups.clear()
            drawn = self._groups[key] = group_cameras(renderer, key, self.camera)
        for group in drawn.groups:
            draw(group)
        self.drawn = drawn


def group_alike(rows: Sequence[int], bodies: Sequence[BodySpec | None]) -> dict[BodySpec, list[int]]:
    """Return cars by their bodies; None is the default one."""
    alike: dict[BodySpec, list[int]] = {}
    for row, body in zip(rows, bodies, strict=True):
        alike.setdefault(body or BodySpec(), []).append(row)
    return alike
