"""Tracks: list them, show one, export it, make one of your own, and preview it live while you write it.

A track is a name or a file: .toml is our own format; .csv, .svg and .glb give a path, and all else has its default.
Tracks of your own are found by their path, in the folders given by --tracks, and in those listed in the environment
variable DONKEYSIM_TRACKS; every command, environment, menu and page then accepts them by name.

For example: donkey tracks new my_track, then donkey tracks preview my_track.toml
"""

from __future__ import annotations

import argparse
import asyncio
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console
from donkeysim.cli.shared_options import add_tracks_argument
from donkeysim.core.errors import SpecError, format_count
from donkeysim.core.files import replace_file, write_whole

if TYPE_CHECKING:
    from donkeysim.world.tracks.figures import LineFigures, SceneFigures

DEFAULT_PORT = 8885

DRAWN_FOR = "original"
"""The preset that bodies are drawn for."""

PICTURES = (".png", ".jpg", ".webp")
"""How names of pictures end."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's five kinds of work."""
    parser.set_defaults(work=list_all)
    works = parser.add_subparsers(title="what to do", metavar="list | show | export | new | preview")

    def add(name: str, work: object, summary: str) -> argparse.ArgumentParser:
        description = f"{summary[0].upper()}{summary[1:]}."
        made: argparse.ArgumentParser = works.add_parser(name, help=summary, description=description)
        made.set_defaults(work=work)
        return made

    listing = add("list", list_all, "list all tracks with their figures, and what is wrong with broken ones (default)")
    add_tracks_argument(listing)
    showing = add("show", show, "describe a track, and draw it from above")
    showing.add_argument("track", metavar="NAME|FILE", help="a track's name, or the path of its file")
    showing.add_argument("--out", metavar="PNG", help="the picture (default: the track's name with .png, here)")
    showing.add_argument("--size", type=int, default=1200, help="longer side of the picture [pixel] (default 1200)")
    add_tracks_argument(showing)
    exporting = add("export", export, "write a track and its cars as glTF, for modelling programs and browsers")
    exporting.add_argument("track", metavar="NAME|FILE", help="a track's name, or the path of its file")
    exporting.add_argument(
        "--glb", metavar="FILE", nargs="?", help="the file (default: the track's name with .glb, here)"
    )
    exporting.add_argument("--car", default=DRAWN_FOR, help=f"whose wheels bodies stand on (default {DRAWN_FOR})")
    add_tracks_argument(exporting)
    making = add("new", make_new, "write a commented track file to start from, ready to drive on")
    making.add_argument("name", metavar="NAME", help="name of the track; its file becomes NAME.toml")
    source = making.add_mutually_exclusive_group()
    source.add_argument("--from", dest="path_file", metavar="FILE", help="take the path from this .csv, .svg or .glb")
    source.add_argument("--random", type=int, metavar="SEED", help="a place drawn at random; a seed is a place")
    making.add_argument("--element", default="", metavar="ID", help="which path of the file, if it has several")
    making.add_argument("--out", default=".", metavar="DIR", help="folder to write to (default: here)")

    watching = add(
        "preview", preview, "show a track in the browser while you edit it; every saved change appears at once"
    )
    watching.add_argument("track", metavar="NAME|FILE", help="a track's file, or its name")
    watching.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"the page's port; 0: any free one (default {DEFAULT_PORT})"
    )
    add_tracks_argument(watching)


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked for."""
    return int(arguments.work(arguments))


def list_all(_arguments: argparse.Namespace) -> int:
    """List every track, one a line, by whose design they are, then the broken ones with their sentences."""
    from donkeysim.world.tracks.catalogue import FORMER_LAYOUTS, ORIGINAL_SCENES, find_own_tracks, find_tracks

    tracks, yours = find_tracks(), find_own_tracks()
    package, originals = sorted(tracks.keys() - yours), (*ORIGINAL_SCENES, *FORMER_LAYOUTS)
    groups = {
        "The original's places": [name for name in package if name in originals],
        "Our own places": [name for name in package if name not in originals],
        "Yours": sorted(yours),
    }
    broken: list[str] = []
    for heading, names in groups.items():
        if names:
            console.print(heading, style="bold")
        _print_tracks({name: tracks[name] for name in names}, max(map(len, tracks)), heading == "Yours", broken)
    for sentence in broken:
        console.print(f"broken: {sentence}", style="red", soft_wrap=True)
    return 1 if broken else 0


def _print_tracks(tracks: Mapping[str, Path], width: int, has_paths: bool, broken: list[str]) -> None:
    """Print a line for each track, its name this wide; what is wrong with broken ones is added to a list."""
    from donkeysim.world.tracks.catalogue import is_meant_as_track

    for name, path in tracks.items():
        try:
            is_listed, figures = _measure(path)
        except SpecError as error:
            if is_meant_as_track(path):
                broken.append(str(error))
            continue
        length, kind = f"{figures.length:.1f} m", figures.direction if figures.is_closed else "open"
        notes = [*([str(path)] if has_paths else []), *([] if is_listed else ["(not in menus)"])]
        line = f"  {name:<{width}}  {length:>8}  {describe_width(figures):>14}  {kind:<17}  {' '.join(notes)}"
        console.print(line.rstrip(), soft_wrap=True, markup=False)


def show(arguments: argparse.Namespace) -> int:
    """Print a track's figures and write its picture."""
    from PIL import Image

    from donkeysim.sim.scene_view import SceneView
    from donkeysim.world.specs import SceneSpec
    from donkeysim.world.tracks.catalogue import find_track, load_scene, shorten_scene_name
    from donkeysim.world.tracks.figures import measure_scene

    if not 64 <= arguments.size <= 4096:
        raise SpecError(f"--size is {arguments.size}; a picture has 64 to 4096 pixels on its longer side.")
    out = Path(arguments.out or f"{shorten_scene_name(arguments.track)}.png").expanduser()
    if out.suffix.lower() not in PICTURES:
        raise SpecError(f"--out is {str(out)!r}; a picture's name ends in {', '.join(PICTURES)}.")
    spec = SceneSpec(arguments.track)
    path = find_track(spec)
    _, line = _measure(path)
    with console.status("Building the track ..."):
        scene = load_scene(spec)
        figures = measure_scene(scene)
        console.print(f"{scene.name}  {path}", soft_wrap=True)
    for name, value in [*list_line(line), *list_scene(figures)]:
        console.print(f"  {name:<14}{value}", soft_wrap=True)
    with console.status("Drawing it (the very first picture takes half a minute) ..."):
        picture = Image.fromarray(SceneView(scene).draw_map(arguments.size))
    with replace_file(out, SpecError) as beside:
        picture.save(beside)
    console.print(f"picture: {out}", soft_wrap=True)
    return 0


def export(arguments: argparse.Namespace) -> int:
    """Write a track's file for other programs."""
    from donkeysim.watch.place_model import write_place
    from donkeysim.world.specs import SceneSpec, load_car
    from donkeysim.world.tracks.catalogue import load_scene, shorten_scene_name

    out = Path(arguments.glb or f"{shorten_scene_name(arguments.track)}.glb").expanduser()
    if out.suffix.lower() != ".glb":
        raise SpecError(f"--glb is {str(out)!r}; the file's name ends in .glb.")
    car = load_car(arguments.car)
    with console.status("Building the track ..."):
        content = write_place(load_scene(SceneSpec(arguments.track)), car)
    write_whole(out, content, SpecError)
    console.print(
        f"saved {out}, {len(content) / 1e6:.1f} MB: the track, and as a second scene the cars", soft_wrap=True
    )
    return 0


def make_new(arguments: argparse.Namespace) -> int:
    """Write a track file and say what comes next."""
    from donkeysim.world.tracks.new_track import write_new_track, write_random_track

    folder = Path(arguments.out).expanduser()
    if arguments.random is None:
        source = Path(arguments.path_file).expanduser() if arguments.path_file else None
        path = write_new_track(arguments.name, folder, source, arguments.element)
    else:
        path = write_random_track(arguments.name, folder, arguments.random)
    _, figures = _measure(path)
    console.print(f"wrote {path}: {figures.length:.1f} m, {describe_kind(figures)}\n", soft_wrap=True)
    for what, words in (
        ("Preview it while editing", f"donkey tracks preview {path}"),
        ("Drive on it", f"donkey_sim --scene {path}"),
        ("Record an expert on it", f"donkey sample --track {path}"),
    ):
        console.print(f"{what + ':':<26}{words}", soft_wrap=True)
    return 0


def preview(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from donkeysim.watch.preview import create_app
    from donkeysim.watch.track_watch import TrackWatch
    from donkeysim.web.serving import PageServer, bind_port
    from donkeysim.world.specs import SceneSpec
    from donkeysim.world.tracks.catalogue import find_track

    watch = TrackWatch(find_track(SceneSpec(arguments.track)))

    async def serve() -> None:
        page = PageServer(create_app(watch), bind_port(arguments.port))
        await page.start()
        watch.start()
        console.print(f"Open {page.address} in a browser on this machine and edit {watch.path}.", soft_wrap=True)
        console.print("Every saved change appears at once; Ctrl-C stops.")
        try:
            await asyncio.Event().wait()
        finally:
            watch.close()
            await page.stop()
            watch.stop()

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        console.print("Stopped.")
    return 0


def list_line(figures: LineFigures) -> list[tuple[str, str]]:
    """Return the figures of a path for people."""
    radius = [_describe_radius(figures.radius_left), _describe_radius(figures.radius_right)]
    return [
        ("length", f"{figures.length:.2f} m, {describe_kind(figures)}"),
        ("extent", f"{figures.size[0]:.1f} x {figures.size[1]:.1f} m"),
        ("nodes", f"{figures.node_count}"),
        ("road", f"{describe_width(figures)} wide"),
        ("tightest turn", f"{radius[0]} to the left, {radius[1]} to the right"),
    ]


def list_scene(figures: SceneFigures) -> list[tuple[str, str]]:
    """Return the figures of a built place for people."""
    low, high = (round(height, 2) + 0.0 for height in figures.height)
    rise = "level" if high == low else f"{low:+.2f} to {high:+.2f} m, steepest {100.0 * figures.slope:.0f} %"
    return [
        ("elevation", rise),
        ("start", f"{format_count(figures.start_lines, 'line')}, a grid for {format_count(figures.grid, 'car')}"),
        ("standing", _describe_counts(figures.standing)),
        ("movable", _describe_counts(figures.movable)),
        ("triangles", f"{figures.triangles:,}"),
    ]


def describe_kind(figures: LineFigures) -> str:
    """Return whether a path is closed, and which way round it is driven."""
    return f"closed, {figures.direction}" if figures.is_closed else "open"


def describe_width(figures: LineFigures) -> str:
    """Return how wide a road is."""
    low, high = figures.width
    return f"{high:.2f} m" if high - low < 0.005 else f"{low:.2f} to {high:.2f} m"


def _measure(path: Path) -> tuple[bool, LineFigures]:
    """Return whether menus show a track, and the figures of its path.

    Raises:
        SceneError: It is broken.
    """
    from donkeysim.world.tracks.figures import measure_line
    from donkeysim.world.tracks.track_check import read_line

    track, line = read_line(path)
    return track.listed, measure_line(track, line)


def _describe_radius(radius: float) -> str:
    return "none" if math.isinf(radius) else f"{radius:.2f} m"


def _describe_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} x {name}" for name, count in counts.items()) or "nothing"
