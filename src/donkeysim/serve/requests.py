"""What a client's request changes about its car, between two steps."""

from __future__ import annotations

from donkeysim.core import frames
from donkeysim.core.errors import SceneError
from donkeysim.core.rotation import look_to_quaternion
from donkeysim.serve.participants import SceneCar
from donkeysim.serve.simulation_options import SimulationOptions
from donkeysim.sim.simulator import Simulator
from donkeysim.wire import messages
from donkeysim.wire.replies import NodePosition
from donkeysim.wire.settings import make_command


def change_car(simulator: Simulator, car: SceneCar, request: messages.Request, options: SimulationOptions) -> str:
    """Carry out a request that concerns one car only and return a note for its client, "" for none.

    Raises:
        DonkeySimError: The request is not possible in this scene.
    """
    if isinstance(request, messages.SetPosition) and not options.has_training_fields:
        raise SceneError("positions are neither told nor taken; the simulator runs with --no-training-telemetry.")
    command, note = make_command(simulator, car.row, request)
    if command is not None:
        simulator.apply(command)
    if isinstance(request, messages.ResetCar):
        car.begin_anew()
    return note


def describe_node(simulator: Simulator, index: int) -> NodePosition:
    """Return where a node of the path is, in the original's raw units, looking from the node before to the one after.

    Raises:
        SceneError: The path has no such node.
    """
    path = simulator.scene.path
    if not 0 <= index < len(path.position):
        raise SceneError(f"index {index} is not a node of this path; it takes 0 to {len(path.position) - 1}.")
    x, y, z = frames.position_to_units(path.position[index].tolist())
    yaw, slope = path.frame.look(index)
    qx, qy, qz, qw = frames.quaternion_to_unity(look_to_quaternion(yaw, -slope))
    return NodePosition(index=index, pos_x=x, pos_y=y, pos_z=z, Qx=qx, Qy=qy, Qz=qz, Qw=qw)
