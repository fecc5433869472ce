"""What a client may say, and what it is answered: structs in our units and frames.

A message is declared here once: its fields, how they are read from JSON (`read`), and where and by whom it may be said.
Values out of range are brought into it with a note. What configures a car and its sensors is in `equipment`.
"""

import enum
from typing import ClassVar, Self

import msgspec

from donkeysim.core import frames
from donkeysim.core.errors import WireError, describe_unknown
from donkeysim.wire.fields import Form
from donkeysim.world.specs import TURN_LEAST, TURN_MOST

PROTOCOL_VERSION = "2"

FARTHEST_POSITION = 100_000.0
"""Largest coordinate in `set_position` [U]."""

INT32 = (-(1 << 31), (1 << 31) - 1)
"""Whole numbers that the original understands."""


class ClientState(enum.Enum):
    """Where a client is."""

    MENU = "in the menu"
    TRACK = "in a scene"
    NO_CAR = "in a scene without a car"


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="msg_type"):
    """Anything a client may say.

    Attributes:
        said_in: Where it may be said.
        concerns_all: Whether it changes something for everybody; then not everybody may say it.
        is_quick: Whether it is carried out before the next beat; what is costly waits for room.
    """

    said_in: ClassVar[tuple[ClientState, ...]] = (ClientState.TRACK,)
    concerns_all: ClassVar[bool] = False
    is_quick: ClassVar[bool] = False

    @classmethod
    def message_type(cls) -> str:
        """Return the message's `msg_type`."""
        return str(cls.__struct_config__.tag)

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields; this one is of a message without any.

        Raises:
            WireError: A field is missing or cannot be understood.
        """
        del form
        return cls()


class Reply(msgspec.Struct, frozen=True, kw_only=True, tag_field="msg_type"):
    """Anything the server says besides telemetry."""


class GetProtocolVersion(Request, frozen=True, tag="get_protocol_version"):
    """Ask for the protocol's version."""


class ProtocolVersion(Reply, frozen=True, tag="protocol_version"):
    """The protocol's version."""

    version: str


class GetSceneNames(Request, frozen=True, tag="get_scene_names"):
    """Ask which scenes can be loaded."""


class SceneNames(Reply, frozen=True, tag="scene_names"):
    """What can be loaded."""

    scene_names: tuple[str, ...]


class AskForMenu(Request, frozen=True, tag="connected"):
    """Ask to hear again that the menu stands open, as the original reports to any client that says this there."""

    said_in = (ClientState.MENU,)
    is_quick = True


class LoadScene(Request, frozen=True, tag="load_scene"):
    """Load a scene from the menu, for everybody."""

    said_in = (ClientState.MENU,)
    concerns_all = True

    scene_name: str

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        name = form.read_text("scene_name")
        if name is None:
            raise WireError("scene_name is missing; this message needs it.")
        return cls(scene_name=name)


class ExitScene(Request, frozen=True, tag="exit_scene"):
    """Bring its client back to the menu; the last one there ends the scene."""

    said_in = (ClientState.TRACK, ClientState.NO_CAR)
    concerns_all = True


class QuitApp(Request, frozen=True, tag="quit_app"):
    """End the program."""

    concerns_all = True


class DriveCar(Request, frozen=True, tag="control"):
    """Steer.

    Attributes:
        steer: -1 to 1, + = left; None: as before.
        throttle: -1 to 1; None: as before.
        brake: 0 to 1.
    """

    is_quick = True

    steer: float | None
    throttle: float | None
    brake: float

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        steering = form.read_number("steering")
        throttle = form.read_number("throttle")
        brake = form.read_number("brake")
        return cls(
            steer=None if steering is None else frames.steer_from_wire(min(max(steering, -1.0), 1.0)),
            throttle=None if throttle is None else min(max(throttle, -1.0), 1.0),
            brake=0.0 if brake is None else min(max(brake, 0.0), 1.0),
        )


class ResetCar(Request, frozen=True, tag="reset_car"):
    """Put the own car back to its start."""

    is_quick = True


class SetStepMode(Request, frozen=True, tag="step_mode"):
    """Switch between paced time and lock-step.

    Attributes:
        is_synchronous: Lock-step; None: as before.
        step_count: Physics steps per control in lock-step; None: as before.
    """

    concerns_all = True
    is_quick = True

    is_synchronous: bool | None
    step_count: int | None

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        from donkeysim.core.types import PHYSICS_RATE  # and NumPy, which is loaded after the socket is open

        modes = {"synchronous": True, "asynchronous": False}
        mode = form.read_text("step_mode")
        if mode is not None and mode not in modes:
            raise WireError(describe_unknown("step_mode", mode, modes))
        if mode == "asynchronous":
            return cls(is_synchronous=False, step_count=None)
        time_step = form.read_number("time_step")
        step_count = None if time_step is None else round(min(max(time_step, -1.0), 1e6) * PHYSICS_RATE)
        if step_count is not None and not 1 <= step_count <= PHYSICS_RATE:
            raise WireError(f"time_step is {time_step:g} s; it takes {1 / PHYSICS_RATE:.6f} to 1 s.")
        return cls(is_synchronous=None if mode is None else modes[mode], step_count=step_count)


class StepMode(Reply, frozen=True, tag="step_mode"):
    """How time runs from now on, "synchronous" or "asynchronous", and how many cars of clients there are."""

    step_mode: str
    cars: int


class RegenerateRoad(Request, frozen=True, tag="regen_road"):
    """Make a new road, in scenes whose road is generated.

    Attributes:
        road_style: Index of texture, width and offset, modulo their number; None: as before.
        rand_seed: Of the road's random numbers; None: as before.
        turn_increment: Change of the turn from one span to the next [degree]; None: as before.
    """

    concerns_all = True

    road_style: int | None
    rand_seed: int | None
    turn_increment: float | None

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        form.note_unused("msg_type", *cls.__struct_fields__)
        turn = form.read_within("turn_increment", -TURN_MOST, TURN_MOST, zero_keeps=True)
        return cls(
            road_style=form.read_whole_within("road_style", *INT32),
            rand_seed=form.read_whole_within("rand_seed", *INT32),
            turn_increment=None if turn is None else max(abs(turn), TURN_LEAST),
        )


class SetPosition(Request, frozen=True, tag="set_position"):
    """Put the own car somewhere; it keeps its velocity.

    Attributes:
        position: World frame [m].
        orientation: Unit quaternion (w, x, y, z); None: facing along the world's x axis.
    """

    is_quick = True

    position: frames.Vector
    orientation: frames.Quaternion | None

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        x, y, z = (form.read_required_number(name) for name in ("pos_x", "pos_y", "pos_z"))
        farthest = max(abs(x), abs(y), abs(z))
        if farthest > FARTHEST_POSITION:
            raise WireError(f"a position of {farthest:g} is too far; coordinates take up to {FARTHEST_POSITION:g}.")
        return cls(position=frames.position_from_units((x, y, z)), orientation=form.read_quaternion())


class GetNodePosition(Request, frozen=True, tag="node_position"):
    """Ask where a node of the path is."""

    said_in = (ClientState.TRACK, ClientState.NO_CAR)
    is_quick = True

    index: int

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        form.read_required_number("index")
        return cls(index=form.read_integer("index") or 0)


class NodePosition(Reply, frozen=True, tag="node_position"):
    """A node of the path: raw position [U] and rotation on the original's axes."""

    index: int
    pos_x: float
    pos_y: float
    pos_z: float
    Qx: float
    Qy: float
    Qz: float
    Qw: float


class SetRacerInfo(Request, frozen=True, tag="racer_info"):
    """Introduce the racer."""

    racer_name: str | None
    car_name: str | None
    bio: str | None
    country: str | None
    guid: str | None

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        return cls(**{name: form.read_text(name) for name in cls.__struct_fields__})


REQUESTS: tuple[type[Request], ...] = (
    GetProtocolVersion, GetSceneNames, AskForMenu, ExitScene, QuitApp, ResetCar, LoadScene, DriveCar, SetStepMode,
    RegenerateRoad, SetPosition, GetNodePosition, SetRacerInfo,
)  # fmt: skip
"""All that clients may say, besides what configures their cars."""
