"""From a track file to a scene."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.world.path_frame import find_normals
from donkeysim.world.scene import CarModel, Ground, Light, Path, Props, Scene
from donkeysim.world.specs import BODY_STYLES, NO_CHALLENGES, ChallengeSpec
from donkeysim.world.tracks.art import build_mesh, read_picture, require_picture
from donkeysim.world.tracks.challenges import Surroundings, choose_tree_kinds, describe_road, place_cones, place_trees
from donkeysim.world.tracks.grid import build_start, find_first_line
from donkeysim.world.tracks.mesh import Assets, merge_meshes, place_mesh
from donkeysim.world.tracks.paths.line import compute_shortest_line
from donkeysim.world.tracks.paths.path import CentreLine, place_nodes
from donkeysim.world.tracks.props.kind import PropKind
from donkeysim.world.tracks.structures.placement import Placement, check_clear, place_props
from donkeysim.world.tracks.structures.standing import build_fixed, build_standing
from donkeysim.world.tracks.structures.structure import gather_colliders
from donkeysim.world.tracks.tables.checks import is_picture_file, to_tint
from donkeysim.world.tracks.terrain.ground import build_ground, sample_height
from donkeysim.world.tracks.terrain.land import build_land
from donkeysim.world.tracks.terrain.sky import make_clear_sky, make_plain_sky, make_sky
from donkeysim.world.tracks.terrain.surfaces import SURFACE_MEAN
from donkeysim.world.tracks.track_check import build_line
from donkeysim.world.tracks.track_file import TrackFile

WHEELS_APART = 0.2
"""Width of a car's stand, about [m]: what lies between is what it leans by."""

MANY_NODES = 800
"""Nodes of a path that are close enough to each other for the shortest line."""

MOST_GATES, GATE_SPACING = 4_000, 0.01
"""More gates than this stand this far apart or farther [m]: how long a string is pulled over them grows with how
many of them are in sight of each other."""

SEALED_FLOORS = ("concrete", "dark_wood", "hall_floor", "wood")
"""Textures of the ground that are smooth where there is a roof."""


def build_scene(track: TrackFile, challenges: ChallengeSpec = NO_CHALLENGES) -> Scene:
    """Return the scene of a track.

    Args:
        challenges: Cones and trees to add.

    Raises:
        SceneError: The track is impossible; the text says why, `key` where.
    """
    with ThreadPoolExecutor(1, "sky") as painter:
        sky = painter.submit(paint_sky, track)  # a third of all the work, and nothing else waits for it
        return _build_under(sky.result, track, challenges)


def _build_under(take_sky: Callable[[], ByteArray | None], track: TrackFile, challenges: ChallengeSpec) -> Scene:
    """Return the scene of a track under a sky, which is asked for last."""
    sun = find_sun(track)
    assets, car_models = take_cars()
    assets.named[0] = ("terrain", track.ground.hit or "terrain")
    line = build_line(track)
    ground = build_ground(track, line)
    start = build_start(track, line, ground)
    structures = build_fixed(track, line, start, ground, assets)
    placed = place_props(track, line, structures)
    still, moved = ([item for item in placed if (item.kind.movable is None) == stays] for stays in (True, False))
    structures += build_standing(still, ground, assets)
    if not track.road.obstacles:
        check_clear(structures, line, ground)
    path = build_path(track, line, ground)
    around = Surroundings(path.position[:, :2], line, ground, start, structures, placed)
    structures += build_standing(place_trees(challenges, around, choose_tree_kinds(track)), ground, assets)
    cones = place_cones(challenges, dataclasses.replace(around, structures=structures))
    if challenges.ghosts:
        structures += [dataclasses.replace(cone, colliders=()) for cone in build_standing(cones, ground, assets)]
    shadows = [shadow for structure in structures for shadow in structure.shadows]
    land = build_land(track, line, ground, assets, shadows, sun)
    return Scene(
        name=track.name,
        path=path,
        ground=ground,
        colliders=gather_colliders(structures, assets),
        props=build_props(moved if challenges.ghosts else [*moved, *cones], ground, assets),
        start=start,
        light=build_light(track, sun, assets, take_sky()),
        static=merge_meshes([*land, *(structure.mesh for structure in structures)]),
        car_models=car_models,
        models=tuple(assets.models),
        materials=tuple(assets.materials),
        textures=tuple(assets.textures),
        hit_names=tuple(hit for _, hit in assets.named),
        labels=tuple(label for label, _ in assets.named),
        class_maps=tuple(assets.class_maps),
        ghosts=np.array([cone.position for cone in cones if challenges.ghosts]).reshape(-1, 2),
        road=describe_road(track),
        has_bare_road=track.road.texture == "none",
        has_sealed_floor=_has_sealed_floor(track, ground),
    )


def _has_sealed_floor(track: TrackFile, ground: Ground) -> bool:
    return track.light.sky == "none" and ground.height.size == 1 and track.ground.texture in SEALED_FLOORS


def build_path(track: TrackFile, line: CentreLine, ground: Ground) -> Path:
    """Return the nodes, at the height of a standing car's origin, and the road's widths there."""
    nodes = place_nodes(track.path, line)
    height = sample_height(ground, nodes.position) + track.start.ride_height
    left, right = line.measure_widths(nodes.distance)
    position = np.column_stack((nodes.position, height))
    shortest = _find_shortest(track, line, len(position))
    middle = line.locate(nodes.distance)[0]
    aside = 0.5 * WHEELS_APART * find_normals(position[:, :2], line.closed)
    rise = sample_height(ground, position[:, :2] + aside) - sample_height(ground, position[:, :2] - aside)
    bank = np.asarray(rise / WHEELS_APART)  # to the left, under a car's wheels [m/m]
    return Path(position, left, right, line.closed, shortest, middle, nodes.height, bank)


def _find_shortest(track: TrackFile, line: CentreLine, node_count: int) -> FloatArray:
    """Return the shortest line from the first start line on: two gates to a node, one or fewer where nodes are many."""
    count = node_count * (1 if node_count >= MANY_NODES else 2)
    count = min(count, max(MOST_GATES, int(line.length / GATE_SPACING)))
    first = find_first_line(track.start, line) if line.closed else 0.0
    distance = first + np.arange(count) * (line.length / (count if line.closed else count - 1))
    position, _ = line.locate(distance)
    left, right = line.measure_widths(distance)
    return compute_shortest_line(position, left, right, line.closed)


def build_props(items: Sequence[Placement], ground: Ground, assets: Assets) -> Props:
    """Return the movable things; their meshes join the scene's models."""
    model: dict[tuple[PropKind, int, float], int] = {}
    rows, indices = [], []
    for item in items:
        body, key, size = item.kind.movable, (item.kind, item.variant, item.scale), item.scale
        if body is None:
            raise ValueError(f"{item.label} does not move; it belongs to the still things.")
        if key not in model:
            mesh = item.kind.build(assets, item.variant).mesh
            model[key] = assets.add_model(place_mesh(mesh, (0.0, 0.0, 0.0), 0.0, size))
        indices.append((model[key], assets.ensure_named(body.label, item.hit)))
        shape = np.array((body.radius_base, body.radius_top, body.height, body.centre_of_mass)) * size
        rows.append((*item.position, item.yaw, body.mass * size**3, *shape.tolist(), body.friction))
    table = np.array(rows, float).reshape(-1, 9)
    height = sample_height(ground, table[:, :2])
    columns = (np.ascontiguousarray(column) for column in table[:, 2:].T)
    model_and_name = (column.copy() for column in np.array(indices, np.int32).reshape(-1, 2).T)
    return Props(np.column_stack((table[:, :2], height)), *columns, *model_and_name)


def find_sun(track: TrackFile) -> tuple[float, float, float]:
    """Return the unit vector towards the sun."""
    azimuth, height = math.radians(track.light.sun_azimuth), math.radians(track.light.sun_height)
    return (math.cos(azimuth) * math.cos(height), math.sin(azimuth) * math.cos(height), math.sin(height))


def paint_sky(track: TrackFile) -> ByteArray | None:
    """Return the panorama around a place, shape [height, width, 4]; None: there is none."""
    table = track.light
    if table.sky == "none":
        return None
    if is_picture_file(table.sky):
        require_picture(table.sky, "light.sky")
        return read_picture(table.sky)
    azimuth, height = math.radians(table.sun_azimuth), math.radians(table.sun_height)
    if table.sky == "clear":
        return make_clear_sky(azimuth, height, table.below)
    ground = track.ground.colour or SURFACE_MEAN["plain" if table.sky == "plain" else track.ground.texture]
    if table.sky == "plain":
        return make_plain_sky(table.fog, ground)
    return make_sky(table.sky, azimuth, height, table.fog, ground)


def build_light(track: TrackFile, sun: tuple[float, float, float], assets: Assets, sky: ByteArray | None) -> Light:
    """Return sun, haze and sky."""
    table = track.light
    texture = -1 if sky is None else assets.add_texture(sky)
    ground = table.fog_density if table.ground_fog_density is None else table.ground_fog_density
    return Light(sun, table.sun, table.ambient, to_tint(table.fog), table.fog_density, ground, texture)


def take_cars() -> tuple[Assets, dict[str, CarModel]]:
    """Return what a new scene begins with: the meshes of every body style, which all scenes share, by style."""
    assets, models = _build_cars()
    return assets.copy(), models


@lru_cache(maxsize=1)
def _build_cars() -> tuple[Assets, dict[str, CarModel]]:
    assets = Assets()
    wheel = assets.add_model(build_mesh("cars/wheel", 0, assets))
    bodies = {style: assets.add_model(build_mesh(f"cars/{style}", 0, assets)) for style in BODY_STYLES}
    return assets, {style: CarModel(body, wheel) for style, body in bodies.items()}
