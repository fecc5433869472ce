"""The pilots a car can drive with: which there are, which is chosen, and the part that asks it how to drive."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from donkeysim.core.errors import DonkeySimError, PilotError, SpecError
from donkeysim.core.files import Stamp, read_stamp
from donkeysim.core.pilot import Pilot, check_answer
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.catalogue import shorten_scene_name

logger = logging.getLogger(__name__)

PILOT_SUFFIXES = (".h5", ".keras", ".onnx", ".tflite")

NOTHING: Stamp = (0, 0, 0)
"""In place of the stamp of a file, where there is none."""

LOOK_SECONDS = 0.5
"""How often the models' folder and the pilot's file are looked at."""


class PilotShelf:
    """All pilots within reach, and the chosen one, loaded in a thread of its own and again when its file changes.

    A threaded part. A file that is still being written is left alone until it has kept its size for a while; one that
    cannot be loaded is reported, and the pilot that drove until then drives on.

    Attributes:
        choices: Names of all pilots.
        places: Where those in files were trained, as far as it is known; the car's own first, the newest before others.
        pilot: The chosen one; None: there is none.
    """

    def __init__(
        self,
        load: Callable[[Path, str | None], Pilot],
        folder: Path | str,
        blank_image: ByteArray,
        channels: Mapping[str, Any] | None = None,
        extra_files: Sequence[Path] = (),
        built_in: Mapping[str, Pilot] | None = None,
        read_places: Callable[[Path], tuple[str, ...]] = lambda _: (),
    ) -> None:
        """Make an empty shelf; `choose` takes the first pilot.

        Args:
            load: Makes a pilot from a file, of a kind or of the one the file names; raises DonkeySimError.
            folder: Where the car's pilots lie; every file of a known kind in it can be chosen.
            blank_image: A picture like those pilots will get; every pilot must answer to it before it may drive.
            channels: What else this car can give a pilot, with an example value each.
            extra_files: Pilots from elsewhere that can be chosen too.
            built_in: Pilots that are no files, by the names they are chosen by.
            read_places: Returns where the pilot in a file was trained, () where that is not known; asked again when
                the file changes.
        """
        self._load = load
        self.folder = Path(folder)
        self.blank_image = blank_image
        self.channels = dict(channels or {})
        self._extra_files = {path.name: path for path in extra_files if path.exists()}
        self._built_in = dict(built_in or {})
        self._kinds: dict[str, str | None] = {}
        self._files: dict[str, Path] = {}
        self._read_places = read_places
        self._looks: dict[Path, tuple[Stamp | None, tuple[str, ...]]] = {}
        self.choices: tuple[str, ...] = ()
        self.places: dict[str, tuple[str, ...]] = {}
        self.pilot: Pilot | None = None
        self._choice = ""
        self._loaded: tuple[str, Stamp] | None = None
        self._seen: Stamp | None = None
        self._drove = self._was_reset = False
        self._wake = threading.Event()
        self._ended = False
        self._list_files()

    def choose(self, path: Path | str, kind: str | None = None) -> str:
        """Load a pilot now and return the name it is chosen by; for the pilot that the command line names.

        Raises:
            DonkeySimError: There is no such file, or it holds no pilot for this car.
        """
        path = Path(path).expanduser()  # no shell expands the ~ in --model=~/a.h5
        if not path.exists():
            found = ", ".join(self.choices) or "none"
            raise SpecError(f"there is no pilot {path}; pilots here: {found}.")
        self._extra_files[path.name] = path
        self._kinds[path.name] = kind
        self._list_files()
        self._choice = path.name
        self._take(path, read_stamp(path))
        return path.name

    def update(self) -> None:
        """Keep the choice loaded until the shelf is shut down."""
        while not self._ended:
            self._list_files()
            self._follow_choice()
            self._wake.wait(LOOK_SECONDS)
            self._wake.clear()

    def run_threaded(self, choice: str | None, run_pilot: bool | None, car_was_reset: bool | None) -> tuple[str, ...]:
        """Take the choice, make the pilot forget what it saw when a drive begins anew, and return all choices.

        Args:
            choice: Name of a pilot; "" for none; None for no change.
            run_pilot: Whether the pilot drives in this loop.
            car_was_reset: Whether the car is being put back to its start; the next loop's picture is the first from
                there.
        """
        if choice is not None and choice != self._choice:
            self._choice = choice
            self._wake.set()
        if self.pilot and run_pilot and (car_was_reset or self._was_reset or not self._drove):
            self.pilot.reset()
        self._drove, self._was_reset = bool(run_pilot), bool(car_was_reset)
        return self.choices

    def shutdown(self) -> None:
        """End the thread."""
        self._ended = True
        self._wake.set()

    def _list_files(self) -> None:
        try:
            entries = sorted(self.folder.glob("[!.]*"))  # hidden ones are not whole yet
        except OSError:  # not there, or not to be read: then it offers no pilots
            entries = []
        files = {entry.name: entry for entry in entries if entry.suffix in PILOT_SUFFIXES}
        self._files = {**files, **self._extra_files}
        self._looks = {path: self._look_into(path) for path in self._files.values()}
        own = sorted(files, key=self._rank, reverse=True)
        others = [name for name in self._extra_files if name not in files]
        known = ((name, self._looks[self._files[name]][1]) for name in (*own, *others))
        self.places = {name: places for name, places in known if places}
        self.choices = (*self._built_in, *self._files)

    def _rank(self, name: str) -> tuple[bool, Stamp]:
        """Return what the newest has most of; files for cars, perhaps with coarser numbers, come last."""
        path = self._files[name]
        return path.suffix != ".tflite", self._looks[path][0] or NOTHING

    def _look_into(self, path: Path) -> tuple[Stamp | None, tuple[str, ...]]:
        """Return a file's state, and where its pilot was trained, read when the state is new."""
        state, known = read_stamp(path), self._looks.get(path)
        return known if known and known[0] == state else (state, self._read_places(path))

    def _follow_choice(self) -> None:
        choice = self._choice
        if choice in self._built_in:
            if self._loaded != (choice, NOTHING):
                self.pilot, self._loaded = self._built_in[choice], (choice, NOTHING)
            return
        if not choice or choice not in self._files:
            if self._loaded or choice:
                self._drop(choice)
            return
        path = self._files[choice]
        state, before = read_stamp(path), self._seen
        self._seen = state
        is_new = self._loaded is None or self._loaded[0] != choice
        if state is None or self._loaded == (choice, state) or not (is_new or state == before):
            return
        try:
            self._take(path, state)
        except DonkeySimError as error:
            logger.error("%s", error)
            if is_new:
                self.pilot = None
            self._loaded = (choice, state)

    def _take(self, path: Path, state: Stamp | None) -> None:
        logger.info("loading model %s", path)
        begun = time.perf_counter()
        try:
            pilot = self._load(path, self._kinds.get(path.name))
            self._try(pilot, path)
        except DonkeySimError:
            raise
        except Exception as error:  # a broken file can make a library fail in any way
            raise PilotError(f"{path} cannot drive this car: {type(error).__name__}: {error}") from error
        pilot.reset()
        self.pilot = pilot
        self._loaded = (path.name, state or NOTHING)
        logger.info("finished loading in %.2f sec.", time.perf_counter() - begun)

    def _try(self, pilot: Pilot, path: Path) -> None:
        """Run the pilot once, so that it fails here and not while driving, and is warm."""
        missing = [name for name in pilot.input_names if name not in self.channels]
        if missing:
            raise SpecError(
                f"{path} is a pilot of type {pilot.kind} and needs {', '.join(missing)}, which this car does not have;"
                " see SIM_RECORD_GYROACCEL and TRAIN_BEHAVIORS in config.py."
            )
        check_answer(pilot.run(self.blank_image, *(self.channels[name] for name in pilot.input_names)), path)

    def _drop(self, choice: str) -> None:
        if choice and self._loaded is not None and self._loaded[0] == choice:
            return  # its file has gone; what was loaded drives on
        if choice:
            logger.error("there is no pilot %s; pilots here: %s.", choice, ", ".join(self.choices) or "none")
        if self._choice == choice:
            self.pilot, self._loaded, self._choice = None, None, ""


class PilotDriver:
    """Asks the chosen pilot how to drive; without one the car gets angle 0 and throttle 0."""

    def __init__(self, shelf: PilotShelf) -> None:
        self.shelf = shelf
        self.channels = tuple(shelf.channels)

    def run(self, image: ByteArray | None, *values: Any) -> tuple[float, float, int | None]:
        """Return angle, throttle and location (None when the pilot gives none).

        Args:
            image: The picture as the pilot is to see it.
            values: The shelf's `channels`, in order.
        """
        pilot = self.shelf.pilot
        if pilot is None or image is None:
            return 0.0, 0.0, None
        known = dict(zip(self.channels, values, strict=True))
        answer = pilot.run(image, *(known[name] for name in pilot.input_names))
        return float(answer[0]), float(answer[1]), int(answer[2]) if len(answer) > 2 else None


class PilotForPlace:
    """Chooses a pilot that knows the place where the car is, for as long as nobody else has chosen one."""

    def __init__(self, shelf: PilotShelf, find_place: Callable[[], str], otherwise: str) -> None:
        """Make it.

        Args:
            shelf: What can be chosen, and which places the pilots know.
            find_place: Returns where the car is, a scene's name or file; "" for nowhere.
            otherwise: The pilot that is chosen where none knows the place.
        """
        self._shelf, self._find_place, self._otherwise = shelf, find_place, otherwise
        self._place = self._chosen = ""

    def run(self, choice: str | None, *seen: ByteArray | None) -> tuple[str, tuple[str, ...]]:
        """Return the choice, changed in another place if it was ours, and the places that the chosen one knows.

        Args:
            choice: Name of a pilot; "" for none; None for no change.
            *seen: The car's picture. Before the first one nothing is chosen and loaded, while a first run's memory is
                short. The manage.py of folders made before 2026-11-28 does not give it.
        """
        place = "" if any(image is None for image in seen) else shorten_scene_name(self._find_place())
        if place and place != self._place:
            self._place = place
            if choice in (None, "", self._chosen):
                suitable = (name for name, places in self._shelf.places.items() if place in places)
                choice = self._chosen = next(suitable, self._otherwise)
        return choice or "", self._shelf.places.get(choice or "", ())
