"""A car that is driven next to the simulator that serves it: what `donkey_sim --drive` adds.

It is a process of its own, `python -m donkeysim.cli.drive_beside FOLDER PORT PAGE [SCENE]`: the folder's own manage.py,
pointed at the simulator's port, with a pilot chosen. Each ends with the other, however that ends.
"""

from __future__ import annotations

import logging
import runpy
import sys
from pathlib import Path

from donkeysim.core.errors import SpecError
from donkeysim.envs.child_guard import end_guarded, start_guarded

PROGRAM = "manage.py"


class DriveBeside:
    """A running drive; its output is passed on."""

    def __init__(self, folder: str, port: int, watching_url: str, scene: str | None) -> None:
        """Start it, making the car's folder if there is none.

        Args:
            folder: The car's.
            port: Where the simulator listens on this machine.
            watching_url: Its page, for the control page to link to; "": it has none.
            scene: Which it runs; None: as the car's config says.

        Raises:
            SpecError: The folder cannot be made.
        """
        path = Path(folder).expanduser()
        if not (path / PROGRAM).is_file():
            from donkeysim.car.folder import create_car

            create_car(path, say=lambda _: None)
            print(f"Made a car in {path.resolve()}", flush=True)
        print("Its control page is about to open: drive there, or choose Local Pilot to let a pilot drive.", flush=True)
        words = [str(path.resolve()), str(port), watching_url, *([] if scene is None else [scene])]
        here = [sys.executable, "-m", "donkeysim.cli.drive_beside"]
        self._process = start_guarded([*here, *words])
        self._is_stopped = False

    def wait(self) -> int | None:
        """Return its exit code once it has ended by itself; None after `stop`."""
        code = self._process.wait()
        return None if self._is_stopped else code

    def stop(self) -> None:
        """End it; its tub is closed."""
        self._is_stopped = True
        end_guarded(self._process)


def main() -> int:
    """Drive the car of the folder on the command line."""
    from donkeysim.car.config import load_config
    from donkeysim.drive.control_page import ControlPage
    from donkeysim.drive.options import parse_options
    from donkeysim.learn.pilot import BUILT_IN_PILOT
    from donkeysim.tub.writer import TubWriter
    from donkeysim.world.tracks import shorten_scene_name

    folder, port, watching_url, *scene = sys.argv[1:]
    program = runpy.run_path(str(Path(folder) / PROGRAM))
    drive = program.get("drive")
    if not callable(drive):
        raise SpecError(f"{Path(folder) / PROGRAM} has no function drive(config, options); run `donkey update` there.")
    config = load_config(Path(folder) / "config.py")
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stdout)
    for told in (ControlPage, TubWriter):  # the address for phones, and where the records are
        logging.getLogger(told.__module__).setLevel(logging.INFO)
    here = {"DONKEY_SIM_PATH": "remote", "SIM_HOST": "127.0.0.1", "SIM_PORT": int(port), "WATCH_PAGE_URL": watching_url}
    vars(config).update(here)
    if scene:
        vars(config).update(DONKEY_GYM_ENV_NAME=shorten_scene_name(scene[0]))
    chooses_itself = "PilotForPlace" in program or not BUILT_IN_PILOT.exists()
    drive(config, parse_options(["drive", *([] if chooses_itself else ["--model", str(BUILT_IN_PILOT)])]))
    return 0


if __name__ == "__main__":
    from donkeysim.drive.options import run_program

    raise SystemExit(run_program(main))
