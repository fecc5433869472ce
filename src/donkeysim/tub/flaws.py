"""What is wrong with a recorded drive, in a person's words: what was found, where, and what to do about it.

The bounds of the rules lie between what 27 good drives show (24 of places of the simulator, one of the original, two of
real cars) and what drives show that were spoilt on purpose; `tests/soak/test_good_tubs.py` holds them to it.
"""

import itertools
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from donkeysim.core.types import BoolArray, LongArray, Report
from donkeysim.tub.agreement import LEAST_PAIRS, find_agreement
from donkeysim.tub.cuts import compare_colours, compare_keys, compare_throttle, compare_tilt, find_cut
from donkeysim.tub.glance import Glance, look_at
from donkeysim.tub.reader import TubReader, TubRecord

_log = logging.getLogger(__name__)

WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = json.loads(
    Path(__file__).with_name("flaw_words.json").read_text(encoding="utf-8")
)
"""By kind and language: what was found, with names of `Flaw.values` in braces, and what to do."""

LEAST_RECORDS = 100
"""A tub with fewer is not judged: five seconds are no drive."""

# A person waits for a second before setting off.
LONG = 2.0
"""From so long on [s] a stretch counts in which the car stands, the lens is covered or the car is off the road."""

# Where nothing moves JPEG gives the same bytes again in a simulator; a real camera's noise makes up to 1.
SAME = 0.2
"""Change from picture to picture [grey level] below which it is the same picture again."""

QUIET = 1.2
"""The same of a camera that stands still; the slowest of good drives changes by 1.6 or more in 95 of 100 records."""

NO_THROTTLE = 0.02
"""Throttle up to which nobody drives."""

LOCK = 0.99
"""Steering from which it is at its end."""

# Good drives: 0.38 at most, of a real car driven by a gamepad.
MOST_LOCKED = 0.6
"""Share of the records with steering at its ends, above which it is saturated."""

JERK = 0.1
"""From so much on a change of the steering to one side and at once back to the other is trembling."""

# Good drives: 0.008 at most.
MOST_JERKS = 0.05
"""Share of the records with one."""

MOST_COMMAND = 1.05
"""Steering and throttle beyond are in other units; a little above 1 is what a joystick's scale makes."""

LEAST_STEERING = 0.02
"""Standard deviation of the steering, below which nobody steered."""

BEND = 0.15
"""Steering from which it is a bend."""

# Good drives: 0.96 at most, on a ring that is driven one way round.
MOST_ONE_SIDE = 0.99
"""Share of the bends to one side, above which there are none to the other."""

LEAST_LAP = 25.0
"""How long a tub is [s], for that to be said."""

# Good drives: none is missing. A kill may take one.
MOST_MISSING = 0.01
"""Share of the records without a picture that can be read."""

DARK = 12.0
"""Brightness [grey level] below which nothing can be seen; good drives: 25 at least."""

PLAIN = 5.0
"""Contrast [grey level] below which the same holds; good drives: 10 at least."""

# Good drives: 0.50 at least; with a blur of 1.5 pixels of 160 at 120: 0.36 to 0.43.
LEAST_FINENESS = 0.45
"""Of the pictures, below which they are blurred; see `Sights.fineness`."""

# Good drives: never, 0.19 at most.
JUMP = 0.2
"""Of the brightness from picture to picture, as a share."""

MOST_JUMPS = 0.005
"""Share of the records with one, above which the exposure is not steady."""

# Where the original's environments end an episode.
MOST_CTE = 8.0
"""Distance from the middle of the road [1/8 m] above which the car is off it."""

BACKWARD = -0.1
"""Throttle below which the car is driven backward, where it lasts: a driver who brakes does so for a moment."""

BACKING_TIME = 0.75
"""How long [s]."""

Span = tuple[int, int]
"""The positions of the first and the last record of a stretch."""

EXAMPLES = 3
"""Pictures that show a flaw."""


@dataclass(frozen=True)
class Flaw:
    """Something that is wrong with a tub.

    Attributes:
        kind: A key of `WORDS`.
        values: What its words name, written as people read it.
        spans: The stretches it is about, in order; none: the whole tub.
        examples: Positions of records whose pictures show it.
    """

    kind: str
    values: Mapping[str, str] = field(default_factory=dict)
    spans: Sequence[Span] = ()
    examples: Sequence[int] = ()

    def describe(self, language: str = "en") -> tuple[str, str]:
        """Return what was found, and what to do, in a sentence each."""
        finding, advice = WORDS[self.kind][language]
        return finding.format(**self.values), advice


def find_flaws(tub: Iterable[TubRecord], report: Report = lambda _done, _total: None) -> list[Flaw]:
    """Return what is wrong with a tub, the worst for a pilot first; nothing for one that is too short to judge.

    Args:
        tub: A `TubReader`, or records of one in their order.
        report: Called as report(done, total), in records.
    """
    return judge(look_at(tub, report))


def log_flaws(paths: Sequence[Path]) -> None:
    """Tell in the log what is wrong with tubs, a line each; where nobody reads it, nobody looks.

    Raises:
        TubError: There is no such tub.
    """
    if not _log.isEnabledFor(logging.INFO):
        return
    for path in paths:
        for flaw in find_flaws(TubReader(path)):
            _log.info("The tub %s: %s %s", path, *flaw.describe())


def judge(glance: Glance) -> list[Flaw]:
    """Return what is wrong with the records that were looked at."""
    return [flaw for rule in _RULES for flaw in rule(glance)] if len(glance) >= LEAST_RECORDS else []


def _judge_agreement(glance: Glance) -> Iterator[Flaw]:
    """Tell of drives whose steering and pictures do not belong together."""
    drives = _list_drives(glance)
    wrong: dict[str, list[tuple[slice, dict[str, str]]]] = {}
    for part in drives:
        found = find_agreement(glance, part)
        if found.is_usual:
            continue
        kind = "mirrored" if found.is_mirrored else "late_steering" if found.lag <= 0.0 else "late_pictures"
        values = {"fit": f"{found.fit:.2f}", "seconds": f"{abs(found.lag):.2f}"}
        wrong.setdefault(kind, []).append((part, values))
    for kind, parts in wrong.items():
        spans = [_span(glance, part.start, part.stop - 1) for part, _ in parts] if len(parts) < len(drives) else []
        bends = [part.start + int(np.nanargmax(np.abs(glance.angle[part]))) for part, _ in parts]
        yield Flaw(kind, parts[0][1], spans, glance.position[bends[:EXAMPLES]].tolist())


def _judge_pictures(glance: Glance) -> Iterator[Flaw]:
    """Tell of pictures that are missing, dark, plain or blurred, and of exposure that jumps."""
    sights = glance.sights
    yield from _find_share("no_pictures", glance, sights.size[:, 0] == 0, MOST_MISSING)
    yield from _find_runs("dark", glance, (sights.brightness < DARK) | (sights.contrast < PLAIN), LONG)
    is_seen = sights.contrast >= PLAIN
    if is_seen.any() and float(np.median(sights.fineness[is_seen])) < LEAST_FINENESS:
        yield Flaw("blurred", {}, (), _choose_examples(glance, is_seen))
    before = np.concatenate([sights.brightness[:1], sights.brightness[:-1]])
    jump = np.abs(sights.brightness - before) / np.maximum(np.maximum(sights.brightness, before), 1.0)
    is_lit = (sights.brightness > DARK) & (before > DARK) & np.isfinite(sights.change)
    yield from _find_share("exposure", glance, (jump > JUMP) & is_lit, MOST_JUMPS)
    sizes = {tuple(size) for size in sights.size.tolist() if size[0]}
    if len(sizes) > 1:
        named = ", ".join(f"{width}x{height}" for width, height in sorted(sizes)[:3])
        common = max(sizes, key=lambda size: int((sights.size == size).all(axis=1).sum()))
        other = ~(sights.size == common).all(axis=1) & (sights.size[:, 0] > 0)
        yield Flaw("sizes", {"sizes": named}, _list_spans(glance, other), _choose_examples(glance, other))


def _judge_driving(glance: Glance) -> Iterator[Flaw]:
    """Tell of stretches in which the car stands, is backed, or is off the road."""
    change, throttle = glance.sights.change, glance.throttle
    is_idle = ~(np.abs(throttle) > NO_THROTTLE)
    rests = (change < SAME) | (is_idle & (change < QUIET))
    drives = np.zeros(len(glance), bool)
    for first, last in _list_runs(glance, rests):
        drives[first : last + 1] = is_idle[first : last + 1].mean() < 0.5
    yield from _find_runs("still", glance, rests & ~drives, LONG)
    yield from _find_runs("frozen", glance, drives, LONG)
    yield from _find_runs("backing", glance, throttle < BACKWARD, BACKING_TIME)
    yield from _find_runs("off_road", glance, np.abs(glance.cte) > MOST_CTE, 0.0)


def _judge_commands(glance: Glance) -> Iterator[Flaw]:
    """Tell of steering and throttle that no pilot learns from."""
    known = np.isfinite(glance.angle) & np.isfinite(glance.throttle)
    yield from _find_share("no_commands", glance, ~known, 0.0)
    angle = glance.angle[known]
    if len(angle) < LEAST_RECORDS:
        return
    is_beyond = known & (np.maximum(np.abs(glance.angle), np.abs(glance.throttle)) > MOST_COMMAND)
    if is_beyond.any():
        ranges = [
            f"{values[known].min():.4g} … {values[known].max():.4g}" for values in (glance.angle, glance.throttle)
        ]
        yield Flaw(
            "units", dict(zip(("angle", "throttle"), ranges, strict=True)), (), _choose_examples(glance, is_beyond)
        )
        return
    if float(np.quantile(np.abs(glance.throttle[known]), 0.95)) <= NO_THROTTLE:
        yield Flaw("no_throttle", {}, (), _choose_examples(glance, known))
    if float(angle.std()) < LEAST_STEERING:
        yield Flaw("no_steering", {}, (), _choose_examples(glance, known))
        return
    yield from _find_share("saturated", glance, np.abs(glance.angle) >= LOCK, MOST_LOCKED)
    steps = np.diff(glance.angle, prepend=glance.angle[:1])
    after = np.append(steps[1:], 0.0)
    jerks = (steps * after < 0.0) & (np.minimum(np.abs(steps), np.abs(after)) > JERK)
    yield from _find_share("trembling", glance, jerks, MOST_JERKS)
    bends = np.abs(angle) > BEND
    right = float((angle[bends] > 0.0).mean()) if bends.any() else 0.5
    if max(right, 1.0 - right) > MOST_ONE_SIDE and len(angle) >= LEAST_LAP * glance.rate:
        kind = "right_only" if right > 0.5 else "left_only"
        yield Flaw(kind, {}, (), _choose_examples(glance, np.abs(glance.angle) > BEND))


def _judge_parts(glance: Glance) -> Iterator[Flaw]:
    """Tell of a tub that holds two drivers, two mountings or two orders of colours."""
    comparisons = {
        "two_throttles": compare_throttle,
        "two_hands": compare_keys,
        "two_mountings": compare_tilt,
        "two_colours": compare_colours,
    }
    for kind, compare in comparisons.items():
        cut = find_cut(glance, compare)
        if cut is None:
            continue
        parts = (slice(0, cut.index), slice(cut.index, len(glance)))
        shorter = min(parts, key=lambda part: part.stop - part.start)
        values = {"record": f"{glance.position[cut.index]}"}
        if kind == "two_throttles":
            values |= {"before": f"{cut.before:.2f}", "after": f"{cut.after:.2f}"}
        examples = glance.position[[cut.index // 2, (cut.index + len(glance)) // 2]].tolist()
        yield Flaw(kind, values, [_span(glance, shorter.start, shorter.stop - 1)], examples)


_RULES: tuple[Callable[[Glance], Iterator[Flaw]], ...] = (
    _judge_agreement,
    _judge_pictures,
    _judge_driving,
    _judge_commands,
    _judge_parts,
)


def _list_drives(glance: Glance) -> list[slice]:
    """Return the drives of a tub that are long enough to be judged, or the whole tub where none is."""
    ends = [0, *(np.flatnonzero(np.diff(glance.session)) + 1).tolist(), len(glance)]
    drives = [slice(first, last) for first, last in itertools.pairwise(ends) if last - first >= 2 * LEAST_PAIRS]
    return drives or [slice(0, len(glance))]


def _find_share(kind: str, glance: Glance, found: BoolArray, most: float) -> Iterator[Flaw]:
    """Tell of records if there are more than a share of them."""
    share = float(found.mean())
    if share > most:
        values = {"share": f"{100.0 * share:.0f}%" if share >= 0.1 else f"{max(100.0 * share, 0.1):.1f}%"}
        yield Flaw(kind, values, _list_spans(glance, found), _choose_examples(glance, found))


def _find_runs(kind: str, glance: Glance, found: BoolArray, least: float) -> Iterator[Flaw]:
    """Report stretches of at least this many seconds."""
    runs = [run for run in _list_runs(glance, found) if run[1] - run[0] + 1 >= max(1.0, least * glance.rate)]
    if runs:
        seconds = sum(last - first + 1 for first, last in runs) / glance.rate
        longest = sorted(runs, key=lambda run: run[0] - run[1])[:EXAMPLES]
        examples = glance.position[[(first + last) // 2 for first, last in longest]].tolist()
        spans = [_span(glance, first, last) for first, last in runs]
        yield Flaw(kind, {"seconds": f"{seconds:.1f}"}, spans, examples)


def _list_runs(glance: Glance, found: BoolArray) -> list[tuple[int, int]]:
    """Return the first and last number of records that were found one after the other, without a gap between."""
    goes_on = np.zeros(len(found), bool)
    goes_on[1:] = found[1:] & found[:-1] & (np.diff(glance.position) == 1)
    firsts = np.flatnonzero(found & ~goes_on)
    lasts = np.flatnonzero(found & ~np.append(goes_on[1:], False))
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _list_spans(glance: Glance, found: BoolArray) -> list[Span]:
    return [_span(glance, first, last) for first, last in _list_runs(glance, found)]


def _span(glance: Glance, first: int, last: int) -> Span:
    return int(glance.position[first]), int(glance.position[last])


def _choose_examples(glance: Glance, found: BoolArray) -> list[int]:
    """Return positions of records that were found, evenly spread."""
    numbers = np.flatnonzero(found)
    chosen: LongArray = numbers[np.linspace(0, len(numbers) - 1, min(EXAMPLES, len(numbers))).astype(np.int64)]
    positions: list[int] = glance.position[chosen].tolist()
    return positions
