#!/usr/bin/env python3
"""The program of this car: `python manage.py drive` drives it, `python manage.py train` trains a pilot for it.

The car is a list of parts, put together in `assemble` below; `python manage.py --help` tells the options.
"""

import logging
import signal
import sys
from pathlib import Path

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until run_program below, Ctrl-C ends it without a word

from donkeysim.car.config import Config, load_config
from donkeysim.car.transform import make_transform
from donkeysim.cli.donkey import run as run_donkey
from donkeysim.drive.control_page import ControlPage
from donkeysim.drive.joystick.joystick import Joystick
from donkeysim.drive.options import Options, parse_options, run_program
from donkeysim.drive.parts.buttons import BehaviorState, WebButtons
from donkeysim.drive.parts.driving import AiLaunch, DriveMode, PilotCondition, Pipe, ThrottleFilter
from donkeysim.drive.parts.expert import EXPERT
from donkeysim.drive.parts.picture import ImageTransformations, make_blank_image
from donkeysim.drive.parts.pilots import PilotDriver, PilotForPlace, PilotShelf
from donkeysim.drive.parts.place import LocationTracker
from donkeysim.drive.parts.rate import FrequencyLogger
from donkeysim.drive.parts.recording import (
    DrivenOnly,
    RecordEraser,
    RecordTracker,
    ToggleRecording,
    TubRecorder,
    choose_tub_path,
)
from donkeysim.drive.simulated_car import SimulatedCar, list_record_channels, make_expert, make_simulated_car
from donkeysim.drive.vehicle import Vehicle
from donkeysim.drive.watched_car import open_watching_page
from donkeysim.learn.files.places import read_places
from donkeysim.learn.pilot import PACKAGE_PILOTS, load_pilot

CAR_FOLDER = Path(__file__).resolve().parent

IMU = ["imu/acl_x", "imu/acl_y", "imu/acl_z", "imu/gyr_x", "imu/gyr_y", "imu/gyr_z"]
SIMULATED_IMU = ["accel/accel_x", "accel/accel_y", "accel/accel_z", "gyro/gyro_x", "gyro/gyro_y", "gyro/gyro_z"]


def add_simulator(car: Vehicle, config: Config) -> tuple[SimulatedCar, dict[str, str], str]:
    """Add the car itself, which drives, then looks around; return it, its sensors' channels and its watching page."""
    simulator = make_simulated_car(config)
    sensors = dict(list_record_channels(config))
    car.add(
        simulator,
        inputs=["steering", "throttle", "sim/reset"],
        outputs=["cam/image_array", "sim/telemetry", "sim/lap_times", *sensors],
        threaded=simulator.threaded,
    )
    watching = open_watching_page(simulator, config)
    if watching:
        car.add(watching, threaded=True)
    if config.SHOW_FPS:
        frequency_logger = FrequencyLogger(config.FPS_DEBUG_INTERVAL)
        car.add(frequency_logger, inputs=["loop/rate"], outputs=["fps/current", "fps/fps_list"])
    return simulator, sensors, watching.url if watching else config.WATCH_PAGE_URL


def add_user_controller(
    car: Vehicle, config: Config, use_joystick: bool, watch_page_url: str, simulator: SimulatedCar
) -> tuple[ControlPage, Joystick | None]:
    """Add what the user drives with, the page in the browser and a joystick, and what comes of their buttons."""
    page = ControlPage(config, watch_page_url, simulator)
    wanted = ["user/steering", "user/throttle", "user/mode", "recording"]
    shown = ["sim/telemetry", "sim/lap_times", "loop/rate", "loop/latency", "pilot/choices", "pilot/choice"]
    shown += ["pilot/places", "run_recording", "tub/num_erased"]
    car.add(
        page,
        inputs=["ui/image_array", "tub/num_records", "user/mode", "recording", *shown],
        outputs=[*wanted, "web/buttons", "sim/reset", "pilot/choice", "web/erase"],
        threaded=True,
    )
    joystick = Joystick(config) if use_joystick or config.USE_JOYSTICK_AS_DEFAULT else None
    if joystick:
        car.add(joystick, inputs=wanted, outputs=wanted, threaded=True)
    car.add(Pipe(), inputs=["user/steering"], outputs=["user/angle"])
    car.add(WebButtons(), inputs=["web/buttons"], outputs=["web/w1", "web/w2", "web/w3", "web/w4", "web/w5"])
    car.add(ThrottleFilter(), inputs=["user/throttle"], outputs=["user/throttle"])
    return page, joystick


def assemble(car: Vehicle, config: Config, options: Options) -> None:
    """Put the car together from its parts; as many lines as parts.

    DRIVE_LOOP_HZ times a second they run in this order: each is called with what lies in its inputs, and what it
    returns is laid into its outputs. What a part reads may be written further down; then it is one loop old.
    """
    # What a record of the tub holds, and of which type; what a pilot may ask for beside the picture, with an example.
    record = {"cam/image_array": "image_array", "user/angle": "float", "user/throttle": "float", "user/mode": "str"}
    pilot_inputs: dict[str, object] = {"sim/telemetry": None}

    simulator, sensors, watch_page_url = add_simulator(car, config)
    page, joystick = add_user_controller(car, config, options.use_joystick, watch_page_url, simulator)

    # What the pilot sees and wants.
    pilot_image = (
        "cam/image_array_trans" if config.TRANSFORMATIONS or config.POST_TRANSFORMATIONS else "cam/image_array"
    )
    car.add(
        PilotCondition(config.SHOW_PILOT_IMAGE),
        inputs=["user/mode", "cam/image_array", pilot_image],
        outputs=["run_user", "run_pilot", "ui/image_array"],
    )
    tracker = RecordTracker(config.REC_COUNT_ALERT)
    car.add(tracker, inputs=["tub/num_records"], outputs=["records/alert"])
    transform = make_transform(config)
    if pilot_image == "cam/image_array_trans":
        car.add(ImageTransformations(transform), inputs=["cam/image_array"], outputs=[pilot_image])
    if config.SIM_RECORD_GYROACCEL:
        car.add(Pipe(), inputs=SIMULATED_IMU, outputs=IMU)
        pilot_inputs |= dict.fromkeys(IMU, 0.0)
    if config.TRAIN_BEHAVIORS:
        behavior = BehaviorState(config.BEHAVIOR_LIST)
        outputs = {"behavior/state": "int", "behavior/label": "str", "behavior/one_hot_state_array": "vector"}
        car.add(behavior, inputs=["web/w1"], outputs=[*outputs])
        if joystick:
            joystick.on("next_behavior", behavior.step)
        record |= outputs
        pilot_inputs["behavior/one_hot_state_array"] = [0.0] * len(config.BEHAVIOR_LIST)
    if config.TRAIN_LOCALIZER:
        car.add(LocationTracker(config.NUM_LOCATIONS), inputs=["sim/telemetry"], outputs=["localizer/location"])
        record["localizer/location"] = "int"

    pilots = PilotShelf(
        load=lambda path, kind: load_pilot(path, kind, config),
        folder=config.MODELS_PATH,
        blank_image=transform(make_blank_image(config.IMAGE_W, config.IMAGE_H, config.IMAGE_DEPTH)),
        channels=pilot_inputs,
        extra_files=[*PACKAGE_PILOTS.values()],
        built_in={EXPERT: make_expert(simulator)},
        read_places=read_places,
    )
    if options.model:
        car.memory["pilot/choice"] = pilots.choose(options.model, options.kind)
    chooser = PilotForPlace(pilots, lambda: simulator.place, EXPERT)
    car.add(chooser, inputs=["pilot/choice", "cam/image_array"], outputs=["pilot/choice", "pilot/places"])
    car.add(pilots, inputs=["pilot/choice", "run_pilot", "sim/reset"], outputs=["pilot/choices"], threaded=True)
    car.add(
        PilotDriver(pilots),
        inputs=[pilot_image, *pilot_inputs],
        outputs=["pilot/angle", "pilot/throttle", "pilot/loc"],
        run_condition="run_pilot",
    )
    launch = AiLaunch(config.AI_LAUNCH_DURATION, config.AI_LAUNCH_THROTTLE, config.AI_LAUNCH_KEEP_ENABLED)
    car.add(launch, inputs=["user/mode", "pilot/throttle"], outputs=["pilot/throttle"])

    # Who of them drives, and what is recorded.
    car.add(
        DriveMode(config.AI_THROTTLE_MULT),
        inputs=["user/mode", "user/angle", "user/throttle", "pilot/angle", "pilot/throttle"],
        outputs=["steering", "throttle"],
    )
    car.add(ToggleRecording(config.RECORD_DURING_AI), inputs=["user/mode", "recording"], outputs=["recording"])
    driven = ["recording", "sim/telemetry", "sim/reset", "throttle"]
    car.add(DrivenOnly(config.RECORD_ALL), inputs=driven, outputs=["run_recording"])

    # ADD A PART OF YOUR OWN HERE: any object with a method run, for example this one.
    #
    #     class Honk:
    #         def run(self, throttle):
    #             print(f"honk! The throttle is {throttle}.")
    #
    #     car.add(Honk(), inputs=["throttle"], run_condition="web/w2")  # runs when button w2 of the page is pressed

    record |= sensors
    if config.RECORD_DURING_AI:
        record |= {"pilot/angle": "float", "pilot/throttle": "float"}
    tub_path = choose_tub_path(config.DATA_PATH, config.AUTO_CREATE_NEW_TUB)
    metadata = [*options.metadata, *config.METADATA]
    find_place, car_kind = lambda: simulator.place, simulator.car_kind  # the tub remembers both
    tub = TubRecorder(tub_path, [*record], [*record.values()], metadata, find_place, car_kind)
    car.add(tub, inputs=[*record], outputs=["tub/num_records", "recording"], run_condition="run_recording")
    car.add(RecordEraser(tub, config.DRIVE_LOOP_HZ), inputs=["web/erase"], outputs=["tub/num_erased"])
    if joystick:
        joystick.on("arm_launch", launch.arm)
        joystick.on("erase_last_N_records", lambda: tub.erase_last(100))
        joystick.on("tell_record_count", tracker.tell)

    print(f"You can now go to {page.url} to drive your car.")
    if joystick:
        print("You can now move your controller to drive your car.")
        print(joystick.describe_controls())


def drive(config: Config, options: Options) -> None:
    """Drive until Ctrl-C."""
    with Vehicle({"user/mode": config.WEB_INIT_MODE, "recording": False}) as car:
        assemble(car, config, options)
        car.start(rate_hz=config.DRIVE_LOOP_HZ, max_loop_count=config.MAX_LOOPS)


def main() -> int:
    """Do what the command line says."""
    options = parse_options()
    if options.command == "train":
        return run_donkey(options.list_train_words(CAR_FOLDER))
    config = load_config(CAR_FOLDER / "config.py", options.myconfig)
    if options.track:
        vars(config).update(DONKEY_GYM_ENV_NAME=options.track)
    level = config.LOGGING_LEVEL if config.HAVE_CONSOLE_LOGGING else "WARNING"
    logging.basicConfig(level=level, format=config.LOGGING_FORMAT, force=True)
    drive(config, options)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
