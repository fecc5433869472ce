"""What one asks for: cars, sensors, scenes and whole experiments as frozen, hashable, TOML-able values.

All values are SI in our frames: metres, seconds, radians, body frame x forward, y left, z up.
"""

import math
from dataclasses import dataclass, field

from donkeysim.core.checked_fields import check_fields, limit
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.frames import Vector
from donkeysim.world import car_files
from donkeysim.world.car_files import BatterySpec, EscSpec, ServoSpec, TyreSpec, WheelCurve
from donkeysim.world.lens import LensSpec
from donkeysim.world.randomization import RandomizationSpec

BODY_STYLES = ("donkey", "bare", "car01", "cybertruck", "f1")
"""Bodies a car may wear; all share one chassis."""

IMAGE_ENCODINGS = ("JPG", "PNG", "TGA")
"""Picture files a camera may send."""

QUALITIES = ("default", "fast", "smooth")
"""Camera qualities: `default` filters textures, `fast` takes the nearest texel of the right mip level; `smooth` is as
`default` and blends texels that are larger than pixels, which one sees in large pictures only."""

MOST_ADDED = 1000
"""Things of a kind that a challenge adds."""

TURN_LEAST, TURN_MOST = 0.1, 20.0
"""Limits of `RoadSpec.turn` [degree]."""


@dataclass(frozen=True)
class BodySpec:
    """How a car looks.

    Attributes:
        style: One of `BODY_STYLES`.
        colour: Paint, sRGB 0 to 255.
        name: Text of the name plate, may have several lines; also what others receive as `hit`. Empty: no plate.
        font_size: Size of the plate's text, 10 to 100.
    """

    style: str = "donkey"
    colour: tuple[int, int, int] = (220, 40, 30)
    name: str = ""
    font_size: int = 100

    def __post_init__(self) -> None:
        if self.style not in BODY_STYLES:
            raise SpecError(describe_unknown("body style", self.style, BODY_STYLES))


@dataclass(frozen=True)
class CameraSpec:
    """One camera on a car. Defaults: the original's front camera.

    As measured from pictures of it (docs/fidelity.md): on a resting car it stands 1.84 U above the road, 0.553 U ahead
    of the origin, and looks 15.5° down.

    Attributes:
        width: Columns [pixel], 1 to 4096.
        height: Rows of the whole picture [pixel], 1 to 4096.
        fov: Vertical field of view of the whole picture [rad], 1° to 175°; clients of the wire may ask for 10° to 170°.
        position: Of the optical centre in the body frame [m].
        rotation: (roll, pitch, yaw) of the optical axis [rad]; pitch positive down.
        fisheye: Strengths of the warp in x and y, 0 to 1; both 0: no warp.
        grey: All three channels carry the luma.
        encoding: One of `IMAGE_ENCODINGS`; used where a picture leaves as a file.
        quality: One of `QUALITIES`.
        supersample: 1, or 2 for 2x2 samples per pixel.
        depth: Whether it measures distances too.
        segment: Whether it gives classes too.
        crop_top: Rows at the top of the whole picture that are left out, neither drawn nor returned [pixel].
        crop_bottom: The same at the bottom.
        lens: A real one, with the focal length that `fov` is of where it bends nothing; None: a pinhole.
    """

    width: int = 160
    height: int = 120
    fov: float = math.radians(90.0)
    position: Vector = (0.553 / 8, 0.0, 1.251 / 8)
    rotation: Vector = (0.0, math.radians(15.5), 0.0)
    fisheye: tuple[float, float] = (0.0, 0.0)
    grey: bool = False
    encoding: str = "JPG"
    quality: str = "default"
    supersample: int = 1
    depth: bool = False
    segment: bool = False
    crop_top: int = 0
    crop_bottom: int = 0
    lens: LensSpec | None = None

    @property
    def row_count(self) -> int:
        """Rows of the pictures it gives [pixel]: those of the whole picture that are not cut off."""
        return self.height - self.crop_top - self.crop_bottom

    def __post_init__(self) -> None:
        check_fields(self, finite=True)
        if self.quality not in QUALITIES:
            raise SpecError(describe_unknown("camera quality", self.quality, QUALITIES))
        if self.encoding not in IMAGE_ENCODINGS:
            raise SpecError(describe_unknown("image encoding", self.encoding, IMAGE_ENCODINGS))
        if not (1 <= self.width <= 4096 and 1 <= self.height <= 4096):
            raise SpecError(f"camera size {self.width}x{self.height} is not valid; each side takes 1 to 4096 pixels.")
        if self.crop_top < 0 or self.crop_bottom < 0 or self.row_count < 1:
            raise SpecError(
                f"crop_top {self.crop_top} and crop_bottom {self.crop_bottom} are not valid for {self.height} rows; "
                "both take 0 or more, and must leave one row at least."
            )
        if not (math.radians(1.0) <= self.fov <= math.radians(175.0)):
            raise SpecError(f"camera fov {math.degrees(self.fov):g}° is not valid; it takes 1° to 175° (vertical).")
        if self.supersample not in (1, 2):
            raise SpecError(f"camera supersample {self.supersample} is not valid; it takes 1 or 2.")


@dataclass(frozen=True)
class LidarSpec:
    """A scanning lidar. Defaults: the original's, as its client configures it; limits: those of the wire.

    Attributes:
        sweep_increment: Angle between rays of a level [rad], 0.25° to 360°; `ray_count` follows from it.
        angle_down: Pitch of level 0 below the sensor's horizon [rad].
        angle_delta: Added to the pitch for every further level [rad].
        level_count: Levels, 1 to 128.
        max_range: Rays that meet nothing within it return nothing [m], 0.0125 to 1250.
        noise: Standard deviation of the distance [m], 0 to 125.
        position: Of the sensor in the body frame [m].
        pitch: Of the whole sensor, positive down [rad].
    """

    sweep_increment: float = field(
        default=math.radians(2.0), metadata=limit(math.radians(0.25), math.radians(360.0), "rad")
    )
    angle_down: float = math.radians(0.0)
    angle_delta: float = math.radians(-1.0)
    level_count: int = field(default=1, metadata=limit(1, 128))
    max_range: float = field(default=50.0 / 8, metadata=limit(0.1 / 8, 10_000.0 / 8, "m"))
    noise: float = field(default=0.5 / 8, metadata=limit(0.0, 1000.0 / 8, "m"))
    position: Vector = (0.5 / 8, 0.0, 0.5 / 8)
    pitch: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, finite=True)

    @property
    def ray_count(self) -> int:
        """Rays of a level: as many whole increments as a turn holds, at least 1."""
        return max(1, int(2.0 * math.pi / self.sweep_increment + 1e-9))


@dataclass(frozen=True)
class ImuSpec:
    """An inertial unit: noise on what the original sends without any.

    Attributes:
        accel_noise: Standard deviation of each acceleration axis [m/s²].
        gyro_noise: Standard deviation of each rate axis [rad/s].
    """

    accel_noise: float = 0.0
    gyro_noise: float = 0.0


@dataclass(frozen=True)
class CarSpec:
    """A car's physics, metres and kilograms of the RC car's world; every number's source stands in its file.

    Wheels are in the order front-left, front-right, rear-left, rear-right.

    Attributes:
        mass: Of the whole car [kg].
        drag: Linear drag of the body, velocity decays at this rate [1/s].
        angular_drag: The same for rotation [1/s].
        gravity: Downward acceleration that this preset assumes [m/s²].
        centre_of_mass: In the body frame [m].
        chassis_size: Length, width, height of the body's box [m]; also gives the inertia.
        chassis_centre: Of that box in the body frame [m].
        wheel_position: Of each wheel's centre at full compression, body frame [m]; it extends from there along -z.
        wheel_radius: [m]
        wheel_inertia: About the axle [kg m²].
        wheel_damping: Torque per spin rate [N m s/rad].
        wheel_driven: Which wheels the motor turns.
        wheel_steered: Which wheels steer.
        suspension_spring: [N/m]
        suspension_damper: [N s/m]
        suspension_target: Extension at which the spring carries just the wheel's share of the static load, as a share
            of the travel from full compression (0) to full extension (1); a car at rest on level ground sits there.
        suspension_travel: From full compression to full extension [m].
        force_point: Height above the wheel's contact, along the ground's normal, where tyre forces act [m].
        torque_max: Motor torque per driven wheel at standstill [N m].
        torque_speed: Speed that normalises the torque curve [m/s].
        torque_curve: Rows (speed / torque_speed, factor, slope), Hermite, clamped outside.
        brake_torque: Per wheel at brake 1 [N m].
        steer_gain: Wheel angle at steer 1 [rad].
        steer_limit: Hard limit of the wheel angle [rad].
        slip_speed_driven: Low-speed constant of the slip of driven or braked wheels [m/s].
        slip_speed_free: Lower bound of the reference speed of free wheels [m/s].
        slip_speed_lateral: Low-speed constant of the slip angle [m/s].
        forward: Longitudinal friction.
        sideways: Lateral friction.
        sideways_rear: That of the rear wheels, where it differs; None: as `sideways`.
        load_share: How much of its load a tyre grips with [-].
        load_rest: What it grips with besides while it touches the ground, as a share of its load at rest [-].
        grip_creep: Speed of rolling below which a tyre forgets its deflection more slowly [m/s]; 0: nowhere.
        inertia: About the body's axes x, y, z [kg m²]; None: that of a uniform box, `chassis_size`.
        servo: What turns the wheels.
        esc: What drives the motor.
        battery: What feeds it.
        tyres: Surfaces that the preset is offered on besides, `NAME-SURFACE`.
        camera: The camera it carries when nothing else is asked.
        imu: Its inertial unit.
    """

    name: str
    mass: float
    drag: float
    angular_drag: float
    gravity: float
    centre_of_mass: Vector
    chassis_size: Vector
    chassis_centre: Vector
    wheel_position: tuple[Vector, Vector, Vector, Vector]
    wheel_radius: float
    wheel_inertia: float
    wheel_damping: float
    wheel_driven: tuple[bool, bool, bool, bool]
    wheel_steered: tuple[bool, bool, bool, bool]
    suspension_spring: float
    suspension_damper: float
    suspension_target: float
    suspension_travel: float
    force_point: float
    torque_max: float
    torque_speed: float
    torque_curve: tuple[Vector, ...]
    brake_torque: float
    steer_gain: float
    steer_limit: float
    slip_speed_driven: float
    slip_speed_free: float
    slip_speed_lateral: float
    forward: WheelCurve
    sideways: WheelCurve
    format: int = 1
    sideways_rear: WheelCurve | None = None
    load_share: float = 1.0
    load_rest: float = 0.0
    grip_creep: float = 0.0
    inertia: Vector | None = None
    servo: ServoSpec = field(default_factory=ServoSpec)
    esc: EscSpec = field(default_factory=EscSpec)
    battery: BatterySpec = field(default_factory=BatterySpec)
    tyres: tuple[TyreSpec, ...] = ()
    camera: CameraSpec = CameraSpec()
    imu: ImuSpec = ImuSpec()

    @property
    def grip_gain(self) -> float:
        """By how much more than its friction curves say a resting car's tyres grip [-]."""
        return (self.load_share + self.load_rest) * min(self.forward.stiffness, self.sideways.stiffness)

    @property
    def has_actuators(self) -> bool:
        """Whether anything stands between what is asked of it and what its wheels do."""
        return (self.servo, self.esc, self.battery) != (ServoSpec(), EscSpec(), BatterySpec())


@dataclass(frozen=True)
class RoadSpec:
    """Which of the roads that a scene can generate.

    Attributes:
        style: Index into the road styles of the scene, modulo their number.
        seed: Of the road's random numbers; same seed, same road.
        turn: How lively it turns: change of the turn from one span of 0.25 m to the next [degree], 0.1 to 20.
    """

    style: int = 0
    seed: int = 0
    turn: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, finite=True)
        if not all(-(1 << 63) <= number < 1 << 63 for number in (self.style, self.seed)):
            raise SpecError(f"a road's style and seed are numbers of 64 bits, not {self.style} and {self.seed}.")
        if not TURN_LEAST <= self.turn <= TURN_MOST:
            raise SpecError(f"a turn of {self.turn:g} degrees is not valid; it takes {TURN_LEAST} to {TURN_MOST:g}.")


@dataclass(frozen=True)
class ChallengeSpec:
    """What is added to a scene to make it harder, drawn from a seed: the original's challenges.

    Attributes:
        cones: How many stand about, on the road too. They can be hit and pushed.
        ghosts: The cones are the original's: without a body; driving through one costs a second.
        trees: How many stand beside the road.
        light: Whether random position and colour of the sun.
        seed: Of the random numbers.
    """

    cones: int = 0
    ghosts: bool = False
    trees: int = 0
    light: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        for name, count in (("cones", self.cones), ("trees", self.trees)):
            if not 0 <= count <= MOST_ADDED:
                raise SpecError(f"{count} {name} are not valid for a challenge; it takes 0 to {MOST_ADDED}.")
        if not -(1 << 63) <= self.seed < 1 << 63:
            raise SpecError(f"a challenge's seed is a number of 64 bits, not {self.seed}.")


NO_CHALLENGES = ChallengeSpec()


@dataclass(frozen=True)
class SceneSpec:
    """Which place.

    Attributes:
        name: A scene's name, or the path of a track file.
        folders: Further folders to look for track files.
        road: Which road, in scenes that generate theirs; None: as the track file says.
        challenges: What is added.
        look: One of the looks that its track file offers; empty: the file's own.
    """

    name: str = "generated_track"
    folders: tuple[str, ...] = ()
    road: RoadSpec | None = None
    challenges: ChallengeSpec = NO_CHALLENGES
    look: str = ""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class WorldSpec:
    """What a simulator simulates: an `Experiment` with its numbers of worlds and cars, without the log.

    Attributes:
        scene: The place of all worlds, or of the first where there are more.
        more_scenes: Further places; worlds take turns, world i is on place i modulo their number.
        randomization: What differs from car to car and from reset to reset; nothing unless something is asked for.
        car: Physics of all cars: one of `list_cars`, or a TOML file.
        camera: Of all cars, as `camera_file.load_camera` takes it; empty: as the car says.
        car_spec: The car itself, camera and all, whatever `car` and `camera` name; None: it is what they name. Logs and
            snapshots hold what came from files.
        world_count: Independent worlds.
        cars_per_world: Slots for cars in each world.
        seed: Of every random number.
    """

    scene: SceneSpec = field(default_factory=SceneSpec)
    car: str = "original"
    world_count: int = 1
    cars_per_world: int = 1
    seed: int = 0
    more_scenes: tuple[SceneSpec, ...] = ()
    randomization: RandomizationSpec = field(default_factory=RandomizationSpec)
    camera: str = ""
    car_spec: CarSpec | None = None

    @property
    def scenes(self) -> tuple[SceneSpec, ...]:
        """All places, in the order in which worlds take turns."""
        return (self.scene, *self.more_scenes)

    def __post_init__(self) -> None:
        if self.world_count < 1 or self.cars_per_world < 1:
            raise SpecError(
                f"a simulator of {self.world_count} worlds with {self.cars_per_world} cars each is not valid; "
                "both take 1 or more."
            )


def list_cars() -> tuple[str, ...]:
    """Return the names of the car presets, those on other surfaces too."""
    return car_files.list_names()


def load_car(name: str) -> CarSpec:
    """Return a car: a preset, a preset on another surface (`rc10-asphalt`), or what a TOML file says.

    Raises:
        SpecError: No such preset or file, or the file is broken.
    """
    return car_files.read_car(CarSpec, name)
