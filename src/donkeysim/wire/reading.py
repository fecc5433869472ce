"""A client's JSON objects to messages.

Numbers are read as `fields` says. In the sensor messages 0 means "keep the current value", so do missing fields; both
are None in the structs. Values out of range are brought into it with a note.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from donkeysim.core import frames
from donkeysim.core.errors import WireError, describe_unknown
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.wire import messages
from donkeysim.wire.fields import LONGEST_NUMBER, Form, is_plain, read_word, show
from donkeysim.wire.messages import ConfigureCamera, PartialVector, Request
from donkeysim.world.lens import LARGEST_PICTURE, SMALLEST_SIDE
from donkeysim.world.specs import BODY_STYLES, IMAGE_ENCODINGS, TURN_LEAST, TURN_MOST

FARTHEST_POSITION = 100_000.0
"""Largest coordinate in `set_position` [U]."""

INT32 = (-(1 << 31), (1 << 31) - 1)
"""Whole numbers that the original understands."""

LONGEST_NAME = 64
"""Characters of a car's name."""


class UnknownMessageError(WireError):
    """No or unknown `msg_type`."""


class Reading(NamedTuple):
    """A request as understood.

    Attributes:
        request: What the client wants.
        note: What had to be changed to make it possible, one sentence for the client; "" for nothing, and for a
            lidar, whose notes are told when the limit of rays has been seen to.
    """

    request: Request
    note: str = ""


def read_request(fields: Mapping[str, Any]) -> Reading:
    """Return what a client's JSON object asks for.

    Raises:
        UnknownMessageError: No or unknown `msg_type`.
        WireError: A field is missing or cannot be understood.
    """
    if fields.get("msg_type") == "control" and (control := _read_plain_control(fields)) is not None:
        return Reading(control)
    return read_by(_READERS, fields)


def read_by(readers: Mapping[str, Callable[[Form], Request]], fields: Mapping[str, Any]) -> Reading:
    """Return what a JSON object asks for, by what may be said where it came.

    Raises:
        UnknownMessageError: No or unknown `msg_type`.
        WireError: A field is missing or cannot be understood.
    """
    name = fields.get("msg_type")
    if type(name) is not str:
        given = f"is {show(name)}" if "msg_type" in fields else "is missing"
        raise UnknownMessageError(f"msg_type {given}; it must be one of {', '.join(sorted(readers))}.")
    reader = readers.get(name)
    if reader is None:
        raise UnknownMessageError(describe_unknown("msg_type", name, tuple(readers)))
    form = Form(fields)
    try:
        request = reader(form)
    except WireError as error:
        raise WireError(f"{name}: {error}") from error
    return Reading(request, f"{name}: {'; '.join(form.notes)}." if form.notes else "")


def list_requests() -> tuple[str, ...]:
    """Return every `msg_type` a client may send."""
    return tuple(_READERS)


# -- one reader per message -------------------------------------------------------------------------------------------


def _read_plain_control(fields: Mapping[str, Any]) -> messages.DriveCar | None:
    """Return a control that is written as nearly all are, three texts of numbers in their ranges; None of any other."""
    try:
        steering, throttle, brake = fields["steering"], fields["throttle"], fields["brake"]
        texts = "".join((steering, throttle, brake))
        if len(texts) > LONGEST_NUMBER or not is_plain(texts):
            return None
        steering, throttle, brake = float(steering), float(throttle), float(brake)
    except (KeyError, TypeError, ValueError):
        return None
    if not (-1.0 <= steering <= 1.0 and -1.0 <= throttle <= 1.0 and 0.0 <= brake <= 1.0):
        return None
    return messages.DriveCar(steer=frames.steer_from_wire(steering), throttle=throttle, brake=brake)


def _read_control(form: Form) -> messages.DriveCar:
    steering = form.read_number("steering")
    throttle = form.read_number("throttle")
    brake = form.read_number("brake")
    return messages.DriveCar(
        steer=None if steering is None else frames.steer_from_wire(min(max(steering, -1.0), 1.0)),
        throttle=None if throttle is None else min(max(throttle, -1.0), 1.0),
        brake=0.0 if brake is None else min(max(brake, 0.0), 1.0),
    )


def _read_load_scene(form: Form) -> messages.LoadScene:
    name = form.read_text("scene_name")
    if name is None:
        raise WireError("scene_name is missing; this message needs it.")
    return messages.LoadScene(scene_name=name)


def _read_step_mode(form: Form) -> messages.SetStepMode:
    modes = {"synchronous": True, "asynchronous": False}
    mode = form.read_text("step_mode")
    if mode is not None and mode not in modes:
        raise WireError(describe_unknown("step_mode", mode, modes))
    if mode == "asynchronous":
        return messages.SetStepMode(is_synchronous=False, step_count=None)
    time_step = form.read_number("time_step")
    step_count = None if time_step is None else round(min(max(time_step, -1.0), 1e6) * PHYSICS_RATE)
    if step_count is not None and not 1 <= step_count <= PHYSICS_RATE:
        raise WireError(f"time_step is {time_step:g} s; it takes {1 / PHYSICS_RATE:.6f} to 1 s.")
    return messages.SetStepMode(is_synchronous=None if mode is None else modes[mode], step_count=step_count)


def _read_regen_road(form: Form) -> messages.RegenerateRoad:
    turn = form.read_within("turn_increment", -TURN_MOST, TURN_MOST, zero_keeps=True)
    return messages.RegenerateRoad(
        road_style=form.read_whole_within("road_style", *INT32),
        rand_seed=form.read_whole_within("rand_seed", *INT32),
        turn_increment=None if turn is None else max(abs(turn), TURN_LEAST),
    )


def _read_car_config(form: Form) -> messages.ConfigureCar:
    style = form.read_text("body_style")
    if style is not None and style not in BODY_STYLES:
        form.notes.append(describe_unknown("body_style", style, BODY_STYLES).rstrip(".") + "; the car wears donkey")
        style = "donkey"
    red, green, blue = (form.read_whole_within(name, 0, 255) for name in ("body_r", "body_g", "body_b"))
    name = form.read_text("car_name")
    if name is not None and len(name) > LONGEST_NAME:
        form.notes.append(f"car_name was cut to {LONGEST_NAME} characters")
        name = name[:LONGEST_NAME]
    font_size = form.read_whole_within("font_size", 10, 100)
    return messages.ConfigureCar(style=style, colour=(red, green, blue), name=name, font_size=font_size)


def _read_set_position(form: Form) -> messages.SetPosition:
    x, y, z = (form.read_required_number(name) for name in ("pos_x", "pos_y", "pos_z"))
    farthest = max(abs(x), abs(y), abs(z))
    if farthest > FARTHEST_POSITION:
        raise WireError(f"a position of {farthest:g} is too far; coordinates take up to {FARTHEST_POSITION:g}.")
    return messages.SetPosition(position=frames.position_from_units((x, y, z)), orientation=_read_quaternion(form))


def _read_quaternion(form: Form) -> frames.Quaternion | None:
    given = [form.read_number(f"Q{axis}" if f"Q{axis}" in form.fields else f"q{axis}") for axis in "xyzw"]
    parts = [part for part in given if part is not None]
    if not parts:
        return None
    if len(parts) < 4:
        raise WireError("a rotation needs all four of Qx, Qy, Qz, Qw; give all or none.")
    largest = max(map(abs, parts))
    if largest == 0.0:
        raise WireError("the quaternion Qx, Qy, Qz, Qw has length 0; give one of length 1.")
    x, y, z, w = (part / largest for part in parts)
    length = math.sqrt(x * x + y * y + z * z + w * w)
    return frames.quaternion_from_unity((x / length, y / length, z / length, w / length))


def _read_node_position(form: Form) -> messages.GetNodePosition:
    form.read_required_number("index")
    return messages.GetNodePosition(index=form.read_integer("index") or 0)


def _read_racer_info(form: Form) -> messages.SetRacerInfo:
    return messages.SetRacerInfo(**{name: form.read_text(name) for name in messages.SetRacerInfo.__struct_fields__})


def _read_camera(form: Form, kind: type[ConfigureCamera] = ConfigureCamera) -> ConfigureCamera:
    fov = _convert(math.radians, form.read_within("fov", 10, 170, zero_keeps=True))
    width = form.read_whole_within("img_w", SMALLEST_SIDE, LARGEST_PICTURE[0], zero_keeps=True)
    height = form.read_whole_within("img_h", SMALLEST_SIDE, LARGEST_PICTURE[1], zero_keeps=True)
    depth = form.read_integer("img_d")
    if depth not in (None, 0, 1, 3):
        form.notes.append(f"img_d {depth} was changed to 3; it takes 1 or 3")
    return kind(
        fov=fov,
        fisheye=_read_fisheye(form),
        size=None if width is None or height is None else (width, height),
        grey=depth == 1 if depth else None,
        encoding=_read_encoding(form),
        position=_read_offset(form),
        rotation=_read_rotation(form),
    )


def _read_fisheye(form: Form) -> tuple[float | None, float | None] | None:
    names = ("fish_eye_x", "fish_eye_y")
    given = [form.fields.get(name) for name in names]
    if any(type(value) is str and read_word(value) == "off" for value in given):
        return (0.0, 0.0)
    x, y = (form.read_within(name, 0, 1) for name in names)
    return (x, y) if x or y else None


def _read_encoding(form: Form) -> str | None:
    given = form.read_text("img_enc")
    encoding = "0" if given is None else read_word(given).upper()
    if encoding in ("0", "0.0", ""):
        return None
    if encoding in ("JPG", "JPEG"):
        return "JPG"
    if encoding not in IMAGE_ENCODINGS:
        form.notes.append(f"img_enc {show(given)} was changed to JPG; it takes JPG, PNG or TGA")
        return "JPG"
    return encoding


def _read_lidar_config(form: Form) -> messages.ConfigureLidar:
    return messages.ConfigureLidar(
        sweep_increment=_convert(math.radians, form.read_within("degPerSweepInc", 0.25, 360, zero_keeps=True)),
        level_count=form.read_whole_within("numSweepsLevels", 1, 128, zero_keeps=True),
        max_range=_convert(frames.length_from_units, form.read_within("maxRange", 0.1, 10_000, zero_keeps=True)),
        noise=_convert(frames.length_from_units, form.read_within("noise", 0, 1000, zero_keeps=True)),
        angle_down=_read_angle(form, "degAngDown"),
        angle_delta=_read_angle(form, "degAngDelta"),
        position=_read_offset(form),
        pitch=_read_angle(form, "rot_x"),
        notes=form.take_notes(),
    )


def _convert(function: Callable[[float], float], value: float | None) -> float | None:
    return None if value is None else function(value)


def _read_angle(form: Form, name: str) -> float | None:
    """Return degrees as radians; downwards is positive on both sides."""
    degrees = form.read_number(name)
    return math.radians(math.fmod(degrees, 360.0)) if degrees else None


def _read_offset(form: Form) -> PartialVector | None:
    given = [form.read_within(name, -1000, 1000) for name in ("offset_x", "offset_y", "offset_z")]
    x, y, z = (math.nan if value is None else value for value in given)
    return _drop_missing(frames.position_from_units((x, y, z))) if any(given) else None


def _read_rotation(form: Form) -> PartialVector | None:
    given = [form.read_number(name) for name in ("rot_x", "rot_y", "rot_z")]
    x, y, z = (math.nan if value is None else math.fmod(value, 360.0) for value in given)
    return _drop_missing(frames.view_rotation_from_degrees(x, y, z)) if any(given) else None


def _drop_missing(vector: frames.Vector) -> PartialVector:
    """Return None for the components that were computed from a missing field (nan)."""
    x, y, z = (None if math.isnan(value) else value for value in vector)
    return (x, y, z)


def read_bare(request: Request) -> Callable[[Form], Request]:
    """Return the reader of a message without fields."""
    return lambda _: request


_BARE = (messages.GetProtocolVersion, messages.GetSceneNames, messages.ExitScene, messages.QuitApp, messages.ResetCar)

_READERS: dict[str, Callable[[Form], Request]] = {
    **{kind.message_type(): read_bare(kind()) for kind in _BARE},
    messages.LoadScene.message_type(): _read_load_scene,
    messages.DriveCar.message_type(): _read_control,
    messages.SetStepMode.message_type(): _read_step_mode,
    messages.RegenerateRoad.message_type(): _read_regen_road,
    messages.ConfigureCar.message_type(): _read_car_config,
    ConfigureCamera.message_type(): _read_camera,
    messages.ConfigureSecondCamera.message_type(): lambda form: _read_camera(form, messages.ConfigureSecondCamera),
    messages.ConfigureLidar.message_type(): _read_lidar_config,
    messages.SetPosition.message_type(): _read_set_position,
    messages.GetNodePosition.message_type(): _read_node_position,
    messages.SetRacerInfo.message_type(): _read_racer_info,
}
