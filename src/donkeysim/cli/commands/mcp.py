"""Let an agent drive by the Model Context Protocol: three tools, observe, set_motion and stop, over standard input and
output.

Simulated time passes only while set_motion and stop work, so an agent may think as long as it likes. Each trip becomes
a line of the board: metres driven, and seconds of thinking per turn. Set this command as an MCP server in your agent;
docs/guide/mcp.md shows how.

For example: donkey mcp --track generated_track
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console, make_table
from donkeysim.cli.shared_options import add_tracks_argument, read_picture_size
from donkeysim.core.errors import import_extra

if TYPE_CHECKING:
    from donkeysim.agents.board import Entry
    from donkeysim.agents.tools import Tools

BOARD = "agents.jsonl"

BASELINE_TURNS = 1500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    add = parser.add_argument
    add("--track", default="generated_track", metavar="NAME", help="a track, or its file (default generated_track)")
    add_tracks_argument(parser)
    add("--time", type=float, default=120.0, metavar="S", help="simulated seconds of a trip (default 120)")
    add("--picture", default="320x240", metavar="WxH", help="size of the pictures (default 320x240)")
    add("--name", help="who drives, on the board (default: as the agent's program calls itself)")
    add("--board", type=Path, default=Path(BOARD), metavar="FILE", help=f"where trips are noted (default {BOARD})")
    add("--baseline", action="store_true", help="let the scripted baseline drive a trip by the same tools")
    add("--show-board", action="store_true", help="print the board and end")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client goes, or let the baseline drive, or print the board."""
    from donkeysim.agents.board import rank_entries, read_board

    if arguments.show_board:
        print_board(rank_entries(read_board(arguments.board)))
        return 0
    import_extra("mcp", "agents need the mcp package", "agents")
    tools = open_tools(arguments)
    if not arguments.baseline:
        print(f"Tools observe, set_motion and stop on {arguments.track}; ends with its client.", file=sys.stderr)
        try:
            tools.make_server().run()
        finally:
            tools.leave()
        return 0
    from donkeysim.agents import baseline

    readings = asyncio.run(baseline.drive(tools.make_server(), BASELINE_TURNS))
    console.print(json.dumps(readings), soft_wrap=True)
    return 0


def open_tools(arguments: argparse.Namespace) -> Tools:
    """Return the tools of a car on the track.

    Raises:
        DonkeySimError: There is no such track, or an option is not possible.
    """
    from donkeysim.agents.baseline import NAME
    from donkeysim.agents.board import add_entry, make_entry
    from donkeysim.agents.tools import Tools
    from donkeysim.agents.trip import Trip
    from donkeysim.world.experiment import Experiment
    from donkeysim.world.specs import SceneSpec, load_car
    from donkeysim.world.tracks import specify_scene

    width, height = read_picture_size(arguments.picture)
    camera = replace(load_car("original").camera, width=width, height=height)
    trip = Trip(Experiment((specify_scene(SceneSpec(arguments.track)),)), camera, arguments.time)
    name = arguments.name or (NAME if arguments.baseline else None)
    return Tools(trip, lambda driver, summary: add_entry(arguments.board, make_entry(driver, summary)), name)


def print_board(entries: list[Entry]) -> None:
    """Print the best trip of each agent on each track."""
    headings = ("track", "agent", "metres", "laps", "turns", "s/turn", "ended")
    table = make_table("How far agents drove", headings, left=("track", "agent", "ended"))
    for entry in entries:
        numbers = (f"{entry.metres:.1f}", str(entry.laps), str(entry.turns), f"{entry.turn_time:.2f}")
        table.add_row(entry.track, entry.name, *numbers, entry.ending)
    console.print(table)
