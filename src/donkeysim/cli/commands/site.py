"""Write a folder that lets people drive in their browser: places, pilots and the simulator itself, nothing to install.

Any server of files serves it: a school's file share, the pages of a project, python -m http.server. The page asks
nobody else for anything, and works without a network once it has been visited.

For example: donkey site --out site, then python -m http.server --directory site, and http://localhost:8000
"""

import argparse
from pathlib import Path

from donkeysim.cli.console import console
from donkeysim.cli.shared_options import add_tracks_argument
from donkeysim.core.errors import format_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    add = parser.add_argument
    add("--out", default="site", metavar="DIR", help="the folder; a site that is there is replaced (default site)")
    add(
        "--track",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME|FILE",
        help="places, the first one first; several, folders or patterns (default: the original's eleven)",
    )
    add(
        "--pilot",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="pilots beside the package's: .onnx, .h5, .keras",
    )
    add_tracks_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the folder."""
    from donkeysim.learn.files.model_file import check_exists
    from donkeysim.site.folder import write_site
    from donkeysim.world.specs import SceneSpec
    from donkeysim.world.tracks.catalogue import expand_tracks, find_track

    pilots = [Path(name).expanduser() for name in arguments.pilot]
    for pilot in pilots:
        check_exists(pilot)
    specs = [SceneSpec(name) for name in expand_tracks(arguments.track) or list_defaults()]
    for spec in specs:
        find_track(spec)
    out = Path(arguments.out).expanduser()
    site = write_site(out, specs, pilots, console.print)
    total = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    counts = format_count(len(site.places), "place"), format_count(len(site.pilots), "pilot")
    console.print(f"{out}: {counts[0]}, {counts[1]}, {total / 1e6:.1f} MB")
    console.print(f"To look at it: python -m http.server --directory {out}, then http://localhost:8000")
    return 0


def list_defaults() -> list[str]:
    """Return the original's places, the best known first."""
    from donkeysim.world.tracks.catalogue import group_scenes, list_scenes

    names = group_scenes(list_scenes())["original"]
    return sorted(names, key=lambda name: name != "generated_track")
