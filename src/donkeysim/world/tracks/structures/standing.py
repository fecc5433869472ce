"""Everything that never moves on a track, apart from the ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.world.scene import Ground, Start
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.props.kind import PropKind
from donkeysim.world.tracks.structures.arches import build_arches
from donkeysim.world.tracks.structures.blocks import build_blocks
from donkeysim.world.tracks.structures.gantry import build_gantry
from donkeysim.world.tracks.structures.model_mesh import build_model
from donkeysim.world.tracks.structures.panels import build_panels
from donkeysim.world.tracks.structures.placement import Placement
from donkeysim.world.tracks.structures.room import build_room
from donkeysim.world.tracks.structures.structure import Structure, place_structure
from donkeysim.world.tracks.structures.tunnels import build_tunnels
from donkeysim.world.tracks.structures.walls import build_walls
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile


def build_fixed(track: TrackFile, line: CentreLine, start: Start, ground: Ground, assets: Assets) -> list[Structure]:
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


def build_gantries(track: TrackFile, start: Start, ground: Ground, assets: Assets) -> list[Structure]:
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
