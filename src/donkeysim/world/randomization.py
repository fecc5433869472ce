"""What may differ from car to car and from reset to reset: the tables of `ranges`, read, checked and listed by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from pathlib import Path
from typing import Any

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SpecError, nearest_name
from donkeysim.world.ranges import (
    BatteryRanges,
    CameraRanges,
    CarRanges,
    DelayRanges,
    FogRanges,
    LookRanges,
    PictureRanges,
    Range,
    SensorRanges,
    SunRanges,
    SurfaceRanges,
)

_PRESETS = Path(__file__).parent / "randomizations"

_NEEDING = ("ground", "patch_size", "patches"), ("road", "patch_size", "patches"), ("sensor", "bands", "flicker")
"""Tables with a value that does nothing without another one."""


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

    sun: SunRanges = field(default_factory=SunRanges)
    fog: FogRanges = field(default_factory=FogRanges)
    ground: SurfaceRanges = field(default_factory=SurfaceRanges)
    road: SurfaceRanges = field(default_factory=SurfaceRanges)
    lines: LookRanges = field(default_factory=LookRanges)
    props: LookRanges = field(default_factory=LookRanges)
    sky: LookRanges = field(default_factory=LookRanges)
    camera: CameraRanges = field(default_factory=CameraRanges)
    picture: PictureRanges = field(default_factory=PictureRanges)
    car: CarRanges = field(default_factory=CarRanges)
    delay: DelayRanges = field(default_factory=DelayRanges)
    battery: BatteryRanges = field(default_factory=BatteryRanges)
    sensor: SensorRanges = field(
        default_factory=SensorRanges
    )  # the last: each value's random numbers follow from its place

    def __post_init__(self) -> None:
        for table, name, knob in _list_fields(self):
            _check_range(f"{table}.{name}", getattr(getattr(self, table), name), knob)
        for table, size, strength in _NEEDING:
            if getattr(getattr(self, table), size) is not None and getattr(getattr(self, table), strength) is None:
                raise SpecError(f"{table}.{size} does nothing alone; say with {table}.{strength} how strong they are.")
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
