"""From a track file to a scene."""

from __future__ import annotations

import math
from pathlib import Path as FilePath

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world import scene as parts
from donkeysim.world.tracks.ground import build_ground
from donkeysim.world.tracks.path import CentreLine, build_centre_line
from donkeysim.world.tracks.track_file import TrackFile


def build_scene(track: TrackFile, source: FilePath) -> parts.Scene:
    """Return the scene of a track.

    Args:
        track: What the file says.
        source: The file, for error texts.

    Raises:
        SceneError: The track is impossible; the text says where and why.
    """
    line = build_centre_line(track.path, str(source))
    ground = build_ground(track, line)
    path = build_path(track, line)
    start = build_start(track, line)
    light = build_light(track)
    props, models, materials, textures, static, cars = _first_looks(track, line)
    return parts.Scene(
        name=track.name, path=path, ground=ground, colliders=_no_colliders(), props=props, start=start, light=light,
        static=static, models=models, car_models=cars, materials=materials, textures=textures, hit_names=("terrain", "cone"),
    )  # fmt: skip


def build_path(track: TrackFile, line: CentreLine) -> parts.Path:
    """Return the nodes, evenly spaced, and the road's widths there."""
    count = track.path.node_count
    distance = np.arange(count) * (line.length / (count if line.closed else count - 1))
    position, _ = line.locate(distance)
    height = np.full(count, track.ground.height + track.start.ride_height)
    left, right = np.full(count, track.road.width_left), np.full(count, track.road.width_right)
    return parts.Path(np.column_stack((position, height)), left, right, line.closed, position)


def build_start(track: TrackFile, line: CentreLine) -> parts.Start:
    """Return the grid: rows backwards along the path from its beginning, each with all columns."""
    table = track.start
    row, column = np.divmod(np.arange(table.slots), len(table.columns))
    lateral = np.array(table.columns)[column]
    position, yaw = line.offset(-row * table.rows, lateral)
    height = np.full(table.slots, track.ground.height + table.ride_height)
    lines = [_start_line(track, line, at) for at in table.lines]
    return parts.Start(
        np.column_stack((position, height)), np.arctan2(np.sin(yaw), np.cos(yaw)), np.array(lines).reshape(-1, 2, 2)
    )


def _start_line(track: TrackFile, line: CentreLine, at: float) -> FloatArray:
    ends, _ = line.offset(np.array([at, at]), np.array([track.road.width_left, -track.road.width_right]))
    return ends


def build_light(track: TrackFile) -> parts.Light:
    """Return sun, haze and sky."""
    table = track.light
    azimuth, height = math.radians(table.sun_azimuth), math.radians(table.sun_height)
    direction = (
        math.cos(azimuth) * math.cos(height),
        math.sin(azimuth) * math.cos(height),
        math.sin(height),
    )
    fog = (table.fog[0] / 255, table.fog[1] / 255, table.fog[2] / 255)
    return parts.Light(direction, table.sun, table.ambient, fog, table.fog_density, -1)


def _no_colliders() -> parts.Colliders:
    return parts.Colliders(
        np.zeros(0, np.uint8), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros(0, np.int32)
    )


def _first_looks(track: TrackFile, line: CentreLine):
    from donkeysim.world.specs import BODY_STYLES

    # ground quad far + road strip coloured
    far = 100.0
    z = track.ground.height
    n = 216
    s = np.arange(n) * line.length / n
    l, _ = line.offset(s, min(track.road.width_left, 3))
    r, _ = line.offset(s, -min(track.road.width_right, 3))
    v = [(-far, -far, z), (far, -far, z), (far, far, z), (-far, far, z)]
    v += [(*p, z + 0.001) for p in l] + [(*p, z + 0.001) for p in r]
    tri = [(0, 1, 2), (0, 2, 3)]
    for k in range(n if line.closed else n - 1):
        m = (k + 1) % n
        tri += [(4 + n + k, 4 + n + m, 4 + m), (4 + n + k, 4 + m, 4 + k)]
    vertex = np.array(v, np.float32)
    rng = np.random.default_rng(1)
    tex = np.full((512, 512, 4), 255, np.uint8)
    tex[..., :3] = rng.integers(160, 255, (512, 512, 1))
    static = parts.Mesh(
        vertex,
        (vertex[:, :2]).astype(np.float32),
        np.array(tri, np.int32),
        np.array([0, 0] + [1] * (len(tri) - 2), np.int32),
    )
    mats = (
        parts.Material(parts.SHADE_TEXTURE, (0.35, 0.55, 0.25), 0, parts.CLASS_GROUND),
        parts.Material(parts.SHADE_TEXTURE, (0.4, 0.4, 0.42), 0, parts.CLASS_ROAD),
        parts.Material(0, (0.95, 0.4, 0.1), -1, parts.CLASS_PROP),
        parts.Material(parts.SHADE_PAINT, (1.0, 1.0, 1.0), -1, parts.CLASS_CAR),
        parts.Material(0, (0.1, 0.1, 0.1), -1, parts.CLASS_CAR),
    )
    models = (_drum(0.05, 0.012, 0.12, 2), _box((0.25, 0.15, 0.0625), 3), _wheel(0.04, 0.04, 4))
    cars = {style: parts.CarModel(1, 2) for style in BODY_STYLES}
    place = []
    for table in track.props:
        if table.every:
            at = np.arange(table.first, line.length - 0.5 * table.every, table.every)
            place += list(line.offset(at, table.offset)[0])
        place += list(table.places)
    c = len(place)
    props = parts.Props(
        np.column_stack((np.array(place).reshape(-1, 2), np.full(c, z))),
        np.zeros(c),
        np.full(c, 1.0),
        np.full(c, 0.05),
        np.full(c, 0.012),
        np.full(c, 0.12),
        np.full(c, 0.04),
        np.full(c, 0.6),
        np.zeros(c, np.int32),
        np.ones(c, np.int32),
    )
    return props, models, mats, (tex,), static, cars


def _drum(r0, r1, h, mat, n=12):
    a = np.arange(n) * 2 * np.pi / n
    ring = np.stack((np.cos(a), np.sin(a), 0 * a), 1)
    v = np.vstack((ring * r0, ring * r1 + (0, 0, h), [(0, 0, h)]))
    t = []
    for k in range(n):
        m = (k + 1) % n
        t += [(k, m, n + m), (k, n + m, n + k), (n + k, n + m, 2 * n)]
    return parts.Mesh(
        v.astype(np.float32), np.zeros((len(v), 2), np.float32), np.array(t, np.int32), np.full(len(t), mat, np.int32)
    )


def _box(size, mat):
    import trimesh

    b = trimesh.creation.box(size)
    return parts.Mesh(
        np.float32(b.vertices), np.zeros((8, 2), np.float32), np.int32(b.faces), np.full(12, mat, np.int32)
    )


def _wheel(r, w, mat, n=12):
    m = _drum(r, r, w, mat, n)
    v = np.stack((m.vertex[:, 0], w / 2 - m.vertex[:, 2], m.vertex[:, 1]), 1)
    return parts.Mesh(np.float32(v), m.uv, m.triangle, m.material)
