"""What the keys of a car's configuration may be.

Names, defaults and meanings stand in `template/config.py`. Here stands what values a key takes, and which keys of the
original mean nothing to a simulated car, with what they are when nobody has touched them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

TRANSFORMATIONS = (
    "CROP",
    "TRAPEZE",
    "TRAPEZE_EDGE",
    "RGB2BGR",
    "BGR2RGB",
    "RGB2HSV",
    "HSV2RGB",
    "BGR2HSV",
    "HSV2BGR",
    "RGB2GRAY",
    "BGR2GRAY",
    "HSV2GRAY",
    "GRAY2RGB",
    "GRAY2BGR",
    "CANNY",
    "BLUR",
    "RESIZE",
    "SCALE",
)
"""Names of picture transformations, in addition to those that begin with CUSTOM."""


@dataclass(frozen=True)
class Kind:
    """Values that a key takes: how they are called in a sentence, and whether a value is one of them."""

    name: str
    takes: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.name


def _whole(least: int = 0, most: int = 1_000_000_000) -> Kind:
    name = f"a whole number from {least}" + (f" to {most}" if most < 1_000_000_000 else "")
    return Kind(name, lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)


def _number(least: float = -1e9, most: float = 1e9) -> Kind:
    """Return the kind of finite numbers from `least` to `most`."""
    name = f"a number from {least:g} to {most:g}" if most < 1e9 else f"a number from {least:g}"

    def takes(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most

    return Kind(name, takes)


def _one_of(*choices: str | int) -> Kind:
    name = "one of " + ", ".join(map(repr, choices))
    return Kind(name, lambda value: any(type(value) is type(choice) and value == choice for choice in choices))


def _items(item: Kind, count: int | None = None, least: int = 0) -> Kind:
    """Return the kind of lists or tuples of values that are each `item`; with `count`, of that many."""
    size = f" of {count} values" if count else f" of {least} or more" if least else ""

    def takes(value: Any) -> bool:
        if not isinstance(value, list | tuple) or len(value) < least or len(value) != (count or len(value)):
            return False
        return all(map(item.takes, value))

    return Kind(f"a list{size}, each {item}", takes)


def _or_none(kind: Kind) -> Kind:
    return Kind(f"{kind}, or None", lambda value: value is None or kind.takes(value))


def _is_address(value: Any) -> bool:
    return value == "" or (isinstance(value, str) and re.fullmatch(r"https?://[^\s/]+(/\S*)?", value) is not None)


def _is_transformation(value: Any) -> bool:
    return isinstance(value, str) and (value in TRANSFORMATIONS or value.startswith("CUSTOM"))


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _is_log_format(value: Any) -> bool:
    try:
        return isinstance(value, str) and logging.Formatter(value) is not None
    except ValueError:
        return False


_FLAG = Kind("True or False", lambda value: isinstance(value, int) and value in (0, 1))  # 1 and 0 pass, as in Python
_TEXT = Kind("a text", lambda value: isinstance(value, str))
_ADDRESS = Kind("an address such as 'http://localhost:9093', or ''", _is_address)
_TABLE = Kind("a dictionary with texts as keys", _is_table)
_FUNCTION = Kind("a function", callable)
_LOG_FORMAT = Kind("a format of Python's logging such as '%(asctime)s %(message)s'", _is_log_format)
_TRANSFORMATION = Kind(
    f"one of {', '.join(map(repr, TRANSFORMATIONS))} or a name that begins with 'CUSTOM'", _is_transformation
)

MODEL_TYPES = ("linear", "categorical", "inferred", "memory", "imu", "behavior", "localizer", "rnn", "3d")
CONTROLLER_TYPES = (
    *("ps3", "ps3sixad", "ps4", "xbox", "xboxswapped", "nimbus", "wiiu", "F710", "rc3", "pygame", "custom"),
    *("MM1", "pigpio_rc", "mock"),  # no joysticks: driving with --js says so
)

_PORT = _whole(0, 65535)
_PIXELS = _whole(0, 4096)
_SIZE = _whole(1, 4096)
_SEED = _whole(0, 2**63 - 1)

KINDS: dict[str, Kind] = {
    **dict.fromkeys(("CAR_PATH", "PACKAGE_PATH", "DATA_PATH", "MODELS_PATH"), _TEXT),
    "DRIVE_LOOP_HZ": _whole(1, 1000),
    "MAX_LOOPS": _or_none(_whole(1)),
    "IMAGE_W": _whole(8, 2048),
    "IMAGE_H": _whole(8, 2048),
    "IMAGE_DEPTH": _one_of(1, 3),
    "DONKEY_GYM": _FLAG,
    "DONKEY_SIM_PATH": _TEXT,
    "DONKEY_GYM_ENV_NAME": _TEXT,
    "GYM_CONF": _TABLE,
    "SIM_HOST": _TEXT,
    "SIM_PORT": _whole(1, 65535),
    "SIM_ARTIFICIAL_LATENCY": _number(0, 10_000),
    "SIM_SEED": _SEED,
    "SIM_RECORD_LOCATION": _FLAG,
    "SIM_RECORD_GYROACCEL": _FLAG,
    "SIM_RECORD_VELOCITY": _FLAG,
    "SIM_RECORD_LIDAR": _FLAG,
    "WEB_CONTROL_HOST": _TEXT,
    "WEB_CONTROL_PORT": _PORT,
    "WEB_CONTROL_TLS": _FLAG,
    "WEB_INIT_MODE": _one_of("user", "local_angle", "local"),
    "SHOW_PILOT_IMAGE": _FLAG,
    "WATCH_PAGE_PORT": _or_none(_PORT),
    "WATCH_PAGE_URL": _ADDRESS,
    "USE_JOYSTICK_AS_DEFAULT": _FLAG,
    "CONTROLLER_TYPE": _one_of(*CONTROLLER_TYPES),
    "JOYSTICK_DEVICE_FILE": _TEXT,
    "JOYSTICK_MAX_THROTTLE": _number(0, 1),
    "JOYSTICK_STEERING_SCALE": _number(-10, 10),
    "JOYSTICK_DEADZONE": _number(0, 1),
    "JOYSTICK_THROTTLE_DIR": _number(-1, 1),
    "AUTO_RECORD_ON_THROTTLE": _FLAG,
    "RECORD_DURING_AI": _FLAG,
    "AUTO_CREATE_NEW_TUB": _FLAG,
    "REC_COUNT_ALERT": _whole(1),
    "METADATA": _items(_items(_TEXT, 2)),
    "AI_THROTTLE_MULT": _number(-10, 10),
    "AI_LAUNCH_DURATION": _number(0, 3600),
    "AI_LAUNCH_THROTTLE": _number(-1, 1),
    "AI_LAUNCH_ENABLE_BUTTON": _TEXT,
    "AI_LAUNCH_KEEP_ENABLED": _FLAG,
    "DEFAULT_MODEL_TYPE": _one_of(*MODEL_TYPES),
    "BATCH_SIZE": _whole(1, 100_000),
    "TRAIN_TEST_SPLIT": _number(0.01, 0.99),
    "MAX_EPOCHS": _whole(1, 1_000_000),
    "USE_EARLY_STOP": _FLAG,
    "EARLY_STOP_PATIENCE": _whole(1),
    "MIN_DELTA": _number(0),
    "OPTIMIZER": _or_none(_one_of("adam", "sgd", "rmsprop")),
    "LEARNING_RATE": _number(1e-9, 100),
    "LEARNING_RATE_DECAY": _number(0),
    "FREEZE_LAYERS": _FLAG,
    "NUM_LAST_LAYERS_TO_TRAIN": _whole(1),
    "CACHE_POLICY": _one_of("ARRAY", "BINARY", "NOCACHE"),
    "SHOW_PLOT": _FLAG,
    "VERBOSE_TRAIN": _FLAG,
    "PRINT_MODEL_SUMMARY": _FLAG,
    "CREATE_TF_LITE": _FLAG,
    "TRAIN_SEED": _SEED,
    "TRAIN_PRECISION": _one_of("auto", "float32", "bfloat16"),
    "MODEL_CATEGORICAL_MAX_THROTTLE_RANGE": _number(0.01, 10),
    "SEQUENCE_LENGTH": _whole(1, 1000),
    "MEM_DEPTH": _whole(0, 100),
    "TRAIN_FILTER": _or_none(_FUNCTION),
    "TRAIN_BEHAVIORS": _FLAG,
    "BEHAVIOR_LIST": _items(_TEXT, least=1),
    "TRAIN_LOCALIZER": _FLAG,
    "NUM_LOCATIONS": _whole(1, 10_000),
    "AUGMENTATIONS": _items(_one_of("BRIGHTNESS", "BLUR")),
    "AUG_BRIGHTNESS_RANGE": _number(0, 10),
    "AUG_BLUR_RANGE": _items(_number(0, 100), 2),
    "TRANSFORMATIONS": _items(_TRANSFORMATION),
    "POST_TRANSFORMATIONS": _items(_TRANSFORMATION),
    **dict.fromkeys((f"ROI_CROP_{side}" for side in ("TOP", "BOTTOM", "RIGHT", "LEFT")), _PIXELS),
    **dict.fromkeys((f"ROI_TRAPEZE_{name}" for name in ("LL", "LR", "UL", "UR", "MIN_Y", "MAX_Y")), _PIXELS),
    "CANNY_LOW_THRESHOLD": _number(0),
    "CANNY_HIGH_THRESHOLD": _number(0),
    "CANNY_APERTURE": _one_of(3, 5, 7),
    "BLUR_KERNEL": _whole(1, 999),
    "BLUR_KERNEL_Y": _or_none(_whole(1, 999)),
    "BLUR_GAUSSIAN": _FLAG,
    "RESIZE_WIDTH": _SIZE,
    "RESIZE_HEIGHT": _SIZE,
    "SCALE_WIDTH": _number(0.01, 100),
    "SCALE_HEIGHT": _or_none(_number(0.01, 100)),
    "HAVE_CONSOLE_LOGGING": _FLAG,
    "LOGGING_LEVEL": _one_of("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "LOGGING_FORMAT": _LOG_FORMAT,
    "SHOW_FPS": _FLAG,
    "FPS_DEBUG_INTERVAL": _number(0.1),
}
"""What each key of config.py takes."""


def describe_bad_value(name: str, value: object) -> str | None:
    """Return what is wrong with a key's value, as the rest of a sentence after the place, or None when it is fine."""
    kind = KINDS.get(name)
    if kind is None or kind.takes(value):
        return None
    return f"{name} is {_shorten(repr(value))}, but takes {kind}."


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
