"""The fine meshes of wheel, `donkey` and `bare`, which people see: `art.cars` has those that cameras see.

They stand on the same chassis, fill the same boxes and have paint in the same places.
"""

import numpy as np

from art.cars import AXLE_HEIGHT, AXLES, WHEEL_RADIUS, WHEEL_WIDTH
from art.fine_parts import (
    build_board,
    build_both_sides,
    build_cable,
    build_camera,
    build_lamp,
    build_running_gear,
    build_shock,
    ensure_coat,
    turn_about_y,
)
from art.fine_shape import bend, make_lathed, make_round_box, make_skin, make_slab, make_tube, round_outline, weld_mesh
from art.palette import Palette
from art.shape import mirror_mesh
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import make_box, merge_meshes

BLOCKS, SPOKES = 20, 5


def build_fine_wheel(palette: Palette) -> Mesh:
    """Return a wheel about its axle (y): tyre with tread blocks, and on both sides a rim with spokes and a hub."""
    rubber, metal, dark = (ensure_coat(palette, name) for name in ("rubber", "metal", "dark"))
    half = 0.5 * WHEEL_WIDTH
    side = (
        (0.0262, half - 0.0024),
        (0.0276, half - 0.0006),
        (0.0325, half),
        (0.0368, half - 0.0012),
        (0.0385, half - 0.0045),
    )
    profile = (*((r, -y) for r, y in side), *reversed(side))
    parts = [make_skin(_ring(profile, 24), rubber, ends=(None, None))]
    for row, (low, high) in enumerate(((-0.0168, -0.0010), (0.0010, 0.0168))):
        parts += [_tread_block(index + 0.5 * row, low, high, rubber) for index in range(BLOCKS)]
    rim = ((0.0236, 0.0070), (0.0246, 0.0182), (0.0256, 0.0196), (0.0268, 0.0176))
    face = [make_skin(_ring(rim, 24), metal, ends=(dark, None), is_hollow=True)]
    spoke = np.array([(0.005, 0.0158, 0.0050), (0.014, 0.0160, 0.0032), (0.0248, 0.0176, 0.0036)])
    for index in range(SPOKES):
        face += [turn_about_y(_spoke(spoke, metal), 2.0 * np.pi * index / SPOKES)]
    hub = ((0.0070, 0.0080), (0.0070, 0.0160), (0.0056, 0.0174), (0.0034, 0.0176), (0.0030, 0.0200))
    face += [make_lathed(hub, 10, (metal, metal, dark, metal), axis="y", has_foot=False)]
    return weld_mesh(merge_meshes([*parts, *face, *map(mirror_mesh, face)]))


def build_fine_donkey(palette: Palette) -> Mesh:
    """Return the classic: plate, roll cage of painted tubes, computer and battery with cables, camera on the arch."""
    cage, shade, dark = palette.ensure_paint(), palette.ensure_paint(0.75), ensure_coat(palette, "dark")
    metal = ensure_coat(palette, "metal")
    plate = round_outline(((-0.1075, -0.05), (-0.09, -0.0625), (0.07, -0.0625), (0.1075, -0.045), (0.1075, 0.045),
                           (0.07, 0.0625), (-0.09, 0.0625), (-0.1075, 0.05)), 0.01, 3)  # fmt: skip
    parts = build_running_gear(palette, has_shocks=True)
    parts += [make_slab(plate, (0.0205, 0.0275), dark, bevel=0.0012), *build_board(palette, (-0.030, 0.0, 0.0365))]
    posts = [make_tube(((x, 0.034, -0.008), (x, 0.045, 0.021)), 0.007, dark) for x in (-0.07, 0.06)]
    parts += build_both_sides(*posts, *_cage_side(cage, shade, metal))
    arch = round_outline(((-0.005, 0.1265), (0.037, 0.1265), (0.0335, 0.160), (-0.0085, 0.160)), 0.007, 4)
    parts += [make_slab(arch, (-0.054, 0.054), cage, axis="y", bevel=0.003)]
    parts += [make_tube(((-0.0945, -0.054, 0.0315), (-0.0945, 0.054, 0.0315)), 0.012, shade, sides=10)]
    parts += [*_battery(palette), *build_camera(palette)]
    ribbon = [
        (0.040, 0.0, 0.137),
        (0.034, 0.0, 0.118),
        (0.030, 0.004, 0.075),
        (0.026, 0.006, 0.050),
        (0.012, 0.012, 0.0385),
    ]
    parts += [build_cable(palette, ribbon, 0.013, "white", flat=0.06)]
    nose = round_outline(((0.103, 0.0005), (0.127, -0.0035), (0.127, 0.0115), (0.103, 0.0275)), 0.004, 3)
    parts += [make_slab(nose, (-0.065, 0.065), shade, axis="y", bevel=0.0025)]
    parts += build_lamp(palette, (0.1275, 0.045, 0.004), (0.006, 0.020, 0.008), "lamp")
    parts += build_lamp(palette, (-0.1085, 0.045, 0.023), (0.004, 0.022, 0.008), "rear lamp")
    return weld_mesh(merge_meshes(parts))


def build_fine_bare(palette: Palette) -> Mesh:
    """Return the chassis without a body: painted plate, battery, motor, shock absorbers, servo, camera on a mast."""
    paint, metal, silver = palette.ensure_paint(), ensure_coat(palette, "metal"), ensure_coat(palette, "silver")
    dark = ensure_coat(palette, "dark")
    plate = round_outline(((-0.1, -0.036), (-0.07, -0.05), (0.07, -0.05), (0.1, -0.036), (0.1, 0.036), (0.07, 0.05),
                           (-0.07, 0.05), (-0.1, 0.036)), 0.008, 3)  # fmt: skip
    parts = [*build_running_gear(palette), make_slab(plate, (0.006, 0.018), paint, bevel=0.0016)]
    parts += [make_round_box((0.106, 0.046, 0.042), (0.007, 0.0, 0.039), silver, 0.004)]
    for x in (-0.028, 0.036):
        parts += [make_round_box((0.013, 0.060, 0.050), (x, 0.0, 0.0425), dark, 0.003)]
    parts += _small_board(palette) + _motor(palette) + _servo(palette) + _speed_controller(palette)
    for x in AXLES:
        tower = [(-0.05, 0.044), (-0.03, 0.016), (0.03, 0.016), (0.05, 0.044), (0.046, 0.052), (0.024, 0.052),
                 (0.014, 0.041), (-0.014, 0.041), (-0.024, 0.052), (-0.046, 0.052)]  # fmt: skip
        parts += [
            make_slab(round_outline(tower, 0.004), (0.86 * x - 0.003, 0.86 * x + 0.003), silver, axis="x", bevel=0.0009)
        ]
        parts += build_both_sides(*build_shock(palette, (0.96 * x, 0.0672, -0.024), (0.9 * x, 0.042, 0.047)))
    parts += [make_tube(((0.035, 0.0, 0.012), (0.035, 0.0, 0.146)), 0.0075, metal, sides=10)]
    parts += [make_lathed(((0.008, 0.066), (0.008, 0.070), (0.005, 0.074)), 12, dark, centre=(0.035, 0.0, 0.0))]
    parts += [make_round_box((0.009, 0.014, 0.012), (0.034, 0.0, 0.146), dark, 0.001), *build_camera(palette)]
    ribbon = [(0.035, 0.0, 0.137), (0.026, 0.0, 0.128), (0.025, 0.0, 0.10), (0.022, 0.0, 0.084), (0.012, 0.0, 0.0755)]
    parts += [build_cable(palette, ribbon, 0.012, "white", flat=0.06)]
    return weld_mesh(merge_meshes(parts))


def _ring(profile: tuple[tuple[float, float], ...], sides: int) -> FloatArray:
    """Return the rings of a profile of radius and y about the y axis."""
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    return np.array([np.stack((r * np.sin(angle), np.full(sides, y), r * np.cos(angle)), axis=1) for r, y in profile])


def _tread_block(index: float, low: float, high: float, material: int) -> Mesh:
    """Return a block of the tread, open where it stands on the tyre."""
    middle, reach = 2.0 * np.pi * index / BLOCKS, 0.36 * 2.0 * np.pi / BLOCKS
    rings = []
    for radius, share, inset in ((0.0380, 1.0, 0.0), (WHEEL_RADIUS, 0.82, 0.0010)):
        corners = ((-share, low + inset), (share, low + inset), (share, high - inset), (-share, high - inset))
        angle = [middle + reach * along for along, _ in corners]
        rings.append([(radius * np.sin(a), y, radius * np.cos(a)) for a, (_, y) in zip(angle, corners, strict=True)])
    return make_skin(np.array(rings), material, ends=(None, material))


def _spoke(stations: FloatArray, material: int) -> Mesh:
    """Return a spoke upwards (z) from stations: radius, y of its face, half width."""
    rings = []
    for radius, y, half in stations:
        flat = ((-half, -0.005), (-0.7 * half, 0.0), (0.7 * half, 0.0), (half, -0.005))
        rings.append([(x, y + depth, radius) for x, depth in flat])
    return make_skin(np.array(rings), material, is_ring=False)


def _cage_side(paint: int, shade: int, metal: int) -> list[Mesh]:
    """Return the left side of the roll cage: one tube from the rear foot over the top to the front foot."""
    rear = [(-0.0965, 0.0545, 0.0272), (-0.0965, 0.0545, 0.0290), (-0.0925, 0.0540, 0.0335)]
    front = [(0.0135, 0.0545, 0.0290), (0.0130, 0.0545, 0.0272)]
    top = [(-0.004, 0.0415, 0.1345), (0.009, 0.0400, 0.1465), (0.020, 0.0398, 0.1480), (0.0265, 0.0405, 0.139)]
    tube = make_tube([*rear, *bend(top, 2), *front], 0.0195, paint, sides=12, is_open=True)
    brace = make_tube(((-0.050, 0.0485, 0.080), (0.0175, 0.0485, 0.080)), 0.011, shade, sides=8)
    feet = [
        make_lathed(((0.0118, 0.0265), (0.0118, 0.0295), (0.0102, 0.0315)), 12, shade, centre=(x, 0.0545, 0.0))
        for x in (-0.0965, 0.013)
    ]
    bolts = [
        make_lathed(((0.0022, 0.027), (0.0022, 0.0292), (0.0014, 0.030)), 6, metal, centre=(x, 0.0555, 0.0))
        for x in (-0.079, 0.032)
    ]
    return [tube, brace, *feet, *bolts]


def _battery(palette: Palette) -> list[Mesh]:
    """Return the battery behind the computer, in its strap, with its cable."""
    blue, dark = ensure_coat(palette, "blue"), ensure_coat(palette, "dark")
    parts = [make_round_box((0.017, 0.066, 0.017), (-0.0845, 0.0, 0.0475), blue, 0.003)]
    parts += [make_round_box((0.0182, 0.010, 0.0182), (-0.0845, y, 0.0475), dark, 0.002) for y in (-0.020, 0.020)]
    parts += [make_round_box((0.02, 0.062, 0.012), (-0.0845, 0.0, 0.033), dark, 0.002)]
    for y, coat in ((-0.030, "orange"), (-0.0265, "dark")):
        points = [
            (-0.084, y, 0.050),
            (-0.076, y - 0.012, 0.052),
            (-0.05, y - 0.010, 0.041),
            (-0.015, y - 0.007, 0.038),
            (0.0, y, 0.039),
        ]
        parts += [build_cable(palette, [(a, b, c) for a, b, c in points], 0.0028, coat)]
    return parts


def _small_board(palette: Palette) -> list[Mesh]:
    """Return the small computer on top of the battery."""
    board, dark, metal, gold = (ensure_coat(palette, name) for name in ("board", "dark", "metal", "gold"))
    outline = round_outline(((-0.03, -0.02), (0.03, -0.02), (0.03, 0.02), (-0.03, 0.02)), 0.003)
    parts = [make_slab(outline, (0.069, 0.0706), board, bevel=0.0003)]
    parts += [make_round_box((0.012, 0.012, 0.002), (-0.004, -0.002, 0.0714), metal, 0.0004)]
    parts += [make_round_box((0.009, 0.008, 0.0015), (0.012, -0.004, 0.0712), dark, 0.0004)]
    parts += [make_round_box((0.044, 0.005, 0.0032), (0.0, 0.0165, 0.0722), dark, 0.0004)]
    parts += [make_box((0.0013, 0.0034, 0.005), (-0.02 + 0.0044 * n, 0.0165, 0.0726), gold) for n in range(10)]
    parts += [make_round_box((0.008, 0.006, 0.003), (x, -0.0185, 0.0720), metal, 0.0005) for x in (-0.018, 0.0, 0.012)]
    posts = [((0.0024, 0.066), (0.0024, 0.0712), (0.0016, 0.072))]
    parts += [
        make_lathed(posts[0], 6, metal, centre=(x, y, 0.0), has_foot=False)
        for x in (-0.027, 0.027)
        for y in (-0.017, 0.0125)
    ]
    return parts


def _motor(palette: Palette) -> list[Mesh]:
    """Return the motor across the car: can with cooling rings, end bell, shaft with pinion, wires."""
    metal, dark, gold = (ensure_coat(palette, name) for name in ("metal", "dark", "gold"))
    can = [(0.0150, -0.020), (0.0168, -0.0185)]
    for y in (-0.010, 0.0):
        can += [(0.0168, y), (0.0155, y + 0.0008), (0.0155, y + 0.0036), (0.0168, y + 0.0044)]
    can += [(0.0168, 0.0105), (0.0170, 0.011), (0.0170, 0.0185), (0.0150, 0.020)]
    kinds = [metal] * (len(can) - 4) + [dark] * 3
    centre = (-0.0655, 0.0, 0.0325)
    parts = [make_lathed(can, 16, kinds, axis="y", centre=centre)]
    parts += [make_lathed(((0.0022, -0.027), (0.0022, -0.018)), 8, metal, axis="y", centre=centre)]
    parts += [
        make_lathed(
            ((0.005, -0.0265), (0.0056, -0.026), (0.0056, -0.0215), (0.005, -0.021)), 14, gold, axis="y", centre=centre
        )
    ]
    for n, coat in enumerate(("orange", "dark", "blue")):
        y = 0.012 + 0.003 * n
        points = [
            (-0.060, y, 0.045),
            (-0.048, 0.03 + y * 0.2, 0.046),
            (-0.03, 0.0375, 0.035 + 0.003 * n),
            (-0.012, 0.038, 0.032 + 0.003 * n),
        ]
        parts += [build_cable(palette, [(a, b, c) for a, b, c in points], 0.0026, coat)]
    return parts


def _speed_controller(palette: Palette) -> list[Mesh]:
    """Return the speed controller beside the battery, with its cooling fins, and the receiver on the other side."""
    dark, metal = ensure_coat(palette, "dark"), ensure_coat(palette, "metal")
    parts = [make_round_box((0.036, 0.016, 0.020), (0.006, 0.037, 0.028), dark, 0.0015)]
    parts += [make_box((0.0016, 0.014, 0.006), (-0.008 + 0.0047 * n, 0.037, 0.040), metal) for n in range(7)]
    parts += [make_round_box((0.030, 0.014, 0.012), (0.004, -0.037, 0.024), palette.ensure_paint(0.8), 0.0015)]
    points = [(0.018, -0.037, 0.024), (0.035, -0.036, 0.026), (0.056, -0.022, 0.024), (0.066, -0.012, 0.024)]
    return [*parts, build_cable(palette, [(a, b, c) for a, b, c in points], 0.0028, "dark")]


def _servo(palette: Palette) -> list[Mesh]:
    """Return the steering servo with its horn, and the links from it to the front hubs."""
    dark, metal, x = ensure_coat(palette, "dark"), ensure_coat(palette, "metal"), AXLES[0]
    parts = [make_round_box((0.018, 0.036, 0.018), (0.075, 0.0, 0.026), dark, 0.0012)]
    parts += [make_round_box((0.019, 0.046, 0.003), (0.075, 0.0, 0.030), dark, 0.0006)]
    parts += [make_lathed(((0.0045, 0.034), (0.0045, 0.0375), (0.0035, 0.038)), 10, metal, centre=(0.075, 0.010, 0.0))]
    parts += [make_round_box((0.011, 0.034, 0.003), (x + 0.003, 0.0, -0.0042), metal, 0.0008)]
    parts += [make_lathed(((0.004, -0.0055), (0.004, 0.000), (0.003, 0.0008)), 8, dark, centre=(x + 0.003, 0.0, 0.0))]
    parts += [make_tube(((0.075, 0.010, 0.0372), (0.075, -0.012, 0.0372)), 0.0042, metal, sides=6, flat=0.5)]
    link = make_tube(((x + 0.003, 0.014, -0.0052), (x - 0.006, 0.060, -0.027)), 0.0035, metal, sides=6, is_open=True)
    ball = make_lathed(
        ((0.0018, -0.003), (0.0032, 0.0), (0.0018, 0.003)), 8, dark, centre=(x - 0.006, 0.060, AXLE_HEIGHT + 0.007)
    )
    return parts + build_both_sides(link, ball)
