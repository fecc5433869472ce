"""How a client's car looks and what it sees: its messages, as structs in our units and frames.

In the sensor messages 0 means "keep the current value", so do missing fields; both are None in the structs.
"""

import math
from typing import Self

from donkeysim.core import frames
from donkeysim.core.errors import describe_unknown
from donkeysim.wire.fields import Form, PartialVector, convert
from donkeysim.wire.messages import Request
from donkeysim.world.lens import LARGEST_PICTURE, SMALLEST_SIDE
from donkeysim.world.specs import BODY_STYLES

LONGEST_NAME = 64
"""Characters of a car's name."""


class ConfigureCar(Request, frozen=True, tag="car_config"):
    """Dress the car; None keeps what it has.

    Attributes:
        style: One of `BODY_STYLES`.
        colour: sRGB 0 to 255.
        name: Text of the plate.
        font_size: 10 to 100.
    """

    style: str | None
    colour: tuple[int | None, int | None, int | None]
    name: str | None
    font_size: int | None

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
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
        return cls(style=style, colour=(red, green, blue), name=name, font_size=font_size)


class ConfigureCamera(Request, frozen=True, tag="cam_config"):
    """Set the camera; None keeps what it has.

    Attributes:
        fov: Vertical [rad].
        fisheye: Strengths in x and y.
        size: Width and height [pixel].
        grey: All channels carry the luma.
        encoding: One of `IMAGE_ENCODINGS`.
        position: In the body frame [m].
        rotation: (roll, pitch, yaw) [rad].
    """

    fov: float | None
    fisheye: tuple[float | None, float | None] | None
    size: tuple[int, int] | None
    grey: bool | None
    encoding: str | None
    position: PartialVector | None
    rotation: PartialVector | None

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        fov = convert(math.radians, form.read_within("fov", 10, 170, zero_keeps=True))
        width = form.read_whole_within("img_w", SMALLEST_SIDE, LARGEST_PICTURE[0], zero_keeps=True)
        height = form.read_whole_within("img_h", SMALLEST_SIDE, LARGEST_PICTURE[1], zero_keeps=True)
        depth = form.read_integer("img_d")
        if depth not in (None, 0, 1, 3):
            form.notes.append(f"img_d {depth} was changed to 3; it takes 1 or 3")
        return cls(
            fov=fov,
            fisheye=form.read_fisheye(),
            size=None if width is None or height is None else (width, height),
            grey=depth == 1 if depth else None,
            encoding=form.read_encoding(),
            position=form.read_offset(),
            rotation=form.read_rotation(),
        )


class ConfigureSecondCamera(ConfigureCamera, frozen=True, tag="cam_config_b"):
    """Set the second camera, switching it on."""


class ConfigureLidar(Request, frozen=True, tag="lidar_config"):
    """Set the lidar, switching it on; the fields are those of `LidarSpec`, None keeps what it has.

    Attributes:
        notes: What had to be changed to make the message possible; sent together with what the limit of rays changes.
    """

    sweep_increment: float | None
    angle_down: float | None
    angle_delta: float | None
    level_count: int | None
    max_range: float | None
    noise: float | None
    position: PartialVector | None
    pitch: float | None
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        return cls(
            sweep_increment=convert(math.radians, form.read_within("degPerSweepInc", 0.25, 360, zero_keeps=True)),
            level_count=form.read_whole_within("numSweepsLevels", 1, 128, zero_keeps=True),
            max_range=convert(frames.length_from_units, form.read_within("maxRange", 0.1, 10_000, zero_keeps=True)),
            noise=convert(frames.length_from_units, form.read_within("noise", 0, 1000, zero_keeps=True)),
            angle_down=form.read_angle("degAngDown"),
            angle_delta=form.read_angle("degAngDelta"),
            position=form.read_offset(),
            pitch=form.read_angle("rot_x"),
            notes=form.take_notes(),
        )


CONFIGURATIONS: tuple[type[Request], ...] = (ConfigureCar, ConfigureCamera, ConfigureSecondCamera, ConfigureLidar)
"""All of them."""
