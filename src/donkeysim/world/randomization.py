"""What may differ from car to car and from reset to reset: ranges that values are drawn from, all off by default.

A range is two numbers, the lower one first; None: nothing is drawn and all stays as scene, car and camera have it.
"times" ranges multiply what is there, "added" ones are added to it. SI units, our frames: x forward, y left, z up.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SpecError, nearest_name

Range: TypeAlias = tuple[float, float] | None

CHANNELS = ("red", "green", "blue")
"""A tint is drawn for each of these."""

_PRESETS = Path(__file__).parent / "randomizations"


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


@dataclass(frozen=True)
class RandomizationSpec:
    """Everything that is drawn for each car and anew at each of its resets.

    Attributes:
        sun: Light.
        fog: Haze.
        ground: Beside the road.
        road: Without its markings.
        lines: Markings of the road.
        props: What stands around.
        sky: Its picture.
        camera: Mounting and lens.
        picture: Blur, exposure, noise, compression.
        car: Mass, grip, motor, steering.
        delay: Of commands and pictures.
        battery: How full it is.
        sensor: Vignette, white balance, blur of turning, flicker.
    """

    sun: SunRanges = SunRanges()
    fog: FogRanges = FogRanges()
    ground: SurfaceRanges = SurfaceRanges()
    road: SurfaceRanges = SurfaceRanges()
    lines: LookRanges = LookRanges()
    props: LookRanges = LookRanges()
    sky: LookRanges = LookRanges()
    camera: CameraRanges = CameraRanges()
    picture: PictureRanges = PictureRanges()
    car: CarRanges = CarRanges()
    delay: DelayRanges = DelayRanges()
    battery: BatteryRanges = BatteryRanges()
    sensor: SensorRanges = SensorRanges()  # the last: each value's random numbers follow from its place

    def __post_init__(self) -> None:
        for table, name, knob in _list_fields(self):
            _check_range(f"{table}.{name}", getattr(getattr(self, table), name), knob)
        for name in ("ground", "road"):
            surface: SurfaceRanges = getattr(self, name)
            if surface.patch_size is not None and surface.patches is None:
                raise SpecError(f"{name}.patch_size does nothing alone; say with {name}.patches how strong they are.")
        if self.sensor.bands is not None and self.sensor.flicker is None:
            raise SpecError("sensor.bands does nothing alone; say with sensor.flicker how strong they are.")
        for name in ("action", "picture"):
            latest = sum((getattr(self.delay, f"{name}{part}") or (0.0, 0.0))[1] for part in ("", "_jitter"))
            if latest > 1.0:
                raise SpecError(
                    f"delay.{name} and delay.{name}_jitter reach {latest:g} s together; they take up to 1 s."
                )

    @property
    def is_on(self) -> bool:
        """Whether anything is drawn."""
        return self != RandomizationSpec()

    @property
    def has_looks(self) -> bool:
        """Whether colours of any kind of thing may change; fog changes the sky's."""
        tables = (self.ground, self.road, self.lines, self.props, self.sky)
        return self.fog.density is not None or any(table != type(table)() for table in tables)

    @property
    def has_effects(self) -> bool:
        """Whether pictures may be blurred, shaded, exposed otherwise or noisy."""
        given = any((self.picture.blur, self.picture.exposure, self.picture.noise))
        return given or self.sensor != SensorRanges()


@dataclass(frozen=True)
class Knob:
    """One number that is drawn.

    Attributes:
        name: As it is reported, "sun.tint_red".
        unit: "" for none.
        low: Least value.
        high: Greatest value.
        stream: Of its random numbers, whatever else is drawn; also the column of `drawing.Drawn.value`.
    """

    name: str
    unit: str
    low: float
    high: float
    stream: int


def list_knobs(spec: RandomizationSpec) -> tuple[Knob, ...]:
    """Return what is drawn, always in the same order."""
    knobs: list[Knob] = []
    stream = 0
    for table, name, about in _list_fields(spec):
        given = getattr(getattr(spec, table), name)
        for part in about["parts"] or ("",):
            if given is not None:
                whole = f"{table}.{name}" + (f"_{part}" if part else "")
                knobs.append(Knob(whole, about["unit"], given[0], given[1], stream))
            stream += 1
    return tuple(knobs)


def find_unit(name: str) -> str:
    """Return the unit of a value by its reported name; "" for none."""
    return str(_KNOBS[name]["unit"]) if name in _KNOBS else ""


def list_rests() -> list[float]:
    """Return what stands for each value while it is not drawn, by column of `drawing.Drawn.value`."""
    return [float(about["rest"]) for about in _KNOBS.values()]


def find_column(name: str) -> int:
    """Return the column of `drawing.Drawn.value` that a value is in, by its reported name."""
    return list(_KNOBS).index(name)


def list_presets() -> tuple[str, ...]:
    """Return the names of the files of ranges that come along."""
    return tuple(sorted(path.stem for path in _PRESETS.glob("*.toml")))


def read_randomization(given: object) -> RandomizationSpec:
    """Return what somebody asks for.

    Args:
        given: None for nothing; a spec; the name of a preset; a TOML file; or its tables as dicts.

    Raises:
        SpecError: There is no such file, a key is unknown, or a range is not possible.
    """
    if given is None:
        return RandomizationSpec()
    if isinstance(given, RandomizationSpec):
        return given
    if isinstance(given, str | Path):
        return _read_file(_find_file(str(given)))
    if isinstance(given, Mapping):
        return read_dataclass(RandomizationSpec, _turn_into_lists(given), "randomization")
    raise SpecError(
        f"randomization is {given!r}; it takes a RandomizationSpec, a dict of its tables, a TOML file, or one of "
        f"{', '.join(list_presets())}."
    )


def _find_file(name: str) -> Path:
    if name in list_presets():
        return _PRESETS / f"{name}.toml"
    path = Path(name).expanduser()
    if not path.is_file():
        nearest = nearest_name(name, list_presets())
        hint = f"did you mean {nearest!r}? " if nearest else ""
        raise SpecError(
            f"there is no file {name!r} with ranges to draw from; {hint}These come along: {', '.join(list_presets())}."
        )
    return path


def _read_file(path: Path) -> RandomizationSpec:
    try:
        return read_dataclass(RandomizationSpec, read_toml(path), path)
    except SpecError as error:
        text = str(error)
        if text.startswith(str(path)):
            raise
        raise SpecError(f"{locate_key(path, text.partition(' ')[0])}: {text}") from error


def _turn_into_lists(table: Mapping[Any, Any]) -> dict[str, Any]:
    """Return tables with lists where people write tuples, as a TOML file has them."""
    return {
        str(key): _turn_into_lists(value)
        if isinstance(value, Mapping)
        else list(value)
        if isinstance(value, tuple)
        else value
        for key, value in table.items()
    }


def _list_fields(spec: RandomizationSpec) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Give table, name and limits of every range."""
    for table in fields(spec):
        for knob in fields(getattr(spec, table.name)):
            yield table.name, knob.name, knob.metadata


def _check_range(name: str, given: Range, about: Mapping[str, Any]) -> None:
    low, high = about["low"], about["high"]
    if given is None:
        return
    unit = f" {about['unit']}" if about["unit"] else ""
    numbers = isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, Real) for part in given)
    if not numbers or not low <= given[0] <= given[1] <= high:
        raise SpecError(
            f"{name} is {given}; it takes two numbers from {low:.4g} to {high:.4g}{unit}, the lower one first."
        )


_KNOBS: dict[str, Mapping[str, Any]] = {
    f"{table}.{name}" + (f"_{part}" if part else ""): about
    for table, name, about in _list_fields(RandomizationSpec())
    for part in about["parts"] or ("",)
}
"""What the field of every value says of itself, by reported name, in the order of their streams."""
