"""A driver that follows a line: the pace car, and an expert to learn from.

It knows the scene and reads `State`. Line and speed are planned once (`driving_line`, `lap_time`); `steering` turns the
car's motion relative to them into a wheel angle, `traffic` says when to pass or to wait. It keeps nothing between
calls, so a snapshot of `State` is all there is to a moment.
"""

import math
from typing import NamedTuple

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.memory import remember
from donkeysim.core.rotation import wrap_angle
from donkeysim.drivers.driving_line import LineTable, count_points_per_node, measure_room, plan_fastest, plan_path
from donkeysim.drivers.lap_time import GripUse, SpeedPlan, find_axles, make_powertrain, sample_friction
from donkeysim.drivers.steering import PERIOD, Action, Motion, Regulator
from donkeysim.drivers.traffic import Traffic
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec
from donkeysim.world.state import HIT_NONE

STYLES = ("steady", "fast")
"""`steady` keeps to the path with about half the grip; `fast` laps on the racing line near the limit."""

# At half the grip the lane is held within 2 cm (docs/decisions/0002), whatever the car meets; slow enough to be
# followed by most pilots.
STEADY_GRIP, STEADY_SPEED = GripUse(0.55, 0.4), 1.5
"""Use of the grip, and greatest speed [m/s], of the steady style."""

FAST_GRIP, FAST_MARGIN = GripUse(0.7, 0.45), 0.17
"""Use of the grip, and distance of the car's middle from the road's edges [m], of the fast style. Motor and brake turn
all wheels alike, so the least loaded one limits them: of the grip along the road only about half is there for use."""

# The regulator steers by where the car moves: that has no direction at a standstill, and far off course its model,
# which is linear, does not hold.
SLOW, LOST = 0.5, 0.9
"""Below this speed [m/s], and beyond this angle from the line's heading [rad], geometry steers."""

# 34°: out of that course the tightest turn, with a radius of 0.7 m, straightens a car within 0.12 m.
APPROACH = 0.6
"""Greatest angle at which a car comes back to its line [rad]."""

# A time constant of 0.2 s, four commands: with one of a single command throttle and brake would take turns.
SPEED_GAIN = 5.0
"""Acceleration per missing speed [1/s]."""

SLIP_MOST = 0.18
"""Greatest slip angle asked of the front tyres, just below that of their greatest side force [rad]; when the rear ones
exceed it, the car does not brake."""

# A corner takes two thirds of the load off the inner wheels, and all get the same torque: full throttle out of a bend
# would spin one of them up, and braking into it takes its side force.
WHEEL_SHARE = 1.2
"""Force of motor or brake on each wheel, in units of the least loaded wheel's grip; above 1 it may slip a little."""

LIFTED = 0.04
"""A wheel that carries less than this share of the car stands in the air: it may spin. On twisted ground two do."""

SLIP_SPEED, SLIP_RATIO = 0.15, 0.3
"""Slip of a wheel that is let pass: at standstill [m/s], and what is added per speed."""

BACKING = 0.3
"""Throttle with which to back away from an obstacle."""

# A tilt of 73°, which no road has.
UPRIGHT = 0.3
"""Height of the car's own up axis below which it lies on its side or roof, and nothing helps."""

_PLANS: dict[int, dict[tuple[object, ...], SpeedPlan]] = {}
"""Of living scenes by their `id`: drivers of a race choose among the same lines, and all choices take a tenth of a
second."""


class _Pose(NamedTuple):
    """Where a car is and how it moves, on the ground plane.

    Attributes:
        x: [m]
        y: [m]
        yaw: [rad]
        forward: Speed along the car [m/s].
        side: Speed to its left [m/s].
        turn: Yaw rate [rad/s].
        up: Height of the body's own up axis: 1 upright, -1 upside down.
    """

    x: float
    y: float
    yaw: float
    forward: float
    side: float
    turn: float
    up: float


def _take_plan(scene: Scene, car: CarSpec, style: str, use: GripUse | None, speed_limit: float) -> SpeedPlan:
    """Return the line of a style and the speed along it; see `PathFollower`."""
    plans = remember(_PLANS, scene, dict[tuple[object, ...], SpeedPlan])
    key = car, style, use, speed_limit
    if key not in plans:
        if style == "fast":
            plans[key] = plan_fastest(scene.path, scene.ground, car, use or FAST_GRIP, FAST_MARGIN)
        else:
            plans[key] = plan_path(scene.path, scene.ground, car, use or STEADY_GRIP, speed_limit)
    return plans[key]


class PathFollower:
    """Drives any car of its kind along its line; `drive` once per telemetry (1/20 s) or more often.

    Attributes:
        plan: The line and the speed along it.
    """

    def __init__(
        self,
        scene: Scene,
        car: CarSpec,
        style: str,
        use: GripUse | None = None,
        speed_limit: float = STEADY_SPEED,
        speed_gain: float = SPEED_GAIN,
    ) -> None:
        """Choose the line and plan the speed.

        Args:
            style: Which line, one of `STYLES`.
            use: How much of the grip to use; None: what the style does.
            speed_limit: Greatest speed of the steady style [m/s].
            speed_gain: Acceleration per missing speed [1/s].

        Raises:
            SpecError: Unknown style.
        """
        if style not in STYLES:
            raise SpecError(describe_unknown("style of the path follower", style, STYLES))
        self.plan = _take_plan(scene, car, style, use, speed_limit)
        friction = sample_friction(scene.ground, self.plan.point)
        self._speed_gain = speed_gain
        self._factor = count_points_per_node(scene.path)
        self._line = LineTable(self.plan)
        self._regulator = Regulator(self.plan, car, friction)
        self._traffic = Traffic(self._line, self._factor, measure_room(scene.path, self.plan))
        self._train, self._taps_twice = make_powertrain(car), car.esc.double_tap
        pull = car.gravity * car.grip_gain
        self._grip = (float(scene.ground.friction[0]) * pull, float(friction.min()) * pull)
        self._gravity, self._radius = car.gravity, car.wheel_radius
        front, rear = find_axles(car)
        self._front, self._rear = front, -rear
        self._gain, self._limit = car.steer_gain, min(car.steer_gain, car.steer_limit)

    def drive(self, ledger: Ledger, car: int, late: float = 0.0) -> Action:
        """Return what the car of a row should do.

        Args:
            late: When it will do it, from now [s]: it will be further along its course then.
        """
        pose = _observe(ledger, car)
        if late > 0.0:
            pose = _move_on(pose, late)
        if pose.up < UPRIGHT:
            return Action(0.0, 0.0, 1.0)
        steer, force = self._follow(ledger, car, pose)
        if _is_backing_out(ledger, car, pose):
            # Where an ESC brakes first, the throttle is let go of for a moment.
            lets_go = self._taps_twice and 0.2 < float(ledger.time[car]) % 1.0 < 0.35
            return Action(-steer, 0.0 if lets_go else self._train.find_throttle(-BACKING), 0.0)
        force = self._limit_force(ledger, car, pose, force)
        if force > 0.0:
            most = self._train.force_most * self._train.factor(abs(pose.forward))
            return Action(steer, self._train.find_throttle(min(1.0, force / most)), 0.0)
        return Action(steer, 0.0, min(1.0, -force / self._train.brake_most))

    def _follow(self, ledger: Ledger, car: int, pose: _Pose) -> tuple[float, float]:
        """Return steer (-1 to 1) and the force wanted along the road [N]."""
        line = self._line
        index, offset = line.locate(pose.x, pose.y, int(ledger.node_index[car]) * self._factor, 3 * self._factor)
        shift, speed_limit = self._traffic.judge(ledger, car, index, offset)
        offset -= shift
        drift = math.atan2(pose.side, pose.forward) if pose.forward > SLOW else 0.0
        course = wrap_angle(pose.yaw + drift - line.heading[index])
        ahead = line.advance(index, max(0.0, pose.forward) * 0.5 * PERIOD)
        if pose.forward > SLOW and abs(course) < LOST:
            speed = math.hypot(pose.forward, pose.side)
            motion = Motion(offset, course, speed, pose.yaw, pose.turn)
            angle = self._regulator.find_angle(motion, index, ahead, APPROACH)
            slip = math.atan2(pose.side + self._front * pose.turn, pose.forward)
            angle = max(slip - SLIP_MOST, min(slip + SLIP_MOST, angle))
        else:
            wanted = -max(-APPROACH, min(APPROACH, 1.5 * offset))
            bend = line.curvature[ahead] + 6.0 * wrap_angle(wanted - course)
            angle = math.atan((self._front + self._rear) * bend)
        angle = max(-self._limit, min(self._limit, angle))
        return angle / self._gain, self._hold_speed(pose.forward, ahead, speed_limit, abs(course), abs(offset))

    def _hold_speed(self, speed: float, ahead: int, limit: float, course: float, offset: float) -> float:
        """Return the force along the road that keeps to the planned speed [N], slower when far from the line."""
        wanted, gain = self._line.speed[ahead], self._line.acceleration[ahead]
        if course > 0.5 or offset > 0.4:
            limit = min(limit, 0.6 if course > 1.0 else 1.0)
        if wanted > limit:
            wanted, gain = limit, 0.0
        gain += self._speed_gain * (wanted - speed)
        return (self._train.mass + self._train.spin_mass) * gain + self._train.loss * speed

    def _limit_force(self, ledger: Ledger, car: int, pose: _Pose, force: float) -> float:
        """Return a force along the road that neither spins nor locks wheels while the car turns [N]."""
        grip = self._grip[int(ledger.on_road[car])]
        share = min(0.95, abs(pose.forward * pose.turn) / grip)
        loads: list[float] = ledger.wheel_load[car].tolist()
        lifted = LIFTED * sum(loads)
        least: float = max(min((load for load in loads if load > lifted), default=0.0), 0.06 * sum(loads))
        most = len(loads) * WHEEL_SHARE * least * grip / self._gravity * math.sqrt(1.0 - share * share)
        spins = zip(ledger.wheel_speed[car].tolist(), loads, strict=True)
        rims = [spin * self._radius for spin, load in spins if load > lifted] or [pose.forward]
        slip = max(rims) - pose.forward if force > 0.0 else pose.forward - min(rims)
        spare = SLIP_SPEED + SLIP_RATIO * abs(pose.forward) - slip
        most *= max(0.0, min(1.0, 0.5 + 2.0 * spare))
        losses = self._train.loss * pose.forward
        if pose.forward > SLOW and abs(math.atan2(pose.side - self._rear * pose.turn, pose.forward)) > SLIP_MOST:
            force = max(force, 0.5 * losses)
        limited: float = max(-most, min(most + losses, force))
        return limited


def _observe(ledger: Ledger, car: int) -> _Pose:
    """Return a car's pose on the ground plane."""
    x, y, _ = ledger.position[car].tolist()
    vx, vy, _ = ledger.velocity[car].tolist()
    yaw = float(ledger.yaw[car])
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return _Pose(
        x=x,
        y=y,
        yaw=yaw,
        forward=vx * cosine + vy * sine,
        side=vy * cosine - vx * sine,
        turn=float(ledger.yaw_rate[car]),
        up=float(ledger.upright[car]),
    )


def _move_on(pose: _Pose, time: float) -> _Pose:
    """Return a pose some time later [s], at the same speed and yaw rate."""
    yaw = pose.yaw + 0.5 * pose.turn * time
    ahead, aside = time * pose.forward, time * pose.side
    x = pose.x + ahead * math.cos(yaw) - aside * math.sin(yaw)
    y = pose.y + ahead * math.sin(yaw) + aside * math.cos(yaw)
    return pose._replace(x=x, y=y, yaw=pose.yaw + pose.turn * time)


def _is_backing_out(ledger: Ledger, car: int, pose: _Pose) -> bool:
    """Return whether the car should drive backwards: it stands against something, or already backs away from it.

    The world's clock gives it a second out of every three for that, so nothing needs to be remembered.
    """
    if int(ledger.time[car]) % 3 != 2:
        return False
    if pose.forward < -0.05:
        return True
    return abs(pose.forward) < 0.1 and max(ledger.touching[car].tolist()) != HIT_NONE
