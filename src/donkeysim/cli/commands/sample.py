"""Record an expert's laps into a tub, many times faster than real time.

The driver keeps to the right lane, its hands shake a little, and now and then something pushes the car aside; what is
recorded is what the driver means to do, so that a pilot learns to come back. Inside a car folder its config says how
pictures look and what else is recorded (IMAGE_W, IMAGE_H, GYM_CONF, SIM_RECORD_...). An existing tub grows.

For example: donkey sample --out data --laps 6
"""

from __future__ import annotations

import argparse

from donkeysim.cli.console import console, show_progress
from donkeysim.cli.shared_options import add_config_arguments, add_tracks_argument, find_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("--out", default="data", metavar="TUB", help="folder of the tub (default data)")
    parser.add_argument("--laps", type=int, default=6, help="whole laps to drive (default 6)")
    parser.add_argument("--records", type=int, help="stop after so many records instead")
    parser.add_argument(
        "--track", metavar="NAME", help="or a track file (default: that of DONKEY_GYM_ENV_NAME in the config)"
    )
    add_tracks_argument(parser)
    parser.add_argument("--seed", type=int, default=0, help="another seed, another drive (default 0)")
    add_config_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Record and say what is there now."""
    from donkeysim.drive.sample import record_sample

    config = find_config(arguments)
    with show_progress("recording") as report:
        result = record_sample(
            arguments.out, arguments.laps, arguments.track, arguments.seed, arguments.records, config, report
        )
    console.print(
        f"{result.record_count:,} records, {len(result.lap_times)} whole laps, in {result.wall_time:.1f} s: "
        f"{result.record_count / result.wall_time:,.0f} records/s, {result.speed_up:.0f} times real time"
    )
    if result.skipped_count:
        console.print(f"{result.skipped_count} moments off the road were left out")
    console.print(f"tub: {result.tub_path}", soft_wrap=True)
    return 0
