"""Things that stand about: their meshes, what they are to physics, and the shadow they leave.

A kind is a row of `PROP_KINDS`. Still things become part of the static mesh and colliders; movable ones become models.
"""

from __future__ import annotations

from donkeysim.world.tracks.props import indoor, plants, racing
from donkeysim.world.tracks.props.kind import Movable, PropKind
from donkeysim.world.tracks.props.person import build_person

PROP_KINDS: dict[str, PropKind] = {
    "cone": PropKind(racing.build_cone, 1, 0.052, Movable("cone", 1.0, 0.052, 0.012, 0.14, 0.04)),
    "tall_cone": PropKind(racing.build_tall_cone, 1, 0.1125, Movable("cone", 2.0, 0.1125, 0.016, 0.4125, 0.11)),
    "pylon": PropKind(racing.build_pylon, 1, 0.06, Movable("pylon", 1.0, 0.06, 0.02, 0.30, 0.06)),
    "barrel": PropKind(racing.build_barrel, 2, 0.08, Movable("barrel", 6.0, 0.08, 0.08, 0.24, 0.11)),
    "tree": PropKind(plants.build_broadleaf, 6, 0.045, spread=0.3),
    "spruce": PropKind(plants.build_conifer, 6, 0.045, spread=0.3),
    "birch": PropKind(plants.build_birch, 3, 0.026, spread=0.25),
    "pine": PropKind(plants.build_pine, 3, 0.04, spread=0.25),
    "palm": PropKind(plants.build_palm, 3, 0.045, spread=0.2),
    "cactus": PropKind(plants.build_cactus, 6, 0.06, spread=0.35),
    "bush": PropKind(plants.build_bush, 4, 0.15, spread=0.35),
    "rock": PropKind(plants.build_rock, 3, 0.12, spread=0.4),
    "hay_bale": PropKind(racing.build_hay_bale, 1, 0.51, spread=0.05),
    "tyre_stack": PropKind(racing.build_tyre_stack, 1, 0.095),
    "chevron": PropKind(racing.build_chevron, 2, 0.02),
    "sign": PropKind(racing.build_sign, 6, 0.02),
    "flag": PropKind(racing.build_flag, 4, 0.015),
    "lamp_post": PropKind(racing.build_lamp_post, 1, 0.022),
    "grandstand": PropKind(racing.build_grandstand, 1, 1.27),
    "tent": PropKind(racing.build_tent, 3, 2.09),
    "person": PropKind(build_person, 12, 0.15, spread=0.06),
    "rack": PropKind(indoor.build_rack, 4, 1.44),
    "pallet": PropKind(indoor.build_pallet, 4, 0.73),
    "bench": PropKind(indoor.build_bench, 1, 0.98),
    "table": PropKind(indoor.build_table, 3, 0.89),
    "chair": PropKind(indoor.build_chair, 3, 0.32),
    "shelf": PropKind(indoor.build_shelf, 1, 0.63),
    "plant": PropKind(indoor.build_plant, 3, 0.2, spread=0.2),
}
"""Every kind that a track file may name."""
