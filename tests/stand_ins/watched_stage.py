"""A stage without a simulator: cars go round an oval as its time is set; pictures are plain colours."""

import asyncio
import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from donkeysim.core.errors import SceneError, SpecError, describe_unknown
from donkeysim.core.image import encode_jpeg
from donkeysim.racing.rules.act import Act
from donkeysim.racing.show.race_view import Joining, RaceView, TimeLine
from donkeysim.watch.watchable import CHOSEN, CarRow, Outline, View
from donkeysim.world.specs import RoadSpec
from donkeysim.world.telemetry import Telemetry

LAP_TIME = 20.0
PAINTS = ((220, 40, 30), (35, 110, 220), (245, 190, 40), (60, 160, 75), (150, 70, 190), (240, 240, 240), (30, 30, 30))


@dataclass
class WatchedStage:
    """Follows `Watchable` and `ControllableRaces`; tests set the fields and read `calls`."""

    scene_name: str | None = "generated_track"
    is_loading: bool = False
    loading_stage: str = ""
    names: list[str] = field(default_factory=lambda: ["one"])
    time: float = 0.0
    calls: list[tuple[object, ...]] = field(default_factory=list)
    picture_delay: float = 0.0
    picture_count: int = 0
    pictures_under_way: Counter[View] = field(default_factory=Counter)
    most_at_once: int = 0
    last_hit: str = ""
    road: RoadSpec | None = None
    drawn: dict[str, float] = field(default_factory=dict)
    has_pace_car: bool | None = False
    race: RaceView | None = None
    past: TimeLine | None = None
    place_to_join: Joining | None = None

    def scene_names(self) -> tuple[str, ...]:
        return ("generated_road", "warehouse", "sparkfun_avc", "generated_track")

    async def list_cars(self, at: float | None = None) -> list[CarRow]:
        return [] if self.scene_name is None else [self._row(index) for index in range(len(self.names))]

    def _row(self, index: int) -> CarRow:
        time = max(0.0, self.time - 1.1 * index)
        angle = 2 * math.pi * time / LAP_TIME
        laps = int(time / LAP_TIME)
        return CarRow(
            car_id=index + 1,
            name=self.names[index],
            style="donkey",
            colour=PAINTS[index % len(PAINTS)],
            is_pace_car=index == 0 and self.names[0] == "pace",
            telemetry=make_telemetry(time, laps, self.last_hit or "none"),
            pose=(4.0 * math.cos(angle), 2.5 * math.sin(angle), angle + math.pi / 2),
            lap_times=tuple(LAP_TIME - 0.1 * (lap % 3) for lap in range(laps)),
            last_hit=self.last_hit,
            drawn=self.drawn,
        )

    def outline(self) -> Outline | None:
        if self.scene_name is None or self.is_loading:
            return None
        angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
        ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return Outline(
            path=ring * (4.0, 2.5),
            left=ring * (3.6, 2.1),
            right=ring * (4.4, 2.9),
            start_line=np.array([[[3.6, 0.0], [4.4, 0.0]]]),
            is_closed=True,
            road=self.road,
        )

    async def take_picture(self, view: View, car_id: int, width: int, height: int, at: float | None = None) -> bytes:
        if view != "place" and car_id != CHOSEN:
            self._require_car(car_id)
        self.picture_count += 1
        self.calls.append(("take_picture", view, car_id, width, height, *([] if at is None else [at])))
        if self.picture_delay:
            self.pictures_under_way[view] += 1
            self.most_at_once = max(self.most_at_once, self.pictures_under_way[view])
            await asyncio.sleep(self.picture_delay)
            self.pictures_under_way[view] -= 1
        if view == "camera":
            width, height = 160, 120
        picture = np.full((height, width, 3), (90, 140, 110), np.uint8)
        picture[: height // 2] = (150, 190, 225)
        picture[height // 2 :, (width * 2) // 5 : (width * 3) // 5] = (70, 72, 78)
        return encode_jpeg(picture)

    async def load_scene(self, name: str) -> None:
        self.calls.append(("load_scene", name))
        if name not in self.scene_names():
            raise SceneError(describe_unknown("scene", name, self.scene_names()))
        self.scene_name = name

    async def make_road(self, road: RoadSpec) -> None:
        self.calls.append(("make_road", road))
        if self.road is None:
            raise SceneError("the road is not a generated one; it cannot be regenerated.")
        self.road = road

    async def exit_scene(self) -> None:
        self.calls.append(("exit_scene",))
        self.scene_name = None

    async def set_pace_car(self, is_wanted: bool) -> None:
        self.calls.append(("set_pace_car", is_wanted))
        self.has_pace_car = is_wanted
        self.names = ["pace", *self.names] if is_wanted else [name for name in self.names if name != "pace"]

    async def reset_car(self, car_id: int) -> None:
        self.calls.append(("reset_car", car_id))
        self._require_car(car_id)

    def time_line(self) -> TimeLine | None:
        return self.past

    async def show_race(self, at: float | None) -> RaceView | None:
        return self.race

    def joining(self) -> Joining | None:
        return self.place_to_join

    async def act(self, act: Act) -> None:
        self.calls.append(("act", act))
        if self.race is None:
            raise SpecError("no race is held here.")

    async def start_race(self) -> None:
        self.calls.append(("start_race",))
        if self.race is None:
            raise SpecError("no race is held here.")

    def _require_car(self, car_id: int) -> None:
        if self.scene_name is None or not 1 <= car_id <= len(self.names):
            raise SpecError(f"there is no car {car_id} now; it may have left.")


def make_telemetry(time: float, laps: int = 0, hit: str = "none") -> Telemetry:
    """Return plausible readings at a time [s]."""
    axes = [f"{name}_{axis}" for name in ("accel", "gyro", "pos", "vel") for axis in "xyz"]
    zeros = dict.fromkeys([*axes, "gyro_w", "pitch", "yaw", "roll"], 0.0)
    return Telemetry(
        **zeros,
        steering_angle=0.4 * math.sin(time),
        throttle=0.3 + 0.1 * math.cos(0.5 * time),
        speed=1.4 + 0.3 * math.sin(0.7 * time),
        hit=hit,
        time=time,
        cte=0.6 * math.sin(0.9 * time),
        activeNode=int(108 * time / LAP_TIME) % 108,
        totalNodes=108,
        on_road=True,
        progress_on_shortest_path=1.2 * time,
        lap=laps + 1,
        frame=int(20 * time),
        reset_count=0,
    )
