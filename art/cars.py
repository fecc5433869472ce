"""Meshes of the five body styles and of their wheel, in the car's body frame (x forward, y left, z up, origin = body).

All styles stand on one chassis: box 0.25 x 0.15 x 0.0625 m about the origin, wheels of radius 0.04 m at x = 0.105 and
-0.096, y = ±0.086, z = -0.034 at rest, front camera at x = 0.069, z = 0.156 looking 15.5 degrees down: no style puts
anything before that camera's lower edge of view.
"""

import numpy as np

from art.palette import Palette
from art.shape import make_beam, make_prism, mirror_mesh
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import CLASS_CAR, SHADE_UNLIT, Mesh
from donkeysim.world.tracks.mesh import make_box, make_loft, make_mesh, make_revolved, merge_meshes, place_mesh

WHEEL_RADIUS = 0.04
WHEEL_WIDTH = 0.042
AXLES = (0.1046, -0.0956)
AXLE_HEIGHT = -0.034
WHEEL_SIDE = 0.0863


def build_wheel(palette: Palette) -> Mesh:
    """Return a wheel about its axle (y): dark tread, and on both sides a face with spokes that shows its spin."""
    sides = 12
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    ring = np.stack((np.cos(angle), np.zeros(sides), np.sin(angle)), axis=1) * WHEEL_RADIUS
    half = np.array((0.0, 0.5 * WHEEL_WIDTH, 0.0))
    index = np.arange(sides)
    after = (index + 1) % sides
    tread = np.concatenate(
        (np.stack((index, after, after + sides), 1), np.stack((index, after + sides, index + sides), 1))
    )
    vertex = np.concatenate((ring - half, ring + half))
    rubber = palette.ensure_plain((0.12, 0.12, 0.13), CLASS_CAR)
    face = palette.ensure_picture("wheel_face", segment=CLASS_CAR)
    uv = 0.5 + 0.5 * np.stack((np.cos(angle), -np.sin(angle)), axis=1)
    fan = np.stack((np.zeros(sides - 2, int), np.arange(1, sides - 1), np.arange(2, sides)), 1)
    return merge_meshes(
        [
            make_mesh(vertex, np.tile(uv, (2, 1)), tread[:, ::-1], rubber),
            make_mesh(ring - half, uv, fan, face),
            make_mesh(ring + half, uv, fan[:, ::-1], face),
        ]
    )


def build_donkey(palette: Palette) -> Mesh:
    """Return the classic: black plate, painted roll cage arch, board and battery, camera on the arch."""
    cage = palette.ensure_paint()
    shade = palette.ensure_paint(0.75)
    parts = [_chassis(palette)]
    parts += [make_box((0.215, 0.125, 0.007), (0.0, 0.0, 0.024), _dark(palette))]
    parts += [make_box((0.09, 0.06, 0.02), (-0.035, 0.0, 0.0375), palette.ensure_plain((0.13, 0.36, 0.20), CLASS_CAR))]
    parts += [
        make_box((0.022, 0.022, 0.01), (-0.02, 0.012, 0.0525), palette.ensure_plain((0.75, 0.76, 0.78), CLASS_CAR))
    ]
    parts += [make_box((0.028, 0.05, 0.016), (-0.095, 0.0, 0.0355), palette.ensure_plain((0.16, 0.22, 0.5), CLASS_CAR))]
    for side in (-1.0, 1.0):
        y = side * 0.055
        parts += [make_beam((0.012, y, 0.026), (0.026, 0.72 * y, 0.144), 0.022, cage)]
        parts += [make_beam((-0.098, y, 0.026), (0.018, 0.72 * y, 0.150), 0.022, cage)]
    parts += [make_prism(((-0.004, 0.126), (0.038, 0.126), (0.034, 0.160), (-0.008, 0.160)), 0.108, cage)]
    parts += [make_box((0.02, 0.108, 0.008), (-0.094, 0.0, 0.028), shade)]
    parts += [make_box((0.014, 0.036, 0.034), (0.043, 0.0, 0.154), _dark(palette))]
    parts += [_lens(palette)]
    parts += [make_prism(((0.103, 0.0), (0.127, -0.004), (0.127, 0.012), (0.103, 0.028)), 0.13, shade)]
    parts += _lamps(palette, 0.1275, 0.045, 0.004) + _tail_lamps(palette, -0.1085, 0.045, 0.023)
    return merge_meshes(parts)


def build_bare(palette: Palette) -> Mesh:
    """Return the chassis without a body: painted plate, silver shock towers and battery, board, camera on a mast."""
    metal = palette.ensure_plain((0.66, 0.68, 0.71), CLASS_CAR)
    silver = palette.ensure_plain((0.90, 0.92, 0.95), CLASS_CAR)
    parts = [_chassis(palette)]
    parts += [make_box((0.2, 0.1, 0.012), (0.0, 0.0, 0.012), palette.ensure_paint())]
    parts += [make_box((0.12, 0.06, 0.050), (0.0, 0.0, 0.042), silver)]
    parts += [make_box((0.06, 0.04, 0.008), (0.0, 0.0, 0.070), palette.ensure_plain((0.13, 0.36, 0.20), CLASS_CAR))]
    motor = make_revolved(((0.017, 0.0), (0.017, 0.04)), 8, metal)
    parts += [place_mesh(_lay_across(motor), (-0.065, 0.0, 0.03))]
    for x in AXLES:
        parts += [make_box((0.008, 0.1, 0.036), (0.86 * x, 0.0, 0.034), silver)]
        for side in (-1.0, 1.0):
            parts += [
                make_beam(
                    (0.86 * x, side * 0.04, 0.048), (0.95 * x, side * 0.066, -0.02), 0.010, palette.ensure_paint(0.8)
                )
            ]
    parts += [make_beam((0.035, 0.0, 0.012), (0.035, 0.0, 0.146), 0.008, metal)]
    parts += [make_box((0.014, 0.036, 0.034), (0.043, 0.0, 0.154), _dark(palette))]
    parts += [_lens(palette)]
    return merge_meshes(parts)


def build_touring_car(palette: Palette) -> Mesh:
    """Return a rounded touring car (`car01`): painted shell, dark windows, white roof and stripe, wing."""
    paint, glass, white = palette.ensure_paint(), _glass(palette), _white(palette)
    body = _shell(
        0.82, paint, (-0.128, 0.056, -0.014, 0.030), (-0.105, 0.064, -0.022, 0.042), (-0.03, 0.066, -0.026, 0.040),
        (0.05, 0.066, -0.026, 0.034), (0.105, 0.062, -0.022, 0.022), (0.128, 0.050, -0.014, 0.006),
    )  # fmt: skip
    cabin = _shell(
        0.80, glass, (-0.088, 0.052, 0.034, 0.042), (-0.052, 0.050, 0.034, 0.072), (0.008, 0.050, 0.034, 0.074),
        (0.056, 0.052, 0.030, 0.034),
    )  # fmt: skip
    roof = _shell(
        0.88, white, (-0.056, 0.0425, 0.064, 0.0765), (-0.022, 0.0435, 0.068, 0.0795), (0.012, 0.0425, 0.064, 0.0765)
    )
    parts = [_chassis(palette), body, cabin, roof]
    for side in (-1.0, 1.0):
        parts += [make_box((0.012, 0.005, 0.026), (-0.112, side * 0.04, 0.05), _dark(palette))]
        for x in AXLES:
            parts += [_fender(x, side, paint)]
    parts += [make_prism(((-0.132, 0.066), (-0.104, 0.060), (-0.104, 0.064), (-0.132, 0.071)), 0.126, paint)]
    parts += [make_prism(((0.060, 0.0338), (0.104, 0.0232), (0.104, 0.024), (0.060, 0.0348)), 0.05, white)]
    return merge_meshes(parts + _lamps(palette, 0.122, 0.034, 0.008) + _tail_lamps(palette, -0.1285, 0.036, 0.016))


def build_cybertruck(palette: Palette) -> Mesh:
    """Return the wedge: steel below, painted faces up to one ridge, dark glass, light bars from side to side."""
    paint, glass = palette.ensure_paint(), _glass(palette)
    steel = palette.ensure_plain((0.52, 0.54, 0.57), CLASS_CAR)
    low = ((-0.128, -0.018), (0.122, -0.018), (0.130, 0.012), (0.118, 0.026), (-0.128, 0.036))
    upper = ((-0.128, 0.036), (0.118, 0.026), (0.004, 0.088))
    parts = [_chassis(palette), make_prism(low, 0.136, steel)]
    outline = np.array(upper)
    wide = np.array([0.066, 0.066, 0.046])
    parts += [make_loft([_side(outline, -wide), _side(outline, wide)], paint)]
    windscreen = np.array(((0.012, 0.0866), (0.058, 0.0616), (0.058, 0.0626), (0.012, 0.0876)))
    spread = np.array([0.042, 0.049, 0.049, 0.042])
    parts += [make_loft([_side(windscreen, -spread), _side(windscreen, spread)], glass)]
    for side in (-1.0, 1.0):
        window = np.array(((-0.070, 0.050), (0.056, 0.048), (0.004, 0.0765)))
        inner, outer = side * np.array([0.052, 0.052, 0.044]), side * np.array([0.0632, 0.0632, 0.0520])
        parts += [make_loft([_side(window, inner), _side(window, outer)], glass)]
        for x in AXLES:
            parts += [_fender(x, side, _dark(palette))]
    bar = palette.ensure_plain((1.0, 0.98, 0.92), CLASS_CAR, SHADE_UNLIT)
    rear = palette.ensure_plain((0.92, 0.08, 0.06), CLASS_CAR, SHADE_UNLIT)
    parts += [make_box((0.004, 0.128, 0.009), (0.1255, 0.0, 0.0175), bar)]
    parts += [make_box((0.004, 0.128, 0.014), (-0.1285, 0.0, 0.027), rear)]
    parts += [make_box((0.11, 0.142, 0.014), (0.004, 0.0, -0.011), paint)]
    return merge_meshes(parts)


def build_formula(palette: Palette) -> Mesh:
    """Return a formula car: needle nose, side pods, airbox, broad yellow wing high behind, open wheels, helmet."""
    paint, dark = palette.ensure_paint(), _dark(palette)
    nose = _shell(0.8, paint, (0.0, 0.030, -0.024, 0.026), (0.06, 0.022, -0.022, 0.018), (0.132, 0.010, -0.022, -0.006))
    tub = _shell(0.8, paint, (-0.11, 0.018, -0.02, 0.022), (-0.05, 0.034, -0.024, 0.036), (0.0, 0.030, -0.024, 0.026))
    pod = _shell(
        0.85, paint, (-0.085, 0.014, -0.024, 0.004), (-0.03, 0.022, -0.024, 0.02), (0.028, 0.021, -0.022, 0.018)
    )
    airbox = _shell(
        0.7, paint, (-0.11, 0.006, 0.016, 0.026), (-0.045, 0.012, 0.03, 0.066), (-0.025, 0.012, 0.03, 0.072)
    )
    parts = [nose, tub, airbox, make_box((0.205, 0.09, 0.006), (-0.02, 0.0, -0.026), dark)]
    parts += [place_mesh(pod, (0.0, side * 0.048, 0.0)) for side in (-1.0, 1.0)]
    parts += [make_prism(((0.108, -0.028), (0.136, -0.030), (0.136, -0.026), (0.108, -0.020)), 0.176, paint)]
    yellow = palette.ensure_plain((0.98, 0.80, 0.08), CLASS_CAR)
    parts += [make_prism(((-0.136, 0.062), (-0.106, 0.050), (-0.106, 0.058), (-0.136, 0.092)), 0.150, yellow)]
    white = _white(palette)
    for side in (-1.0, 1.0):
        parts += [make_box((0.040, 0.003, 0.052), (-0.122, side * 0.0765, 0.068), yellow)]
        parts += [make_box((0.034, 0.003, 0.020), (0.120, side * 0.089, -0.022), white)]
        for x in AXLES:
            parts += [make_beam((x, 0.0, -0.012), (x, side * 0.078, AXLE_HEIGHT), 0.006, dark, 3)]
    parts += [make_box((0.005, 0.02, 0.04), (-0.112, 0.0, 0.034), dark)]
    helmet = make_revolved(((0.0, 0.022), (0.0115, 0.028), (0.0125, 0.038), (0.006, 0.046), (0.0, 0.048)), 7, yellow)
    parts += [place_mesh(helmet, (-0.008, 0.0, 0.0)), make_box((0.003, 0.018, 0.006), (0.0045, 0.0, 0.036), dark)]
    parts += [make_box((0.034, 0.036, 0.002), (0.004, 0.0, 0.0265), dark)]
    return merge_meshes(parts + _tail_lamps(palette, -0.112, 0.0, 0.006))


def _chassis(palette: Palette) -> Mesh:
    """Return the black tub with its axles and bumper that all closed styles stand on."""
    dark = _dark(palette)
    parts = [make_box((0.236, 0.086, 0.02), (0.0, 0.0, -0.016), dark)]
    parts += [make_box((0.016, 2 * WHEEL_SIDE - WHEEL_WIDTH, 0.012), (x, 0.0, AXLE_HEIGHT), dark) for x in AXLES]
    return merge_meshes([*parts, make_box((0.012, 0.12, 0.014), (0.122, 0.0, -0.018), dark)])


def _shell(taper: float, material: int, *stations: tuple[float, float, float, float]) -> Mesh:
    """Return a rounded body from stations (x, half width, bottom, top); its top is narrower by `taper`."""
    sections = []
    for x, half, bottom, top in stations:
        waist = bottom + 0.55 * (top - bottom)
        ring = (
            (half * 0.92, bottom),
            (half, waist),
            (half * taper, top),
            (-half * taper, top),
            (-half, waist),
            (-half * 0.92, bottom),
        )
        sections.append(np.array([(x, y, z) for y, z in ring]))
    return make_loft(sections, material)


def _fender(x: float, side: float, material: int) -> Mesh:
    """Return the arch over a wheel."""
    outline = ((x - 0.046, 0.0), (x + 0.034, 0.004), (x + 0.020, 0.020), (x - 0.028, 0.020))
    return make_prism(outline, 0.046, material, (0.0, side * (WHEEL_SIDE - 0.004), 0.0))


def _side(outline: FloatArray, y: FloatArray) -> FloatArray:
    return np.stack((outline[:, 0], y, outline[:, 1]), axis=1)


def _lens(palette: Palette) -> Mesh:
    """Return the camera's lens: a short cylinder along x."""
    upright = make_revolved(((0.009, 0.0), (0.009, 0.010)), 8, palette.ensure_plain((0.2, 0.22, 0.28), CLASS_CAR))
    vertex = upright.vertex[:, [2, 0, 1]]
    return place_mesh(Mesh(vertex, upright.uv, upright.triangle, upright.material), (0.050, 0.0, 0.155))


def _lay_across(upright: Mesh) -> Mesh:
    """Return a mesh turned so that its z lies along y, its middle on the origin."""
    vertex = upright.vertex[:, [1, 2, 0]]
    middle = 0.5 * (vertex.min(axis=0) + vertex.max(axis=0))
    return Mesh(vertex - middle, upright.uv, upright.triangle, upright.material)


def _lamps(palette: Palette, x: float, y: float, z: float) -> list[Mesh]:
    lamp = make_box((0.006, 0.020, 0.008), (x, y, z), palette.ensure_plain((1.0, 0.97, 0.85), CLASS_CAR, SHADE_UNLIT))
    return [lamp, mirror_mesh(lamp)]


def _tail_lamps(palette: Palette, x: float, y: float, z: float) -> list[Mesh]:
    lamp = make_box((0.004, 0.022, 0.008), (x, y, z), palette.ensure_plain((0.92, 0.08, 0.06), CLASS_CAR, SHADE_UNLIT))
    return [lamp, mirror_mesh(lamp)] if y else [lamp]


def _dark(palette: Palette) -> int:
    return palette.ensure_plain((0.11, 0.11, 0.12), CLASS_CAR)


def _white(palette: Palette) -> int:
    return palette.ensure_plain((0.95, 0.95, 0.93), CLASS_CAR)


def _glass(palette: Palette) -> int:
    return palette.ensure_plain((0.09, 0.12, 0.17), CLASS_CAR)
