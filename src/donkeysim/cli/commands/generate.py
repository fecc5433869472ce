"""Make labelled frames at scale: pictures with distances, classes and all that is known of the car.

Drivers with shaking hands and without drive on the tracks that you name; frames are written into shards of Parquet, by
all cores or by a cluster of Ray. The same command gives the same bytes, whatever the number of workers. Stopped or
killed, it continues where it was when given again.

For example: donkey generate frames --track generated_track warehouse --frames 100000
"""

import argparse
import time
from pathlib import Path
from typing import Any

from donkeysim.cli.console import console, show_progress
from donkeysim.cli.shared_options import add_tracks_argument, read_picture_size
from donkeysim.core.files import check_place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    add = parser.add_argument
    add("out", metavar="DIR", help="folder to write into")
    add(
        "--track",
        dest="given_tracks",
        nargs="+",
        action="extend",
        metavar="TRACK",
        help="names of tracks, or their files, or all",
    )
    add_tracks_argument(parser)
    add("--frames", type=int, metavar="N", help="how many (default 10000)")
    add("--shard", type=int, metavar="N", help="frames of a file (default 1000)")
    add("--cars", type=int, metavar="N", help="that each shard is driven with (default 10)")
    add("--every", type=int, metavar="N", help="twentieths of a second between frames of a car (default 4)")
    add(
        "--drivers",
        nargs="+",
        action="extend",
        metavar="DRIVER",
        help="human, steady, fast; cars take turns (default: all)",
    )
    add("--picture", metavar="WxH", help="size of the pictures (default 160x120)")
    add("--encoding", metavar="KIND", help="of pictures: jpg or png (default jpg)")
    add("--randomize", metavar="PRESET", help="vary light, colours, camera and car: mild, real, wide, or a file")
    add("--no-depth", action="store_true", help="leave out distances")
    add("--no-classes", action="store_true", help="leave out classes")
    add("--seed", type=int, metavar="N", help="of all chance (default 0)")
    add("--workers", type=int, metavar="N", help="processes; 0: this one, without Ray (default: one per core)")
    add("--address", metavar="ADDRESS", help="of a Ray cluster: auto, or ray://HOST:10001")


def run(arguments: argparse.Namespace) -> int:
    """Make what is missing and say what is there."""
    from donkeysim.cluster.dataset import generate_dataset
    from donkeysim.cluster.executor import Executor

    check_place(Path(arguments.out))
    spec, executor = read_spec(arguments), Executor(arguments.workers, arguments.address)
    begun = time.perf_counter()
    with show_progress("frames") as report:
        dataset = generate_dataset(spec, Path(arguments.out), executor, report)
    took = time.perf_counter() - begun
    made = sum(shard.frames for shard in dataset.shards) if dataset.made == len(dataset.shards) else None
    size = sum(shard.size for shard in dataset.shards)
    pace = f", {made / took:,.0f} frames/s" if made else f"; {dataset.made} of {len(dataset.shards)} files were missing"
    console.print(f"{spec.frames:,} frames, {size / 1e6:,.1f} MB, in {took:.1f} s{pace}")
    console.print(f"checksum: {dataset.checksum}\ndataset: {dataset.folder}", soft_wrap=True)
    return 0


def read_spec(arguments: argparse.Namespace) -> Any:
    """Return which frames are asked for.

    Raises:
        SpecError: Something is not possible.
    """
    from donkeysim.cluster.frames import FramesSpec
    from donkeysim.world.tracks.catalogue import expand_tracks, list_scenes

    given = {
        name: getattr(arguments, name)
        for name in ("frames", "shard", "cars", "every", "encoding", "seed")
        if getattr(arguments, name) is not None
    }
    if arguments.given_tracks:
        names = arguments.given_tracks
        given["tracks"] = tuple(list_scenes() if names == ["all"] else expand_tracks(names))
    if arguments.drivers:
        given["drivers"] = tuple(arguments.drivers)
    if arguments.picture:
        given["width"], given["height"] = read_picture_size(arguments.picture)
    return FramesSpec(
        **given, depth=not arguments.no_depth, classes=not arguments.no_classes, randomization=arguments.randomize or ""
    )
