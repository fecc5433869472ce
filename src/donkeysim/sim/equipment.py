"""What cars wear and carry: bodies, names, cameras, lidars; and what these see at one moment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.render.camera import Capture, Renderer
from donkeysim.render.camera_group import CameraGroup, find_kind
from donkeysim.render.lidar import LidarScanner
from donkeysim.render.scratch import ScratchRoom
from donkeysim.sim.observe import observe_lidar
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec
from donkeysim.world.state import State
from donkeysim.world.telemetry import LidarPoint

# Each is a table of cameras and room for their pictures; a server's clients make a few choices at a time.
_GROUPING_LIMIT = 64
"""How many choices of cars keep their camera groups."""

SLICE = 500
"""Points of a scan that are listed at a time, half a millisecond's work."""


@dataclass
class CameraGroups:
    """Camera groups of one choice of cars, and where each car's picture lies in them.

    Attributes:
        groups: Each of cameras of one kind.
        place: Group and row by car and whether it is the second camera.
    """

    groups: list[CameraGroup] = field(default_factory=list)
    place: dict[tuple[int, bool], tuple[int, int]] = field(default_factory=dict)

    def _find(self, car: int, second: bool) -> tuple[int, int]:
        if (car, second) not in self.place:
            which = "second camera" if second else "camera"
            raise SpecError(f"no picture of the {which} of car {car} has been drawn; switch it on and render the car.")
        return self.place[car, second]

    def get_picture(self, car: int, second: bool) -> ByteArray:
        """Return a picture, shape [height, width, 3]; SpecError where none has been drawn, here and below."""
        group, row = self._find(car, second)
        picture: ByteArray = self.groups[group].frame.colour[row]
        return picture

    def get_depth(self, car: int, second: bool) -> Float32Array:
        """Return distances [m], shape [height, width]; SpecError where a camera measures none."""
        group, row = self._find(car, second)
        depth = self.groups[group].frame.depth
        if depth is None:
            raise SpecError(f"the camera of car {car} gives no distances; configure it with depth=True.")
        distance: Float32Array = depth[row]
        return distance

    def get_segments(self, car: int, second: bool) -> ByteArray:
        """Return CLASS_*, shape [height, width]; SpecError where a camera gives none."""
        group, row = self._find(car, second)
        segment = self.groups[group].frame.segment
        if segment is None:
            raise SpecError(f"the camera of car {car} gives no classes; configure it with segment=True.")
        classes: ByteArray = segment[row]
        return classes

    def count_rendered(self, renderer: Renderer, state: State) -> tuple[float, float]:
        """Render anew and return means per picture: triangles rasterised, pixels coloured from a texture."""
        counts = [(len(group.cameras.car), *renderer.count_rendered(group, state)) for group in self.groups]
        total = sum(count for count, _, _ in counts)
        return sum(n * triangles for n, triangles, _ in counts) / total, sum(n * t for n, _, t in counts) / total


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
        camera, lidar: By row and whether it is the second one; those switched off are not in it.
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
        """Raise a SpecError that names the first row of some where no car is or has retired."""
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


def group_cameras(
    renderer: Renderer, cars: Sequence[int], camera_spec: Mapping[tuple[int, bool], CameraSpec]
) -> CameraGroups:
    """Return the camera groups of some cars; `camera_spec`: cameras by car and whether it is the second one."""
    kinds: dict[tuple[object, ...], list[tuple[int, bool]]] = {}
    for car in cars:
        for second in (False, True):
            camera = camera_spec.get((car, second))
            if camera is not None:
                kinds.setdefault(find_kind(camera), []).append((car, second))
    made = CameraGroups()
    for members in kinds.values():
        specs = [camera_spec[member] for member in members]
        for row, member in enumerate(members):
            made.place[member] = (len(made.groups), row)
        owners, seconds = [car for car, _ in members], [is_second for _, is_second in members]
        made.groups.append(renderer.make_group(owners, specs, seconds))
    return made


class LidarCapture(NamedTuple):
    """What a lidar sees at one moment: a scanner and a state that nobody else uses, and whose lidar it is."""

    scanner: LidarScanner
    state: State
    car: int
    lidar: LidarSpec
    key: int


class CarCapture(NamedTuple):
    """What a car's cameras and lidar see at one moment. Made by `Simulator.capture`."""

    car: int
    renderer: Renderer
    groups: CameraGroups
    parts: Sequence[Capture]
    lidar: LidarCapture | None

    def draw(self, room: ScratchRoom) -> None:
        """Draw all cameras; each thread has a room of its own."""
        for part in self.parts:
            self.renderer.draw(part, room)

    def get_picture(self, second: bool = False) -> ByteArray:
        """Return a picture that has been drawn, shape [height, width, 3], valid until the car's next is drawn."""
        return self.groups.get_picture(self.car, second)

    def scan(self, pause: Callable[[], None]) -> list[LidarPoint] | None:
        """Return a scan as `Simulator.scan_lidar` does, None when the lidar is off.

        Args:
            pause: Called now and then, so that other threads get a turn.
        """
        if self.lidar is None:
            return None
        scanner, state, car, lidar, key = self.lidar
        rows = scanner.scan(state, car, lidar, key)
        points: list[LidarPoint] = []
        for begin in range(0, len(rows), SLICE):
            points += observe_lidar(rows[begin : begin + SLICE], lidar.sweep_increment, lidar.angle_delta)
            pause()
        return points
