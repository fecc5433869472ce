"""A car that is driven in a simulator that runs already: `donkey_sim --drive`, and `donkey drive --simulator`.

Beside `donkey_sim` it is a process of its own, `python -m donkeysim.cli.drive_beside FOLDER PORT PAGE [SCENE]`: the
folder's own manage.py, pointed at the simulator's port, with a pilot chosen. Each ends with the other, however that
ends.
"""

from __future__ import annotations

import logging
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec

from donkeysim.core.errors import SpecError
from donkeysim.envs.child_guard import end_guarded, end_with_parent, start_own

if TYPE_CHECKING:
    from collections.abc import Iterable

    from donkeysim.drive.options import Options

PROGRAM = "manage.py"

PAGE_SECONDS = 1.0
"""So long a watching page may take to answer [s]."""


class _State(msgspec.Struct):
    """What is read of a watching page's state."""

    wire_port: int | None


class DriveBeside:
    """A running drive; its output is passed on.

    Attributes:
        control_url: Where its control page is; "" where that is not known before.
    """

    def __init__(self, folder: str, port: int, watching_url: str, scene: str | None) -> None:
        """Start it, making the car's folder if there is none.

        Args:
            port: Where the simulator listens on this machine.
            watching_url: Its page, for the control page to link to; "": it has none.
            scene: Which it runs; None: as the car's config says.

        Raises:
            SpecError: The folder cannot be made.
        """
        path = prepare_folder(folder)
        self.control_url = _find_control_url(path)
        print("Its control page is about to open: drive there, or choose Local Pilot to let a pilot drive.", flush=True)
        words = [str(path.resolve()), str(port), watching_url, *([] if scene is None else [scene])]
        self._process = start_own("donkeysim.cli.drive_beside", *words)
        self._is_stopped = False

    def wait(self) -> int | None:
        """Return its exit code once it has ended by itself; None after `stop`."""
        code = self._process.wait()
        return None if self._is_stopped else code

    def stop(self) -> None:
        """End it; its tub is closed."""
        self._is_stopped = True
        end_guarded(self._process)


def prepare_folder(folder: str) -> Path:
    """Return a car's folder, made if there is none.

    Raises:
        SpecError: The folder cannot be made.
    """
    path = Path(folder).expanduser()
    if not (path / PROGRAM).is_file():
        from donkeysim.car.folder import create_car

        create_car(path, say=lambda _: None)
        print(f"Made a car in {path.resolve()}", flush=True)
    return path


def _find_control_url(folder: Path) -> str:
    from donkeysim.car.config import peek_config
    from donkeysim.drive.look import find_control_address

    try:
        return find_control_address(peek_config(folder / "config.py"))
    except SpecError:  # the drive says so itself
        return ""


def find_watching_page(host: str, port: int, page_ports: Iterable[int]) -> str:
    """Return the address of the watching page of the simulator that listens at a port, "" where there is none.

    Args:
        host: Of both.
        page_ports: Where it may be served.
    """
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    for page_port in page_ports:
        place = f"{host}:{page_port}"
        options: dict[str, Any] = {"origin": f"http://{place}", "proxy": None, "open_timeout": PAGE_SECONDS}
        try:
            with connect(f"ws://{place}/state", close_timeout=PAGE_SECONDS, **options) as page:
                page.send("{}")
                state = msgspec.json.decode(page.recv(timeout=PAGE_SECONDS), type=_State)
        except TimeoutError:
            return ""  # nobody answers there, and at other ports neither
        except (OSError, WebSocketException, msgspec.DecodeError):
            continue
        if state.wire_port == port:
            return f"http://{place}"
    return ""


def drive_folder(folder: Path, host: str, port: int, watching_url: str, options: Options) -> int:
    """Drive the car of a folder in a simulator that listens there, until Ctrl-C.

    Args:
        folder: With a manage.py.
        watching_url: Its page, for the control page to link to and to show views of; "": as the config says.
        options: Of the drive; without a model a pilot is chosen.

    Raises:
        DonkeySimError: The folder's program is too old, its config is wrong, or nobody listens there.
    """
    from donkeysim.car.config import load_config
    from donkeysim.drive.control_page import ControlPage
    from donkeysim.drive.look import find_car_name
    from donkeysim.learn.pilot import BUILT_IN_PILOT
    from donkeysim.tub.writer import TubWriter
    from donkeysim.world.tracks import shorten_scene_name

    program = runpy.run_path(str(folder / PROGRAM))
    drive = program.get("drive")
    if not callable(drive):
        raise SpecError(f"{folder / PROGRAM} has no function drive(config, options); run `donkey update` there.")
    config = load_config(folder / "config.py", options.myconfig)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stdout)
    for speaker in (ControlPage, TubWriter):  # the address for phones, and where the records are
        logging.getLogger(speaker.__module__).setLevel(logging.INFO)
    if watching_url and (name := find_car_name(config)):
        watching_url += f"/?{urlencode({'car': name})}"
    there = {"DONKEY_SIM_PATH": "remote", "SIM_HOST": host, "SIM_PORT": port}
    vars(config).update(there | ({"WATCH_PAGE_URL": watching_url} if watching_url else {}))
    if options.track:
        vars(config).update(DONKEY_GYM_ENV_NAME=shorten_scene_name(options.track))
    if options.model is None and "PilotForPlace" not in program and BUILT_IN_PILOT.exists():
        options = replace(options, model=str(BUILT_IN_PILOT))
    drive(config, options)
    return 0


def main() -> int:
    """Drive the car of the folder on the command line, as long as the simulator runs."""
    end_with_parent()
    from donkeysim.drive.options import Options

    folder, port, watching_url, *scene = sys.argv[1:]
    options = Options("drive", track=scene[0] if scene else None)
    return drive_folder(Path(folder), "127.0.0.1", int(port), watching_url, options)


if __name__ == "__main__":
    from donkeysim.drive.options import run_program

    raise SystemExit(run_program(main))
