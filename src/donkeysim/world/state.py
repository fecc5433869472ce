"""What changes: `State` and `Control`, plain arrays with one flat axis of cars.

`car = world * cars_per_world + slot`; movable props have a flat axis of their own,
`prop = world * props_per_world + slot`. Private to `physics`, `render` and `sim`; everybody else reads the
`world.ledger.Ledger` and changes things by `sim.commands`. `Layout` says which worlds are where, and how many rows each
has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray, IntArray, LongArray
from donkeysim.world.camera_file import load_camera
from donkeysim.world.specs import CarSpec, WorldSpec, load_car

if TYPE_CHECKING:
    from donkeysim.world.scene import Scene

HIT_NONE = -1
"""`State.hit`: nothing was touched."""

NODE_UNKNOWN = -1
"""`State.active_node`: to be looked for, as when a car is new."""

HIT_CAR = 1_000_000
"""`State.hit` of another car: HIT_CAR + its slot in the world; lower codes index `Scene.hit_names` and `labels`."""

ESC_PHASE, CHARGE = 0, 1
"""Columns of `State.powertrain`: where the ESC is in its double tap, and the charge drawn since a reset [A s]."""

POWERTRAIN_WIDTH = 2

TOUCH_COUNT = 8
"""How many things a car may touch at once and still distinguish new ones from old."""

FAULT_RESCUED = 1
"""`State.fault` bit: the car left the world or would have become non-finite and was put back at its spawn pose."""

ACTIVE_FIELDS = ("active_node", "active_offset")
"""What moments and logs of former formats do not hold; see `complete_active`."""

_TYPES = (
    dict.fromkeys(("present", "on_road", "prop_asleep"), np.uint8)
    | dict.fromkeys(("node_index", "lap", "lap_nodes", "checkpoint", "lines_passed", "hit", "touching"), np.int32)
    | {"active_node": np.int32}
    | dict.fromkeys(("fault", "reset_count", "prop_still"), np.int32)
    | {"step_index": np.int64}
)
"""Of the arrays whose numbers are whole."""

_TURNS = ("orientation", "rotation_step", "spawn_orientation", "prop_orientation")

_SHAPES: dict[str, tuple[int, ...]] = (
    dict.fromkeys(("position", "velocity", "angular_velocity", "acceleration_body", "spawn_position"), (3,))
    | dict.fromkeys(("prop_position", "prop_velocity", "prop_angular_velocity"), (3,))
    | dict.fromkeys(("wheel_speed", "wheel_angle", "wheel_extension", "wheel_load"), (4,))
    | dict.fromkeys(_TURNS, (4,))
    | {"wheel_grip": (4, 2), "touching": (TOUCH_COUNT,), "powertrain": (POWERTRAIN_WIDTH,)}
)
"""Of a row, where it is more than a number."""


class Control(NamedTuple):
    """What drivers ask for. Shape [car_count] each; held until replaced."""

    steer: FloatArray
    """-1 to 1, + = left; 1 is the car's `steer_gain`."""
    throttle: FloatArray
    """-1 to 1, share of the motor's torque; negative turns backwards at once."""
    brake: FloatArray
    """0 to 1, share of the brake torque; a reset leaves 10, as the original does, until the next command."""


class State(NamedTuple):
    """All that changes in a run; world frame unless said; wheels front-left, front-right, rear-left, rear-right."""

    present: ByteArray
    """1 where the slot holds a car, shape [car_count]."""
    position: FloatArray
    """Of the body's origin [m], shape [car_count, 3]."""
    orientation: FloatArray
    """Body to world, unit quaternion (w, x, y, z), shape [car_count, 4]."""
    velocity: FloatArray
    """Of the centre of mass [m/s], shape [car_count, 3]."""
    angular_velocity: FloatArray
    """[rad/s], world frame, shape [car_count, 3]."""
    acceleration_body: FloatArray
    """Difference of the body-frame velocity over the last step, over its length [m/s²], shape [car_count, 3]."""
    rotation_step: FloatArray
    """Rotation of the last physics step (w, x, y, z), shape [car_count, 4]."""
    wheel_speed: FloatArray
    """Spin about the axle, + = forward [rad/s], shape [car_count, 4]."""
    wheel_angle: FloatArray
    """Spin integrated [rad], shape [car_count, 4]."""
    wheel_extension: FloatArray
    """Of the suspension, 0 = fully compressed, up to the travel [m], shape [car_count, 4]."""
    wheel_load: FloatArray
    """Normal force on the ground [N], shape [car_count, 4]."""
    wheel_grip: FloatArray
    """Elastic deflection of each tyre's contact along the wheel (x) and to its left (y): what lets a standing car hold
    on a slope; fades as soon as the wheel rolls [m], shape [car_count, 4, 2]."""
    steer_angle: FloatArray
    """Of the steered wheels, + = left [rad], shape [car_count]."""
    powertrain: FloatArray
    """Columns ESC_PHASE and CHARGE of a car with servo, ESC or battery, shape [car_count, 2]; [car_count, 0] where cars
    have none of them."""
    node_index: IntArray
    """Path node behind the car, shape [car_count]."""
    cte: FloatArray
    """Distance to the path's segment, + = left of it [m], shape [car_count]."""
    active_node: IntArray
    """What the original calls so: it goes one node ahead at most in a twentieth of a second, never back, and stays
    where it is when the car is put elsewhere; see `physics.kernels.progress`, shape [car_count]."""
    active_offset: FloatArray
    """What the original's cte is measured as: distance to the endless line through the active node and the next one,
    before the active node went on, + = left of it [m], shape [car_count]."""
    on_road: ByteArray
    """1 where the body's origin is above the drivable surface, shape [car_count]."""
    shortest_along: FloatArray
    """Along the shortest line inside the road since the start line [m], shape [car_count]."""
    lap: IntArray
    """Which lap the car is in, see `physics.kernels.laps`: 0 before it first crosses the start line after a reset,
    shape [car_count]."""
    lap_begun: FloatArray
    """When that lap began, on the world's clock, -1 before the first [s], shape [car_count]."""
    lap_time: FloatArray
    """Of the last finished lap, 0 before [s], shape [car_count]."""
    lap_nodes: IntArray
    """Net path nodes passed since the lap began, shape [car_count]."""
    checkpoint: IntArray
    """The checkpoint that is to be passed next in this lap, shape [car_count]."""
    lines_passed: IntArray
    """Bits of the further start lines that were crossed in this lap, shape [car_count]."""
    along: FloatArray
    """Length of the path from its node 0 to the nearest point at the end of the last frame [m], shape [car_count]."""
    speed: FloatArray
    """Along the nose, of either sign, at the end of the last frame [m/s], shape [car_count]."""
    gain: FloatArray
    """Way made along the path in the last frame, negative backwards; a leap to another part of it counts nothing [m],
    shape [car_count]."""
    driven: FloatArray
    """Sum of `gain` since the car was put somewhere [m], shape [car_count]."""
    furthest: FloatArray
    """Greatest `driven` so far [m], shape [car_count]."""
    progress: FloatArray
    """By how much the last frame moved `furthest` [m], shape [car_count]."""
    off_road_time: FloatArray
    """For how long the car has been off the road [s], shape [car_count]."""
    still_time: FloatArray
    """For how long it has stood (nearly) still [s], shape [car_count]."""
    wrong_way_time: FloatArray
    """For how long it has gone against the path [s], shape [car_count]."""
    hit: IntArray
    """What was last newly touched since the hits were cleared: HIT_NONE, HIT_CAR + slot, or an index of
    `Scene.hit_names`, shape [car_count]."""
    touching: IntArray
    """Codes (as `hit`) of what the car touched in the last step, HIT_NONE where unused,
    shape [car_count, TOUCH_COUNT]."""
    fault: IntArray
    """Bits FAULT_*, shape [car_count]."""
    reset_count: IntArray
    """Resets since the car joined, shape [car_count]."""
    spawn_position: FloatArray
    """Where a reset puts the body's origin [m], shape [car_count, 3]."""
    spawn_orientation: FloatArray
    """How a reset turns it (w, x, y, z), shape [car_count, 4]."""
    prop_position: FloatArray
    """Of a movable prop's origin (the middle of its base) [m], shape [prop_count, 3]."""
    prop_orientation: FloatArray
    """(w, x, y, z), shape [prop_count, 4]."""
    prop_velocity: FloatArray
    """Of its centre of mass [m/s], shape [prop_count, 3]."""
    prop_angular_velocity: FloatArray
    """[rad/s], shape [prop_count, 3]."""
    prop_asleep: ByteArray
    """1 where the prop rests and is not integrated, shape [prop_count]."""
    prop_still: IntArray
    """Steps for which a prop has hardly moved; it falls asleep after a while, shape [prop_count]."""
    step_index: LongArray
    """Physics steps since the scene was loaded, shape [world_count]."""


def complete_active(state: State) -> None:
    """Let the active nodes of a moment of a former format be where the cars are."""
    state.active_node[:], state.active_offset[:] = state.node_index, state.cte


def make_control(car_count: int) -> Control:
    """Return controls at zero."""
    return Control(*(np.zeros(car_count) for _ in Control._fields))


def make_state(world_count: int, cars_per_world: int, props_per_world: int, has_actuators: bool = False) -> State:
    """Return a state with every slot empty and every orientation the identity.

    Args:
        cars_per_world: Slots for cars in each.
        props_per_world: Slots for props in each.
        has_actuators: Whether there is anything to remember of servo, ESC and battery.
    """
    counts = {"step": world_count, "prop": world_count * props_per_world}
    arrays: dict[str, Any] = {}
    for name in State._fields:
        rows = counts.get(name.split("_")[0], world_count * cars_per_world)
        arrays[name] = np.zeros((rows, *_SHAPES.get(name, ())), _TYPES.get(name, np.float64))
    if not has_actuators:  # so that moments of other cars are what they always were, byte for byte
        arrays["powertrain"] = arrays["powertrain"][:, :0].copy()
    for name in _TURNS:
        arrays[name][:, 0] = 1.0
    arrays["lap_begun"][:] = -1.0
    arrays["active_node"][:] = NODE_UNKNOWN
    arrays["hit"][:] = arrays["touching"][:] = HIT_NONE
    arrays["prop_asleep"][:] = 1
    return State(**arrays)


class Layout(NamedTuple):
    """Worlds of a simulator; car row = world * cars_per_world + slot, and likewise for movable props."""

    scenes: Sequence[Scene]
    """Places."""
    world_scene: IntArray
    """Index into `scenes` of each world, shape [world_count]."""
    car: CarSpec
    """Every car's preset."""
    world_count: int
    cars_per_world: int
    """Slots for cars in each world."""
    props_per_world: int
    """Slots for movable props in each world."""

    @property
    def car_count(self) -> int:
        """Slots for cars in all worlds."""
        return self.world_count * self.cars_per_world


def make_layout(spec: WorldSpec, scenes: Sequence[Scene]) -> Layout:
    """Return the layout of an experiment: worlds take turns on the scenes.

    Args:
        spec: How many worlds and cars, and which car.
        scenes: Those of `spec.scenes`, built.

    Raises:
        SpecError: There is no such car or camera.
    """
    world_scene = (np.arange(spec.world_count) % len(scenes)).astype(np.int32)
    props_per_world = max(len(scene.props.mass) for scene in scenes)
    return Layout(scenes, world_scene, find_car(spec), spec.world_count, spec.cars_per_world, props_per_world)


def find_car(spec: WorldSpec) -> CarSpec:
    """Return the car of an experiment, with its camera.

    Raises:
        SpecError: There is no such car or camera.
    """
    if spec.car_spec is not None:
        return spec.car_spec
    car = load_car(spec.car)
    return replace(car, camera=load_camera(spec.camera, car.camera)) if spec.camera else car


def hold_car(spec: WorldSpec, car: CarSpec) -> WorldSpec:
    """Return a spec that contains its car where a file says what it is: that may be elsewhere later, or another one."""
    is_own = any(name.endswith(".toml") for name in (spec.car, spec.camera))
    return replace(spec, car_spec=car) if is_own else spec
