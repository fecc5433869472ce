"""`--tracks DIR` of the commands that go to a place: where they, and what they start, look for tracks."""

from __future__ import annotations

import argparse


def add_tracks_argument(parser: argparse.ArgumentParser) -> None:
    """Describe where tracks of one's own are; `donkey` shares the folders before the command runs."""
    parser.add_argument(
        "--tracks",
        dest="track_folders",
        metavar="DIR",
        action="append",
        default=[],
        help="look for tracks in this folder too (again for more)",
    )


def use_track_folders(arguments: argparse.Namespace) -> None:
    """Let this process, and those it starts, find the tracks of the folders that were given.

    Raises:
        SceneError: A folder does not exist.
    """
    if folders := getattr(arguments, "track_folders", []):
        from donkeysim.world.tracks.catalogue import share_folders

        share_folders(folders)
