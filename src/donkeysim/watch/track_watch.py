"""A track file that somebody is writing: read again at every change, the last good place kept for pictures.

It runs on a thread of its own, so that a page answers while a place is built. A file is read once it has kept still for
a moment, since editors save in several steps; one that is broken, gone or half written leaves a sentence and the last
good place.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.files import Stamp, read_stamp
from donkeysim.core.image import encode_jpeg
from donkeysim.core.types import ByteArray
from donkeysim.sim.scene_view import SceneView
from donkeysim.watch.watchable import Outline
from donkeysim.web.page import Bell
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec
from donkeysim.world.tracks.builder import build_scene
from donkeysim.world.tracks.figures import LineFigures, SceneFigures, measure_line, measure_scene
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.track_check import build_line
from donkeysim.world.tracks.track_file import TrackFile, locate_errors, read_track

# Two looks are needed, so a change shows within a sixth of a second: at once, for who edits a file. A look costs one
# `stat` a file.
POLL = 0.08
"""Between two looks at the files [s]; a change is taken once two of them saw the same."""

OUTLINE_POINTS = 400
"""Points of the path that a page draws."""

# Still pictures that are looked at closely; above 90 files grow without a difference that is seen.
JPEG_QUALITY = 88

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrackState:
    """What is known of the file now.

    Attributes:
        number: Grows with every change.
        is_building: Whether a place is being built of the newest road.
        error: What is wrong with the file, one sentence; "": nothing.
        outline: Of the newest road that could be read, without its lines; None before the first.
        line: Its figures.
        scene: Figures of the newest place that was built.
        picture: Names that place; 0: there is none yet.
        box: Least x, y and greatest x, y of its map [m].
    """

    number: int = 0
    is_building: bool = True
    error: str = ""
    outline: Outline | None = None
    line: LineFigures | None = None
    scene: SceneFigures | None = None
    picture: int = 0
    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)


_Marks = dict[Path, Stamp | None]
"""Files, with what changes when they do; None: there is no such file."""


class TrackWatch:
    """Watches one track file and draws it; every method may be called from any thread.

    Attributes:
        bell: Rung, on the watching thread, after every change.
    """

    def __init__(self, path: Path) -> None:
        """Prepare; `start` begins to read.

        Args:
            path: The track's file, which may be missing for now.
        """
        self.path = path
        self._beside: tuple[Path, ...] = ()
        self._known: _Marks = {}
        self._state = TrackState()
        self._view: SceneView | None = None
        self.bell = Bell()
        self._drawing = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="track watch", daemon=True)

    @property
    def state(self) -> TrackState:
        """What is known now."""
        return self._state

    def start(self) -> None:
        """Begin to read and to watch."""
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether there will be no more news."""
        return self._stopped.is_set()

    def close(self) -> None:
        """Tell no more; who still waits for news is to go."""
        self._stopped.set()
        self.bell.ring()

    def stop(self) -> None:
        """End watching; what is being built is finished first."""
        self.close()
        if self._thread.is_alive():
            self._thread.join()

    def find_place(self) -> tuple[Scene, CarSpec] | None:
        """Return the last good place and the kind of its cars, None before the first."""
        view = self._view
        return None if view is None else (view.scene, view.car)

    def draw_map(self, longest: int) -> bytes | None:
        """Return the last good place from above as JPEG, None before the first."""
        return self._draw(lambda view: view.draw_map(longest))

    def draw_drivers_view(self, share: float, width: int, height: int) -> bytes | None:
        """Return what a driver sees at a share of the path as JPEG, None before the first good place."""
        return self._draw(lambda view: view.look_along(share, width, height))

    def _draw(self, look: Callable[[SceneView], ByteArray]) -> bytes | None:
        view = self._view
        with self._drawing:
            return None if view is None else encode_jpeg(np.ascontiguousarray(look(view)), JPEG_QUALITY)

    def _run(self) -> None:
        before = None
        while not self._stopped.is_set():
            now = {path: read_stamp(path) for path in (self.path, *self._beside)}
            if now == before and now != self._known:
                self._known = now
                self._load()
            before = now
            self._stopped.wait(POLL)

    def _load(self) -> None:
        try:
            track, line = self._read()
            self._publish(is_building=True, error="", outline=_outline(line), line=measure_line(track, line))
            with locate_errors(self.path):
                scene = build_scene(track)
            view = SceneView(scene)
            if self._view is None:  # what drawing needs is compiled or loaded while the page says that it waits
                view.draw_map(64)
        except DonkeySimError as error:
            self._publish(is_building=False, error=str(error))
            return
        except (ValueError, ArithmeticError, LookupError, MemoryError) as error:
            _log.exception("a bug in donkeysim while building %s", self.path)
            self._publish(is_building=False, error=f"{self.path} cannot be built: {error!r}; the log says more.")
            return
        low, high = view.find_box()
        self._view = view
        self._publish(
            is_building=False,
            scene=measure_scene(scene),
            picture=self._state.picture + 1,
            box=(float(low[0]), float(low[1]), float(high[0]), float(high[1])),
        )

    def _read(self) -> tuple[TrackFile, CentreLine]:
        track = read_track(self.path)
        beside = {track.path.file, *(table.model for table in track.props)} - {""}
        self._beside = tuple(Path(file) for file in sorted(beside))
        self._known = {self.path: self._known[self.path], **{path: read_stamp(path) for path in self._beside}}
        with locate_errors(self.path):
            return track, build_line(track)

    def _publish(self, **changes: object) -> None:
        self._state = replace(self._state, number=self._state.number + 1, **changes)  # type: ignore[arg-type]
        self.bell.ring()


def _outline(line: CentreLine) -> Outline:
    count = min(OUTLINE_POINTS, max(32, round(line.length / 0.1)))
    distance = np.arange(count) * (line.length / (count if line.closed else count - 1))
    left, right = line.measure_widths(distance)
    return Outline(
        path=line.locate(distance)[0],
        left=line.offset(distance, left)[0],
        right=line.offset(distance, -right)[0],
        is_closed=line.closed,
    )
