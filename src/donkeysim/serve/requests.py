"""What a client's request changes about its car, between two steps."""

from __future__ import annotations

from donkeysim.core import frames
from donkeysim.core.errors import SceneError
from donkeysim.serve.participants import SceneCar
from donkeysim.serve.simulation_options import SimulationOptions
from donkeysim.sim.simulator import Simulator
from donkeysim.watch.view import find_node
from donkeysim.wire import messages, settings
from donkeysim.wire.replies import NodePosition
from donkeysim.world.specs import LidarSpec


def change_car(simulator: Simulator, car: SceneCar, request: messages.Request, options: SimulationOptions) -> str:
    """Carry out a request that concerns one car only and return a note for its client, "" for none.

    Raises:
        DonkeySimError: The request is not possible in this scene.
    """
    if isinstance(request, messages.DriveCar):
        drive_car(simulator, car.row, request)
    elif isinstance(request, messages.ResetCar):
        simulator.reset_car(car.row)
        car.begin_anew()
    elif isinstance(request, messages.ConfigureCamera):
        is_second = isinstance(request, messages.ConfigureSecondCamera)
        camera = simulator.get_camera(car.row, is_second) or simulator.car_spec.camera
        simulator.configure_camera(car.row, settings.change_camera(camera, request), is_second)
    elif isinstance(request, messages.ConfigureCar):
        simulator.configure_car(car.row, settings.change_body(simulator.get_body(car.row), request))
    elif isinstance(request, messages.ConfigureLidar):
        lidar, note = settings.change_lidar(simulator.get_lidar(car.row) or LidarSpec(), request)
        simulator.configure_lidar(car.row, lidar)
        return note
    elif isinstance(request, messages.SetPosition):
        if not options.has_training_fields:
            raise SceneError("positions are neither told nor taken; the simulator runs with --no-training-telemetry.")
        simulator.move_car(car.row, request.position, request.orientation)
    return ""


def drive_car(simulator: Simulator, row: int, request: messages.DriveCar) -> None:
    """Hand a client's control to its car; it holds until the next."""
    simulator.drive_car(row, request.steer, request.throttle, request.brake)


def describe_node(simulator: Simulator, index: int) -> NodePosition:
    """Return where a node of the path is, in the original's raw units.

    Raises:
        SceneError: The path has no such node.
    """
    path = simulator.scene.path
    if not 0 <= index < len(path.position):
        raise SceneError(f"index {index} is not a node of this path; it takes 0 to {len(path.position) - 1}.")
    position, rotation = find_node(path, index)
    x, y, z = frames.position_to_units(position)
    qx, qy, qz, qw = frames.quaternion_to_unity(rotation)
    return NodePosition(index=index, pos_x=x, pos_y=y, pos_z=z, Qx=qx, Qy=qy, Qz=qz, Qw=qw)
