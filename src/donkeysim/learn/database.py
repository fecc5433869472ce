"""`models/database.json`: what was trained, when, from what; a list as the original writes and reads it.

And what pilots are called where several stand side by side.
"""

import itertools
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.files import describe_failure, write_whole
from donkeysim.learn.files.model_file import CONVERSIONS, ENDINGS
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.pilot import PACKAGE_PILOTS

_log = logging.getLogger(__name__)

DATABASE_NAME = "database.json"

Entry = dict[str, Any]
"""Number, Name, Pilot, Type, Tubs, Time, History, Transfer, Comment, Config."""

NOT_SERIALIZABLE = "<not serializable>"

BUILT_IN = "built-in"
"""How the pilot of generated_track is called that lies in the package."""

_WAYS: tuple[Callable[[Path], str], ...] = (
    lambda path: path.stem,
    lambda path: path.name,
    lambda path: path.parent.name,
    lambda path: f"{path.parent.name}/{path.stem}",
    lambda path: f"{path.parent.name}/{path.name}",
)
"""From the shortest on; `donkey rl` calls every pilot `pilot.onnx`, and only the folder says which."""


class DamagedDatabaseError(DonkeySimError):
    """A database holds something else than a list of trainings."""


def read_entries(folder: Path) -> list[Entry]:
    """Return the entries of a folder of models, oldest first; none when there is no database.

    Raises:
        DamagedDatabaseError: It is damaged.
        DonkeySimError: It cannot be read.
    """
    path = folder / DATABASE_NAME
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DonkeySimError(f"cannot read {path}: {describe_failure(error)}.") from error
    except ValueError as error:
        raise DamagedDatabaseError(f"{path} is damaged ({error}); the next training will start a new one.") from error
    if not (isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)):
        raise DamagedDatabaseError(f"{path} is not a list of trainings; the next training will start a new one.")
    return entries


def append_entry(folder: Path, entry: Entry) -> None:
    """Append an entry to the database of a folder; the file is replaced whole, a damaged one is kept beside it.

    Raises:
        DonkeySimError: The database cannot be read now, or not be written.
    """
    path = folder / DATABASE_NAME
    try:
        entries = read_entries(folder)
    except DamagedDatabaseError as error:
        names = (folder / f"database.damaged-{number}.json" for number in itertools.count(1))
        kept = next(name for name in names if not name.exists())
        path.replace(kept)
        _log.warning("%s Kept as %s.", error, kept.name)
        entries = []
    write_whole(path, json.dumps([*entries, entry], indent=4).encode())


def make_entry(
    number: int,
    model_path: Path,
    kind: str,
    tub_paths: Sequence[Path],
    history: Mapping[str, Sequence[float]],
    config: Mapping[str, Any],
    transfer: Path | None = None,
    comment: str | None = None,
) -> Entry:
    """Return the entry of a training that ends now.

    Args:
        number: Of an automatically named pilot; 0 for one that the user named.
        history: Losses per epoch.
        config: All keys of the configuration.
        transfer: The pilot whose weights it began with.
    """
    return {
        "Number": number,
        "Name": model_path.name,
        "Pilot": KINDS[kind].class_name,
        "Type": kind,
        "Tubs": ",".join(map(str, tub_paths)),
        "Time": datetime.now().timestamp(),
        "History": {name: list(values) for name, values in history.items()},
        "Transfer": str(transfer) if transfer else None,
        "Comment": comment,
        "Config": {name: _make_plain(value) for name, value in config.items()},
    }


def name_pilot(folder: Path) -> tuple[Path, int]:
    """Return the next automatic name in a folder of models, pilot_YY-MM-DD_<n>.h5, and its number n.

    A number is used once, even when its file or its entry was deleted since.
    """
    try:
        numbers = [int(entry.get("Number", 0)) for entry in read_entries(folder)]
    except (DonkeySimError, ValueError, TypeError):  # a damaged database: training will say so when it ends
        numbers = []
    used = [path.stem.rsplit("_", 1)[1] for path in folder.glob("pilot_*_*")]
    number = max([0, *numbers, *(int(text) for text in used if text.isdigit())]) + 1
    return folder / f"pilot_{datetime.now():%y-%m-%d}_{number}.h5", number


def choose_path(folder: Path, model_path: str | Path | None) -> tuple[Path, int]:
    """Return the file of a new pilot, absolute, and its number in the database: 0 when the user named it.

    Args:
        folder: Of the pilots that nobody named.
        model_path: As the user named it; None: not at all.

    Raises:
        DonkeySimError: It is a folder, or pilots are not written so.
    """
    if model_path is None:
        return name_pilot(folder)
    path = Path(model_path).expanduser().absolute()
    if path.is_dir():
        raise DonkeySimError(f"{path} is a folder; --model takes the file to write, for example {path}/mypilot.h5.")
    if not path.suffix:  # as people name pilots since donkeycar 2, which wrote HDF5
        path = path.with_suffix(".h5")
    if path.suffix.lower() not in ENDINGS:
        base = path.with_suffix("") if path.suffix.lower() in CONVERSIONS else path  # such as savedmodel, not v1.5
        raise DonkeySimError(
            f"pilots are written as {', '.join(ENDINGS)}, not as {path.suffix}; give --model {base}.h5."
        )
    return path, 0


def name_beside(path: Path, ending: str) -> Path:
    """Return the name of a file that belongs to a pilot: `a.onnx` beside `a.h5`.

    It is `a.keras.onnx` beside an `a.keras` that was trained later than an `a.h5` that is still there.
    """
    try:
        names = [str(entry.get("Name")) for entry in read_entries(path.parent)]
    except DonkeySimError:  # training says so when it ends
        names = []
    first = next((name for name in names if Path(name).stem == path.stem), path.name)
    is_taken = first != path.name and path.with_name(first).exists()
    return path.with_name(path.name + ending) if is_taken else path.with_suffix(ending)


def group_tubs(entries: Sequence[Entry]) -> dict[str, str]:
    """Return a short name for each set of tubs that entries name, by the set as it stands there."""
    sets = dict.fromkeys(str(entry["Tubs"]) for entry in entries if entry.get("Tubs"))
    return {tubs: f"tub_group_{number}" for number, tubs in enumerate(sets, start=1)}


def _make_plain(value: Any) -> Any:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return NOT_SERIALIZABLE
    return value


def find_pilot(name: str) -> Path:
    """Return the file of a pilot that is given as `built-in`, `anywhere` or a file."""
    return PACKAGE_PILOTS.get(name, Path(name).expanduser())


def name_pilots(models: Iterable[str]) -> dict[str, str]:
    """Return by the pilots' files what to call each in tables: the shortest names that tell them apart."""
    paths = {model: Path(model) for model in models}
    called = {path.resolve(): name for name, path in PACKAGE_PILOTS.items()}
    own = {model: called[path.resolve()] for model, path in paths.items() if path.resolve() in called}
    files = {model: path for model, path in paths.items() if model not in own}
    for way in _WAYS:
        names = {model: way(path) for model, path in files.items()}
        if "" not in names.values() and len(set(names.values())) == len(files):
            break
    else:
        names = {model: str(path) for model, path in files.items()}
    return {model: own.get(model) or names[model] for model in paths}
