"""Where cars come from: presets, the surfaces that they are offered on, and TOML files of one's own.

Parts with tables of their own there: tyres, servo, ESC and battery; all off by default.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SpecError, describe_unknown

T = TypeVar("T")

_CARS = Path(__file__).parent / "cars"

_TYRE_KEYS = ("forward", "sideways", "sideways_rear")


def list_names() -> tuple[str, ...]:
    """Return the names of the presets, with those on other surfaces."""
    return tuple(sorted(name for path in _CARS.glob("*.toml") for name in (path.stem, *_list_surfaces(path))))


def read_car(kind: type[T], name: str) -> T:
    """Return a car.

    A file holds the same keys as the presets; with `base = "rc10"` it holds only those that differ from that car.

    Args:
        kind: `CarSpec`.
        name: Of a preset, of a preset and a surface ("rc10-asphalt"), or a file that ends in .toml.

    Raises:
        SpecError: There is none, or it is broken.
    """
    path = Path(name).expanduser()
    if path.suffix == ".toml":
        table = _read_table(path)
        try:
            return read_dataclass(kind, table, path)
        except SpecError as error:  # what a table says of itself has no place yet
            raise error if str(path) in str(error) else SpecError(f"{path}: {error}") from error
    path, surface = _find_preset(name)
    table = read_toml(path)
    if surface:
        table = _change_tyres(table, surface) | {"name": name}
    return read_dataclass(kind, table, path)


def _find_preset(name: str) -> tuple[Path, str]:
    """Return a preset's file and the surface, "" for its own."""
    if (path := _CARS / f"{name}.toml").is_file():
        return path, ""
    for path in _CARS.glob("*.toml"):
        if name in _list_surfaces(path):
            return path, name.removeprefix(f"{path.stem}-")
    raise SpecError(f"{describe_unknown('car preset', name, list_names())} A file of your own ends in .toml.")


def _list_surfaces(path: Path) -> tuple[str, ...]:
    return tuple(f"{path.stem}-{tyres['surface']}" for tyres in read_toml(path).get("tyres", ()))


def _change_tyres(table: dict[str, Any], surface: str) -> dict[str, Any]:
    chosen = next(tyres for tyres in table["tyres"] if tyres["surface"] == surface)
    kept = {key: value for key, value in table.items() if key not in _TYRE_KEYS}
    return kept | {key: chosen[key] for key in _TYRE_KEYS if key in chosen}


def _read_table(path: Path) -> dict[str, Any]:
    """Return what a file of one's own says, on top of the preset that it names."""
    table = read_toml(path)
    table.setdefault("name", path.stem)
    base = table.pop("base", None)
    if base is None:
        return table
    if not isinstance(base, str) or base not in list_names():
        raise SpecError(f"{locate_key(path, 'base')}: {describe_unknown('car preset', str(base), list_names())}")
    preset, surface = _find_preset(base)
    whole = _change_tyres(read_toml(preset), surface) if surface else read_toml(preset)
    for key, value in table.items():
        known = whole.get(key)
        whole[key] = known | value if isinstance(known, dict) and isinstance(value, dict) else value
    return whole


@dataclass(frozen=True)
class WheelCurve:
    """Friction curve of a tyre in one direction: two cubic pieces, flat at extremum and asymptote.

    Attributes:
        extremum_slip: Slip of greatest force [-] or [rad].
        extremum_value: Force over load there [-].
        asymptote_slip: Slip from which the force is constant.
        asymptote_value: Force over load there [-].
        stiffness: Multiplies the force [-].
        origin_slope: Slope without slip, in extremum values per extremum slip, 1 to 3; with 1.5 the curve is as good as
            straight up to a third of its extremum.
    """

    extremum_slip: float
    extremum_value: float
    asymptote_slip: float
    asymptote_value: float
    stiffness: float = 1.0
    origin_slope: float = 1.0

    def __post_init__(self) -> None:
        if not 1.0 <= self.origin_slope <= 3.0:  # beyond, the curve would have a greater value before its extremum
            raise SpecError(f"origin_slope {self.origin_slope:g} is not valid; it takes 1 to 3.")


@dataclass(frozen=True)
class TyreSpec:
    """Tyres of a preset on a surface.

    Attributes:
        surface: Its name, as in `rc10-asphalt`.
        forward: Longitudinal friction there.
        sideways: Lateral friction.
        sideways_rear: That of the rear wheels, where it differs.
    """

    surface: str
    forward: WheelCurve
    sideways: WheelCurve
    sideways_rear: WheelCurve | None = None


@dataclass(frozen=True)
class ServoSpec:
    """What turns the wheels.

    Attributes:
        speed: Of the steered wheels [rad/s]; 0: at once.
        dead_band: It does not move while the wheels are so near to what is asked [rad].
    """

    speed: float = 0.0
    dead_band: float = 0.0

    def __post_init__(self) -> None:
        if self.speed < 0.0 or self.dead_band < 0.0:
            raise SpecError("speed and dead_band of a servo take 0 or more.")


@dataclass(frozen=True)
class EscSpec:
    """What drives the motor, an electronic speed control.

    Attributes:
        dead_zone: Throttle below which nothing happens; the rest of the stick's way does all, 0 to 0.5.
        double_tap: A backward throttle brakes; backwards goes only who lets go once and asks again when the car stands.
        brake: Share of the wheels' brake torque at throttle -1 while it brakes.
        cogging: Share of the torque that is missing at the worst place of the motor's turn as it starts, 0 to 1.
        cogging_speed: Speed of the wheels from which the motor runs smoothly [m/s].
        cogging_count: How often that place comes in a turn of the wheels.
    """

    dead_zone: float = 0.0
    double_tap: bool = False
    brake: float = 1.0
    cogging: float = 0.0
    cogging_speed: float = 1.0
    cogging_count: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.dead_zone <= 0.5:
            raise SpecError(f"dead_zone {self.dead_zone:g} is not valid; it takes 0 to 0.5.")
        if not 0.0 <= self.cogging <= 1.0 or self.cogging_speed <= 0.0:
            raise SpecError(f"cogging {self.cogging:g} takes 0 to 1, cogging_speed {self.cogging_speed:g} more than 0.")


@dataclass(frozen=True)
class BatterySpec:
    """What feeds the motor. The car's `torque_max` and `torque_curve` hold at the full battery's voltage.

    Attributes:
        capacity: Charge of the full battery [A h]; 0: a battery that neither sags nor empties.
        voltage: Of the full battery [V].
        empty_voltage: Of the empty one; between them it falls evenly [V].
        resistance: Of battery and wires [Ω].
        current_max: At the motor's greatest torque [A].
    """

    capacity: float = 0.0
    voltage: float = 8.4
    empty_voltage: float = 7.0
    resistance: float = 0.0
    current_max: float = 0.0

    def __post_init__(self) -> None:
        if self.capacity < 0.0 or self.resistance < 0.0 or self.current_max < 0.0:
            raise SpecError("capacity, resistance and current_max of a battery take 0 or more.")
        if not 0.0 < self.empty_voltage <= self.voltage:
            raise SpecError(f"empty_voltage {self.empty_voltage:g} V must lie above 0 and not above voltage.")
        if self.resistance * self.current_max >= 0.5 * self.empty_voltage:
            raise SpecError("resistance times current_max must stay below half of empty_voltage.")
