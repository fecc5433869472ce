"""What several of the fine cars have: materials, running gear, camera, circuit board, lamps, arches over wheels."""

import math

import numpy as np

from art.cars import AXLE_HEIGHT, AXLES, WHEEL_SIDE
from art.fine_shape import (
    Outline,
    bend,
    make_lathed,
    make_round_box,
    make_skin,
    make_slab,
    make_spring,
    make_tube,
    round_outline,
    turn_mesh,
)
from art.palette import Palette
from art.shape import mirror_mesh
from donkeysim.core.frames import Vector
from donkeysim.world.scene import CLASS_CAR, SHADE_GLOSS, SHADE_METAL, SHADE_UNLIT, Mesh
from donkeysim.world.tracks.mesh import Shade, make_box

COATS: dict[str, tuple[Shade, int]] = {
    "rubber": ((0.10, 0.10, 0.11), 0),
    "dark": ((0.11, 0.11, 0.12), 0),
    "black": ((0.03, 0.03, 0.035), SHADE_GLOSS),
    "glass": ((0.26, 0.31, 0.37), SHADE_GLOSS),
    "metal": ((0.62, 0.64, 0.67), SHADE_METAL),
    "steel": ((0.74, 0.75, 0.77), SHADE_METAL),
    "silver": ((0.88, 0.90, 0.93), 0),
    "gold": ((0.86, 0.68, 0.30), SHADE_METAL),
    "white": ((0.95, 0.95, 0.93), 0),
    "yellow": ((0.98, 0.80, 0.08), 0),
    "orange": ((0.90, 0.42, 0.14), 0),
    "board": ((0.10, 0.33, 0.18), 0),
    "blue": ((0.14, 0.22, 0.55), 0),
    "lamp": ((1.0, 0.97, 0.85), SHADE_UNLIT),
    "bar": ((1.0, 0.98, 0.92), SHADE_UNLIT),
    "rear lamp": ((0.92, 0.08, 0.06), SHADE_UNLIT),
}
"""Colour and flags of what is not painted. Rear lamps are the reddest of all: pages tell them by it."""


def ensure_coat(palette: Palette, name: str) -> int:
    """Return the material of this name in `COATS`."""
    colour, flags = COATS[name]
    return palette.ensure_plain(colour, CLASS_CAR, flags)


def build_both_sides(*parts: Mesh) -> list[Mesh]:
    """Return parts of the left side with their mirror images."""
    return [*parts, *(mirror_mesh(part) for part in parts)]


def build_running_gear(palette: Palette, *, has_shocks: bool = False) -> list[Mesh]:
    """Return the tub with bumper, gearboxes, arms, hubs and drive shafts that all closed styles stand on."""
    dark, metal = ensure_coat(palette, "dark"), ensure_coat(palette, "metal")
    tub = round_outline(((-0.118, -0.036), (-0.09, -0.043), (0.09, -0.043), (0.118, -0.036), (0.118, 0.036),
                         (0.09, 0.043), (-0.09, 0.043), (-0.118, 0.036)), 0.006, 2)  # fmt: skip
    bar = round_outline(((0.115, -0.06), (0.126, -0.05), (0.128, 0.0), (0.126, 0.05), (0.115, 0.06)), 0.008, 2)
    parts = [make_slab(tub, (-0.026, -0.006), dark, bevel=0.002), make_slab(bar, (-0.025, -0.011), dark, bevel=0.002)]
    for x in AXLES:
        parts += [make_round_box((0.034, 0.032, 0.026), (x, 0.0, -0.027), dark, 0.003)]
        y = 0.062
        arms = [
            make_tube(((x + reach, 0.014, -0.036), (x + 0.2 * reach, y, -0.036)), 0.006, dark, sides=6, is_open=True)
            for reach in (-0.015, 0.015)
        ]
        hub = make_box((0.014, 0.007, 0.012), (x, y, AXLE_HEIGHT), dark)
        shaft = make_tube(
            ((x, 0.012, -0.031), (x, WHEEL_SIDE - 0.0208, AXLE_HEIGHT)), 0.004, metal, sides=6, is_open=True
        )
        parts += build_both_sides(*arms, hub, shaft)
        if has_shocks:
            parts += build_both_sides(*build_shock(palette, (0.97 * x, 0.057, -0.031), (0.88 * x, 0.036, 0.016)))
    return parts


def build_shock(palette: Palette, low: Vector, high: Vector) -> list[Mesh]:
    """Return a shock absorber between two points, its spring in the car's colour."""
    metal, first, last = ensure_coat(palette, "metal"), np.array(low), np.array(high)
    points = [tuple(first + share * (last - first)) for share in (0.0, 0.12, 0.12, 0.5, 0.5, 0.94, 0.94, 1.0)]
    widths = (0.005, 0.005, 0.003, 0.003, 0.0078, 0.0078, 0.004, 0.004)
    path = np.array(points)
    path[2::2] += 1e-5 * (last - first)
    body = make_tube(path, widths, metal, sides=8)
    ends = [first + share * (last - first) for share in (0.14, 0.82)]
    return [body, make_spring(tuple(ends[0]), tuple(ends[1]), 0.0058, 4, 0.0023, palette.ensure_paint())]


def build_camera(palette: Palette) -> list[Mesh]:
    """Return the front camera: its case, its lens with glass before it, and its ribbon cable's socket."""
    dark, metal, glass = ensure_coat(palette, "dark"), ensure_coat(palette, "metal"), ensure_coat(palette, "black")
    case = make_slab(
        round_outline(((-0.018, 0.137), (0.018, 0.137), (0.018, 0.171), (-0.018, 0.171)), 0.004, 3), (0.036, 0.050),
        dark, axis="x", bevel=0.0012, )  # fmt: skip
    profile = ((0.0095, 0.0), (0.0095, 0.003), (0.009, 0.0034), (0.009, 0.0092), (0.0082, 0.010), (0.0066, 0.0098),
               (0.0058, 0.0082), (0.004, 0.0088), (0.0018, 0.0092))  # fmt: skip
    kinds = (dark, dark, dark, metal, metal, dark, glass, glass)
    lens = make_lathed(profile, 14, kinds, axis="x", centre=(0.050, 0.0, 0.155), has_foot=False)
    screws = [
        make_lathed(((0.0014, 0.0), (0.0010, 0.0007)), 6, metal, axis="x", centre=(0.0499, y, z), has_foot=False)
        for y in (-0.0145, 0.0145)
        for z in (0.1405, 0.1675)
    ]
    return [case, lens, *screws]


def build_board(palette: Palette, centre: Vector) -> list[Mesh]:
    """Return a single-board computer, 0.085 x 0.056 m, its ports at the rear: chips, pins, heat sink, sockets."""
    green, dark, metal = (ensure_coat(palette, name) for name in ("board", "dark", "metal"))
    x, y, z = centre
    plate = round_outline(((-0.0425, -0.028), (0.0425, -0.028), (0.0425, 0.028), (-0.0425, 0.028)), 0.003)
    parts = [make_slab([(a + x, b + y) for a, b in plate], (z - 0.0008, z + 0.0008), green, bevel=0.0003)]

    def put(size: Vector, at: tuple[float, float], name: str, bevel: float = 0.0005) -> None:
        middle = (x + at[0], y + at[1], z + 0.0006 + 0.5 * size[2])
        coat = ensure_coat(palette, name)
        parts.append(make_round_box(size, middle, coat, bevel) if bevel else make_box(size, middle, coat))

    for side, size in (
        (-0.018, (0.021, 0.016, 0.0125)),
        (0.001, (0.018, 0.0145, 0.015)),
        (0.019, (0.018, 0.0145, 0.015)),
    ):
        put(size, (-0.034, side), "metal")
        for level in (0.0042, 0.0108) if side > -0.01 else (0.007,):
            middle = (x - 0.034 - 0.5 * size[0], y + side, z + level)
            parts.append(make_box((0.0008, 0.0118, 0.0042), middle, dark))
    put((0.051, 0.005, 0.0085), (0.008, 0.0245), "dark")
    for column in range(12):
        put((0.0012, 0.0034, 0.0105), (-0.0155 + 0.0042 * column, 0.0245), "gold", 0.0)
    put((0.012, 0.012, 0.0016), (-0.004, -0.004), "dark", 0.0)
    put((0.009, 0.007, 0.004), (0.034, -0.021), "metal", 0.0)
    for socket in (0.006, 0.019):
        put((0.0075, 0.006, 0.003), (socket, -0.0245), "metal", 0.0)
    put((0.016, 0.016, 0.003), (0.016, 0.003), "metal", 0.0)
    for row in range(5):
        put((0.0155, 0.0016, 0.0115), (0.016, -0.0036 + 0.0033 * row), "metal", 0.0)
    for a, b in ((-0.039, 0.0245), (-0.039, -0.0245), (0.039, 0.0245), (0.039, -0.0245)):
        stud = ((0.0027, -0.008), (0.0027, 0.0016), (0.0019, 0.0022))
        parts.append(make_lathed(stud, 6, metal, centre=(x + a, y + b, z), has_foot=False))
    return parts


def build_lamp(palette: Palette, centre: Vector, size: Vector, coat: str) -> list[Mesh]:
    """Return a lamp on the left in a dark rim, and its mirror image; `size` is that of the lamp, along x, y, z."""
    towards = math.copysign(1.0, centre[0])
    x, y, z = centre
    long, wide, high = size
    rim = make_round_box(
        (long, wide + 0.003, high + 0.003), (x - towards * 0.0006, y, z), ensure_coat(palette, "black"), 0.001
    )
    lamp = make_round_box((long, wide, high), (x, y, z), ensure_coat(palette, coat), 0.001)
    return build_both_sides(rim, lamp) if y else [rim, lamp]


def build_arch(
    outer: Outline, inner: Outline, span: tuple[float, float], material: int, *, bevel: float, slope: float = 0.0
) -> Mesh:
    """Return an arch over a left wheel.

    Args:
        outer: Its upper edge seen from the side, x and z from front to rear [m].
        inner: Its lower edge, with as many points.
        span: y of its inner and its outer side [m].
        material: Of all triangles.
        bevel: Width of the chamfers along its edges [m].
        slope: How much lower its top is outside than inside [m].
    """
    low, high = span
    rings = []
    for (ox, oz), (ix, iz) in zip(outer, inner, strict=True):
        far, near = np.array((ox, oz)), np.array((ix, iz))
        thick = far - near
        length = float(np.linalg.norm(thick))
        unit, edge = thick / length, min(bevel, 0.3 * length)
        drop = slope * max(float(unit[1]), 0.0) ** 2
        ring = [
            (near, low),
            (near, high - 0.3 * edge),
            (near + 0.3 * edge * unit, high),
            (far - (edge + drop) * unit, high),
        ]
        ring += [(far - (0.3 * edge + drop) * unit, high - 0.35 * bevel), (far - drop * unit, high - bevel)]
        ring += [(far, low)]
        rings.append([(point[0], y, point[1]) for point, y in ring])
    return make_skin(np.array(rings), material)


def build_cable(palette: Palette, points: list[Vector], width: float, coat: str, *, flat: float = 1.0) -> Mesh:
    """Return a cable that bends smoothly through points."""
    return make_tube(bend(points, 3), width, ensure_coat(palette, coat), sides=5, flat=flat, is_open=True)


def turn_about_y(mesh: Mesh, angle: float) -> Mesh:
    """Return a mesh turned about the y axis."""
    cosine, sine = math.cos(angle), math.sin(angle)
    return turn_mesh(mesh, np.array(((cosine, 0.0, sine), (0.0, 1.0, 0.0), (-sine, 0.0, cosine))))
