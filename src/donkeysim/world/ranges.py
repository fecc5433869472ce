"""Tables of ranges that values are drawn from, all off by default; `randomization` puts them together.

A range is two numbers, the lower one first; None: nothing is drawn and all stays as scene, car and camera have it.
"times" ranges multiply what is there, "added" ones are added to it. SI units, our frames: x forward, y left, z up.
"""

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Range: TypeAlias = tuple[float, float] | None

CHANNELS = ("red", "green", "blue")
"""A tint is drawn for each of these."""


def _limit(low: float, high: float, unit: str = "", parts: tuple[str, ...] = (), rest: float = 0.0) -> dict[str, Any]:
    """Return what a range's field says of itself.

    Args:
        low: Least value that may be drawn.
        high: Greatest.
        unit: Of both.
        parts: It is drawn once for each of these.
        rest: The value that stands for one that is not drawn; not a number: the scene's own.
    """
    return {"low": low, "high": high, "unit": unit, "parts": parts, "rest": rest}


_TURN = 2.0 * math.pi
_TINT = _limit(0.0, 4.0, "", CHANNELS, rest=1.0)


@dataclass(frozen=True)
class SunRanges:
    """Light, as a car's cameras see it.

    Attributes:
        azimuth: Added to the sun's, + = counter-clockwise seen from above [rad].
        height: Of the sun above the horizon, instead of the scene's [rad].
        strength: Times the direct light.
        ambient: Times the light from everywhere.
        tint: Times red, green and blue of both.
    """

    azimuth: Range = field(default=None, metadata=_limit(-_TURN, _TURN, "rad"))
    height: Range = field(default=None, metadata=_limit(0.0, math.pi / 2, "rad", rest=math.nan))
    strength: Range = field(default=None, metadata=_limit(0.0, 4.0, rest=1.0))
    ambient: Range = field(default=None, metadata=_limit(0.0, 4.0, rest=1.0))
    tint: Range = field(default=None, metadata=_TINT)


@dataclass(frozen=True)
class FogRanges:
    """Haze.

    Attributes:
        density: Instead of the scene's [1/m].
        tint: Times red, green and blue of its colour.
    """

    density: Range = field(default=None, metadata=_limit(0.0, 10.0, "1/m", rest=math.nan))
    tint: Range = field(default=None, metadata=_TINT)


@dataclass(frozen=True)
class LookRanges:
    """Colours of one kind of thing.

    Attributes:
        tint: Times red, green and blue.
        hue: By how much colours turn around the colour circle, red towards yellow [rad].
        saturation: Times the distance from grey; 0 is grey.
        contrast: Times the distance from medium grey.
    """

    tint: Range = field(default=None, metadata=_TINT)
    hue: Range = field(default=None, metadata=_limit(-_TURN, _TURN, "rad"))
    saturation: Range = field(default=None, metadata=_limit(0.0, 4.0, rest=1.0))
    contrast: Range = field(default=None, metadata=_limit(0.0, 4.0, rest=1.0))


@dataclass(frozen=True)
class SurfaceRanges(LookRanges):
    """Colours and pattern of a surface.

    Attributes:
        patches: By how much a pattern of soft patches, of a shape of its own for each draw, lightens and darkens the
            surface: 0 not at all, 1 down to black.
        patch_size: Of these patches [m]; 0.3 where nothing is given.
    """

    patches: Range = field(default=None, metadata=_limit(0.0, 1.0))
    patch_size: Range = field(default=None, metadata=_limit(0.01, 10.0, "m", rest=0.3))


@dataclass(frozen=True)
class CameraRanges:
    """How each of a car's cameras is mounted and made; both cameras of a car move alike.

    Attributes:
        x: Added to its place, forward [m].
        y: Added to its place, to the left [m].
        z: Added to its place, up [m].
        roll: Added, + = leaning right [rad].
        pitch: Added, + = down [rad].
        yaw: Added, + = to the left [rad].
        fov: Added to the vertical field of view, which stays within 10° to 170° [rad].
        distortion: Added to both fisheye strengths; below 0 bends the other way.
    """

    x: Range = field(default=None, metadata=_limit(-1.0, 1.0, "m"))
    y: Range = field(default=None, metadata=_limit(-1.0, 1.0, "m"))
    z: Range = field(default=None, metadata=_limit(-1.0, 1.0, "m"))
    roll: Range = field(default=None, metadata=_limit(-_TURN, _TURN, "rad"))
    pitch: Range = field(default=None, metadata=_limit(-_TURN, _TURN, "rad"))
    yaw: Range = field(default=None, metadata=_limit(-_TURN, _TURN, "rad"))
    fov: Range = field(default=None, metadata=_limit(-2.0, 2.0, "rad"))
    distortion: Range = field(default=None, metadata=_limit(-2.0, 2.0))


@dataclass(frozen=True)
class PictureRanges:
    """What the camera does to a finished picture, in this order.

    Attributes:
        blur: Standard deviation of a Gaussian blur [pixel].
        exposure: Stops: each doubles the light, what is too bright is cut off [EV].
        noise: Standard deviation of each pixel's noise, new in every picture [grey level of 255].
        jpeg_quality: Quality, 1 to 100, rounded, of the JPEG file that the picture goes through.
    """

    blur: Range = field(default=None, metadata=_limit(0.0, 8.0, "pixel"))
    exposure: Range = field(default=None, metadata=_limit(-6.0, 6.0, "EV"))
    noise: Range = field(default=None, metadata=_limit(0.0, 128.0, "grey level"))
    jpeg_quality: Range = field(default=None, metadata=_limit(1.0, 100.0))


@dataclass(frozen=True)
class CarRanges:
    """How the car drives.

    Attributes:
        mass: Times the mass, and with it the inertia; the springs carry it at the same height.
        friction: Times the grip of its tyres on any ground.
        motor: Times the motor's torque.
        steer_trim: Added to the angle of the steered wheels, + = left; the limit stays [rad].
    """

    mass: Range = field(default=None, metadata=_limit(0.25, 4.0, rest=1.0))
    friction: Range = field(default=None, metadata=_limit(0.05, 4.0, rest=1.0))
    motor: Range = field(default=None, metadata=_limit(0.0, 4.0, rest=1.0))
    steer_trim: Range = field(default=None, metadata=_limit(-0.5, 0.5, "rad"))


@dataclass(frozen=True)
class DelayRanges:
    """How late things come. None overtakes another.

    Attributes:
        action: From a command to when the car does it [s].
        action_jitter: Greatest further delay, drawn anew for every command [s].
        picture: Age of the newest picture that has arrived [s].
        picture_jitter: Greatest further age, drawn anew for every picture [s].
    """

    action: Range = field(default=None, metadata=_limit(0.0, 1.0, "s"))
    action_jitter: Range = field(default=None, metadata=_limit(0.0, 1.0, "s"))
    picture: Range = field(default=None, metadata=_limit(0.0, 1.0, "s"))
    picture_jitter: Range = field(default=None, metadata=_limit(0.0, 1.0, "s"))


@dataclass(frozen=True)
class BatteryRanges:
    """The battery of cars that have one; see `car_parts.BatterySpec`.

    Attributes:
        charge: Share of its capacity that is left at the start.
    """

    charge: Range = field(default=None, metadata=_limit(0.0, 1.0, rest=1.0))


@dataclass(frozen=True)
class SensorRanges:
    """How the light comes through lens and sensor, before the exposure of `PictureRanges`.

    Attributes:
        vignette: Share of the light that is lost in the corners; it grows with the square of the distance from the
            middle.
        balance: Times red, green and blue of the picture: a white balance that is off.
        shutter: How long a picture takes [s]; meanwhile a car that turns blurs it along its rows.
        flicker: By how much lamps on the mains lighten and darken bands of rows, elsewhere in every picture.
        bands: How many there are of them from top to bottom; 3 where nothing is given.
    """

    vignette: Range = field(default=None, metadata=_limit(0.0, 1.0))
    balance: Range = field(default=None, metadata=_TINT)
    shutter: Range = field(default=None, metadata=_limit(0.0, 0.1, "s"))
    flicker: Range = field(default=None, metadata=_limit(0.0, 1.0))
    bands: Range = field(default=None, metadata=_limit(0.1, 20.0, rest=3.0))
