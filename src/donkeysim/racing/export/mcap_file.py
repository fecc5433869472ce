"""A race as an MCAP file: poses, scene, telemetry, standing, incidents and journal; opens in Foxglove and its like."""

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np

from donkeysim import __version__
from donkeysim.core.errors import import_extra
from donkeysim.core.image import encode_jpeg, spread_grey
from donkeysim.core.types import FloatArray
from donkeysim.racing.export.walk import CAR_COLUMNS, RaceWalk, read_cars
from donkeysim.racing.rules.classification import Placing
from donkeysim.racing.rules.describe import describe_kind
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.run.race_file import Report
from donkeysim.racing.run.verify import Verification
from donkeysim.record import foxglove as fox
from donkeysim.watch.watchable import draw_outline

WORLD = "world"
"""Frame of reference of the track."""

STANDING_FRAMES = 20
"""The standing is written every so often [frames], and with every line of the journal."""

PICTURE_QUALITY = 85
"""Of the cameras' JPEG pictures, 0 to 100."""

_TRACK_COLOUR, _LINE_COLOUR, _GATE_COLOUR = fox.Color(0.6, 0.63, 0.62), fox.Color(1, 1, 1), fox.Color(0.4, 0.6, 0.95)

_JSON_KINDS = {"float": "number", "int": "integer", "bool": "boolean", "text": "string"}


class StandingMessage(msgspec.Struct, frozen=True):
    """How the race stands; topic /standing."""

    timestamp: fox.Time
    session: str
    attempt: int
    flag: str
    clock: float | None
    """Since green [s]."""
    placings: Sequence[Placing]


class IncidentMessage(msgspec.Struct, frozen=True):
    """What happened to a car; topic /incident."""

    timestamp: fox.Time
    car: str
    """Its name: who is to blame where there are two."""
    other_car: str
    text: str
    incident: Incident


class McapExport:
    """Writes the file. Implements `Export`."""

    def __init__(self, path: Path, cameras: Sequence[str] = ()) -> None:
        """Choose a path.

        Args:
            cameras: Names of the cars whose camera's pictures are in it.

        Raises:
            DonkeySimError: The package mcap is not installed.
        """
        self.path, self._cameras = path, cameras
        self._mcap = import_extra("mcap.writer", "MCAP files need the package mcap", "export")
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._shown: frozenset[int] = frozenset()

    def begin(self, walk: RaceWalk, stream: IO[bytes]) -> None:
        """Begin the file with the track.

        Raises:
            SpecError: No car has the name of a camera's.
        """
        self._writer = self._mcap.Writer(stream, compression=self._mcap.CompressionType.ZSTD)
        self._writer.start(profile="", library=f"donkeysim {__version__}")
        self._looking = [walk.find_row(name) for name in self._cameras]
        facts = {"track": walk.plan.track, "rules": walk.plan.book.title, "cars": ", ".join(walk.plan.names)}
        self._writer.add_metadata("race", facts)
        self._add(walk, "/track", "foxglove.SceneUpdate", fox.SceneUpdate([], [_draw_track(walk)]))

    def note(self, walk: RaceWalk) -> None:
        """Add a frame."""
        self._add_poses(walk)
        names = list(walk.director.entries.items())
        columns = read_cars(walk)
        for place, (row, name) in enumerate(names):
            if columns["present"][place]:
                cells = {column: values[place] for column, values in columns.items()}
                moment = {"timestamp": _read_time(walk), "row": row, "name": name}
                self._add(walk, f"/car/{row}/telemetry", "donkeysim.Telemetry", {**moment, **cells})
        if walk.frame % STANDING_FRAMES == 1 or walk.lines:
            self._add_standing(walk)
        self._add_journal(walk)
        self._add_pictures(walk)

    def finish(self, walk: RaceWalk, verdict: Verification) -> None:
        """End the file with the result."""
        self._add_journal(walk)
        self._add_standing(walk)
        if verdict.counted is not None:
            report = Report(verdict.plan, verdict.counted, tuple(walk.director.journal), walk.path.name)
            content = msgspec.json.encode(report)
            self._writer.add_attachment(walk.nanoseconds, walk.nanoseconds, "race.json", "application/json", content)
        self._writer.finish()

    def close(self) -> None:
        """Nothing is left to do."""

    # -- messages -----------------------------------------------------------------------------------------------------

    def _add(self, walk: RaceWalk, topic: str, schema: str, message: object) -> None:
        """Add a message of this moment; topics and schemas are made when they come first."""
        if topic not in self._channels:
            if schema not in self._schemas:
                data = msgspec.json.encode(SCHEMAS[schema])
                self._schemas[schema] = self._writer.register_schema(schema, "jsonschema", data)
            self._channels[topic] = self._writer.register_channel(topic, "json", self._schemas[schema])
        moment = walk.nanoseconds
        self._writer.add_message(self._channels[topic], moment, msgspec.json.encode(message), moment, walk.frame)

    def _add_poses(self, walk: RaceWalk) -> None:
        """Add where the cars are, and what they look like where that has changed."""
        time, ledger = _read_time(walk), walk.simulator.ledger
        rows = [row for row in walk.director.entries if ledger.present[row]]
        transforms = []
        for row in rows:
            w, x, y, z = ledger.orientation[row].tolist()
            place, turn = fox.Vector3(*ledger.position[row].tolist()), fox.Quaternion(x, y, z, w)
            transforms.append(fox.FrameTransform(time, WORLD, name_frame(row), place, turn))
        self._add(walk, "/tf", "foxglove.FrameTransforms", fox.FrameTransforms(transforms))
        if frozenset(rows) != self._shown:
            self._shown = frozenset(rows)
            gone = [fox.SceneEntityDeletion(time, fox.ALL, "")]
            cars = [_draw_car(walk, row) for row in rows]
            self._add(walk, "/cars", "foxglove.SceneUpdate", fox.SceneUpdate(gone, cars))

    def _add_standing(self, walk: RaceWalk) -> None:
        director = walk.director
        placings = sorted(walk.standing.values(), key=lambda placing: (placing.place == 0, placing.place))
        columns = (director.session, director.attempt, director.flags.get(-1, ""), walk.clock, placings)
        self._add(walk, "/standing", "donkeysim.Standing", StandingMessage(_read_time(walk), *columns))

    def _add_journal(self, walk: RaceWalk) -> None:
        time, names = _read_time(walk), walk.director.entries
        for line in walk.lines:
            level = fox.WARNING if line.text.startswith("no. ") else fox.INFO
            self._add(walk, "/journal", "foxglove.Log", fox.Log(time, level, line.text, line.session))
        for incident in walk.incidents:
            text = describe_kind(incident)
            columns = (names[incident.row], names.get(incident.other, ""), text, incident)
            self._add(walk, "/incident", "donkeysim.Incident", IncidentMessage(time, *columns))

    def _add_pictures(self, walk: RaceWalk) -> None:
        simulator = walk.simulator
        rows = [row for row in self._looking if simulator.ledger.present[row]]
        for row in rows:
            if simulator.get_camera(row) is None:
                simulator.configure_camera(row, simulator.car_spec.camera)
        if rows:
            simulator.render(rows)
        for row in rows:
            picture = encode_jpeg(spread_grey(simulator.get_picture(row)), quality=PICTURE_QUALITY)
            image = fox.CompressedImage(_read_time(walk), name_frame(row), picture, "jpeg")
            self._add(walk, f"/car/{row}/camera", "foxglove.CompressedImage", image)


def name_frame(row: int) -> str:
    """Return the frame of reference of a car's body."""
    return f"car {row}"


def _read_time(walk: RaceWalk) -> fox.Time:
    return fox.Time(*divmod(walk.nanoseconds, 10**9))


# -- the scene --------------------------------------------------------------------------------------------------------


def _draw_track(walk: RaceWalk) -> fox.SceneEntity:
    """Return the road's edges, start lines and checkpoints, at the height of the road."""
    scene = walk.simulator.scene
    outline = draw_outline(scene)
    height = scene.path.position[:, 2]
    closing = fox.LINE_LOOP if outline.is_closed else fox.LINE_STRIP
    lines = [
        _draw_line(closing, np.column_stack([outline.left, height]), _TRACK_COLOUR, 0.03),
        _draw_line(closing, np.column_stack([outline.right, height]), _TRACK_COLOUR, 0.03),
    ]
    for gates, colour in ((outline.start_line, _LINE_COLOUR), (outline.checkpoint, _GATE_COLOUR)):
        for gate in gates:
            nearest = height[np.argmin(np.linalg.norm(outline.path - gate.mean(axis=0), axis=1))]
            lines.append(_draw_line(fox.LINE_STRIP, np.insert(gate, 2, nearest, axis=1), colour, 0.05))
    return fox.SceneEntity(_read_time(walk), WORLD, scene.name, lines=lines)


def _draw_line(kind: int, points: FloatArray, colour: fox.Color, thickness: float) -> fox.LinePrimitive:
    corners = [fox.Point3(*point) for point in points.tolist()]
    return fox.LinePrimitive(kind, fox.FoxglovePose(), thickness, False, corners, colour)


def _draw_car(walk: RaceWalk, row: int) -> fox.SceneEntity:
    """Return a car as a box of its colour and size with its name above; it moves with its frame of reference."""
    red, green, blue = (level / 255.0 for level in walk.find_body(row).colour)
    length, width, height = walk.simulator.car_spec.chassis_size
    box = fox.CubePrimitive(fox.FoxglovePose(), fox.Vector3(length, width, height), fox.Color(red, green, blue))
    above = fox.FoxglovePose(fox.Vector3(z=0.3))
    name = fox.TextPrimitive(above, True, 14.0, True, fox.Color(1.0, 1.0, 1.0), walk.director.entries[row])
    return fox.SceneEntity(_read_time(walk), name_frame(row), name_frame(row), cubes=[box], texts=[name])


# -- schemas ----------------------------------------------------------------------------------------------------------


def _make_telemetry_schema() -> dict[str, Any]:
    """Return the schema of a car's values, which are the columns of the table."""
    properties: dict[str, Any] = {
        "timestamp": fox.make_schema(fox.Time, "time"),
        "row": {"type": "integer", "description": "of the car, as in the race file"},
        "name": {"type": "string", "description": "of the car"},
    }
    for column in CAR_COLUMNS:
        unit = f" [{column.unit}]" if column.unit else ""
        properties[column.name] = {"type": _JSON_KINDS[column.kind], "description": column.text + unit}
    return {"title": "donkeysim.Telemetry", "type": "object", "properties": properties}


SCHEMAS: dict[str, dict[str, Any]] = {
    "foxglove.FrameTransforms": fox.make_schema(fox.FrameTransforms, "foxglove.FrameTransforms"),
    "foxglove.SceneUpdate": fox.make_schema(fox.SceneUpdate, "foxglove.SceneUpdate"),
    "foxglove.CompressedImage": fox.make_schema(fox.CompressedImage, "foxglove.CompressedImage"),
    "foxglove.Log": fox.make_schema(fox.Log, "foxglove.Log"),
    "donkeysim.Telemetry": _make_telemetry_schema(),
    "donkeysim.Standing": fox.make_schema(StandingMessage, "donkeysim.Standing"),
    "donkeysim.Incident": fox.make_schema(IncidentMessage, "donkeysim.Incident"),
}
"""By name."""
