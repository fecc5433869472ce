"""Messages that Foxglove knows by their names, and JSON schemas made from them.

Names, fields and their order are those of the tables in "Foxglove schemas" (https://docs.foxglove.dev/docs/sdk/schemas,
MIT licence), written down here anew. Lengths in m, colours 0 to 1. All fields of a message are always there, though
most lists stay empty.
"""

from typing import Any

import msgspec

LINE_STRIP, LINE_LOOP = 0, 1
"""How the points of a line are joined."""

MATCHING_ID, ALL = 0, 1
"""What a deletion is about."""

INFO, WARNING = 2, 3
"""Levels of a log."""


class Time(msgspec.Struct, frozen=True):
    """A moment."""

    sec: int
    nsec: int


class Duration(Time, frozen=True):
    """A length of time."""


class Vector3(msgspec.Struct, frozen=True):
    """A vector."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class Point3(Vector3, frozen=True):
    """A point."""


class Quaternion(msgspec.Struct, frozen=True):
    """A rotation."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    w: float = 1.0


class FoxglovePose(msgspec.Struct, frozen=True):
    """Where something is, and how it is turned."""

    position: Vector3 = Vector3()
    orientation: Quaternion = Quaternion()


class Color(msgspec.Struct, frozen=True):
    """A colour."""

    r: float
    g: float
    b: float
    a: float = 1.0


class FrameTransform(msgspec.Struct, frozen=True):
    """Where a frame of reference is in another one."""

    timestamp: Time
    parent_frame_id: str
    child_frame_id: str
    translation: Vector3
    rotation: Quaternion


class FrameTransforms(msgspec.Struct, frozen=True):
    """Several of them."""

    transforms: list[FrameTransform]


class CompressedImage(msgspec.Struct, frozen=True):
    """A picture."""

    timestamp: Time
    frame_id: str
    data: bytes
    format: str


class Log(msgspec.Struct, frozen=True):
    """A line of a log."""

    timestamp: Time
    level: int
    message: str
    name: str
    file: str = ""
    line: int = 0


class KeyValuePair(msgspec.Struct, frozen=True):
    """A name and its value."""

    key: str
    value: str


class ArrowPrimitive(msgspec.Struct, frozen=True):
    """An arrow."""

    pose: FoxglovePose
    shaft_length: float
    shaft_diameter: float
    head_length: float
    head_diameter: float
    color: Color


class CubePrimitive(msgspec.Struct, frozen=True):
    """A box."""

    pose: FoxglovePose
    size: Vector3
    color: Color


class SpherePrimitive(CubePrimitive, frozen=True):
    """An ellipsoid."""


class CylinderPrimitive(msgspec.Struct, frozen=True):
    """A cylinder or frustum."""

    pose: FoxglovePose
    size: Vector3
    bottom_scale: float
    top_scale: float
    color: Color


class LinePrimitive(msgspec.Struct, frozen=True):
    """Points that are joined by lines."""

    type: int
    pose: FoxglovePose
    thickness: float
    scale_invariant: bool
    points: list[Point3]
    color: Color
    colors: list[Color] = []
    indices: list[int] = []


class TriangleListPrimitive(msgspec.Struct, frozen=True):
    """Triangles."""

    pose: FoxglovePose
    points: list[Point3]
    color: Color
    colors: list[Color] = []
    indices: list[int] = []


class TextPrimitive(msgspec.Struct, frozen=True):
    """Words."""

    pose: FoxglovePose
    billboard: bool
    font_size: float
    scale_invariant: bool
    color: Color
    text: str


class ModelPrimitive(msgspec.Struct, frozen=True):
    """A model from a file."""

    pose: FoxglovePose
    scale: Vector3
    color: Color
    override_color: bool
    url: str
    media_type: str
    data: bytes


class SceneEntity(msgspec.Struct, frozen=True):
    """A thing in a scene."""

    timestamp: Time
    frame_id: str
    id: str
    lifetime: Duration = Duration(0, 0)
    frame_locked: bool = True
    metadata: list[KeyValuePair] = []
    arrows: list[ArrowPrimitive] = []
    cubes: list[CubePrimitive] = []
    spheres: list[SpherePrimitive] = []
    cylinders: list[CylinderPrimitive] = []
    lines: list[LinePrimitive] = []
    triangles: list[TriangleListPrimitive] = []
    texts: list[TextPrimitive] = []
    models: list[ModelPrimitive] = []


class SceneEntityDeletion(msgspec.Struct, frozen=True):
    """Things of a scene that are there no longer."""

    timestamp: Time
    type: int
    id: str


class SceneUpdate(msgspec.Struct, frozen=True):
    """What changes in a scene."""

    deletions: list[SceneEntityDeletion]
    entities: list[SceneEntity]


def make_schema(message: type[msgspec.Struct], name: str) -> dict[str, Any]:
    """Return a message's JSON schema without references, as every program reads it, under its public name."""
    schema = msgspec.json.schema(message)
    made: dict[str, Any] = _resolve(schema, schema["$defs"])
    return {**made, "title": name}


def _resolve(part: Any, parts: dict[str, Any]) -> Any:
    """Return a part of a schema with all references replaced by what they stand for."""
    if isinstance(part, list):
        return [_resolve(item, parts) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        title = (
            name.lower() if name in ("Time", "Duration") else f"foxglove.{name.removeprefix('Foxglove')}"
        )  # two go without
        return {**_resolve(parts[name], parts), "title": title if name in globals() else name}
    if "anyOf" in part:  # a value or nothing
        return _resolve(part["anyOf"][0], parts)
    return {key: _resolve(value, parts) for key, value in part.items() if key not in ("$defs", "required", "default")}
