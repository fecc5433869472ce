"""What the keys of a car's configuration may be.

Names, defaults and meanings stand in `template/config.py`. Here stands what values a key takes, and which keys of the
original mean nothing to a simulated car, with what they are when nobody has touched them.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

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
"""Names of picture transformations, beside those that begin with CUSTOM."""


@dataclass(frozen=True)
class Whole:
    """Whole numbers from `least` to `most`."""

    least: int = 0
    most: int = 1_000_000_000

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"a whole number from {self.least}" + (f" to {self.most}" if self.most < 1_000_000_000 else "")


@dataclass(frozen=True)
class Number:
    """Finite numbers from `least` to `most`."""

    least: float = -1e9
    most: float = 1e9

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return math.isfinite(value) and self.least <= value <= self.most

    def __str__(self) -> str:
        if self.most < 1e9:
            return f"a number from {self.least:g} to {self.most:g}"
        return f"a number from {self.least:g}" if self.least > -1e9 else "a number"


@dataclass(frozen=True)
class Flag:
    """True or False; 1 and 0 pass for them, as in Python."""

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return isinstance(value, int) and value in (0, 1)

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Text:
    """Texts."""

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return isinstance(value, str)

    def __str__(self) -> str:
        return "a text"


@dataclass(frozen=True)
class Address:
    """Addresses of pages, or nothing."""

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return value == "" or (isinstance(value, str) and re.fullmatch(r"https?://[^\s/]+(/\S*)?", value) is not None)

    def __str__(self) -> str:
        return "an address such as 'http://localhost:9093', or ''"


@dataclass(frozen=True)
class OneOf:
    """These values and no others."""

    choices: tuple[str | int, ...]

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return any(type(value) is type(choice) and value == choice for choice in self.choices)

    def __str__(self) -> str:
        return "one of " + ", ".join(map(repr, self.choices))


@dataclass(frozen=True)
class Items:
    """Lists or tuples of values that are each `item`; with `count`, of so many; at least `least`."""

    item: Kind
    count: int | None = None
    least: int = 0

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        if not isinstance(value, list | tuple) or len(value) < self.least or len(value) != (self.count or len(value)):
            return False
        return all(self.item.takes(item) for item in value)

    def __str__(self) -> str:
        size = f" of {self.count} values" if self.count else f" of {self.least} or more" if self.least else ""
        return f"a list{size}, each {self.item}"


@dataclass(frozen=True)
class Transformation:
    """Names of picture transformations."""

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return isinstance(value, str) and (value in TRANSFORMATIONS or value.startswith("CUSTOM"))

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, TRANSFORMATIONS))} or a name that begins with 'CUSTOM'"


@dataclass(frozen=True)
class Table:
    """Dictionaries with texts as keys."""

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)

    def __str__(self) -> str:
        return "a dictionary with texts as keys"


@dataclass(frozen=True)
class Function:
    """Functions."""

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return callable(value)

    def __str__(self) -> str:
        return "a function"


@dataclass(frozen=True)
class OrNone:
    """`kind`, or None."""

    kind: Kind

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        return value is None or self.kind.takes(value)

    def __str__(self) -> str:
        return f"{self.kind}, or None"


@dataclass(frozen=True)
class LogFormat:
    """Formats of Python's logging."""

    def takes(self, value: object) -> bool:
        """Say whether the value is one of them."""
        try:
            return isinstance(value, str) and logging.Formatter(value) is not None
        except ValueError:
            return False

    def __str__(self) -> str:
        return "a format of Python's logging such as '%(asctime)s %(message)s'"


Kind = Whole | Number | Flag | Text | Address | OneOf | Items | Transformation | Table | Function | OrNone | LogFormat

MODEL_TYPES = ("linear", "categorical", "inferred", "memory", "imu", "behavior", "localizer", "rnn", "3d")
CONTROLLER_TYPES = (
    *("ps3", "ps3sixad", "ps4", "xbox", "xboxswapped", "nimbus", "wiiu", "F710", "rc3", "pygame", "custom"),
    *("MM1", "pigpio_rc", "mock"),  # no joysticks: driving with --js says so
)

_PORT = Whole(0, 65535)
_PIXELS = Whole(0, 4096)
_SIZE = Whole(1, 4096)
_SEED = Whole(0, 2**63 - 1)

KINDS: dict[str, Kind] = {
    **dict.fromkeys(("CAR_PATH", "PACKAGE_PATH", "DATA_PATH", "MODELS_PATH"), Text()),
    "DRIVE_LOOP_HZ": Whole(1, 1000),
    "MAX_LOOPS": OrNone(Whole(1)),
    "IMAGE_W": Whole(8, 2048),
    "IMAGE_H": Whole(8, 2048),
    "IMAGE_DEPTH": OneOf((1, 3)),
    "DONKEY_GYM": Flag(),
    "DONKEY_SIM_PATH": Text(),
    "DONKEY_GYM_ENV_NAME": Text(),
    "GYM_CONF": Table(),
    "SIM_HOST": Text(),
    "SIM_PORT": Whole(1, 65535),
    "SIM_ARTIFICIAL_LATENCY": Number(0, 10_000),
    "SIM_SEED": _SEED,
    "SIM_RECORD_LOCATION": Flag(),
    "SIM_RECORD_GYROACCEL": Flag(),
    "SIM_RECORD_VELOCITY": Flag(),
    "SIM_RECORD_LIDAR": Flag(),
    "WEB_CONTROL_HOST": Text(),
    "WEB_CONTROL_PORT": _PORT,
    "WEB_CONTROL_TLS": Flag(),
    "WEB_INIT_MODE": OneOf(("user", "local_angle", "local")),
    "SHOW_PILOT_IMAGE": Flag(),
    "WATCH_PAGE_PORT": OrNone(_PORT),
    "WATCH_PAGE_URL": Address(),
    "USE_JOYSTICK_AS_DEFAULT": Flag(),
    "CONTROLLER_TYPE": OneOf(CONTROLLER_TYPES),
    "JOYSTICK_DEVICE_FILE": Text(),
    "JOYSTICK_MAX_THROTTLE": Number(0, 1),
    "JOYSTICK_STEERING_SCALE": Number(-10, 10),
    "JOYSTICK_DEADZONE": Number(0, 1),
    "JOYSTICK_THROTTLE_DIR": Number(-1, 1),
    "AUTO_RECORD_ON_THROTTLE": Flag(),
    "RECORD_DURING_AI": Flag(),
    "AUTO_CREATE_NEW_TUB": Flag(),
    "REC_COUNT_ALERT": Whole(1),
    "METADATA": Items(Items(Text(), 2)),
    "AI_THROTTLE_MULT": Number(-10, 10),
    "AI_LAUNCH_DURATION": Number(0, 3600),
    "AI_LAUNCH_THROTTLE": Number(-1, 1),
    "AI_LAUNCH_ENABLE_BUTTON": Text(),
    "AI_LAUNCH_KEEP_ENABLED": Flag(),
    "DEFAULT_MODEL_TYPE": OneOf(MODEL_TYPES),
    "BATCH_SIZE": Whole(1, 100_000),
    "TRAIN_TEST_SPLIT": Number(0.01, 0.99),
    "MAX_EPOCHS": Whole(1, 1_000_000),
    "USE_EARLY_STOP": Flag(),
    "EARLY_STOP_PATIENCE": Whole(1),
    "MIN_DELTA": Number(0),
    "OPTIMIZER": OrNone(OneOf(("adam", "sgd", "rmsprop"))),
    "LEARNING_RATE": Number(1e-9, 100),
    "LEARNING_RATE_DECAY": Number(0),
    "FREEZE_LAYERS": Flag(),
    "NUM_LAST_LAYERS_TO_TRAIN": Whole(1),
    "CACHE_POLICY": OneOf(("ARRAY", "BINARY", "NOCACHE")),
    "SHOW_PLOT": Flag(),
    "VERBOSE_TRAIN": Flag(),
    "PRINT_MODEL_SUMMARY": Flag(),
    "CREATE_TF_LITE": Flag(),
    "TRAIN_SEED": _SEED,
    "TRAIN_PRECISION": OneOf(("auto", "float32", "bfloat16")),
    "MODEL_CATEGORICAL_MAX_THROTTLE_RANGE": Number(0.01, 10),
    "SEQUENCE_LENGTH": Whole(1, 1000),
    "MEM_DEPTH": Whole(0, 100),
    "TRAIN_FILTER": OrNone(Function()),
    "TRAIN_BEHAVIORS": Flag(),
    "BEHAVIOR_LIST": Items(Text(), least=1),
    "TRAIN_LOCALIZER": Flag(),
    "NUM_LOCATIONS": Whole(1, 10_000),
    "AUGMENTATIONS": Items(OneOf(("BRIGHTNESS", "BLUR"))),
    "AUG_BRIGHTNESS_RANGE": Number(0, 10),
    "AUG_BLUR_RANGE": Items(Number(0, 100), 2),
    "TRANSFORMATIONS": Items(Transformation()),
    "POST_TRANSFORMATIONS": Items(Transformation()),
    **dict.fromkeys((f"ROI_CROP_{side}" for side in ("TOP", "BOTTOM", "RIGHT", "LEFT")), _PIXELS),
    **dict.fromkeys((f"ROI_TRAPEZE_{name}" for name in ("LL", "LR", "UL", "UR", "MIN_Y", "MAX_Y")), _PIXELS),
    "CANNY_LOW_THRESHOLD": Number(0),
    "CANNY_HIGH_THRESHOLD": Number(0),
    "CANNY_APERTURE": OneOf((3, 5, 7)),
    "BLUR_KERNEL": Whole(1, 999),
    "BLUR_KERNEL_Y": OrNone(Whole(1, 999)),
    "BLUR_GAUSSIAN": Flag(),
    "RESIZE_WIDTH": _SIZE,
    "RESIZE_HEIGHT": _SIZE,
    "SCALE_WIDTH": Number(0.01, 100),
    "SCALE_HEIGHT": OrNone(Number(0.01, 100)),
    "HAVE_CONSOLE_LOGGING": Flag(),
    "LOGGING_LEVEL": OneOf(("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")),
    "LOGGING_FORMAT": LogFormat(),
    "SHOW_FPS": Flag(),
    "FPS_DEBUG_INTERVAL": Number(0.1),
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
