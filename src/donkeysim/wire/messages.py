"""What a client may say, as structs in our units and frames; `reading` makes them, `replies` is the other direction."""

from __future__ import annotations

import msgspec

from donkeysim.core import frames

PROTOCOL_VERSION = "2"

PartialVector = tuple[float | None, float | None, float | None]
"""A vector of which only the components that are not None change."""


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="msg_type"):
    """Anything a client may say."""

    @classmethod
    def message_type(cls) -> str:
        """Return the message's `msg_type`."""
        return str(cls.__struct_config__.tag)


class GetProtocolVersion(Request, frozen=True, tag="get_protocol_version"):
    """Ask for the protocol's version."""


class GetSceneNames(Request, frozen=True, tag="get_scene_names"):
    """Ask which scenes can be loaded."""


class LoadScene(Request, frozen=True, tag="load_scene"):
    """Load a scene from the menu, for everybody."""

    scene_name: str


class ExitScene(Request, frozen=True, tag="exit_scene"):
    """Bring everybody back to the menu."""


class QuitApp(Request, frozen=True, tag="quit_app"):
    """End the program."""


class DriveCar(Request, frozen=True, tag="control"):
    """Steer.

    Attributes:
        steer: -1 to 1, + = left; None: as before.
        throttle: -1 to 1; None: as before.
        brake: 0 to 1.
    """

    steer: float | None
    throttle: float | None
    brake: float


class ResetCar(Request, frozen=True, tag="reset_car"):
    """Put the own car back to its start."""


class SetStepMode(Request, frozen=True, tag="step_mode"):
    """Switch between paced time and lock-step.

    Attributes:
        is_synchronous: Lock-step; None: as before.
        step_count: Physics steps per control in lock-step; None: as before.
    """

    is_synchronous: bool | None
    step_count: int | None


class RegenerateRoad(Request, frozen=True, tag="regen_road"):
    """Make a new road, in scenes whose road is generated.

    Attributes:
        road_style: Index of texture, width and offset, modulo their number; None: as before.
        rand_seed: Of the road's random numbers; None: as before.
        turn_increment: Change of the turn from one span to the next [degree]; None: as before.
    """

    road_style: int | None
    rand_seed: int | None
    turn_increment: float | None


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


class ConfigureSecondCamera(ConfigureCamera, frozen=True, tag="cam_config_b"):
    """Set the second camera, switching it on."""


class ConfigureLidar(Request, frozen=True, tag="lidar_config"):
    """Set the lidar, switching it on; the fields are those of `LidarSpec`, None keeps what it has.

    Attributes:
        notes: What had to be changed to make the message possible; told together with what the limit of rays changes.
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


class SetPosition(Request, frozen=True, tag="set_position"):
    """Put the own car somewhere; it keeps its velocity.

    Attributes:
        position: World frame [m].
        orientation: Unit quaternion (w, x, y, z); None: facing along the world's x axis.
    """

    position: frames.Vector
    orientation: frames.Quaternion | None


class GetNodePosition(Request, frozen=True, tag="node_position"):
    """Ask where a node of the path is."""

    index: int


class SetRacerInfo(Request, frozen=True, tag="racer_info"):
    """Introduce the racer."""

    racer_name: str | None
    car_name: str | None
    bio: str | None
    country: str | None
    guid: str | None
