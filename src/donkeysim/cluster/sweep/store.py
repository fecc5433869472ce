"""The store of a sweep, a folder: what was asked for, a folder for each training that is done, and those under way.

A training's folder appears under its name when it is whole, so a sweep that was stopped or killed continues where it
was, and each training is done once.
"""

import contextlib
import json
import math
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import filelock
import msgspec

from donkeysim import __version__
from donkeysim.cluster.sweep.plan import Job, TrialResult, name_job
from donkeysim.cluster.sweep.spec import SweepFile, read_sweep, rename_options, renew_sweep
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.files import describe_failure, put_in_place, write_whole

COPY_NAME, NOTE_NAME, RESULT_NAME, PROGRESS_NAME = "sweep.toml", "sweep.json", "result.json", "progress.jsonl"

LOCK_NAME = ".lock"

TRIALS, BEST, TUNE = "trials", "best", ".tune"
"""Folders: of trainings, of the best pilot, and of what Ray Tune writes for itself."""

PART = ".part"
"""Ending of the folder of a training that is under way."""

FORMAT = 2
"""Of the notes; in the first one other places had the original's names, see `former_places`."""

MOST_POINTS = 200
"""Of a curve that is kept."""

Point = tuple[float, Mapping[str, float]]
"""How far, and figures by name."""


@dataclass(frozen=True)
class JobSpec:
    """What one job trains, and where.

    Attributes:
        file: What was asked for.
        folder: To write into: empty, or a copy of the folder of what is prolonged.
        source: Folder of the training it continues; None: it begins.
        report: Called with figures on the way.
    """

    file: SweepFile
    job: Job
    folder: Path
    source: Path | None
    report: Callable[[float, Mapping[str, float]], None]


Train = Callable[[JobSpec], TrialResult]
"""Does a training; without its curve, which is what it has reported."""


@dataclass(frozen=True)
class TrialStore:
    """Keeps what came of a sweep's trainings in a folder; each worker must see it by these names.

    Attributes:
        file: What was asked for; its path is that of the copy in the folder.
        folder: Absolute.
        base: Folder that names of files in options are relative to.
        train: At the top level of a module.
    """

    file: SweepFile
    folder: Path
    base: Path
    train: Train

    def locate(self, job: Job) -> Path:
        """Return the folder of a training that is done."""
        return self.folder / TRIALS / job.name

    def read(self, job: Job) -> TrialResult | None:
        """Return what came of a training; None: it is not done, or was another one.

        Raises:
            SpecError: Its file is broken.
        """
        path = self.locate(job) / RESULT_NAME
        if not path.exists():
            return None
        try:
            note = msgspec.json.decode(path.read_bytes())
            if note["format"] == 1:
                note["job"]["options"] = rename_options(note["job"]["options"])
            if note["job"] != json.loads(json.dumps(asdict(job))):
                raise SpecError(
                    f"{path} is of another training; take its folder away, or begin anew with another --out."
                )
            return msgspec.convert(note["result"], TrialResult)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError, KeyError, TypeError) as error:
            raise SpecError(
                f"{path} cannot be read ({error}); take its folder away, it is trained anew then."
            ) from error

    def do(self, job: Job) -> TrialResult:
        """Do a training, unless it is done, and keep what came of it.

        Raises:
            DonkeySimError: A file cannot be written.
        """
        if (result := self.read(job)) is not None:
            return result
        # A name of this process on this machine: the folder may be shared, and a training may be begun twice.
        part = self.locate(job).with_name(f".{job.name}.{platform.node()}-{os.getpid()}{PART}")
        shutil.rmtree(part, ignore_errors=True)
        try:
            if job.prolongs and job.source:
                shutil.copytree(self.folder / TRIALS / name_job(*job.source[:2]), part)
                (part / RESULT_NAME).unlink()
            else:
                part.mkdir(parents=True)
            with contextlib.chdir(self.base):
                result = self._train(job, part)
            note = {"format": FORMAT, "job": asdict(job), "result": asdict(result)}
            (part / RESULT_NAME).write_text(json.dumps(note), encoding="utf-8")
            put_in_place(part, self.locate(job))
        except OSError as error:
            if (found := self.read(job)) is not None:  # another worker, thought dead, was done first
                shutil.rmtree(part, ignore_errors=True)
                return found
            raise DonkeySimError(f"{part} cannot be written ({describe_failure(error)}).") from error
        return result

    def _train(self, job: Job, part: Path) -> TrialResult:
        source = self.folder / TRIALS / name_job(*job.source[:2]) if job.source else None
        with (part / PROGRESS_NAME).open("a", encoding="utf-8") as progress:

            def report(place: float, figures: Mapping[str, float]) -> None:
                progress.write(json.dumps([place, _leave_finite(figures)]) + "\n")
                progress.flush()

            try:
                result = self.train(JobSpec(self.file, job, part, source, report))
            except DonkeySimError as error:
                result = TrialResult(error=str(error))
        curve = gather_curve(read_progress(part / PROGRESS_NAME))
        return replace(result, figures=_leave_finite(result.figures), curve=curve)

    def read_running(self) -> dict[str, Point | None]:
        """Return how far each training is that is under way, by its name; None: nothing was reported yet."""
        found: dict[str, Point | None] = {}
        for part in (self.folder / TRIALS).glob(f".*{PART}"):
            points = read_progress(part / PROGRESS_NAME)
            found[part.name.split(".")[1]] = points[-1] if points else None
        return found

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who sweeps here while the block runs.

        Raises:
            SpecError: Somebody else does.
        """
        lock = filelock.FileLock(self.folder / LOCK_NAME, timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise SpecError(f"another donkey sweep works in {self.folder}; wait for it, or end it.") from error
        try:
            yield
        finally:
            lock.release()

    def clear(self) -> None:
        """Take away what killed workers have left."""
        for part in (self.folder / TRIALS).glob(f".*{PART}"):
            shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(self.folder / TUNE, ignore_errors=True)


def _leave_finite(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures that are numbers, as JSON has no others."""
    return {name: float(value) for name, value in figures.items() if math.isfinite(value)}


def read_progress(path: Path) -> list[Point]:
    """Return what a training has reported so far, up to the first line that is not whole."""
    points: list[Point] = []
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        try:
            place, figures = msgspec.json.decode(line)
        except (msgspec.DecodeError, ValueError, TypeError):
            break
        points.append((place, figures))
    return points


def gather_curve(points: Sequence[Point]) -> dict[str, list[tuple[float, float]]]:
    """Return a curve for each figure, of at most `MOST_POINTS` points, the last one among them."""
    every = max(1, -(-len(points) // MOST_POINTS))
    curve: dict[str, list[tuple[float, float]]] = {}
    for place, figures in points[::-1][::every][::-1]:
        for name, value in figures.items():
            curve.setdefault(name, []).append((place, value))
    return curve


def claim_folder(path: Path, folder: Path) -> SweepFile:
    """Begin a sweep in a folder and return what is asked for, with the path of the file's copy there.

    Raises:
        SpecError: The folder holds something already.
        DonkeySimError: It cannot be written.
    """
    try:
        content = path.read_bytes()
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            hint = f"continue with --resume {folder}, or " if (folder / NOTE_NAME).exists() else ""
            raise SpecError(f"{folder} holds something already; {hint}give another --out.")
        (folder / TRIALS).mkdir()
        write_whole(folder / COPY_NAME, content)
        note = {"format": FORMAT, "base": str(Path.cwd()), "donkeysim": __version__}
        write_whole(folder / NOTE_NAME, json.dumps(note, indent=1).encode() + b"\n")
    except OSError as error:
        raise DonkeySimError(f"{folder} cannot be used ({describe_failure(error)}).") from error
    return read_sweep(folder / COPY_NAME)


def resume_folder(folder: Path) -> tuple[SweepFile, Path]:
    """Return what was asked for in a folder, and what names of files are relative to.

    Raises:
        SpecError: There is no sweep.
    """
    try:
        note = msgspec.json.decode((folder / NOTE_NAME).read_bytes())
        base, number = Path(note["base"]), int(note["format"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise SpecError(f"{folder} holds no sweep to continue; give the folder that donkey sweep wrote.") from error
    if number > FORMAT:
        raise SpecError(f"{folder} has the format {number}, this version reads up to {FORMAT}; get a newer donkeysim.")
    file = read_sweep(folder / COPY_NAME)
    return file if number > 1 else renew_sweep(file), base
