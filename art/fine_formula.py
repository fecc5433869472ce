"""The fine mesh of the formula car `f1`: `art.cars` has the one that cameras see."""

from collections.abc import Sequence

import numpy as np

from art.cars import AXLE_HEIGHT, AXLES
from art.fine_parts import build_both_sides, build_lamp, ensure_coat
from art.fine_shape import (
    bend,
    interpolate,
    make_lathed,
    make_round_box,
    make_skin,
    make_slab,
    make_tube,
    round_outline,
    weld_mesh,
)
from art.palette import Palette
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import make_box, merge_meshes

TUB = ((-0.113, 0.0140, -0.0180, 0.0190), (-0.105, 0.0185, -0.0205, 0.0230), (-0.050, 0.0335, -0.0240, 0.0350),
       (-0.020, 0.0325, -0.0240, 0.0300), (0.000, 0.0300, -0.0240, 0.0262), (0.060, 0.0215, -0.0220, 0.0178),
       (0.105, 0.0140, -0.0220, 0.0045), (0.126, 0.0108, -0.0220, -0.0040), (0.1335, 0.0085, -0.0205, -0.0080),
       (0.1362, 0.0045, -0.0175, -0.0110))  # fmt: skip
POD = ((-0.096, 0.006, -0.0225, -0.0060), (-0.085, 0.0130, -0.0240, 0.0020), (-0.030, 0.0222, -0.0240, 0.0198),
       (0.010, 0.0222, -0.0235, 0.0198), (0.0270, 0.0205, -0.0200, 0.0180),
       (0.0290, 0.0188, -0.0185, 0.0165))  # fmt: skip
AIRBOX = ((-0.112, 0.0030, 0.0150, 0.0235), (-0.105, 0.0062, 0.0150, 0.0290), (-0.045, 0.0122, 0.0260, 0.0660),
          (-0.027, 0.0122, 0.0320, 0.0718), (-0.0250, 0.0110, 0.0360, 0.0708))  # fmt: skip
"""Hulls: x, half width, z of underside and top [m]."""


def build_fine_formula(palette: Palette) -> Mesh:
    """Return a formula car: nose, side pods, airbox, halo, wings of several elements, wishbones, a driver's helmet."""
    paint, dark, black = palette.ensure_paint(), ensure_coat(palette, "dark"), ensure_coat(palette, "black")
    tub = _hull(TUB, (0.03, 0.045, 0.08, 0.095, 0.115), 20, paint)
    parts = [tub, _hull(AIRBOX, (-0.085, -0.065), 14, paint), *_floor(palette), *_cockpit(palette)]
    pod = _hull(POD, (-0.065, -0.05), 16, paint)
    inlet = make_slab(_oval(0.0150, 0.0135, 14), (0.0270, 0.0294), black, axis="x", bevel=0.0006)
    for mesh, z in ((pod, 0.0), (inlet, -0.001)):
        moved = mesh.vertex + np.array((0.0, 0.048, z), np.float32)
        parts += build_both_sides(Mesh(moved, mesh.uv, mesh.triangle, mesh.material))
    mouth = make_slab([(y, z + 0.0545) for y, z in _oval(0.0080, 0.0125, 12)], (-0.0265, -0.0242), black, axis="x")
    fin = round_outline(((-0.108, 0.024), (-0.060, 0.040), (-0.058, 0.060), (-0.090, 0.049), (-0.110, 0.046)), 0.004)
    parts += [mouth, make_slab(fin, (-0.0012, 0.0012), paint, axis="y", bevel=0.0005)]
    parts += [make_round_box((0.010, 0.008, 0.004), (-0.032, 0.0, 0.0735), ensure_coat(palette, "yellow"), 0.0012)]
    parts += [*_front_wing(palette), *_rear_wing(palette), *_suspension(palette)]
    mirror = make_round_box((0.005, 0.011, 0.007), (0.020, 0.0425, 0.0315), paint, 0.0016)
    glass = make_box((0.0006, 0.0085, 0.0048), (0.0173, 0.0425, 0.0315), ensure_coat(palette, "glass"))
    stay = make_tube(((0.022, 0.026, 0.0195), (0.021, 0.040, 0.0300)), 0.0022, dark, sides=5, flat=0.6)
    return weld_mesh(merge_meshes([*parts, *build_both_sides(mirror, glass, stay)]))


def _hull(stations: Sequence[tuple[float, ...]], between: Sequence[float], sides: int, material: int) -> Mesh:
    """Return a rounded hull through stations, and smoothly through places between them."""
    known = np.array(stations)
    x = np.array(sorted({*known[:, 0].tolist(), *between}))
    half, low, high = interpolate(x, known[:, 0], known[:, 1:]).T
    angle = (np.arange(sides) + 0.5) * (2.0 * np.pi / sides)
    across = np.sign(np.cos(angle)) * np.abs(np.cos(angle)) ** 0.72
    up = np.sign(np.sin(angle)) * np.abs(np.sin(angle)) ** 0.72
    y, z = half[:, None] * across, 0.5 * (low + high)[:, None] + 0.5 * (high - low)[:, None] * up
    return make_skin(np.stack((np.broadcast_to(x[:, None], y.shape), y, z), axis=-1), material)


def _oval(wide: float, high: float, sides: int) -> list[tuple[float, float]]:
    """Return an oval outline about the origin."""
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    return [(float(wide * np.cos(a)), float(high * np.sin(a))) for a in angle]


def _wing(stations: Sequence[tuple[float, float, float, float, float]], material: int) -> Mesh:
    """Return a blade from left to right.

    Args:
        stations: Of its left half from its tip inwards: y, x and z of its leading edge, chord [m], angle [rad].
        material: Of all triangles.
    """
    section = np.array([(0.0, 0.0), (0.03, 0.055), (0.18, 0.085), (0.55, 0.06), (1.0, 0.008), (1.0, -0.012),
                        (0.5, -0.045), (0.12, -0.055), (0.02, -0.035)])  # fmt: skip
    rings = []
    for y, x, z, chord, angle in [*stations, *((-y, *rest) for y, *rest in reversed(stations) if y)]:
        back, up = section[:, 0] * chord, section[:, 1] * chord
        rings.append(
            np.stack(
                (
                    x - back * np.cos(angle) + up * np.sin(angle),
                    np.full(len(section), y),
                    z + back * np.sin(angle) + up * np.cos(angle),
                ),
                axis=1,
            )
        )
    return make_skin(np.array(rings), material)


def _front_wing(palette: Palette) -> list[Mesh]:
    """Return the front wing: three elements between end plates, hung from the nose."""
    paint, white, dark = palette.ensure_paint(), ensure_coat(palette, "white"), ensure_coat(palette, "dark")
    parts = [
        _wing(
            (
                (0.0875, 0.130, -0.0295, 0.015, 0.10),
                (0.045, 0.1355, -0.0295, 0.017, 0.10),
                (0.0, 0.1365, -0.0270, 0.017, 0.06),
            ),
            paint,
        )
    ]
    for lift, shift, coat in ((0.0030, 0.0110, paint), (0.0062, 0.0185, white)):
        stations = ((0.0875, 0.130 - shift, -0.0285 + lift, 0.011, 0.42),
                    (0.050, 0.1345 - shift, -0.0285 + lift, 0.011, 0.34),
                    (0.017, 0.1360 - shift, -0.0275 + lift, 0.010, 0.20))  # fmt: skip
        half = _half_wing(stations, coat)
        parts += build_both_sides(half)
    plate = round_outline(
        ((0.1035, -0.0315), (0.1365, -0.0315), (0.1365, -0.0225), (0.126, -0.0125), (0.1035, -0.0125)), 0.003
    )
    pylon = round_outline(((0.118, -0.027), (0.132, -0.027), (0.130, -0.012), (0.114, -0.010)), 0.002, 2)
    lip = round_outline(((0.1035, -0.0318), (0.1365, -0.0318), (0.1365, -0.0300), (0.1035, -0.0300)), 0.0004, 2)
    return parts + build_both_sides(
        make_slab(plate, (0.0875, 0.0902), white, axis="y", bevel=0.0007),
        make_slab(lip, (0.0815, 0.0890), dark, axis="y", bevel=0.0003),
        make_slab(pylon, (0.0062, 0.0084), paint, axis="y", bevel=0.0006),
    )


def _half_wing(stations: Sequence[tuple[float, float, float, float, float]], material: int) -> Mesh:
    """Return a blade on the left alone."""
    whole = _wing(stations, material)
    sides, count = 9, len(stations)
    rings = whole.vertex[: 2 * sides * count].reshape(2 * count, sides, 3)[:count]
    return make_skin(rings.astype(float), material)


def _rear_wing(palette: Palette) -> list[Mesh]:
    """Return the rear wing: main plane and flap between end plates, on two stays, and the lower blade with its lamp."""
    yellow, dark, paint = ensure_coat(palette, "yellow"), ensure_coat(palette, "dark"), palette.ensure_paint()
    parts = [
        _wing(
            (
                (0.0755, -0.1060, 0.0560, 0.0250, 0.34),
                (0.035, -0.1055, 0.0520, 0.0270, 0.34),
                (0.0, -0.1055, 0.0510, 0.0275, 0.34),
            ),
            yellow,
        )
    ]
    parts += [_wing(((0.0755, -0.1235, 0.0735, 0.0200, 0.92), (0.0, -0.1235, 0.0720, 0.0205, 0.92)), yellow)]
    parts += [_wing(((0.060, -0.1090, 0.0285, 0.0180, 0.35), (0.0, -0.1085, 0.0265, 0.0180, 0.35)), dark)]
    plate = round_outline(
        ((-0.1415, 0.0425), (-0.1040, 0.0425), (-0.1022, 0.066), (-0.1075, 0.0935), (-0.1415, 0.0935)), 0.005, 3
    )
    low = round_outline(((-0.136, 0.018), (-0.112, 0.018), (-0.106, 0.044), (-0.1395, 0.044)), 0.004, 2)
    stay = round_outline(((-0.1165, 0.014), (-0.1070, 0.016), (-0.1105, 0.0515), (-0.1175, 0.0535)), 0.002, 2)
    parts += build_both_sides(
        make_slab(plate, (0.0750, 0.0780), yellow, axis="y", bevel=0.0007),
        make_slab(low, (0.0595, 0.0615), dark, axis="y", bevel=0.0006),
        make_tube(((-0.122, 0.0605, 0.042), (-0.122, 0.0755, 0.047)), 0.003, dark, sides=5),
        make_slab(stay, (0.0055, 0.0079), dark, axis="y", bevel=0.0006),
    )
    parts += [make_round_box((0.014, 0.006, 0.006), (-0.124, 0.0, 0.0745), dark, 0.0014)]
    parts += [make_lathed(((0.0048, 0.010), (0.0048, -0.004), (0.0041, -0.0044), (0.0039, 0.002)),
                          12, ensure_coat(palette, "metal"), axis="x", centre=(-0.1135, 0.0, 0.0165))]  # fmt: skip
    parts += [make_slab(_oval(0.0170, 0.0140, 12), (-0.1135, -0.1110), paint, axis="x")]
    return parts + build_lamp(palette, (-0.1155, 0.0, 0.005), (0.004, 0.012, 0.010), "rear lamp")


def _floor(palette: Palette) -> list[Mesh]:
    """Return the floor with its diffuser, and vanes beside the pods."""
    dark, paint = ensure_coat(palette, "dark"), palette.ensure_paint()
    edge = (
        (-0.1225, 0.030),
        (-0.078, 0.031),
        (-0.055, 0.0700),
        (0.022, 0.0715),
        (0.040, 0.060),
        (0.066, 0.040),
        (0.0825, 0.020),
    )
    outline = round_outline([*edge, *((x, -y) for x, y in reversed(edge))], 0.008, 3)
    parts = [make_slab(outline, (-0.029, -0.0235), dark, bevel=0.0012)]
    parts += [make_box((0.020, 0.0012, 0.012), (-0.1145, 0.0092 * n, -0.0180), dark) for n in (-3, -2, -1, 0, 1, 2, 3)]
    vane = round_outline(((0.034, -0.026), (0.056, -0.026), (0.052, -0.002), (0.038, 0.006)), 0.003)
    turning = round_outline(((0.040, -0.026), (0.062, -0.026), (0.058, -0.010), (0.046, -0.006)), 0.003)
    return parts + build_both_sides(
        make_slab(vane, (0.0520, 0.0534), paint, axis="y", bevel=0.0004),
        make_slab(turning, (0.0385, 0.0399), dark, axis="y", bevel=0.0004),
    )


def _cockpit(palette: Palette) -> list[Mesh]:
    """Return the opening with its rim, head rest, wheel and halo, and the driver's helmet."""
    dark, black, yellow, white = (ensure_coat(palette, name) for name in ("dark", "black", "yellow", "white"))
    angle = np.linspace(0.0, 2.0 * np.pi, 17)
    rim = np.stack((0.004 + 0.0225 * np.cos(angle), 0.0180 * np.sin(angle), 0.0285 - 0.0035 * np.cos(angle)), axis=1)
    hole = [(float(x), float(y)) for x, y, _ in rim[:-1]]
    parts = [make_slab(hole, (0.012, 0.0288), black, bevel=0.001), make_tube(rim, 0.0045, dark, sides=6, is_open=True)]
    parts += [make_round_box((0.016, 0.034, 0.012), (-0.0235, 0.0, 0.0360), dark, 0.004)]
    profile = ((0.0080, 0.022), (0.0112, 0.0265), (0.0124, 0.0315), (0.0126, 0.0362), (0.0120, 0.0405),
               (0.0100, 0.0445), (0.0066, 0.0472), (0.0028, 0.0482))  # fmt: skip
    kinds = np.full((len(profile) - 1, 16), yellow, np.int32)
    kinds[3:, [0, 7, 8, 15]] = white
    kinds[2:4, [*range(3), *range(13, 16)]] = black
    parts += [make_lathed(profile, 16, kinds, centre=(-0.008, 0.0, 0.0), has_foot=False)]
    wheel = make_tube(
        bend([(0.012, -0.008, 0.032), (0.0135, -0.0065, 0.0275), (0.0135, 0.0065, 0.0275), (0.012, 0.008, 0.032)], 2),
        0.0026,
        dark,
        sides=5,
    )
    loop = [(-0.0275, 0.0205, 0.0340), (-0.0235, 0.0205, 0.0440), (-0.008, 0.0200, 0.0500), (0.008, 0.0165, 0.0515),
            (0.0165, 0.0085, 0.0515), (0.0188, 0.0, 0.0513)]  # fmt: skip
    whole = np.concatenate((bend(loop, 2), bend(loop, 2)[-2::-1] * (1.0, -1.0, 1.0)))
    pylon = make_tube(
        bend([(0.0188, 0.0, 0.0513), (0.0235, 0.0, 0.0450), (0.0310, 0.0, 0.0230)], 2),
        (0.0042, 0.004, 0.004, 0.0046, 0.0056),
        dark,
        sides=6,
    )
    return [*parts, wheel, make_tube(whole, 0.0048, dark, sides=7), pylon]


def _suspension(palette: Palette) -> list[Mesh]:
    """Return wishbones, push rods, steering links or drive shafts, and the uprights with their brake ducts."""
    dark, metal = ensure_coat(palette, "dark"), ensure_coat(palette, "metal")
    parts = []
    for x, root in zip(AXLES, (0.003, 0.007), strict=True):
        upper, lower = np.array((x, 0.0715, AXLE_HEIGHT + 0.012)), np.array((x, 0.0725, AXLE_HEIGHT - 0.0045))
        for reach in (-0.016, 0.016):
            for end, z in ((upper, -0.009), (lower, -0.020)):
                parts += [
                    make_tube(np.array([(x + reach, root, z), end]), 0.0034, dark, sides=6, flat=0.5, is_open=True)
                ]
        parts += [
            make_tube(
                np.array([(x - 0.004, root, -0.003), (x, 0.070, AXLE_HEIGHT)]), 0.0028, dark, sides=5, is_open=True
            )
        ]
        parts += [
            make_tube(
                ((x + 0.006, root, -0.014), (x + 0.006, 0.0715, AXLE_HEIGHT + 0.004)),
                0.0030,
                metal if x < 0.0 else dark,
                sides=6,
                is_open=True,
            )
        ]
        parts += [make_round_box((0.016, 0.006, 0.0116), (x, 0.0725, AXLE_HEIGHT), dark, 0.0015)]
    return build_both_sides(*parts)
