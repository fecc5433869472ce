"""A program at the path where the original's simulator would lie, which starts ours.

So lines such as `DONKEY_SIM_PATH = "…/DonkeySimLinux/donkey_sim.x86_64"`, in anybody's configuration, work unchanged.
"""

from __future__ import annotations

import os
import plistlib
import shlex
import sys
import sysconfig
from pathlib import Path

from donkeysim import __version__
from donkeysim.core.errors import SpecError
from donkeysim.core.files import put_in_place

PLACES = {
    "linux": "DonkeySimLinux/donkey_sim.x86_64",
    "darwin": "DonkeySimMac/donkey_sim.app/Contents/MacOS/donkey_sim",
    "win32": "DonkeySimWin/donkey_sim.exe",
}
"""Where the original's program lies below its folder, for each `sys.platform`."""

_MODULE = "donkeysim.cli.donkey_sim"


def install_launcher(folder: str | os.PathLike[str], platform: str = sys.platform) -> Path:
    """Write the launcher below a folder and return its absolute path.

    It names this Python by its path, so it needs no PATH and no working folder. An earlier launcher is replaced.

    Args:
        folder: Made if missing; "~" is the user's home.
        platform: As `sys.platform`; other systems are served as Linux is.

    Raises:
        SpecError: Another program lies there, or it cannot be written.
    """
    target = (Path(folder).expanduser() / PLACES.get(platform, PLACES["linux"])).absolute()
    content = _read_windows_program() if platform == "win32" else _write_script(sys.executable).encode()
    try:
        if target.exists() and _MODULE.encode() not in target.read_bytes():
            raise SpecError(f"{target} is another program, perhaps the original's simulator; choose another folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f"{target.name}.new")
        draft.write_bytes(content)
        draft.chmod(0o755)
        put_in_place(draft, target)
        if platform == "darwin":
            _describe_bundle(target.parent.parent)
    except OSError as error:
        raise SpecError(f"cannot write {target}: {error.strerror or error}; choose another folder.") from error
    return target


def _write_script(python: str) -> str:
    """Return a shell script that becomes the simulator; -P keeps files of the working folder from being imported."""
    if not python:
        raise SpecError("this Python does not know its own path; run it by its full path, then install again.")
    comment = "# Starts donkeysim where the original's simulator would be started."
    return f'#!/bin/sh\n{comment}\nexec {shlex.quote(python)} -P -m {_MODULE} "$@"\n'


def _read_windows_program() -> bytes:
    """Return the program that pip made for `donkey_sim`; it carries the path of its Python."""
    program = Path(sysconfig.get_path("scripts")) / "donkey_sim.exe"
    try:
        return program.read_bytes()
    except OSError as error:
        raise SpecError(f"there is no {program}, which pip makes; install donkeysim with pip first.") from error


def _describe_bundle(contents: Path) -> None:
    """Write what macOS wants to know of an application, so that it can be opened from the desktop too."""
    keys = {
        "CFBundleExecutable": "donkey_sim",
        "CFBundleIdentifier": "donkeysim.launcher",
        "CFBundleName": "donkey_sim",
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": __version__,
    }
    (contents / "Info.plist").write_bytes(plistlib.dumps(keys))
