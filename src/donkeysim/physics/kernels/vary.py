"""Writes a car's parameters as its drawn values say."""

from donkeysim.core.kernel import index_kernel
from donkeysim.core.types import FloatArray
from donkeysim.physics.kernels import layout
from donkeysim.world.kernels.draw import Drawn
from donkeysim.world.randomization import find_column

MASS, FRICTION, MOTOR = find_column("car.mass"), find_column("car.friction"), find_column("car.motor")
STEER_TRIM, CHARGE = find_column("car.steer_trim"), find_column("battery.charge")
"""Columns of drawn values."""


@index_kernel
def vary_params(car: int, base: FloatArray, drawn: Drawn, param: FloatArray) -> None:
    """Write the parameters of a car whose values have just been drawn.

    The mass takes the inertia and the springs' load with it, so a heavier car stands at the same height.

    Args:
        base: What it was made with, columns of `layout`, shape [PARAM_WIDTH].
        param: The car's row is written, shape [car_count, PARAM_WIDTH].
    """
    if drawn.fresh[car] == 0:
        return
    value = drawn.value[car]
    mass, friction = value[MASS], value[FRICTION]
    for column in range(layout.PARAM_WIDTH):
        param[car, column] = base[column]
    param[car, layout.P_MASS] *= mass
    for axis in range(3):
        param[car, layout.P_INERTIA + axis] *= mass
    for wheel in range(4):
        param[car, layout.P_STATIC_LOAD + wheel] *= mass
    param[car, layout.P_GRIP_MASS] *= mass / friction
    for curve in (layout.P_FORWARD, layout.P_SIDEWAYS, layout.P_SIDEWAYS_REAR):
        param[car, curve + 1] *= friction
        param[car, curve + 3] *= friction
    param[car, layout.P_TORQUE_MAX] *= value[MOTOR]
    param[car, layout.P_STEER_TRIM] = value[STEER_TRIM]
    param[car, layout.P_CHARGE_MISSING] = (1.0 - value[CHARGE]) * param[car, layout.P_CAPACITY]
