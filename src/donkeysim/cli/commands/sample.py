"""Record an expert's laps into a tub, many times faster than real time.

The driver keeps to the right lane, its hands shake a little, and now and then something pushes the car aside; what is
recorded is what the driver intends, so that a pilot learns to recover. Inside a car folder, its config determines the
size of the pictures and what else is recorded (IMAGE_W, IMAGE_H, GYM_CONF, SIM_RECORD_...). Records are added to a tub
that already exists. With --randomize, light, colours, camera, delays and car change every few seconds, and the driver
copes: a pilot that learns from it knows more than one car on one afternoon.

For example: donkey sample --out data --laps 6
"""

import argparse
from pathlib import Path

from donkeysim.cli.console import console, show_progress
from donkeysim.cli.shared_options import (
    add_car_arguments,
    add_config_arguments,
    add_tracks_argument,
    choose_car,
    find_config,
)
from donkeysim.core.errors import format_count
from donkeysim.core.files import check_place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("--out", default="data", metavar="TUB", help="folder of the tub (default data)")
    parser.add_argument("--laps", type=int, default=6, help="whole laps to drive (default 6)")
    parser.add_argument("--records", type=int, help="stop after this many records instead")
    parser.add_argument(
        "--track", metavar="NAME", help="name of a track, or its file (default: DONKEY_GYM_ENV_NAME of the config)"
    )
    add_tracks_argument(parser)
    parser.add_argument("--seed", type=int, default=0, help="a different seed gives a different drive (default 0)")
    parser.add_argument(
        "--driver",
        default="teacher",
        metavar="NAME",
        help="who drives: the teacher (default), or people with faults, of whom the hands' commands are recorded: "
        "steady, late, trembling, cutting, slow-hands, wide, hurried, timid, weaving, keys",
    )
    parser.add_argument("--randomize", metavar="PRESET", help="vary light, camera and car: real, mild, wide, or a file")
    add_car_arguments(parser, "that of the config's GYM_CONF")
    add_config_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Record and say what is there now."""
    from donkeysim.drive.sample import record_sample
    from donkeysim.world.randomization import read_randomization

    check_place(Path(arguments.out))
    config = choose_car(find_config(arguments), arguments)
    randomization = read_randomization(arguments.randomize) if arguments.randomize else None
    with show_progress("recording") as report:
        result = record_sample(
            arguments.out,
            arguments.laps,
            arguments.track,
            arguments.seed,
            arguments.records,
            config,
            report,
            randomization,
            arguments.driver,
        )
    records, laps = result.record_count, len(result.lap_times)
    console.print(
        f"{format_count(records, 'record')}, {format_count(laps, 'whole lap')}, in {result.wall_time:.1f} s: "
        f"{records / result.wall_time:,.0f} records/s, {result.speed_up:.0f} times real time"
    )
    if result.skipped_count:
        console.print(f"{format_count(result.skipped_count, 'record')} off the road left out")
    console.print(f"tub: {result.tub_path}", soft_wrap=True)
    return 0
