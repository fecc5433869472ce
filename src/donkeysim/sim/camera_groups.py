"""Cameras of equal size, drawn together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from donkeysim.render.camera import CameraGroup, Renderer
from donkeysim.world.specs import CameraSpec


@dataclass
class CameraGroups:
    """Camera groups of one choice of cars, and where each car's picture lies in them.

    Attributes:
        groups: Each of one picture size.
        place: Group and row by car and whether it is the second camera.
    """

    groups: list[CameraGroup] = field(default_factory=list)
    place: dict[tuple[int, bool], tuple[int, int]] = field(default_factory=dict)


def group_cameras(
    renderer: Renderer, cars: Sequence[int], camera_spec: Mapping[tuple[int, bool], CameraSpec]
) -> CameraGroups:
    """Return the camera groups of some cars.

    Args:
        renderer: Whose groups they are.
        cars: Rows.
        camera_spec: Cameras by car and whether it is the second one.
    """
    sizes: dict[tuple[int, int, str, int], list[tuple[int, bool]]] = {}
    for car in cars:
        for second in (False, True):
            camera = camera_spec.get((car, second))
            if camera is not None:
                key = (camera.width, camera.height, camera.quality, camera.supersample)
                sizes.setdefault(key, []).append((car, second))
    made = CameraGroups()
    for members in sizes.values():
        specs = [camera_spec[member] for member in members]
        for row, member in enumerate(members):
            made.place[member] = (len(made.groups), row)
        made.groups.append(renderer.make_group([car for car, _ in members], specs))
    return made
