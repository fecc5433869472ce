"""Writes light, colours, mounting and lens as the values drawn for a car say, first by car, then by camera."""

import math

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.rng import hash_words
from donkeysim.core.rotation import find_matrix
from donkeysim.core.types import Float32Array, FloatArray, IntArray, LongArray, WordArray
from donkeysim.render.kernels.effects import EFFECT
from donkeysim.render.kernels.layout import LENS, LIGHT, POSE
from donkeysim.render.kernels.recolour import LOOK
from donkeysim.render.tables import CameraTables, CarRows, MeantCameras
from donkeysim.render.warp import compute_focal
from donkeysim.world.kernels.draw import NOISE_STREAM, PATTERN_STREAM, Drawn
from donkeysim.world.randomization import find_column
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE, CLASS_PROP, CLASS_ROAD, CLASS_SKY

AZIMUTH, HEIGHT, STRENGTH = find_column("sun.azimuth"), find_column("sun.height"), find_column("sun.strength")
AMBIENT, SUN_TINT = find_column("sun.ambient"), find_column("sun.tint_red")
DENSITY, FOG_TINT = find_column("fog.density"), find_column("fog.tint_red")
GROUND, ROAD, LINES = find_column("ground.tint_red"), find_column("road.tint_red"), find_column("lines.tint_red")
PROPS, SKY = find_column("props.tint_red"), find_column("sky.tint_red")
CAMERA, FOV, DISTORTION = find_column("camera.x"), find_column("camera.fov"), find_column("camera.distortion")
BLUR, EXPOSURE = find_column("picture.blur"), find_column("picture.exposure")
NOISE, QUALITY = find_column("picture.noise"), find_column("picture.jpeg_quality")
VIGNETTE, BALANCE = find_column("sensor.vignette"), find_column("sensor.balance_red")
SHUTTER, FLICKER, BANDS = (find_column(f"sensor.{name}") for name in ("shutter", "flicker", "bands"))
"""Columns of drawn values; those of tints are followed by the other two channels."""

HUE, SATURATION, CONTRAST, PATCHES, PATCH_SIZE = range(3, 8)
"""Columns of a table of colours behind those of its tint; the last two on ground and road only."""

LUMA = (0.2126, 0.7152, 0.0722)
"""Share of each channel in how bright a colour looks; it stays while hue and saturation change."""

MEDIUM = 127.5
"""Grey that contrast leaves as it is."""

SKY_DEPTH = 30.0
"""How far one looks through fog that the scene does not have before one sees its sky [m]."""

# The tangent of half of it must stay finite: at 180° a plane picture has no end.
FOV_LEAST, FOV_MOST = math.radians(10.0), math.radians(170.0)
"""Limits of the field of view of a varied camera [rad]."""

NO_CHANGE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
"""A matrix of colours, its rows."""

turn = inner_kernel(find_matrix)
find_focal = inner_kernel(compute_focal)


@inner_kernel
def turn_hue(angle):
    """Return the matrix that turns colours about the grey axis [rad], and keeps how bright they look."""
    c, s = math.cos(angle), math.sin(angle)
    axis = 1.0 / math.sqrt(3.0)
    share = (1.0 - c) * (axis * axis)
    same, next_one, one_before = c + share, share - s * axis, share + s * axis
    # What the turn has changed in brightness is taken back, equally in all channels.
    red = LUMA[0] - (LUMA[0] * same + LUMA[1] * one_before + LUMA[2] * next_one)
    green = LUMA[1] - (LUMA[0] * next_one + LUMA[1] * same + LUMA[2] * one_before)
    blue = LUMA[2] - (LUMA[0] * one_before + LUMA[1] * next_one + LUMA[2] * same)
    return (
        (same + red, next_one + green, one_before + blue),
        (one_before + red, same + green, next_one + blue),
        (next_one + red, one_before + green, same + blue),
    )


@inner_kernel
def pale_row(saturation, own, m):
    """Return a row of what changes saturation, times a matrix; `own`: that row where nothing changes."""
    rest = 1.0 - saturation
    r, g, b = (
        saturation * own[0] + rest * LUMA[0],
        saturation * own[1] + rest * LUMA[1],
        saturation * own[2] + rest * LUMA[2],
    )
    return (
        r * m[0][0] + g * m[1][0] + b * m[2][0],
        r * m[0][1] + g * m[1][1] + b * m[2][1],
        r * m[0][2] + g * m[1][2] + b * m[2][2],
    )


@inner_kernel
def change_colours(value, first):
    """Return the matrix that changes colours by hue, then saturation; `first`: column of the table's tint."""
    m, saturation = NO_CHANGE, value[first + SATURATION]
    if value[first + HUE] != 0.0:
        m = turn_hue(value[first + HUE])
    if saturation != 1.0:
        red, green = pale_row(saturation, NO_CHANGE[0], m), pale_row(saturation, NO_CHANGE[1], m)
        m = (red, green, pale_row(saturation, NO_CHANGE[2], m))
    return m


@inner_kernel
def write_look(value, first, clear, haze, look):
    """Write how the colours of a class change: by hue, saturation, contrast and tint.

    Args:
        value: Drawn ones of the car.
        first: Column of the tint of the class.
        clear: Share of its own colour that is seen through fog.
        haze: Colour of that fog, 0 to 255.
        look: Columns LOOK, written.
    """
    matrix, contrast = change_colours(value, first), value[first + CONTRAST]
    differs = False
    for channel in range(3):
        tint = value[first + channel]
        for column in range(3):
            number = tint * contrast * matrix[channel][column] * clear
            look[LOOK.matrix + 3 * channel + column] = number
            differs |= number != NO_CHANGE[channel][column]
        offset = tint * ((1.0 - contrast) * MEDIUM) * clear + (1.0 - clear) * haze[channel]
        look[LOOK.offset + channel] = offset
        differs |= offset != 0.0
    look[LOOK.is_on] = differs


@inner_kernel
def write_patches(strength, size, pattern, kind, look):
    """Write the pattern of a class: its strength and the size of patches [m]; `pattern`: below 2^24."""
    if strength > 0.0:
        look[LOOK.is_on] = 1.0
    look[LOOK.patches] = strength
    look[LOOK.scale] = 1.0 / size
    look[LOOK.seed] = (pattern + kind * 7919) % (1 << 24)


@inner_kernel
def write_light(value, scene_light, light):
    """Write a car's light, columns LIGHT, from its scene's."""
    for channel in range(3):
        tint = value[SUN_TINT + channel]
        light[LIGHT.sun + channel] = scene_light[LIGHT.sun + channel] * (value[STRENGTH] * tint)
        light[LIGHT.ambient + channel] = scene_light[LIGHT.ambient + channel] * (value[AMBIENT] * tint)
        haze = scene_light[LIGHT.haze + channel] * value[FOG_TINT + channel]
        light[LIGHT.haze + channel] = min(max(haze, 0.0), 255.0)
    light[LIGHT.density] = scene_light[LIGHT.density] if math.isnan(value[DENSITY]) else value[DENSITY]
    light[LIGHT.ground] = light[LIGHT.density] + (scene_light[LIGHT.ground] - scene_light[LIGHT.density])
    x, y = np.float64(scene_light[LIGHT.direction]), np.float64(scene_light[LIGHT.direction + 1])
    z = np.float64(scene_light[LIGHT.direction + 2])
    if value[AZIMUTH] != 0.0 or not math.isnan(value[HEIGHT]):
        azimuth = math.atan2(y, x) + value[AZIMUTH]
        height = math.asin(min(max(z, -1.0), 1.0)) if math.isnan(value[HEIGHT]) else value[HEIGHT]
        flat = math.cos(height)
        x, y, z = math.cos(azimuth) * flat, math.sin(azimuth) * flat, math.sin(height)
    light[LIGHT.direction], light[LIGHT.direction + 1], light[LIGHT.direction + 2] = x, y, z


@inner_kernel
def write_looks(value, pattern, scene_light, light, look):
    """Write the looks of all classes, shape [class_count, LOOK_WIDTH]; `light`: as `write_light` has written it."""
    none = (0.0, 0.0, 0.0)
    haze = (np.float64(light[LIGHT.haze]), np.float64(light[LIGHT.haze + 1]), np.float64(light[LIGHT.haze + 2]))
    # More fog than the scene has hides its sky.
    clear = math.exp(-max(np.float64(light[LIGHT.density] - scene_light[LIGHT.density]), 0.0) * SKY_DEPTH)
    road, like = (GROUND, CLASS_GROUND) if scene_light[LIGHT.bare] > 0.0 else (ROAD, CLASS_ROAD)
    for kind, first, seed in ((CLASS_GROUND, GROUND, CLASS_GROUND), (CLASS_ROAD, road, like)):
        write_look(value, first, 1.0, none, look[kind])
        write_patches(value[first + PATCHES], value[first + PATCH_SIZE], pattern, seed, look[kind])
    for kind, first in ((CLASS_LINE, LINES), (CLASS_PROP, PROPS)):
        write_look(value, first, 1.0, none, look[kind])
    write_look(value, SKY, clear, haze, look[CLASS_SKY])


@index_kernel
def vary_looks(
    car: int, slots: int, world_scene: IntArray, scene_light: Float32Array, drawn: Drawn, rows: CarRows
) -> None:
    """Write how a car whose values have just been drawn sees, and how its cameras are.

    Args:
        slots: Cars per world.
        world_scene: Of `PictureTables`.
        scene_light: `PictureTables.light`.
        rows: CarRows, the car's are written.
    """
    if drawn.fresh[car] == 0:
        return
    value, scene = drawn.value[car], world_scene[car // slots]
    rows.serial[car] = drawn.serial[car]
    write_light(value, scene_light[scene], rows.light[car])
    if rows.look.shape[1] > 0:
        pattern = hash_words(drawn.key[car], car % slots, drawn.reset[car], PATTERN_STREAM) & np.uint64(0xFFFFFF)
        write_looks(value, np.int64(pattern), scene_light[scene], rows.light[car], rows.look[car])
    for column in range(6):
        rows.mount[car, column] = value[CAMERA + column]
    rows.lens[car, 0], rows.lens[car, 1] = value[FOV], value[DISTORTION]
    rows.effect[car, EFFECT.blur] = value[BLUR]
    # The renderer takes sRGB for a square root of light.
    rows.effect[car, EFFECT.gain] = math.sqrt(2.0 ** value[EXPOSURE])
    rows.effect[car, EFFECT.noise] = value[NOISE]
    rows.effect[car, EFFECT.vignette] = value[VIGNETTE]
    for channel in range(3):
        rows.effect[car, EFFECT.balance + channel] = math.sqrt(value[BALANCE + channel])
    rows.effect[car, EFFECT.flicker], rows.effect[car, EFFECT.bands] = value[FLICKER], value[BANDS]
    rows.effect[car, EFFECT.shutter] = value[SHUTTER]
    rows.quality[car] = np.int32(value[QUALITY])


@index_kernel
def vary_camera(
    camera: int,
    height: float,
    rows_seen: float,
    squeeze: tuple[float, float],
    rows: CarRows,
    meant: MeantCameras,
    cameras: CameraTables,
) -> None:
    """Write a camera's tables anew if its car's rows have been since.

    Args:
        camera: Of the group.
        height: As many rows as the field of view is of [pixel].
        rows_seen: That a picture has, cut off ones included.
        squeeze: Fisheye of strength 1 in x and y, see `lens.compute_fisheye`.
        meant: MeantCameras; serial and effect are written.
        cameras: CameraTables; mount, lens, light and look are written.
    """
    car = cameras.car[camera]
    if meant.serial[camera] == rows.serial[car]:
        return
    meant.serial[camera] = rows.serial[car]
    pose, mount = meant.pose[camera], rows.mount[car]
    for axis in range(3):
        cameras.mount[camera, POSE.position + axis] = pose[axis] + mount[axis]
    matrix = turn(pose[3] + mount[3], pose[4] + mount[4], pose[5] + mount[5])
    for cell in range(9):
        cameras.mount[camera, POSE.rotation + cell] = matrix[cell // 3][cell % 3]
    fov = min(max(meant.fov[camera] + rows.lens[car, 0], FOV_LEAST), FOV_MOST)
    cameras.lens[camera, LENS.focal] = find_focal(fov, height)
    for axis in range(2):
        cameras.lens[camera, LENS.fisheye + axis] = (meant.fisheye[camera, axis] + rows.lens[car, 1]) * squeeze[axis]
    for column in range(rows.light.shape[1]):
        cameras.light[camera, column] = rows.light[car, column]
    for kind in range(rows.look.shape[1]):
        for column in range(rows.look.shape[2]):
            cameras.look[camera, kind, column] = rows.look[car, kind, column]
    for column in range(EFFECT.grey):
        meant.effect[camera, column] = rows.effect[car, column]
    # Columns per radian, as if they were spread evenly over the field of view.
    meant.effect[camera, EFFECT.shutter] *= rows_seen / fov
    if meant.effect[camera, EFFECT.grey] != 0.0:
        grey = 0.0
        for channel in range(3):
            grey += LUMA[channel] * meant.effect[camera, EFFECT.balance + channel]
        for channel in range(3):
            meant.effect[camera, EFFECT.balance + channel] = grey


@index_kernel
def note_picture(
    car: int,
    slots: int,
    world_key: LongArray,
    step_index: LongArray,
    angular_velocity: FloatArray,
    number: WordArray,
    turn: Float32Array,
) -> None:
    """Write what of a car's next picture is its own; the arguments are as for `draw_values`.

    Args:
        slots: Cars per world.
        world_key: Of each world's random numbers, shape [world_count].
        step_index, angular_velocity: Of `State`.
        number: What its noise begins with; the car's is written, shape [car_count].
        turn: The car's yaw rate [rad/s], which blurs it, likewise.
    """
    world = car // slots
    number[car] = np.uint32(hash_words(world_key[world], car % slots, step_index[world], NOISE_STREAM))
    turn[car] = angular_velocity[car, 2]
