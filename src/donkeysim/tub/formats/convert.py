"""One format into another, and which format lies where."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from donkeysim.core.errors import TubError, format_count
from donkeysim.core.files import make_folder, replace_file
from donkeysim.core.types import Report
from donkeysim.tub.folder import is_tub
from donkeysim.tub.formats.drive import RecordedDrive
from donkeysim.tub.formats.lerobot import INFO_PATH, LeRobotOptions, write_lerobot
from donkeysim.tub.formats.lerobot_reader import open_lerobot
from donkeysim.tub.formats.mcap import McapDrive, write_mcap
from donkeysim.tub.formats.minari import METADATA_PATH, MinariDrive, write_minari
from donkeysim.tub.formats.parquet import ParquetDrive, write_parquet
from donkeysim.tub.formats.pictures import ColourDrive, find_mixed
from donkeysim.tub.formats.survey import Survey, survey_drive
from donkeysim.tub.formats.tub import TubDrive, write_tub
from donkeysim.tub.manifest import MANIFEST_NAME, name_inner

ENDINGS = {".mcap": "mcap", ".parquet": "parquet"}
"""Formats that are one file, by its ending; the others are folders."""

TITLES = {
    "tub": "a tub",
    "lerobot": "a LeRobot dataset",
    "minari": "a Minari dataset",
    "mcap": "an MCAP file",
    "parquet": "a Parquet table",
}

_OPEN: dict[str, Callable[[Path], RecordedDrive]] = {
    "tub": TubDrive,
    "lerobot": open_lerobot,
    "minari": MinariDrive,
    "mcap": McapDrive,
    "parquet": ParquetDrive,
}
_ALIKE = ("lerobot", "minari")
"""Formats without deleted records, whose pictures are all of one size and depth."""

_BEGINNINGS = {b"\x89MCAP": "mcap", b"PAR1": "parquet"}


@dataclass(frozen=True)
class Conversion:
    """What came of a conversion: the format, how many records it has, and what is to be said."""

    kind: str
    count: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{format_count(self.count, 'record')} as {TITLES[self.kind]}"


def convert(
    source: Path,
    target: Path,
    kind: str | None = None,
    options: LeRobotOptions | None = None,
    report: Report = lambda _done, _total: None,
) -> Conversion:
    """Convert a drive; the target is there whole or not at all.

    Args:
        source: A tub, a dataset or a file.
        target: Where nothing is yet.
        kind: What it becomes; None: as the target's ending says, else a tub.
        options: For LeRobot datasets.
        report: Called as report(done, total).

    Raises:
        TubError: The source is no drive or broken, the target exists or cannot be written, or it is not clear what
            the target is to be.
        DonkeySimError: A package that the format needs is not installed.
    """
    found = recognise(source)
    chosen = choose_kind(found, target, kind)
    if options is not None and chosen != "lerobot":
        raise TubError(f"--video, --task and --fps are for LeRobot datasets; {target} becomes {TITLES[chosen]}.")
    if target.exists() or target.is_symlink():
        raise TubError(f"{target} exists already; choose another name, or remove it first.")
    drive = open_drive(source)
    survey = survey_drive(drive)
    mixed = find_mixed(drive) if chosen in _ALIKE else []
    drive = ColourDrive(drive, mixed) if mixed else drive
    write = _find_writer(chosen, target, options)
    whole = replace_file if chosen in ENDINGS.values() else make_folder
    with whole(target, TubError) as beside:
        notes = write(drive, survey, beside, report)
    left_out = survey.deleted_count if chosen in _ALIKE else 0
    notes += [f"Some pictures of {key!r} are grey; they became colour pictures, as the others are." for key in mixed]
    return Conversion(chosen, survey.count - left_out, tuple(notes))


def open_drive(path: Path) -> RecordedDrive:
    """Return the drive that lies at a path, in whichever format.

    Raises:
        TubError: There is none that can be read.
        DonkeySimError: A package that the format needs is not installed.
    """
    return _OPEN[recognise(path)](path)


def recognise(path: Path) -> str:
    """Return which format lies at a path.

    Raises:
        TubError: None that is known, or nothing.
    """
    if path.is_file():
        with path.open("rb") as stream:
            beginning = stream.read(5)
        for magic, kind in _BEGINNINGS.items():
            if beginning.startswith(magic):
                return kind
        raise TubError(f"{path} is neither MCAP nor Parquet; give such a file, or a tub or a dataset, unpacked.")
    marks = {MANIFEST_NAME: "tub", INFO_PATH: "lerobot", METADATA_PATH: "minari"}
    for mark, kind in marks.items():
        if (path / mark).is_file():
            return kind
    if path.is_dir() and not is_tub(path):
        hint = name_inner(path) or "; give a tub, a dataset or a file of one"
        raise TubError(f"{path} is no drive: it has no {', '.join(marks)}{hint}.")
    return "tub"


def choose_kind(found: str, target: Path, kind: str | None) -> str:
    """Return what a target is to be.

    Raises:
        TubError: That is not clear, or its ending is another format's.
    """
    ending = ENDINGS.get(target.suffix.lower())
    if kind is None and ending is None and found == "tub":
        raise TubError(
            f"what is {target} to be? Give --to lerobot, --to minari or --to tub, or a name that ends in "
            f"{' or '.join(ENDINGS)}."
        )
    chosen = kind or ending or "tub"
    if ending not in (None, chosen):
        raise TubError(f"{target} has the ending of {TITLES[ending or '']}; name {TITLES[chosen]} otherwise.")
    return chosen


def _find_writer(
    kind: str, target: Path, options: LeRobotOptions | None
) -> Callable[[RecordedDrive, Survey, Path, Report], list[str]]:
    if kind == "lerobot":
        return partial(write_lerobot, options=options or LeRobotOptions())
    if kind == "minari":
        return partial(write_minari, target=target)
    return {"tub": write_tub, "mcap": write_mcap, "parquet": write_parquet}[kind]
