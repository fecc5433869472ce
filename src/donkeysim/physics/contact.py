"""Static colliders and movable props of all scenes as flat tables, and the scratch of contacts."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from donkeysim.core.device import Device
from donkeysim.core.memory import remember
from donkeysim.core.types import FloatArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import Obstacles, SceneProps, StepScratch
from donkeysim.world.scene import COLLIDER_BOX, Colliders, Props, Scene
from donkeysim.world.state import TOUCH_COUNT

CONTACTS_PER_BODY = 48
"""Room for contacts; a box on the ground and against a wall has 16."""
COLLIDERS_PER_BODY = 64
"""Room for static colliders near one body."""
CONTACTS_PER_PROP = 8
"""Room for contacts where each world has a room of its own; a cone on the ground has 4, and 8 where it lies."""
PAIRS_PER_PROP = 24
"""The same for what may be near one prop: other props, cars, static colliders."""

_GRIDS: dict[int, tuple[FloatArray, int, int, list[list[int]]]] = {}
"""What `_sort_into_grid` returns of living scenes, by their `id`."""


def make_obstacles(scenes: Sequence[Scene]) -> Obstacles:
    """Return the static colliders of these scenes with a grid over each."""
    entry = np.zeros((len(scenes), layout.OBSTACLE_INDICES), np.int64)
    number = np.zeros((len(scenes), 2))
    cells: list[list[int]] = []
    base = 0
    for row, scene in enumerate(scenes):
        corner, rows, columns, own = remember(_GRIDS, scene, partial(_sort_into_grid, scene.colliders))
        entry[row] = (len(cells), rows, columns, len(scene.colliders.kind))
        number[row] = corner
        cells.extend([[base + collider for collider in cell] for cell in own])
        base += len(scene.colliders.kind)
    return Obstacles(
        entry=entry,
        number=number,
        cell_begin=np.concatenate([[0], np.cumsum([len(cell) for cell in cells], dtype=np.int64)]).astype(np.int64),
        cell_collider=np.array([collider for cell in cells for collider in cell], np.int64),
        kind=np.concatenate([scene.colliders.kind for scene in scenes]).astype(np.uint8),
        shape=np.concatenate([_pack_colliders(scene.colliders) for scene in scenes]),
        name=np.concatenate([scene.colliders.name for scene in scenes]).astype(np.int64),
    )


def make_prop_table(scenes: Sequence[Scene]) -> SceneProps:
    """Return the props of these scenes, one after another."""
    counts = [len(scene.props.mass) for scene in scenes]
    return SceneProps(
        begin=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        number=np.concatenate([_pack_props(scene.props) for scene in scenes]),
        name=np.concatenate([scene.props.name for scene in scenes]).astype(np.int64),
    )


def make_scratch(cars_per_world: int, props_per_world: int, device: Device, world_count: int) -> StepScratch:
    """Return what a device needs to step worlds.

    Where few rooms serve all worlds they are large enough for all that can happen. Where each world has its own, they
    are small, and `EventTable.missed` counts what found no room.
    """
    shapes = shape_scratch(cars_per_world, props_per_world, is_small=not device.shares_rooms)
    rooms = device.count_rooms(world_count)
    return StepScratch(**{name: device.zeros((rooms, *shape), dtype) for name, (shape, dtype) in shapes.items()})


def measure_scratch(cars_per_world: int, props_per_world: int) -> int:
    """Return how many bytes a world's own working memory takes."""
    shapes = shape_scratch(cars_per_world, props_per_world, is_small=True).values()
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes)


def shape_scratch(cars: int, props: int, is_small: bool) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Return shape and type of each table of a room."""
    pairs, contacts = size_scratch(cars, props, is_small)
    return {
        "body": ((cars + props, layout.BODY_WIDTH), np.float64),
        "pair": ((pairs, 3), np.int64),
        "contact": ((contacts, layout.CONTACT_WIDTH), np.float64),
        "link": ((contacts, 4), np.int64),
        "touch": ((cars, TOUCH_COUNT), np.int64),
        "box": ((2, 15), np.float64),
        "frustum": ((2, 9), np.float64),
        "polygon": ((2, 16, 3), np.float64),
        "missed": ((1,), np.int64),
    }


def size_scratch(cars_per_world: int, props_per_world: int, is_small: bool) -> tuple[int, int]:
    """Return for how many pairs and contacts a world's working memory has room."""
    bodies = cars_per_world + props_per_world
    pairs, contacts = bodies * (bodies - 1) // 2 + COLLIDERS_PER_BODY * bodies, CONTACTS_PER_BODY * bodies
    if is_small:
        cars = cars_per_world * (cars_per_world - 1) // 2 + COLLIDERS_PER_BODY * cars_per_world
        pairs = min(pairs, cars + PAIRS_PER_PROP * props_per_world)
        contacts = min(contacts, CONTACTS_PER_BODY * cars_per_world + CONTACTS_PER_PROP * props_per_world)
    return pairs, contacts


def compute_prop_inertia(mass: float, base: float, top: float, height: float) -> FloatArray:
    """Return the moments of inertia of a prop [kg m²], shape [3]: a solid cylinder of its mean radius."""
    square = 0.25 * (base + top) ** 2
    side = mass * (square / 4.0 + height**2 / 12.0)
    return np.array([side, side, 0.5 * mass * square])


def _sort_into_grid(colliders: Colliders) -> tuple[FloatArray, int, int, list[list[int]]]:
    """Return corner [m], rows and columns of a grid, and the colliders that touch each cell, in rising order."""
    if len(colliders.kind) == 0:
        return np.zeros(2), 0, 0, []
    is_box = colliders.kind == COLLIDER_BOX
    cosine, sine = np.where(is_box, np.cos(colliders.yaw), 1.0), np.where(is_box, np.sin(colliders.yaw), 0.0)
    half = colliders.half_size[:, :2]
    turned = np.abs(np.stack((cosine, sine), axis=1))
    reach = np.stack(((half * turned).sum(axis=1), (half * turned[:, ::-1]).sum(axis=1)), axis=1)
    low, high = colliders.centre[:, :2] - reach, colliders.centre[:, :2] + reach
    corner: FloatArray = low.min(axis=0)
    columns, rows = (int(n) for n in np.floor((high.max(axis=0) - corner) / layout.GRID_CELL) + 1)
    cells: list[list[int]] = [[] for _ in range(rows * columns)]
    begin = np.floor((low - corner) / layout.GRID_CELL).astype(int)
    end = np.floor((high - corner) / layout.GRID_CELL).astype(int)
    room = half + 0.5 * layout.GRID_CELL * turned.sum(axis=1)[:, None] + 1e-9
    for collider in range(len(colliders.kind)):
        row, column = np.mgrid[begin[collider, 1] : end[collider, 1] + 1, begin[collider, 0] : end[collider, 0] + 1]
        x = corner[0] + (column + 0.5) * layout.GRID_CELL - colliders.centre[collider, 0]
        y = corner[1] + (row + 0.5) * layout.GRID_CELL - colliders.centre[collider, 1]
        along, across = x * cosine[collider] + y * sine[collider], y * cosine[collider] - x * sine[collider]
        touched = (np.abs(along) <= room[collider, 0]) & (np.abs(across) <= room[collider, 1])
        for cell in (row * columns + column)[touched].tolist():
            cells[cell].append(collider)
    return corner, rows, columns, cells


def _pack_colliders(colliders: Colliders) -> FloatArray:
    shape = np.zeros((len(colliders.kind), layout.OBSTACLE_WIDTH))
    for row, kind in enumerate(colliders.kind):
        centre, half, yaw = colliders.centre[row], colliders.half_size[row], colliders.yaw[row]
        if kind == COLLIDER_BOX:
            c, s = np.cos(yaw), np.sin(yaw)
            shape[row, :15] = (*half, *centre, c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
        else:
            shape[row, :9] = (centre[0], centre[1], centre[2] - half[2], 0.0, 0.0, 1.0, 2.0 * half[2], half[0], half[0])
    shape[:, layout.OBSTACLE_FRICTION] = colliders.friction
    return shape


def _pack_props(props: Props) -> FloatArray:
    number = np.zeros((len(props.mass), layout.PROP_WIDTH))
    for row in range(len(props.mass)):
        mass, base, top, height = props.mass[row], props.radius_base[row], props.radius_top[row], props.height[row]
        number[row, layout.PROP_MASS] = mass
        number[row, layout.PROP_BASE] = base
        number[row, layout.PROP_TOP] = top
        number[row, layout.PROP_HEIGHT] = height
        number[row, layout.PROP_CENTRE] = props.centre_of_mass[row]
        number[row, layout.PROP_FRICTION] = props.friction[row]
        inertia = slice(layout.PROP_INERTIA, layout.PROP_INERTIA + 3)
        number[row, inertia] = compute_prop_inertia(mass, base, top, height)
    return number
