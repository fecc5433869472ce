"""Check this machine for problems: packages, kernels, ports, the joystick, the car folder.

With a folder, check what is in it instead: which car folders, myconfig.py files, tubs, datasets, pilots, tracks,
recorded paths and joysticks load, train and drive, and why the others do not. Configurations are Python and are run.

The exit code is 0 if all is well, and 1 if something has to be fixed.
"""

import argparse
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from donkeysim import __version__
from donkeysim.cli.console import console
from donkeysim.cli.private_port import find_owner
from donkeysim.core.errors import DonkeySimError, describe_install, format_count, shorten

FINE, NOTE, WRONG = "fine", "note", "wrong"

_COLOURS = {FINE: "green", NOTE: "yellow", WRONG: "red"}

_TWINS = {
    "opencv-python-headless": ("opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless"),
    "onnxruntime": ("onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino"),
}
"""Packages that give the same module under another name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="look through this folder instead of the machine")


def run(arguments: argparse.Namespace) -> int:
    """Show all findings as a table."""
    from donkeysim.tub.folder import find_path

    return look_through(find_path(arguments.folder)) if arguments.folder else look_at_machine()


def look_through(folder: Path) -> int:
    """Show what in a folder loads, trains and drives; return 1 where anything does not."""
    from rich.table import Table
    from rich.text import Text

    from donkeysim.cli.folder_checkup import ASPECTS, check_folder, describe_counts, shorten_path

    verdicts = []
    with console.status("Checking ...") as status:
        for verdict in check_folder(folder):
            verdicts.append(verdict)
            status.update(f"Checking ... {len(verdicts)}: {shorten_path(verdict.path, folder)}")
    if not verdicts:
        console.print(f"{folder} holds no car folder, tub, pilot, track, recorded path or joystick.", soft_wrap=True)
        return 1
    table = Table(box=None, padding=(0, 1, 0, 0))
    for title in ("", "", *ASPECTS, ""):
        table.add_column(title, overflow="fold")
    for verdict in verdicts:
        states = [{True: "yes", False: "no", None: ""}[verdict.works.get(aspect)] for aspect in ASPECTS]
        cells = [Text(state, style="green" if state == "yes" else "red") for state in states]
        table.add_row(verdict.kind, Text(shorten_path(verdict.path, folder)), *cells, Text(verdict.reason))
    console.print(table)
    console.print("\n" + "\n".join(describe_counts(verdicts)))
    return 1 if any(verdict.reason for verdict in verdicts) else 0


def look_at_machine() -> int:
    """Show what could keep donkeysim from working here; return 1 where something has to be fixed."""
    from rich.table import Table
    from rich.text import Text

    with console.status("Checking ..."):
        findings = list(check_all())
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        text = Text(finding.text, overflow="fold")
        if finding.advice:
            text.append(f"\n-> {finding.advice}", style="bold")
        table.add_row(Text(finding.state, style=_COLOURS[finding.state]), Text(finding.subject, no_wrap=True), text)
    console.print(table)
    wrong = [finding.subject for finding in findings if finding.state == WRONG]
    console.print(f"\nTo be fixed: {', '.join(wrong)}." if wrong else "\nNo problems found.")
    return 1 if wrong else 0


class Finding(NamedTuple):
    """One thing that was looked at."""

    subject: str
    state: str
    """`FINE`; `NOTE`: good to know, or something optional is missing; `WRONG`: must be put right."""
    text: str
    advice: str = ""
    """What to do; empty when there is nothing to do."""


def check_all() -> Iterator[Finding]:
    """Yield all findings, as they are made."""
    yield _check_python()
    yield _check_program()
    yield from _check_original()
    yield from _check_packages()
    yield _check_kernels()
    yield _check_tracks()
    car, finding = _read_car()
    yield finding
    yield from _check_ports(car)
    yield _check_joystick(car.joystick)


def _check_tracks() -> Finding:
    """The tracks of the folders in DONKEYSIM_TRACKS, and whether they can be read."""
    from donkeysim.world.tracks.catalogue import VARIABLE, find_own_tracks, list_scenes

    broken: list[str] = []
    try:
        names = list_scenes((), lambda error: broken.append(str(error)))
        own = find_own_tracks()
    except DonkeySimError as error:
        return Finding("tracks", WRONG, str(error), f"take the folder out of {VARIABLE}, or make it")
    text = f"{len(names)} in the menu" + (f", {len(own)} in the folders of {VARIABLE}" if own else "")
    if broken:
        return Finding("tracks", NOTE, f"{text}; left out: {broken[0]}", "donkey tracks list names all broken ones")
    return Finding("tracks", FINE, text)


class _Car(NamedTuple):
    """What the checks take from the car folder here; the defaults outside of one."""

    control_port: int = 8887
    wire_port: int = 9091
    watch_port: int | None = 9093
    joystick: str = "/dev/input/js0"


def _check_python() -> Finding:
    cores = os.cpu_count() or 1
    text = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {format_count(cores, 'core')}"
    return Finding("Python", FINE, text + f"; donkeysim {__version__} in {Path(__file__).parents[2]}")


def _check_program() -> Finding:
    """Whose `donkey` the shell would start."""
    path = shutil.which("donkey")
    if path is None:
        advice = f"use python -m donkeysim, or put {Path(sys.executable).parent} on PATH"
        return Finding("donkey", NOTE, "there is no program donkey on PATH", advice)
    if _starts_original(Path(path)):
        advice = (
            "use the command donkeysim, which is the same as our donkey, or install donkeysim into its own environment"
        )
        return Finding("donkey", NOTE, f"{path} is the original's", advice)
    return Finding("donkey", FINE, path)


def _starts_original(program: Path) -> bool:
    try:
        return b"donkeycar" in program.read_bytes()
    except OSError:
        return False


def _check_original() -> Iterator[Finding]:
    """Packages of the original in this environment, whose names meet ours."""
    meetings = {
        "donkeycar": "its program and ours are both called donkey: the package installed last wins",
        "gym_donkeycar": "it registers the same environments, such as donkey-generated-track-v0: the one "
        "imported last wins; donkeysim/donkey-generated-track-v0 is always ours",
    }
    for name, text in meetings.items():
        version = _find_version(name)
        if version is not None:
            yield Finding(
                name, NOTE, f"{version} is installed beside donkeysim; {text}", "use a separate venv for each"
            )


def _check_packages() -> Iterator[Finding]:
    """The packages that donkeysim needs, and those of its extras."""
    groups = _list_requirements()
    if not groups:
        advice = f"install it {describe_install()}"
        yield Finding("packages", NOTE, "donkeysim is running from its source and is not installed", advice)
    for extra, names in groups.items():
        versions = {name: _find_version(name) for name in names}
        missing = [name for name, version in versions.items() if version is None]
        subject = f"extra {extra}" if extra else "packages"
        if missing:
            advice = f"install {'it' if extra else 'donkeysim again'} {describe_install(extra)}"
            yield Finding(subject, NOTE if extra else WRONG, f"missing: {', '.join(missing)}", advice)
        else:
            yield Finding(subject, FINE, ", ".join(f"{name} {version}" for name, version in versions.items()))


def _list_requirements() -> dict[str, list[str]]:
    """Return the packages of the base install (key "") and of each extra that users may want."""
    try:
        requirements = metadata.requires("donkeysim") or []
    except metadata.PackageNotFoundError:
        return {}
    groups: dict[str, list[str]] = {}
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", requirement)
        if name and not (extra and extra[1] in ("dev", "bench")):
            groups.setdefault(extra[1] if extra else "", []).append(name[0])
    return groups


def _find_version(name: str) -> str | None:
    """Return the version of a package, or of one that does the same."""
    for candidate in (name, *_TWINS.get(name, ())):
        try:
            return metadata.version(candidate)
        except metadata.PackageNotFoundError:
            continue
    return None


def _check_kernels() -> Finding:
    """Whether compiled kernels can be kept, and are there."""
    try:
        import donkeysim.core.rng  # noqa: F401  (with the compiler, where one is needed)
        from donkeysim.core.kernel_folders import CACHE_FOLDER, READY_LIBRARY, count_cached_kernels
    except DonkeySimError as error:
        return Finding("kernels", WRONG, str(error))  # which says what to do
    except ImportError as error:
        return Finding("kernels", WRONG, f"cannot be compiled: {error}", "pip install --force-reinstall numba")
    count = count_cached_kernels()
    if READY_LIBRARY is not None:
        more = f"; {count} more compiled in {CACHE_FOLDER}" if count else ""
        return Finding("kernels", FINE, f"came with the package{more}")
    if count == 0:
        advice = "nothing to do: the first run compiles them once, in about half a minute"
        return Finding("kernels", NOTE, f"none compiled yet; they will be stored in {CACHE_FOLDER}", advice)
    return Finding("kernels", FINE, f"{count} compiled in {CACHE_FOLDER}")


def _read_car() -> tuple[_Car, Finding]:
    """Return the car of the folder here, and whether it is one and can be used."""
    from donkeysim.car.config import load_config

    here = Path.cwd()
    if not (Path("config.py").is_file() and Path("manage.py").is_file()):
        return _Car(), Finding("car", NOTE, f"{here} is not a car folder", "donkey createcar --path ~/mysim makes one")
    try:
        config = load_config()
        car = _Car(config.WEB_CONTROL_PORT, config.SIM_PORT, config.WATCH_PAGE_PORT, config.JOYSTICK_DEVICE_FILE)
    except DonkeySimError as error:
        return _Car(), Finding("car", WRONG, str(error), "correct that file")
    if not os.access(here, os.W_OK):
        return car, Finding("car", WRONG, f"{here} cannot be written", "drives are recorded here; make it writable")
    return car, Finding("car", FINE, str(here))


def _check_ports(car: _Car) -> Iterator[Finding]:
    """The ports of driving and of the simulator."""
    uses = (
        (car.control_port, "the control page", "stop that program, or set WEB_CONTROL_PORT in myconfig.py"),
        (car.wire_port, "the simulator's clients", "stop that program, or start donkey_sim with --port"),
        (9092, "the original's private API", ""),
        (car.watch_port, "the watching page", "nothing to do: the page takes the next free port"),
    )
    for port, use, advice in uses:
        if port:  # 0 takes any free one, None opens none
            yield _check_port(port, use, advice)


def _check_port(port: int, use: str, advice: str) -> Finding:
    """Whether one port is free; held by ourselves is good, and 9092 is opened on request only."""
    from donkeysim.web.listener import PortInUseError, open_listener

    subject = f"port {port}"
    try:
        open_listener("127.0.0.1", port).close()
    except PortInUseError:
        owner = find_owner(port)
        held = f"held by process {owner.pid}: {shorten(owner.command)}" if owner else "held by another user's process"
        if owner and re.search(r"donkey_?sim|manage\.py", owner.command):
            return Finding(subject, FINE, f"{use}; {held}")
        is_needed = advice.startswith("stop")
        return Finding(subject, WRONG if is_needed else NOTE, f"{use}; {held}", advice)
    except DonkeySimError as error:
        return Finding(subject, WRONG if advice else NOTE, f"{use}; {error}", advice)
    return Finding(subject, FINE, f"{use}; free")


def _check_joystick(device: str) -> Finding:
    """Whether the joystick's device is there and may be read."""
    if not sys.platform.startswith("linux"):
        return Finding("joystick", NOTE, "only supported on Linux", "plug it in and choose Gamepad on the control page")
    if os.access(device, os.R_OK):
        return Finding("joystick", FINE, device)
    if Path(device).exists():
        advice = f"sudo usermod -aG input {os.environ.get('USER', '$USER')}, then log in again"
        return Finding("joystick", NOTE, f"{device} cannot be read by you", advice)
    others = sorted(map(str, Path("/dev/input").glob("js*")))
    if others:
        advice = f'JOYSTICK_DEVICE_FILE = "{others[0]}" in myconfig.py'
        return Finding("joystick", NOTE, f"there is no {device}, but {', '.join(others)}", advice)
    return Finding("joystick", NOTE, f"none: there is no {device}", "nothing to do, unless you want to use one")
