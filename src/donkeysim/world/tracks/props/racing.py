"""What stands about race tracks: cones."""

from __future__ import annotations

from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.mesh import make_box, make_revolved, merge_meshes
from donkeysim.world.tracks.structure import Structure
from donkeysim.world.tracks.textures import make_cone_stripes


def build_cone(assets: Assets, variant: int) -> Structure:
    """Return a traffic cone of 0.14 m on its black foot."""
    del variant
    stripes = assets.ensure_textured("cone stripes", make_cone_stripes)
    body = make_revolved(((0.042, 0.010), (0.006, 0.140)), 7, stripes, capped=False)
    foot = make_box((0.104, 0.104, 0.010), (0.0, 0.0, 0.005), assets.ensure_plain((0.13, 0.13, 0.14)))
    return Structure(merge_meshes([foot, body]))
