"""A car folder: the files in it, made new or brought up to this version.

And a program at the path where the original's simulator would lie, which starts ours: so lines such as
`DONKEY_SIM_PATH = "…/DonkeySimLinux/donkey_sim.x86_64"`, in anybody's configuration, work unchanged.
"""

import itertools
import os
import plistlib
import re
import shlex
import sys
import sysconfig
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from donkeysim import __version__
from donkeysim.car.config import TEMPLATE_FOLDER, make_default_config, peek_config
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.files import put_in_place, replace_file, write_whole

TEMPLATES = ("complete", "simulator")
"""Names of the original's templates that a simulated car can be made from; they give the same car here."""

_PROGRAMS = (
    ("manage.py", "Car app", "Copying car application template: {template}"),
    ("config.py", "Car config", "Copying car config defaults. Put your own settings into myconfig.py."),
    ("train.py", "Train", "Copying train script."),
)

_OWN_HEADER = """\
# Your settings: to change one, remove the "# " in front of its line and edit the value.
# This file is yours: `donkey update` and `donkey createcar` leave it as it is.
# It does not see the names of config.py, so write a dictionary such as GYM_CONF as a whole.

"""

PLACES = {
    "linux": "DonkeySimLinux/donkey_sim.x86_64",
    "darwin": "DonkeySimMac/donkey_sim.app/Contents/MacOS/donkey_sim",
    "win32": "DonkeySimWin/donkey_sim.exe",
}
"""Where the original's program lies below its folder, for each `sys.platform`."""

_MODULE = "donkeysim.cli.donkey_sim"


def create_car(
    path: str | os.PathLike[str],
    template: str = "complete",
    overwrite: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Make a car folder, or complete one: manage.py, config.py, myconfig.py, train.py, models/, data/, logs/.

    Args:
        path: The folder; "~" is the user's home.
        template: One of `TEMPLATES`.
        overwrite: Replace manage.py, config.py and train.py where they exist, keeping what differs under another name;
            nothing else is ever touched.
        say: Takes the lines that report what is done.

    Raises:
        SpecError: The template is not known, or a folder or file cannot be written.
    """
    if template not in TEMPLATES:
        raise SpecError(describe_unknown("template", template, TEMPLATES) + " Both make the same simulated car.")
    if not os.fspath(path):
        raise SpecError("--path is empty; give the folder to make, for example ~/mysim.")
    folder = Path(path).expanduser()
    say(f"Creating car folder: {folder}")
    _make_folder(folder, say)
    say("Creating data & model folders.")
    for name in ("models", "data", "logs"):
        _make_folder(folder / name, say)
    for name, title, line in _PROGRAMS:
        target = folder / name
        if target.exists() and not overwrite:
            say(f"{title} already exists. Delete it and rerun createcar to replace.")
        else:
            say(line.format(template=template))
            _keep_earlier(target, say)
            _write_file(target, (TEMPLATE_FOLDER / name).read_text(encoding="utf-8"), is_program=name != "config.py")
    if not (folder / "myconfig.py").exists():
        say("Copying my car config overrides")
        _write_file(folder / "myconfig.py", write_own_config(), is_program=False)
    say("Donkey setup complete.")


def update_car(folder: str | os.PathLike[str], template: str = "complete", say: Callable[[str], None] = print) -> None:
    """Bring a car folder up to this version; the user's myconfig.py, models, data and logs stay.

    Args:
        folder: The car folder; may have been made by the original.
        template: One of `TEMPLATES`.
        say: Takes the lines that report what is done.

    Raises:
        SpecError: It is no car folder, or a file cannot be written.
    """
    names = {file.name for file in Path(folder).iterdir() if file.is_file()}
    if "config.py" not in names or not names & {"manage.py", "myconfig.py"}:
        raise SpecError(
            f"{Path(folder).resolve()} is not a car folder: it has no config.py, or neither manage.py nor myconfig.py; "
            "go to your car's folder, or make one with `donkey createcar --path ~/mysim`."
        )
    changes = [] if "myconfig.py" in names else _list_changes(Path(folder) / "config.py")
    create_car(folder, template, overwrite=True, say=say)
    if changes:  # before myconfig.py there was, in donkeycar 2, settings stood there
        say(f"Of what the earlier config.py said otherwise, put what you want into myconfig.py: {', '.join(changes)}.")


def _list_changes(config_path: Path) -> list[str]:
    """Return the keys that a config.py sets otherwise than a new car's, with their values; none where it is broken."""
    try:
        given, usual = peek_config(config_path).to_dict(), make_default_config(config_path.parent).to_dict()
    except SpecError:
        return []
    return [f"{name} = {given[name]!r}" for name in usual if given[name] != usual[name] and not callable(given[name])]


def refuse_foreign_program(program: Path) -> None:
    """Refuse the manage.py of a folder that the original made, where the original is neither installed nor beside it.

    Raises:
        SpecError: It is one, or ours with parts of the original; the text says what to do.
    """
    text = program.read_text(encoding="utf-8", errors="replace")
    is_there = program.with_name("donkeycar").exists() or find_spec("donkeycar") is not None
    indent = "" if re.search(r"donkeysim|except (ImportError|ModuleNotFoundError)", text) else r"[ \t]*"
    if is_there or not re.search(rf"^{indent}(from|import) donkeycar\b", text, re.MULTILINE):
        return
    if "donkeysim" in text:
        raise SpecError(
            f"{program.resolve()} imports donkeycar, which is not installed here; install it into the same "
            "environment, or leave out what needs it."
        )
    raise SpecError(
        f"{program.resolve()} is donkeycar's, which is not installed here; `donkey update` in its folder puts "
        f"donkeysim's in its place, and keeps it as {program.name}.old."
    )


def write_own_config() -> str:
    """Return the text of a new myconfig.py: all of config.py from its first import on, every line commented."""
    lines = (TEMPLATE_FOLDER / "config.py").read_text(encoding="utf-8").splitlines()
    start = lines.index("import os")
    return _OWN_HEADER + "".join(f"# {line}".rstrip() + "\n" for line in lines[start:])


def _make_folder(folder: Path, say: Callable[[str], None]) -> None:
    say(f"making dir  {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise SpecError(f"cannot make the folder {folder}: a file is in the way; choose another --path.") from error
    except OSError as error:
        raise SpecError(
            f"cannot make the folder {folder}: {error.strerror or error}; choose another --path."
        ) from error


def _keep_earlier(target: Path, say: Callable[[str], None]) -> None:
    """Keep a file that is about to be replaced by another, with whatever its owner wrote into it."""
    if not target.is_file() or target.read_bytes() == (TEMPLATE_FOLDER / target.name).read_bytes():
        return
    names = (f"{target.name}.old{number}" for number in itertools.chain([""], itertools.count(2)))
    name = next(name for name in names if not target.with_name(name).exists())
    say(f"Keeping the earlier {target.name} as {name}.")
    write_whole(target.with_name(name), target.read_bytes(), SpecError)  # a kill leaves a car with all its files


def _write_file(target: Path, text: str, is_program: bool) -> None:
    """Write a file as a whole or not at all."""
    with replace_file(target, SpecError, mode=0o700 if is_program else 0o666) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


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
