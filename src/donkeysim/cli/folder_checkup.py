"""What in a folder of somebody's files loads, trains and drives: cars, tubs, pilots, tracks, paths and joysticks."""

import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from donkeysim.core.errors import DonkeySimError, SpecError, TubError
from donkeysim.core.types import ByteArray

_log = logging.getLogger(__name__)

LOADS, TRAINS, DRIVES = "loads", "trains", "drives"

ASPECTS = (LOADS, TRAINS, DRIVES)
"""What a file can do, in the order of the table."""

_PASSED_OVER = ("__pycache__", "node_modules", "site-packages")
_UNREAD_PILOTS = (".savedmodel", ".trt", ".pt", ".pth", ".ckpt")
_UNREAD_IN_MODELS = (".pkl", ".zip")
"""Elsewhere they may be anything."""

_JOYSTICK, _JOYSTICK_NAME = b"class MyJoystickController", re.compile(r"(?!test_).*joystick.*\.py")
"""What is in a joystick's file, and how such files are called: other programs are not run."""

_LARGEST_TEXT = 1_000_000
"""Of files that are looked into to see what they are [byte]."""

Step = tuple[str, Callable[[], object]]
"""An aspect, and what raises a `DonkeySimError` where it fails."""


class Item(NamedTuple):
    """One thing in a folder: what it is, where, and how it is tried."""

    kind: str
    path: Path
    steps: list[Step]


class CheckResult(NamedTuple):
    """What came of an item: whether each aspect that it has works, and why the first that does not fails."""

    kind: str
    path: Path
    works: dict[str, bool]
    reason: str


def check_folder(folder: Path) -> Iterator[CheckResult]:
    """Yield a result on each thing in a folder and all folders in it, as it is made.

    Configurations are Python, which is run, as a drive would run it.

    Raises:
        SpecError: There is no such folder.
    """
    if not folder.is_dir():
        raise SpecError(f"there is no folder {folder}; give one with car folders, tubs or pilots.")
    for item in find_items(folder):
        yield _try(item)


def _try(item: Item) -> CheckResult:
    """Return what comes of an item; what follows from an aspect that fails fails, too."""
    works: dict[str, bool] = {}
    reason = ""
    with _silence():
        for aspect, step in item.steps:
            try:
                step()
            except (DonkeySimError, OSError) as error:
                failure = " ".join(str(error).split())
            except Exception as error:
                _log.exception("%s", item.path)  # the others are looked at nevertheless
                failure = f"a fault of donkeysim, please report it: {type(error).__name__}: {error}"
            else:
                works[aspect] = True
                continue
            works[aspect] = False
            reason = reason or failure
            if aspect == LOADS:
                works |= {other: False for other, _ in item.steps}
                break
    return CheckResult(item.kind, item.path, works, reason)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep warnings to themselves, which are about single keys and records; errors stay."""
    logger = logging.getLogger("donkeysim")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def find_items(folder: Path, car: Path | None = None) -> Iterator[Item]:
    """Yield what is in a folder and in those inside it, each folder's own things first, by their names.

    Args:
        car: The config.py of the car folder that it lies in; None: in none.
    """
    from donkeysim.tub.folder import is_tub

    names = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    files = [path for path in names if path.is_file() and not path.is_symlink()]
    folders = [path for path in names if path.is_dir() and not path.is_symlink()]
    if is_tub(folder):
        yield Item("tub", folder, _list_tub_steps(folder))
        return
    if (folder / "meta/info.json").is_file() or (folder / "data/metadata.json").is_file():
        yield Item("dataset", folder, [(LOADS, lambda: _survey(folder))])
        return
    yield from _find_cars(files)
    car = folder / "config.py" if _is_car(files) else car
    for path in files:
        yield from _find_file(path, car)
    for path in folders:
        if path.suffix.lower() in _UNREAD_PILOTS:
            yield Item("pilot", path, _list_pilot_steps(path, car))
        elif path.name not in _PASSED_OVER and not (path / "pyvenv.cfg").exists():
            yield from find_items(path, car)


def _is_car(files: list[Path]) -> bool:
    """Return whether the files of a folder are a car's."""
    names = {path.name for path in files}
    return "config.py" in names and bool({"manage.py", "myconfig.py"} & names)


def _find_cars(files: list[Path]) -> Iterator[Item]:
    """Yield the configurations of a folder: its car, and further files over it, or over a new car's defaults."""
    from donkeysim.car.config import TEMPLATE_FOLDER

    is_car = _is_car(files)
    base = (files[0].parent if is_car else TEMPLATE_FOLDER) / "config.py"
    if is_car:
        yield Item("car", base.parent, _list_car_steps(base, "myconfig.py"))
    for path in files:
        if path.suffix == ".py" and "myconfig" in path.stem and not (is_car and path.name == "myconfig.py"):
            yield Item("myconfig", path, _list_car_steps(base, str(path.absolute())))


def _list_car_steps(config_path: Path, myconfig: str) -> list[Step]:
    from donkeysim.car.config import load_config
    from donkeysim.car.folder import refuse_foreign_program
    from donkeysim.car.transform import make_transform
    from donkeysim.drive.simulator_settings import read_settings
    from donkeysim.envs.launch import check_program
    from donkeysim.learn.kinds import get_kind, read_spec
    from donkeysim.learn.options import read_options

    def train() -> None:
        config = load_config(config_path, myconfig, driving=False)
        config.require("training")
        read_options(config)
        read_spec(config)
        get_kind(config.DEFAULT_MODEL_TYPE)
        make_transform(config)

    def drive() -> None:
        if (program := config_path.with_name("manage.py")).is_file():
            refuse_foreign_program(program)
        config = load_config(config_path, myconfig)
        simulator = read_settings(config).conf.exe_path
        if simulator is not None:
            check_program(Path(simulator).expanduser())
        if config.USE_JOYSTICK_AS_DEFAULT:
            config.require("a joystick")

    loads = (LOADS, lambda: load_config(config_path, myconfig, driving=False))
    return [loads, (TRAINS, train), (DRIVES, drive)]


def _list_tub_steps(folder: Path) -> list[Step]:
    from donkeysim.learn.dataset import read_records
    from donkeysim.learn.kinds import get_kind
    from donkeysim.tub.reader import TubReader

    def load() -> None:
        tub = TubReader(folder)
        if not len(tub):
            raise TubError(f"the tub {folder} has no records.")

    def train() -> None:
        read_records([folder], get_kind("linear"))
        if not any(True for _ in islice(TubReader(folder).iterate_seen(), 1)):
            next(iter(TubReader(folder))).measure_image()  # says why the first cannot be read

    return [(LOADS, load), (TRAINS, train)]


def _survey(path: Path) -> None:
    from donkeysim.tub.formats.convert import open_drive
    from donkeysim.tub.formats.survey import survey_drive

    survey_drive(open_drive(path))


def _find_file(path: Path, car: Path | None) -> Iterator[Item]:
    """Yield what a file is, if it is anything; `car`: see `find_items`."""
    from donkeysim.learn.files.model_file import ENDINGS

    ending = path.suffix.lower()
    unread = (*_UNREAD_PILOTS, *_UNREAD_IN_MODELS) if path.parent.name == "models" else _UNREAD_PILOTS
    if ending in (*ENDINGS, *unread):
        yield Item("pilot", path, _list_pilot_steps(path, car))
    elif ending in (".mcap", ".parquet"):
        yield Item("dataset", path, [(LOADS, lambda: _survey(path))])
    elif ending == ".toml" and _is_track(path):
        yield Item("track", path, _list_track_steps(path))
    elif ending == ".csv" and _is_path(path):
        yield Item("path", path, _list_track_steps(path))
    elif ending == ".py" and _JOYSTICK_NAME.fullmatch(path.name) and _JOYSTICK in _peek(path):
        from donkeysim.drive.joystick.custom import load_layout

        yield Item("joystick", path, [(LOADS, lambda: load_layout(path))])


def _list_pilot_steps(path: Path, car: Path | None) -> list[Step]:
    from donkeysim.learn.files.model_file import FINISHED_ENDINGS, read_layers
    from donkeysim.learn.pilot import load_pilot, try_pilot

    def drive() -> None:
        pilot = load_pilot(path)
        try_pilot(pilot, path)
        if car is not None and not pilot.input_names:
            pilot.run(_take_picture(car, pilot.image_shape))

    steps: list[Step] = [(LOADS, lambda: load_pilot(path))]
    if path.suffix.lower() not in FINISHED_ENDINGS:
        steps.append((TRAINS, lambda: read_layers(path)))
    return [*steps, (DRIVES, drive)]


def _take_picture(car: Path, shape: tuple[int, ...]) -> ByteArray:
    """Return a black picture as a car shows it to pilots, or of a shape where its config is broken (reported)."""
    from donkeysim.car.config import load_config
    from donkeysim.car.transform import make_transform

    try:
        config = load_config(car, driving=False)
        black = np.zeros((config.IMAGE_H, config.IMAGE_W, config.IMAGE_DEPTH), np.uint8)
        return make_transform(config)(black)
    except DonkeySimError:
        return np.zeros(shape, np.uint8)


def _list_track_steps(path: Path) -> list[Step]:
    from donkeysim.world.specs import SceneSpec
    from donkeysim.world.tracks.catalogue import load_scene
    from donkeysim.world.tracks.track_file import read_track

    return [(LOADS, lambda: read_track(path)), (DRIVES, lambda: load_scene(SceneSpec(str(path))))]


def _peek(path: Path) -> bytes:
    """Return a text file, and nothing of one that is too large to be what is looked for, or cannot be read."""
    try:
        return path.read_bytes() if path.stat().st_size <= _LARGEST_TEXT else b""
    except OSError:
        return b""


def _is_track(path: Path) -> bool:
    """Return whether a TOML file has a road's path; what is broken is none of anything."""
    lines = [line.strip() for line in _peek(path).splitlines()]
    return b"[path]" in lines or any(line.startswith(b"[path.") for line in lines)


def _is_path(path: Path) -> bool:
    """Return whether a table holds points: its rows are numbers, and the first may name the columns, x among them."""
    text = _peek(path).decode(errors="replace")
    rows = [row for line in text.splitlines() if (row := re.split(r"[,;\s]+", line.strip(" \t#,;"))) != [""]]
    names = {name.lower() for name in rows[0]} if rows else set()
    return bool(rows) and _is_numbers(rows[-1]) and (_is_numbers(rows[0]) or bool({"x", "x_m"} & names))


def _is_numbers(row: list[str]) -> bool:
    """Return whether the fields of a row are two numbers or more."""
    try:
        return len(list(map(float, row))) > 1
    except ValueError:
        return False


def describe_counts(results: list[CheckResult]) -> list[str]:
    """Return for each kind how many there are and how many of them do what."""
    lines = []
    for kind in dict.fromkeys(result.kind for result in results):
        own = [result for result in results if result.kind == kind]
        counts = [
            f"{sum(result.works[aspect] for result in own if aspect in result.works)} {aspect.removesuffix('s')}"
            for aspect in ASPECTS
            if any(aspect in result.works for result in own)
        ]
        lines.append(f"{len(own)} × {kind}: {', '.join(counts)}")
    return lines


def shorten_path(path: Path, folder: Path) -> str:
    """Return a path as seen from the folder that is looked through."""
    return os.path.relpath(path, folder)
