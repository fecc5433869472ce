"""Rewards and ends by name. Each is made of operators, so that it takes numbers of one car or arrays of all."""

from typing import NamedTuple

from donkeysim.core.frames import UNITS_PER_METRE
from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.envs.rules import FALL_REWARD, HIT_REWARD
from donkeysim.physics.kernels.ledger import LedgerRows
from donkeysim.world.state import HIT_NONE

OFF_ROAD_PATIENCE = 0.25
"""How long a car may be off the road before its episode ends [s]."""
STILL_PATIENCE = 4.0
"""How long it may stand still [s]."""
WRONG_WAY_PATIENCE = 0.5
"""How long it may go against the path [s]."""
LEAST_UPRIGHT = 0.5
"""Cosine of the greatest tilt."""
END_PENALTY = 2.0
"""What "progress" and "centre" take away for an episode that ends by a rule."""
MAX_CTE = 8.0
"""Of "original": farthest from the path [U]."""

REWARD_NAMES = ("progress", "centre", "original")
"""A reward's number is its place here."""
END_NAMES = ("off_road", "hit", "wrong_way", "standstill", "tilted", "original")
"""An end's bit is 1 shifted by its place here."""

NEXT_STEP, SAME_STEP, DISABLED = range(3)
"""When new episodes begin, as Gymnasium's `AutoresetMode`."""


class Rules(NamedTuple):
    """A task as numbers."""

    reward: int
    """Place in REWARD_NAMES."""
    ends: int
    """Bits of END_NAMES."""
    time_limit: float
    """[s], infinite for none."""
    lap_limit: int


class Verdicts(NamedTuple):
    """What a step brought each car, shape [car_count]."""

    reward: FloatArray
    terminated: BoolArray
    truncated: BoolArray
    is_over: BoolArray
    """Where the episode ended in this step."""
    begins: BoolArray
    """Where a new one begins in it."""


@inner_kernel
def reward_progress(progress, ended):
    """Return ten points per metre of new ground, less a penalty for an ended episode."""
    return 10.0 * progress - END_PENALTY * ended


@inner_kernel
def reward_centre(gain, offset, ended):
    """Return ten points per metre of way made, all of it on the path, none a metre beside it; less the penalty."""
    nearness = 1.0 - abs(offset)
    return 10.0 * gain * (nearness * (nearness > 0.0)) - END_PENALTY * ended


@inner_kernel
def reward_original(offset, speed, hit, ended, max_cte):
    """Return the reward of the original's environments, |cte| [U] counted on both sides."""
    distance = abs(offset) * UNITS_PER_METRE
    fell, touched = ended | (distance > max_cte), hit != HIT_NONE
    moving = (1.0 - (speed > 0.0) * distance / max_cte) * speed
    # Sums of products, where exactly one factor is 1, are choices.
    standing = touched * HIT_REWARD + (touched ^ True) * moving
    return fell * FALL_REWARD + (fell ^ True) * standing


@inner_kernel
def is_off_road(off_road_time):
    """Say who has been off the road for a quarter of a second."""
    return off_road_time > OFF_ROAD_PATIENCE


@inner_kernel
def has_hit(hit):
    """Say who touched something in this step."""
    return hit != HIT_NONE


@inner_kernel
def goes_wrong_way(wrong_way_time):
    """Say who has gone against the path for half a second."""
    return wrong_way_time > WRONG_WAY_PATIENCE


@inner_kernel
def stands_still(still_time):
    """Say who has stood still for four seconds."""
    return still_time > STILL_PATIENCE


@inner_kernel
def is_tilted(upright):
    """Say who leans by more than 60 degrees."""
    return upright < LEAST_UPRIGHT


@inner_kernel
def ends_as_original(offset, hit, max_cte):
    """Say who is farther from the path than `max_cte` [U], though not beyond twice that, or has touched something."""
    distance = abs(offset) * UNITS_PER_METRE
    return ((max_cte < distance) & (distance <= 2.0 * max_cte)) | (hit != HIT_NONE)


@inner_kernel
def is_late(time, time_limit):
    """Say whose time is up."""
    return time >= time_limit - 1e-9


@inner_kernel
def has_ended(ends, ledger, car):
    """Return whether one of a task's ends says that a car's episode is over."""
    offset, hit = ledger.active_offset[car], ledger.hit[car]
    ended = (ends & 1) != 0 and is_off_road(ledger.off_road_time[car])
    ended = ended or ((ends & 2) != 0 and has_hit(hit))
    ended = ended or ((ends & 4) != 0 and goes_wrong_way(ledger.wrong_way_time[car]))
    ended = ended or ((ends & 8) != 0 and stands_still(ledger.still_time[car]))
    ended = ended or ((ends & 16) != 0 and is_tilted(ledger.upright[car]))
    return ended or ((ends & 32) != 0 and ends_as_original(offset, hit, MAX_CTE))


@inner_kernel
def find_reward(reward, ledger, car, ended):
    """Return a car's reward by the number of its formula."""
    if reward == 0:
        return reward_progress(ledger.progress[car], ended)
    if reward == 1:
        return reward_centre(ledger.gain[car], ledger.offset[car], ended)
    return reward_original(ledger.active_offset[car], ledger.forward_speed[car], ledger.hit[car], ended, MAX_CTE)


@index_kernel
def judge_car(car: int, rules: Rules, ledger: LedgerRows, verdicts: Verdicts) -> None:
    """Judge a car's step."""
    ended = has_ended(rules.ends, ledger, car)
    cut = is_late(ledger.time[car], rules.time_limit) or ledger.laps[car] >= rules.lap_limit
    verdicts.reward[car] = find_reward(rules.reward, ledger, car, ended)
    verdicts.terminated[car], verdicts.truncated[car] = ended, cut and not ended


@index_kernel
def conclude_step(car: int, mode: int, verdicts: Verdicts) -> None:
    """Say whether a car's episode is over, and whether a new one begins for it now; `mode`: NEXT_STEP and so on."""
    begins = mode == NEXT_STEP and verdicts.is_over[car]
    if begins:  # what the car did in the step that begins its episode does not count
        verdicts.reward[car], verdicts.terminated[car], verdicts.truncated[car] = 0.0, False, False
    is_over = verdicts.terminated[car] or verdicts.truncated[car]
    verdicts.is_over[car], verdicts.begins[car] = is_over, begins or (mode == SAME_STEP and is_over)
