"""Messages of the wire from the keys of a `conf`, one function each; both kinds of simulator read them."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from donkeysim.core.errors import SpecError, shorten
from donkeysim.wire.reading import read_request

Message = dict[str, str]
"""A message for a server; every value is text, because the original ignores numbers."""

CAR_KEYS = ("body_style", "body_rgb", "car_name", "font_size")

ROAD_KEYS = ("road_style", "rand_seed", "turn_increment")
"""As in `regen_road`."""

CAMERA_DEFAULTS = dict.fromkeys(
    (
        *("fov", "fish_eye_x", "fish_eye_y", "img_w", "img_h", "img_d", "img_enc"),
        *("offset_x", "offset_y", "offset_z", "rot_x", "rot_y", "rot_z"),
    ),
    "0",
)
"""Fields of a camera's message; 0 keeps what the camera has. The original needs them all."""

_log = logging.getLogger("donkeysim.envs")


def make_road_message(road_style: int = 0, rand_seed: int = 0, turn_increment: float = 0.0) -> Message:
    """Return a `regen_road`.

    Raises:
        WireError: A value that is not possible.
    """
    values = (road_style, rand_seed, turn_increment)
    return check_message(
        {"msg_type": "regen_road", **{key: str(value) for key, value in zip(ROAD_KEYS, values, strict=True)}}
    )


def check_message(message: Message) -> Message:
    """Return a message that can be read, after logging what a server would change; `read_lidar` logs a lidar's."""
    if note := read_request(message).note:
        _log.warning("%s", note)
    return message


def make_car_message(table: Mapping[str, Any]) -> Message:
    """Return a `car_config` of those of `CAR_KEYS` that are given.

    Raises:
        SpecError: A colour is none.
    """
    colour = table.get("body_rgb", (128, 128, 128))
    if not isinstance(colour, Sequence) or isinstance(colour, str) or len(colour) != 3:
        raise SpecError(f"body_rgb is {colour!r}; it takes three numbers from 0 to 255, as (128, 128, 128).")
    red, green, blue = (str(part) for part in colour)
    return {
        "msg_type": "car_config",
        "body_style": str(table.get("body_style", "donkey")),
        "body_r": red,
        "body_g": green,
        "body_b": blue,
        "car_name": str(table.get("car_name", "car")),
        "font_size": str(table.get("font_size", 100)),
    }


def make_camera_message(kind: str, table: Mapping[str, Any]) -> Message:
    """Return a `cam_config` (or "cam_config_b") of those of `CAMERA_DEFAULTS` that are given."""
    fields = {key: str(table.get(key, default)) for key, default in CAMERA_DEFAULTS.items()}
    return {"msg_type": kind, **fields}


def read_switch(table: Mapping[str, Any], key: str) -> bool:
    """Return what is True or False, or 1 or 0, which mean the same; False where it is left out or None.

    Raises:
        SpecError: It is neither; a text would always be on.
    """
    value = table.get(key)
    if not isinstance(value, str) and str(value) in ("None", "False", "True", "0", "1"):
        return bool(value)
    raise SpecError(f"{key} is {shorten(repr(value))}; it takes True or False.")
