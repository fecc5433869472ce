"""Things that stand about: their meshes, what they are to physics, and the shadow they leave.

A kind is a row of `PROP_KINDS`. Still things become part of the static mesh and colliders; movable ones become models.
"""

from __future__ import annotations

from donkeysim.world.tracks.props.kind import Movable, PropKind
from donkeysim.world.tracks.props.plants import build_birch, build_broadleaf, build_bush, build_conifer, build_rock
from donkeysim.world.tracks.props.racing import build_cone

PROP_KINDS: dict[str, PropKind] = {
    "cone": PropKind(build_cone, 1, 0.052, Movable("cone", 1.0, 0.052, 0.012, 0.14, 0.04)),
    "tree": PropKind(build_broadleaf, 6, 0.045, spread=0.3),
    "spruce": PropKind(build_conifer, 6, 0.045, spread=0.3),
    "birch": PropKind(build_birch, 3, 0.026, spread=0.25),
    "bush": PropKind(build_bush, 4, 0.15, spread=0.35),
    "rock": PropKind(build_rock, 3, 0.12, spread=0.4),
}
"""Every kind that a track file may name."""
