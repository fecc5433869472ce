"""What a race director must know of a track."""

from dataclasses import dataclass

from donkeysim.core.errors import SpecError
from donkeysim.world.scene import Scene

PAST_GATE = 0.1
"""A car that is put at a gate stands so far past it, so that it does not pass it again [m]."""


@dataclass(frozen=True)
class RaceCourse:
    """A closed track.

    Attributes:
        name: Of its scene.
        length: Once around [m].
        gates: Where the line and then the checkpoints are along the path [m].
        labels: What may be touched, by code.
    """

    name: str
    length: float
    gates: tuple[float, ...] = (0.0,)
    labels: tuple[str, ...] = ("terrain",)

    def measure_ahead(self, place: float, other: float) -> float:
        """Return how far ahead of a place another one is, the shorter way round, negative: behind [m]."""
        return (other - place + 0.5 * self.length) % self.length - 0.5 * self.length


def survey_course(scene: Scene) -> RaceCourse:
    """Return what a race director must know of a scene.

    Raises:
        SpecError: Its road does not return to its start, or it has no start line.
    """
    if not scene.path.closed:
        raise SpecError(f"the track {scene.name} does not return to its start; a race needs a closed circuit.")
    if not len(scene.start.line):
        raise SpecError(f"the track {scene.name} has no start line; a race needs one to count laps.")
    frame = scene.path.frame
    middles = [line.mean(axis=0) for line in (scene.start.line[0], *scene.start.checkpoint)]
    gates = tuple(float(frame.locate(x, y).along) for x, y in middles)
    return RaceCourse(scene.name, float(frame.length), gates, scene.labels)
