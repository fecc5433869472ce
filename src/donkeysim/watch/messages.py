"""What the watching page asks and is answered, as JSON; see `watch.spectator` for where."""

from typing import Annotated

import msgspec

from donkeysim.watch.watchable import View
from donkeysim.world.specs import RoadSpec
from donkeysim.world.telemetry import Telemetry

PixelCount = Annotated[int, msgspec.Meta(ge=16, le=1280)]


class StateRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a page wants to know: the readings of this car in addition to the list of all.

    `at` is the moment of the time line that it shows [s], null for now.
    """

    car: int | None = None
    at: float | None = None


class PictureRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The next picture: which view of which car, how many pixels, at which moment of the time line [s], null for now.

    "place" needs no car; any number will do. The car -1 is the one that is worth watching.
    """

    view: View
    car: int
    width: PixelCount
    height: PixelCount
    at: float | None = None


class MomentRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Where everything is, at which moment of the time line [s], null for now."""

    at: float | None = None


class SceneRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Which scene to load."""

    name: str


class RoadRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Which road to make, in scenes that generate theirs; as `RoadSpec`."""

    style: int
    seed: int
    turn: float


class PaceCarRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a pace car shall drive."""

    drives: bool


class SceneCard(msgspec.Struct):
    """A scene of the menu, whether it has a picture, and whose design it is, see `group_scenes`."""

    name: str
    has_preview: bool
    group: str


class CarEntry(msgspec.Struct):
    """A row of the list of cars; times in s, pose in m and rad (world frame)."""

    id: int
    name: str
    style: str
    colour: tuple[int, int, int]
    is_pace_car: bool
    pose: tuple[float, float, float]
    lap: int
    last_lap: float | None
    best_lap: float | None


class DrawnValue(msgspec.Struct):
    """One value that was drawn for a car, as in `world.randomization`."""

    name: str
    value: float
    unit: str


class CarReadings(msgspec.Struct):
    """Everything about the watched car."""

    id: int
    telemetry: Telemetry | None
    lap_times: tuple[float, ...]
    lap_count: int
    last_hit: str
    drawn: list[DrawnValue]


class StateReply(msgspec.Struct):
    """The state of the simulation at one moment, and whether this viewer may change it.

    `environment` is the id of the scene's environment, "" where it has none; `control` the address of a control page,
    "" for none; `pace_car` whether one drives, null where there cannot be one. `race` is null where none is held,
    `time_line` where nothing of the past is kept, `joining` where nobody can join.
    """

    may_change: bool
    environment: str
    control: str
    pace_car: bool | None
    scene: str | None
    is_loading: bool
    stage: str
    wire_port: int | None
    scenes: list[SceneCard]
    road: RoadSpec | None
    cars: list[CarEntry]
    readings: CarReadings | None
    faults: dict[str, int]
    race: msgspec.Struct | None = None
    time_line: msgspec.Struct | None = None
    joining: msgspec.Struct | None = None
