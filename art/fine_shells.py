"""The fine meshes of the closed cars, `car01` and `cybertruck`: `art.cars` has those that cameras see."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from art.cars import AXLES
from art.fine_parts import build_arch, build_both_sides, build_lamp, build_running_gear, ensure_coat
from art.fine_shape import (
    Outline,
    interpolate,
    make_lathed,
    make_panel,
    make_round_box,
    make_skin,
    make_slab,
    make_tube,
    round_outline,
    weld_mesh,
)
from art.palette import Palette
from art.shape import make_prism
from donkeysim.core.frames import Vector
from donkeysim.core.types import FloatArray, IntArray
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import make_box, make_loft, merge_meshes

ARCH = ((-0.046, -0.009), (-0.0435, 0.002), (-0.034, 0.0145), (-0.016, 0.020), (0.008, 0.020), (0.022, 0.0155),
        (0.031, 0.006), (0.034, -0.002))  # fmt: skip
UNDER_ARCH = ((-0.0425, -0.0115), (-0.0400, -0.001), (-0.0315, 0.0095), (-0.0155, 0.0148), (0.0075, 0.0148),
              (0.020, 0.0108), (0.0285, 0.0025), (0.0312, -0.005))  # fmt: skip
"""Edges of the touring car's arches seen from the side, from the axle [m]."""

BODY = np.array(
    [(-0.1275, 0.0545, -0.014, 0.0300), (-0.118, 0.0610, -0.019, 0.0375), (-0.105, 0.0640, -0.022, 0.0420),
     (-0.030, 0.0660, -0.026, 0.0400), (0.050, 0.0660, -0.026, 0.0340), (0.090, 0.0640, -0.024, 0.0265),
     (0.112, 0.0600, -0.021, 0.0185), (0.122, 0.0550, -0.017, 0.0120), (0.1275, 0.0485, -0.014, 0.0060)]
)  # fmt: skip
"""Of the touring car: x, half width, z of underside and top [m]."""

BODY_HALF = ((0.80, 0.0), (0.925, 0.05), (0.96, 0.20), (0.985, 0.36), (1.0, 0.55), (0.99, 0.70), (0.955, 0.84),
             (0.87, 0.94), (0.70, 0.985))  # fmt: skip
"""Its cross section on one side: shares of half width and height, upwards."""

CABIN = np.array([(-0.091, 0.0385), (-0.087, 0.0430), (-0.056, 0.0738), (-0.022, 0.0793), (0.012, 0.0762),
                  (0.053, 0.0358), (0.058, 0.0320)])  # fmt: skip
"""Its cabin: x and z of the roof's middle [m]."""

CABIN_HALF = ((0.0525, 0.0), (0.0520, 0.10), (0.0512, 0.18), (0.0478, 0.52), (0.0440, 0.80), (0.0405, 0.91),
              (0.0340, 0.972), (0.0170, 0.995))  # fmt: skip
"""Its cross section on one side: half width [m] and share of the height, upwards."""


def build_fine_touring_car(palette: Palette) -> Mesh:
    """Return a touring car (`car01`): rounded shell with flared arches, framed windows, twin lamps, mirrors, wing."""
    paint, dark = palette.ensure_paint(), ensure_coat(palette, "dark")
    parts = [*build_running_gear(palette), _touring_body(palette), _touring_cabin(palette)]
    outer, inner = _smooth(ARCH), _smooth(UNDER_ARCH)
    for x in AXLES:
        moved = [[(a + x, b) for a, b in line] for line in (outer, inner)]
        parts += build_both_sides(build_arch(moved[0], moved[1], (0.052, 0.1053), paint, bevel=0.003, slope=0.0025))
    parts += _touring_front(palette) + _touring_rear(palette)
    sill = round_outline(((-0.047, 0.055), (0.056, 0.055), (0.052, 0.0715), (-0.043, 0.0715)), 0.004)
    mirror = make_round_box((0.009, 0.014, 0.010), (0.0335, 0.0610, 0.0475), paint, 0.0025)
    glass = make_box((0.0006, 0.0105, 0.0068), (0.0289, 0.0612, 0.0475), ensure_coat(palette, "glass"))
    stalk = make_tube(((0.036, 0.049, 0.0425), (0.0345, 0.057, 0.0455)), 0.003, dark, sides=6)
    parts += build_both_sides(make_slab(sill, (-0.0265, -0.0185), dark, bevel=0.0015), mirror, glass, stalk)
    handles = [make_round_box((0.011, 0.0022, 0.0024), (x, 0.0648, 0.0225), dark, 0.0008) for x in (-0.044, 0.004)]
    wiper = make_tube(((0.054, -0.004, 0.0360), (0.0475, 0.004, 0.0428), (0.040, 0.026, 0.0492)), 0.0012, dark, sides=4)
    parts += [*build_both_sides(*handles), wiper]
    return weld_mesh(merge_meshes(parts))


def build_fine_cybertruck(palette: Palette) -> Mesh:
    """Return the wedge: flat panels with gaps, steel below and paint above, light bars, angular arches."""
    dark, black = ensure_coat(palette, "dark"), ensure_coat(palette, "black")
    low = ((-0.128, -0.018), (0.122, -0.018), (0.130, 0.012), (0.118, 0.026), (-0.128, 0.036))
    core = make_prism(low, 0.136, black)
    outline, wide = np.array(((-0.128, 0.036), (0.118, 0.026), (0.004, 0.088))), np.array([0.066, 0.066, 0.046])
    upper = make_loft([np.stack((outline[:, 0], side * wide, outline[:, 1]), axis=1) for side in (-1.0, 1.0)], black)
    parts = [
        *build_running_gear(palette),
        core,
        upper,
        *_wedge_top(palette),
        *_wedge_sides(palette),
        *_wedge_ends(palette),
    ]
    arch = ((-0.046, -0.010), (-0.0450, 0.000), (-0.028, 0.020), (0.020, 0.020), (0.033, 0.006), (0.034, -0.002))
    under = (
        (-0.0425, -0.0125),
        (-0.0405, -0.002),
        (-0.0255, 0.0140),
        (0.018, 0.0140),
        (0.0290, 0.0025),
        (0.0305, -0.005),
    )
    for x in AXLES:
        moved = [[(a + x, b) for a, b in _clip(line)] for line in (arch, under)]
        parts += build_both_sides(build_arch(moved[0], moved[1], (0.058, 0.1053), dark, bevel=0.0022, slope=0.004))
    step = round_outline(((-0.051, -0.071), (0.059, -0.071), (0.059, 0.071), (-0.051, 0.071)), 0.003, 2)
    parts += [make_slab(step, (-0.018, -0.004), palette.ensure_paint(), bevel=0.0015)]
    return weld_mesh(merge_meshes(parts))


def _smooth(line: Outline) -> list[tuple[float, float]]:
    """Return twelve points of a smooth line through points."""
    found = interpolate(np.linspace(0.0, len(line) - 1.0, 12), np.arange(len(line)), np.array(line))
    return [(float(x), float(z)) for x, z in found]


def _clip(line: Outline) -> list[tuple[float, float]]:
    """Return a line whose inner corners are cut off a little, so that what lies between them looks flat."""
    cut = round_outline(line, 0.0012)
    return [line[0], *cut[2:-2], line[-1]]


def _touring_body(palette: Palette) -> Mesh:
    """Return the lower shell: gaps around doors, wells for the wheels, a stripe along its middle."""
    paint, dark, black = palette.ensure_paint(), ensure_coat(palette, "dark"), ensure_coat(palette, "black")
    gaps, wells = (
        (-0.052, -0.006, 0.046),
        [x + side * reach for x in AXLES for side, reach in ((-1, 0.044), (1, 0.040))],
    )
    lines = [-0.1275, -0.1255, -0.122, -0.112, -0.082, -0.036, -0.021, 0.016, 0.031, 0.092, 0.105, 0.115, 0.120, 0.124]
    lines += [gap + side * 0.0004 for gap in gaps for side in (-1, 1)]
    lines += [x + d for x in wells for d in (-0.0006, 0.0006)]
    x = np.array(sorted(line for line in [*lines, 0.1275] if abs(line) < 0.1276))
    half, low, high = interpolate(x, BODY[:, 0], BODY[:, 1:]).T
    is_well = np.zeros(len(x), bool)
    for axle in AXLES:
        is_well |= (x > axle - 0.044) & (x < axle + 0.040)
    rings = _mirror_ring([_body_side(*row) for row in zip(x, half, low, high, is_well, strict=True)])
    kinds = np.full((len(x) - 1, rings.shape[1]), paint, np.int32)
    sides = (rings.shape[1] - 1) // 2
    kinds[:, [0, 2 * sides - 1, 2 * sides]] = dark
    kinds[:, [sides - 1, sides]] = ensure_coat(palette, "white")
    middle = 0.5 * (x[1:] + x[:-1])
    is_low = np.isin(np.arange(rings.shape[1]), (1, 2, 2 * sides - 3, 2 * sides - 2))
    kinds[np.ix_(is_well[1:] | is_well[:-1], is_low)] = dark
    for gap in gaps:
        row = int(np.argmin(np.abs(middle - gap)))
        kinds[row, [*range(1, 7), *range(2 * sides - 7, 2 * sides - 1)]] = black
    ends = [
        rings[end] * (1.0, 0.90, 0.86) + (shift, 0.0, z)
        for end, shift, z in ((0, -0.0012, 0.0012), (-1, 0.0012, -0.0006))
    ]
    rings = np.concatenate((ends[0][None], rings, ends[1][None]))
    return make_skin(rings, np.concatenate((kinds[:1], kinds, kinds[-1:])), ends=(paint, paint))


def _body_side(x: float, half: float, low: float, high: float, is_well: bool) -> list[Vector]:
    """Return the points of the left side of a cross section, upwards, up to the stripe's edge."""
    points = []
    for number, (share, up) in enumerate(BODY_HALF):
        y = min(share * half, 0.046) if is_well and number < 3 else share * half
        points.append((x, y, low + up * (high - low)))
    return [*points, (x, min(0.019, 0.5 * half), low + 1.012 * (high - low))]


def _mirror_ring(sides: Sequence[Sequence[Vector]]) -> FloatArray:
    """Return rings from their left sides, upwards; in their middle they go on as high as they end there."""
    left = np.array(sides)
    middle = left[:, -1:] * (1.0, 0.0, 1.0) + (0.0, 0.0, 0.0003)
    return np.concatenate((left, middle, left[:, ::-1] * (1.0, -1.0, 1.0)), axis=1)


def _touring_cabin(palette: Palette) -> Mesh:
    """Return the cabin: glass between painted pillars, a white roof."""
    x = np.array((-0.091, -0.087, -0.083, -0.074, -0.066, -0.058, -0.050, -0.036, -0.022, -0.0115, -0.0065, 0.003,
                  0.011, 0.017, 0.026, 0.034, 0.042, 0.048, 0.053, 0.058))  # fmt: skip
    top = interpolate(x, CABIN[:, 0], CABIN[:, 1:]).ravel()
    rings = _mirror_ring(
        [[(a, y, 0.030 + share * (b - 0.030)) for y, share in CABIN_HALF] for a, b in zip(x, top, strict=True)]
    )
    kinds = _choose_cabin(palette, 0.5 * (x[1:] + x[:-1]), rings.shape[1])
    return make_skin(rings, kinds, ends=(palette.ensure_paint(), palette.ensure_paint()))


def _choose_cabin(palette: Palette, x: FloatArray, count: int) -> IntArray:
    """Return the material of each cell of the cabin, whose middles along the car are at x."""
    paint, glass, black, white = (
        palette.ensure_paint(),
        *(ensure_coat(palette, name) for name in ("glass", "black", "white")),
    )
    kinds = np.full((len(x), count), paint, np.int32)
    half = (count - 1) // 2
    for row, place in enumerate(x):
        left = [paint] * half
        left[1] = black if -0.070 < place < 0.045 else paint
        if -0.066 < place < -0.0115 or -0.0065 < place < 0.036:
            left[2:4] = [glass, glass]
        elif -0.0115 < place < -0.0065:
            left[2:4] = [black, black]
        if 0.017 < place < 0.048 or -0.083 < place < -0.058:
            left[5:] = [black, glass, glass]
        elif 0.011 < place < 0.053 or -0.087 < place < -0.050:
            left[5:] = [black] * 3
        elif -0.050 < place < 0.011:
            left[5:] = [white] * 3
        kinds[row, : count - 1] = left + left[::-1]
    return kinds


def _touring_front(palette: Palette) -> list[Mesh]:
    """Return grille, intake, splitter, twin lamps behind rims, and bonnet catches."""
    dark, black, metal = (ensure_coat(palette, name) for name in ("dark", "black", "metal"))
    grille = round_outline(((-0.023, -0.0025), (0.023, -0.0025), (0.020, 0.0055), (-0.020, 0.0055)), 0.002)
    parts = [make_slab(grille, (0.120, 0.1296), black, axis="x", bevel=0.0008)]
    parts += [
        make_round_box((0.002, 0.038, 0.0011), (0.1292, 0.0, z), metal, 0.0004) for z in (-0.0005, 0.0015, 0.0035)
    ]
    splitter = round_outline(
        ((0.10, -0.058), (0.122, -0.056), (0.132, -0.030), (0.132, 0.030), (0.122, 0.056), (0.10, 0.058)), 0.008
    )
    parts += [make_slab(splitter, (-0.0275, -0.0245), dark, bevel=0.0008)]
    rim = round_outline(((0.0235, 0.0015), (0.0475, 0.0030), (0.0465, 0.0125), (0.0255, 0.0130)), 0.0035)
    parts += build_both_sides(make_slab(rim, (0.110, 0.1268), black, axis="x", bevel=0.001))
    for y, x in ((0.0305, 0.1268), (0.0408, 0.1264)):
        ring = ((0.0046, -0.003), (0.0046, 0.0006), (0.0040, 0.0010), (0.0038, 0.0002))
        lamp = ((0.0037, 0.0), (0.0032, 0.0011), (0.0018, 0.0017))
        parts += build_both_sides(
            make_lathed(ring, 12, metal, axis="x", centre=(x, y, 0.0077), has_foot=False),
            make_lathed(lamp, 12, ensure_coat(palette, "lamp"), axis="x", centre=(x, y, 0.0077), has_foot=False),
        )
    catch = make_lathed(((0.0022, -0.001), (0.0022, 0.0014), (0.0014, 0.0018)), 8, metal, centre=(0.104, 0.030, 0.0215))
    vent = [make_box((0.0022, 0.016, 0.0014), (0.070 + 0.005 * n, 0.036, 0.0312 - 0.0013 * n), black) for n in range(3)]
    return parts + build_both_sides(catch, *vent)


def _touring_rear(palette: Palette) -> list[Mesh]:
    """Return the wing with end plates on its stays, rear lamps, bumper with diffuser, and exhausts."""
    paint, dark, black, metal = (
        palette.ensure_paint(),
        *(ensure_coat(palette, name) for name in ("dark", "black", "metal")),
    )
    blade = ((-0.1325, 0.0705), (-0.126, 0.0672), (-0.115, 0.0625), (-0.107, 0.0598), (-0.1042, 0.0605),
             (-0.1045, 0.0630), (-0.108, 0.0648), (-0.118, 0.0672), (-0.132, 0.0718))  # fmt: skip
    parts = [make_slab(blade, (-0.0625, 0.0625), paint, axis="y", bevel=0.0004)]
    plate = round_outline(((-0.1345, 0.058), (-0.103, 0.0555), (-0.102, 0.068), (-0.1345, 0.0735)), 0.003)
    stay = round_outline(((-0.119, 0.034), (-0.102, 0.036), (-0.108, 0.0615), (-0.1165, 0.0640)), 0.002)
    parts += build_both_sides(
        make_slab(plate, (0.0618, 0.0638), dark, axis="y", bevel=0.0006),
        make_slab(stay, (0.0385, 0.0415), dark, axis="y", bevel=0.0006),
    )
    parts += build_lamp(palette, (-0.1285, 0.036, 0.016), (0.004, 0.022, 0.008), "rear lamp")
    parts += [make_round_box((0.0014, 0.032, 0.0085), (-0.1290, 0.0, 0.0105), ensure_coat(palette, "white"), 0.0005)]
    bumper = round_outline(((-0.129, -0.050), (-0.112, -0.058), (-0.112, 0.058), (-0.129, 0.050)), 0.005)
    parts += [make_slab(bumper, (-0.024, -0.0095), dark, bevel=0.002)]
    parts += [make_box((0.022, 0.0016, 0.007), (-0.1185, 0.012 * n, -0.0255), dark) for n in (-2, -1, 0, 1, 2)]
    pipe = ((0.0040, 0.012), (0.0040, -0.0035), (0.0033, -0.0038), (0.0031, 0.002))
    return parts + build_both_sides(
        make_lathed(pipe, 10, (metal, metal, black), axis="x", centre=(-0.1285, 0.034, -0.0165), has_foot=False)
    )


def _wedge_top(palette: Palette) -> list[Mesh]:
    """Return bonnet, windscreen, glass roof and the slats over the bed."""
    paint, glass, dark = palette.ensure_paint(), ensure_coat(palette, "glass"), ensure_coat(palette, "dark")

    def cut(line: tuple[Vector, Vector], first: float, last: float, inset: float = 0.0) -> list[Vector]:
        (ax, ay, az), (bx, by, bz) = line
        ends = [(ax + s * (bx - ax), ay + s * (by - ay) - inset, az + s * (bz - az)) for s in (first, last)]
        (px, py, pz), (qx, qy, qz) = ends
        return [(px, -py, pz), (px, py, pz), (qx, qy, qz), (qx, -qy, qz)]

    front = ((0.118, 0.066, 0.026), (0.004, 0.046, 0.088))
    rear = ((0.004, 0.046, 0.088), (-0.128, 0.066, 0.036))
    parts = [make_panel(cut(front, 0.0, 0.50), paint, gap=0.0004, thickness=0.0008)]
    parts += [make_panel(cut(front, 0.50, 0.995, 0.003), glass, gap=0.0004, thickness=0.0006)]
    parts += [make_panel(cut(rear, 0.005, 0.36, 0.003), glass, gap=0.0004, thickness=0.0006)]
    marks = np.linspace(0.36, 0.955, 10)
    parts += [
        make_panel(cut(rear, a, b, 0.006), dark, gap=0.0003, thickness=0.0006) for a, b in pairwise(marks.tolist())
    ]
    parts += [make_panel(cut(rear, 0.955, 1.0), paint, gap=0.0003, thickness=0.0008)]
    edges = [make_tube([(a, b - 0.0012, c) for a, b, c in line], 0.0034, paint, sides=6) for line in (front, rear)]
    wiper = make_tube(((0.058, 0.046, 0.0602), (0.034, 0.044, 0.0732), (0.012, 0.0415, 0.0850)), 0.0014, dark, sides=4)
    return [*parts, *build_both_sides(*edges), wiper]


def _wedge_sides(palette: Palette) -> list[Mesh]:
    """Return the panels and windows of both sides, upper and lower."""
    paint, glass, steel = palette.ensure_paint(), ensure_coat(palette, "glass"), ensure_coat(palette, "steel")

    def lean(x: float, z: float) -> Vector:
        return x, 0.066 - 0.020 * (z - 0.036 + (x + 0.128) * 0.04065) / 0.05737, z

    upper = [
        ((0.118, 0.0262), (0.061, 0.0565), (0.056, 0.047), (0.052, 0.0289)),
        ((0.052, 0.0289), (0.056, 0.047), (-0.004, 0.0485), (-0.008, 0.0313)),
        ((-0.008, 0.0313), (-0.004, 0.0485), (-0.070, 0.0500), (-0.066, 0.0337)),
        ((-0.066, 0.0337), (-0.070, 0.0500), (-0.076, 0.0560), (-0.128, 0.0362)),
        ((0.061, 0.0565), (0.004, 0.0875), (0.004, 0.0795), (0.056, 0.047)),
        ((0.004, 0.0875), (-0.076, 0.0560), (-0.070, 0.0500), (0.004, 0.0795)),
    ]
    windows = [((0.054, 0.0475), (0.004, 0.0790), (-0.0005, 0.0775), (-0.0035, 0.0487)),
               ((-0.0045, 0.0487), (-0.0020, 0.0772), (-0.0685, 0.0503))]  # fmt: skip
    lower = [
        ((0.1285, 0.012), (0.1175, 0.0258), (0.052, 0.0285), (0.052, -0.006), (0.1235, -0.006)),
        ((0.052, -0.006), (0.052, 0.0285), (-0.008, 0.0309), (-0.008, -0.006)),
        ((-0.008, -0.006), (-0.008, 0.0309), (-0.066, 0.0333), (-0.066, -0.006)),
        ((-0.066, -0.006), (-0.066, 0.0333), (-0.1278, 0.0358), (-0.1278, -0.006)),
    ]
    parts = [make_panel([lean(x, z) for x, z in panel], paint, gap=0.0004, thickness=0.0008) for panel in upper]
    parts += [make_panel([lean(x, z) for x, z in panel], glass, gap=0.0002, thickness=0.0005) for panel in windows]
    parts += [make_panel([(x, 0.068, z) for x, z in panel], steel, gap=0.0004, thickness=0.0008) for panel in lower]
    return build_both_sides(*parts)


def _wedge_ends(palette: Palette) -> list[Mesh]:
    """Return front and rear: light bars, tailgate, bumpers."""
    steel, dark, black = (ensure_coat(palette, name) for name in ("steel", "dark", "black"))
    brow = [(0.130, -0.068, 0.012), (0.130, 0.068, 0.012), (0.118, 0.068, 0.026), (0.118, -0.068, 0.026)]
    face = [(0.1235, -0.066, -0.0122), (0.1235, 0.066, -0.0122), (0.130, 0.068, 0.012), (0.130, -0.068, 0.012)]
    parts = [
        make_panel(brow, steel, gap=0.0004, thickness=0.0008),
        make_panel(face, dark, gap=0.0006, thickness=0.0010),
    ]
    parts += [make_round_box((0.0046, 0.130, 0.0062), (0.1256, 0.0, 0.0178), black, 0.001)]
    parts += [make_round_box((0.0050, 0.126, 0.0034), (0.1262, 0.0, 0.0182), ensure_coat(palette, "bar"), 0.0008)]
    lamp = make_round_box((0.003, 0.018, 0.004), (0.1275, 0.046, 0.0045), ensure_coat(palette, "lamp"), 0.0008)
    parts += build_both_sides(lamp, make_round_box((0.003, 0.010, 0.006), (0.1256, 0.036, -0.0115), black, 0.001))
    gate = [(-0.128, 0.066, -0.003), (-0.128, -0.066, -0.003), (-0.128, -0.066, 0.0195), (-0.128, 0.066, 0.0195)]
    parts += [make_panel(gate, steel, gap=0.0004, thickness=0.0009)]
    parts += [make_round_box((0.0044, 0.133, 0.0140), (-0.1280, 0.0, 0.0272), black, 0.001)]
    parts += [make_round_box((0.0046, 0.128, 0.0060), (-0.1286, 0.0, 0.0285), ensure_coat(palette, "rear lamp"), 0.001)]
    bumper = round_outline(((-0.1315, -0.058), (-0.120, -0.064), (-0.120, 0.064), (-0.1315, 0.058)), 0.003, 2)
    return [*parts, make_slab(bumper, (-0.018, -0.005), dark, bevel=0.0015)]
