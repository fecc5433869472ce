"""Cameras of one kind, drawn together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.render.camera import Renderer
from donkeysim.render.camera_group import CameraGroup, find_kind
from donkeysim.world.specs import CameraSpec
from donkeysim.world.state import State


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
        """Return CLASS_*, shape [height, width]; SpecError where a camera tells none."""
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


def group_cameras(
    renderer: Renderer, cars: Sequence[int], camera_spec: Mapping[tuple[int, bool], CameraSpec]
) -> CameraGroups:
    """Return the camera groups of some cars.

    Args:
        renderer: Whose groups they are.
        cars: Rows.
        camera_spec: Cameras by car and whether it is the second one.
    """
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
