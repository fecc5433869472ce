"""Every picture, by the name of its file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from art import facade_pictures, leaf_pictures, prop_pictures, room_pictures, wall_pictures
from donkeysim.core.types import ByteArray

_STYLES = ("house", "townhouse", "office")

PICTURES: dict[str, Callable[[], ByteArray]] = {
    "cartons": prop_pictures.make_cartons,
    "faces": prop_pictures.make_faces,
    "barrel_skin": prop_pictures.make_barrel_skin,
    "tyre_side": prop_pictures.make_tyre_side,
    "signs": prop_pictures.make_signs,
    "flags": prop_pictures.make_flags,
    "crowd": prop_pictures.make_crowd,
    "palm_leaf": prop_pictures.make_palm_leaf,
    "palm_trunk": prop_pictures.make_palm_trunk,
    "boulder": prop_pictures.make_boulder,
    "cactus_skin": prop_pictures.make_cactus_skin,
    "tools": prop_pictures.make_tools,
    "bench_front": prop_pictures.make_bench_front,
    "books": prop_pictures.make_books,
    "stripes": prop_pictures.make_stripes,
    "cone_stripes": prop_pictures.make_cone_stripes,
    "cone_skin": prop_pictures.make_cone_skin,
    "bell_skin": prop_pictures.make_bell_skin,
    "bell_skin_orange": partial(prop_pictures.make_bell_skin, (1.22, 1.1, 0.76)),
    "wheel_face": prop_pictures.make_wheel_face,
    "crown_maple": partial(leaf_pictures.make_crown, (52, 92, 36), (146, 184, 74), 20.0, 7),
    "crown_oak": partial(leaf_pictures.make_crown, (46, 78, 30), (128, 160, 62), 20.0, 5),
    "crown_birch": partial(leaf_pictures.make_crown, (76, 118, 44), (172, 208, 98), 18.0, 9),
    "crown_pine": partial(leaf_pictures.make_crown, (30, 66, 44), (80, 122, 72), 20.0, 16),
    "crown_broad": partial(leaf_pictures.make_lobed_crown, (90, 122, 58), (212, 240, 150), 21),
    "crown_wide": partial(leaf_pictures.make_lobed_crown, (88, 118, 54), (204, 234, 140), 22),
    "spruce": partial(leaf_pictures.make_spruce, (30, 66, 44), (92, 136, 80), 6),
    "foliage": partial(leaf_pictures.make_foliage, (52, 92, 36), (146, 184, 74), 15.0, 7),
    "bark": leaf_pictures.make_bark,
    "bark_grey": partial(leaf_pictures.make_bark, 64, leaf_pictures.GREY),
    "concrete": wall_pictures.make_concrete,
    "bricks": wall_pictures.make_bricks,
    "rail": wall_pictures.make_rail,
    "posts": wall_pictures.make_posts,
    "railing": wall_pictures.make_railing,
    "barrier": wall_pictures.make_barrier,
    "tyre_stacks": wall_pictures.make_tyre_stacks,
    "straw": wall_pictures.make_straw,
    "kerb": wall_pictures.make_kerb,
    "hedge": wall_pictures.make_hedge,
    "low_hedge": wall_pictures.make_low_hedge,
    "fence": wall_pictures.make_fence,
    "rock_face": wall_pictures.make_rock_face,
    "board": wall_pictures.make_board,
    **{f"storey_{style}": partial(facade_pictures.make_storey, style) for style in _STYLES},
    **{f"ground_floor_{style}": partial(facade_pictures.make_ground_floor, style) for style in _STYLES},
    "tiles": facade_pictures.make_tiles,
    "gravel_roof": facade_pictures.make_gravel_roof,
    "sheet_metal": facade_pictures.make_sheet_metal,
    "container": facade_pictures.make_container,
    "crate": facade_pictures.make_crate,
    "tunnel_wall": facade_pictures.make_tunnel_wall,
    "tunnel_roof": facade_pictures.make_tunnel_roof,
    **{f"bay_{walls}": partial(room_pictures.make_bay, walls) for walls in ("metal", "brick", "plaster", "concrete")},
    **{f"windows_{windows}": partial(room_pictures.make_windows, windows) for windows in ("high", "large")},
    "roof": room_pictures.make_roof,
    "ceiling": room_pictures.make_ceiling,
    "truss": room_pictures.make_truss,
    "roller_door": room_pictures.make_roller_door,
    "door": room_pictures.make_door,
}
