"""Everything that never moves on a track, apart from the ground."""

import math
from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import SHADE_UNLIT, Ground, StartGrid
from donkeysim.world.tracks.mesh import Assets, make_box, make_quad, make_revolved, merge_meshes, place_mesh
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.props.kind import PropKind
from donkeysim.world.tracks.structures.blocks import build_blocks
from donkeysim.world.tracks.structures.model_mesh import build_model
from donkeysim.world.tracks.structures.panels import build_panels, make_banner
from donkeysim.world.tracks.structures.placement import Placement
from donkeysim.world.tracks.structures.room import build_room
from donkeysim.world.tracks.structures.structure import Shadow, Structure, make_post, place_structure
from donkeysim.world.tracks.structures.tunnels import build_arches, build_tunnels
from donkeysim.world.tracks.structures.walls import build_walls
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

POST_RADIUS = 0.028

HEIGHT = 0.78

BANNER = 0.17

# Half a car, so that who drives with two wheels on the line does not hit a post.
CLEARANCE = 0.12
"""Between the road's edge and a post's middle [m]."""


def build_fixed(
    track: TrackFile, line: CentreLine, start: StartGrid, ground: Ground, assets: Assets
) -> list[Structure]:
    """Return everything that never moves but props: gantry, room, model, panels, walls, blocks, tunnels, arches."""
    return [
        *build_gantries(track, start, ground, assets),
        *build_room(track, line, assets),
        *build_model(track, line, assets),
        *build_panels(track, ground, assets),
        *build_walls(track, line, ground, assets),
        *build_blocks(track, line, ground, assets),
        *build_tunnels(track, line, ground, assets),
        *build_arches(track, line, ground, assets),
    ]


def build_gantries(track: TrackFile, start: StartGrid, ground: Ground, assets: Assets) -> list[Structure]:
    """Return the gantry over the first start line, if the track has one."""
    if not track.start.gantry or not len(start.line):
        return []
    height = float(sample_height(ground, start.line[0].mean(axis=0)[None])[0])
    return [build_gantry(assets, start.line[0], height, track.start.gantry)]


def build_standing(still: Sequence[Placement], ground: Ground, assets: Assets) -> list[Structure]:
    """Return still props."""
    made: dict[tuple[PropKind, int], Structure] = {}
    structures = []
    height = sample_height(ground, np.array([item.position for item in still]).reshape(-1, 2))
    for item, foot in zip(still, height.tolist(), strict=True):
        key = (item.kind, item.variant)
        if key not in made:
            made[key] = item.kind.build(assets, item.variant)
        structures.append(
            place_structure(made[key], (*item.position, foot), item.yaw, item.scale, item.label, item.hit)
        )
    return structures


def build_gantry(assets: Assets, ends: FloatArray, ground: float, text: str) -> Structure:
    """Return a gantry over a start line.

    Args:
        ends: The line's left and right end [m], shape [2, 2].
        ground: Height of its foot [m].
    """
    middle = ends.mean(axis=0)
    half = 0.5 * float(np.hypot(*(ends[1] - ends[0]))) + CLEARANCE
    across = (ends[0] - middle) / np.hypot(*(ends[0] - middle))
    steel = assets.ensure_plain((0.78, 0.79, 0.80))
    base = assets.ensure_plain((0.22, 0.23, 0.25))
    cloth = assets.ensure_textured(make_banner, text, flags=SHADE_UNLIT)
    low, top = HEIGHT - BANNER, HEIGHT
    parts = [
        make_quad([(-0.012, half, low), (-0.012, -half, low), (-0.012, -half, top), (-0.012, half, top)], cloth),
        make_quad([(0.012, -half, low), (0.012, half, low), (0.012, half, top), (0.012, -half, top)], cloth),
        make_box((0.024, 2.0 * half, 0.024), (0.0, 0.0, top + 0.012), steel),
        make_box((0.024, 2.0 * half, 0.016), (0.0, 0.0, low - 0.008), steel),
    ]
    for side in (-half, half):
        post = make_revolved(((POST_RADIUS, 0.0), (POST_RADIUS, HEIGHT + 0.05)), 8, steel)
        foot = make_revolved(((0.06, 0.0), (0.05, 0.05)), 8, base)
        parts += [place_mesh(post, (0.0, side, 0.0)), place_mesh(foot, (0.0, side, 0.0))]
    yaw = math.atan2(-across[0], across[1])
    mesh = place_mesh(merge_meshes(parts), (float(middle[0]), float(middle[1]), ground), yaw)
    feet = [(float(x), float(y)) for x, y in (middle + half * across, middle - half * across)]
    posts = tuple(make_post((*foot, ground), POST_RADIUS, HEIGHT, "gantry", 0.4) for foot in feet)
    return Structure(mesh, posts, tuple(Shadow(foot, 0.07, 0.05, 0.5) for foot in feet), "the gantry")
