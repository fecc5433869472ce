"""Recorded drives as examples to learn from: which records, in which order, what a network sees and should say."""

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from donkeysim.car.config import describe_failure, search_first
from donkeysim.core.errors import DonkeySimError, SpecError, TubError, format_count, shorten
from donkeysim.core.types import BoolArray, Float32Array, FloatArray, LongArray
from donkeysim.learn.kinds import LOCATION_KEY, PilotKind, PilotSpec, Targets, encode_targets
from donkeysim.tub.flaws import MOST_COMMAND
from donkeysim.tub.reader import TubReader, TubRecord, describe_command_keys, find_command_keys, read_channel
from donkeysim.tub.values import read_number

_log = logging.getLogger(__name__)

# The noise of a stick that nobody touches.
LEAST_STEERING = 0.01
"""Records whose angles all lie in a range narrower than this are of a car that was never steered."""


@dataclass(frozen=True)
class RecordView:
    """A record as TRAIN_FILTER sees it, which was written for the original: names and defaults are the original's."""

    underlying: Mapping[str, Any]
    record: TubRecord
    base_path: str
    config: Any

    def image(self, processor: Any = None, as_nparray: bool = True, cached: bool = True) -> Any:
        """Return the picture, shape [height, width, channels], processed if asked, or as Pillow's.

        Args:
            processor: Function of pictures, of donkeycar 5; in place of it donkeycar 4 has `cached`.
            as_nparray: Else it is a picture of Pillow's.
            cached: Of no effect.

        Raises:
            TubError: It is missing or broken.
        """
        del cached
        picture = self.record.load_image()
        picture = processor(picture) if callable(processor) else picture
        return picture if as_nparray else Image.fromarray(picture.squeeze())


@dataclass(frozen=True)
class RecordTable:
    """The usable records of all tubs, in the order of driving; row i of every array is record i.

    Attributes:
        records: Where the pictures come from.
        angle: + = right, shape [n].
        throttle: Shape [n].
        channels: What the kind reads beside the picture, shape [n, channel width]; width 0 where nothing.
        location: Shape [n], None where the kind has none.
        follows: Record i was taken right after record i - 1 in the same session of the same tub, shape [n].
    """

    records: Sequence[TubRecord]
    angle: FloatArray
    throttle: FloatArray
    channels: Float32Array
    location: LongArray | None
    follows: BoolArray


def read_records(
    tub_paths: Sequence[Path], kind: PilotKind, keep: Callable[[Any], bool] | None = None, config: Any = None
) -> RecordTable:
    """Read the records of tubs that a kind of pilot can learn from.

    Args:
        keep: TRAIN_FILTER.
        config: What TRAIN_FILTER sees as the records' configuration.

    Raises:
        DonkeySimError: A tub cannot be read, nothing is left, a key that the kind needs is missing, or nobody steered.
    """
    if not tub_paths:
        raise SpecError("no tub was given; name the folders to learn from: --tub data.")
    records: list[TubRecord] = []
    dropped = 0
    with _search_beside(keep):
        for path in tub_paths:
            for record in TubReader(path):
                if keep is None or _ask_filter(keep, _view(record, path, config)):
                    records.append(record)
                else:
                    dropped += 1
    _check_count(len(records), dropped, tub_paths)
    if dropped:
        _log.info("TRAIN_FILTER left out %s", format_count(dropped, "record"))
    table = _make_table(records, kind)
    _check_steering(table, kind)
    return table


def _view(record: TubRecord, path: Path, config: Any) -> RecordView:
    fields = {"_index": record.index, "_session_id": record.session_id, "_timestamp_ms": record.timestamp_ms}
    return RecordView({**fields, **record.values}, record, str(path), config)


def _ask_filter(keep: Callable[[Any], bool], view: RecordView) -> bool:
    """Return whether TRAIN_FILTER keeps a record.

    Raises:
        SpecError: It fails; the text names file and line.
    """
    try:
        return bool(keep(view))
    except TubError as error:  # it looked at a picture that is broken, which could not be learned from
        _log.warning("%s", error)
        return False
    except Exception as error:
        file = getattr(getattr(keep, "__code__", None), "co_filename", "TRAIN_FILTER")
        failure = describe_failure(Path(file), error).removesuffix(".")
        raise SpecError(f"{failure}; TRAIN_FILTER fails so at record {view.underlying['_index']}.") from error


def _search_beside(keep: Callable[[Any], bool] | None) -> AbstractContextManager[None]:
    """Let what a user's TRAIN_FILTER imports when it is asked be found beside it, as when the file itself is run."""
    file = getattr(getattr(keep, "__code__", None), "co_filename", "")
    is_own = str(getattr(keep, "__module__", "")).startswith("donkeysim.")
    return search_first(Path(file).parent) if file and not is_own else nullcontext()


def _check_count(count: int, dropped: int, tub_paths: Sequence[Path]) -> None:
    if count:
        return
    named = ", ".join(map(str, tub_paths))
    if dropped:
        raise DonkeySimError(f"TRAIN_FILTER leaves none of the {dropped} records in {named}; loosen it in myconfig.py.")
    raise DonkeySimError(f"there are no records in {named}; drive and record first, or run donkey sample.")


def _make_table(records: Sequence[TubRecord], kind: PilotKind) -> RecordTable:
    """Return the table of the records that have all numbers a kind learns from; the others are logged.

    Raises:
        DonkeySimError: None has.
    """
    rows, kept, faults = [], [], []
    for record in records:
        try:
            rows.append(_read_row(record, kind))
        except DonkeySimError as error:
            faults.append(error)
        else:
            kept.append(record)
    if not kept:
        raise _describe_lack(records, kind, faults[0])
    if faults:
        _log.warning("%s left out: %s.", format_count(len(faults), "record"), str(faults[0]).removesuffix("."))
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise DonkeySimError(
            f"the records give {' and '.join(str(width - 2) for width in sorted(widths))} numbers for "
            f"{', '.join(kind.channels)}; all must give the same number."
        )
    table = np.array(rows)
    is_placed = kind.form == "place"
    follows = [False, *(record.follows(before) for before, record in itertools.pairwise(kept))]
    return RecordTable(
        records=kept,
        angle=table[:, 0],
        throttle=table[:, 1],
        channels=table[:, 3 if is_placed else 2 :].astype(np.float32),
        location=np.rint(table[:, 2]).astype(np.int64) if is_placed else None,
        follows=np.array(follows, dtype=bool),
    )


def _read_row(record: TubRecord, kind: PilotKind) -> list[float]:
    """Return steering, throttle, the place where the kind has one, and what a pilot reads beside the picture.

    Raises:
        DonkeySimError: One of them is missing or no number.
    """
    names = [*find_command_keys(record.values), *([LOCATION_KEY] if kind.form == "place" else [])]
    pairs = [(name, record.values.get(name)) for name in names]
    for name in kind.channels:
        pairs += [(name, x) for x in _flatten(read_channel(record.values, name))]
    numbers = [read_number(value) for _, value in pairs]
    if None in numbers:
        name, value = pairs[numbers.index(None)]
        state = "missing" if value is None else _shorten_value(value)
        raise DonkeySimError(f"{name!r} is {state} in record {record.index}")
    return [number for number in numbers if number is not None]


def _flatten(value: Any) -> list[Any]:
    """Return what lists hold, at any depth, in order."""
    return [x for item in value for x in _flatten(item)] if isinstance(value, list) else [value]


def _describe_lack(records: Sequence[TubRecord], kind: PilotKind, first: DonkeySimError) -> DonkeySimError:
    """Return what says that no record has all numbers a kind learns from, given what is wrong with the first."""
    if isinstance(first, SpecError):
        return first
    beside = [*([LOCATION_KEY] if kind.form == "place" else []), *kind.channels]
    names = f"{describe_command_keys()}{' with ' * bool(beside)}{', '.join(beside)}"
    held = shorten(", ".join(sorted({key for record in records for key in record.values})) or "nothing", 160)
    return DonkeySimError(
        f"none of the {format_count(len(records), 'record')} can be learned from: {first}; they hold {held}. "
        f"Pilots learn from {names}; record with a car that stores them."
    )


def _shorten_value(value: Any) -> str:
    """Return a value as text; Python writes no number of thousands of digits."""
    try:
        return shorten(repr(value))
    except ValueError:
        return "too large a number"


def _check_steering(table: RecordTable, kind: PilotKind) -> None:
    """Raise when nobody ever steered; warn when the car would learn to stand still, or commands that it cannot take."""
    span = float(np.ptp(table.angle))
    if span < LEAST_STEERING:
        raise DonkeySimError(
            f"in {format_count(len(table.records), 'record')} the steering never changes (angle {table.angle[0]:.2f}): "
            "a pilot cannot learn to steer from that; record laps with curves and steer while recording."
        )
    for name, values in (("steering", table.angle), ("throttle", table.throttle)):
        if float(np.abs(values).max()) > MOST_COMMAND:
            _log.warning(
                "the %s goes from %.3g to %.3g, but a car takes -1 to 1: degrees, percents or pulses must be scaled to "
                "that in the tub before a pilot learns from it",
                *(name, values.min(), values.max()),
            )
    if kind.name != "inferred" and float(np.abs(table.throttle).max()) < LEAST_STEERING:
        _log.warning("the throttle is 0 in all records: the pilot will learn not to move")


def make_examples(table: RecordTable, usable: BoolArray, kind: PilotKind, spec: PilotSpec) -> LongArray:
    """Return which records make each example, shape [example_count, record_count]; the last is the one to answer.

    Args:
        usable: Which have a picture, shape [n].

    Raises:
        DonkeySimError: No records in a row are left.
    """
    length = kind.count_records(spec)
    count = len(table.records)
    run = np.zeros(count, dtype=np.int64)  # records in a row that end here
    for index in range(count):
        if usable[index]:
            run[index] = 1 + (run[index - 1] if index and table.follows[index] else 0)
    ends = np.flatnonzero(run >= length)
    if not usable.any():
        raise DonkeySimError(
            f"none of the {count} records has a picture that can be read; copy the tub's images again, or record again."
        )
    if not ends.size:
        raise DonkeySimError(
            f"a {kind.name} pilot learns from {length} records in a row, and no session here has that many; "
            "record longer, delete less, or make SEQUENCE_LENGTH smaller."
        )
    return ends[:, np.newaxis] + np.arange(1 - length, 1)


def split_examples(count: int, share: float, seed: int) -> tuple[LongArray, LongArray]:
    """Return which examples are learnt from and which validate, in random order; the same for the same seed.

    Raises:
        DonkeySimError: There are too few examples for one of each.
    """
    train_count = int(count * share)
    if train_count < 1 or train_count == count:
        raise DonkeySimError(
            f"{count} examples are too few: some are needed for training and some for validation; record more."
        )
    order = np.random.default_rng([seed, 0]).permutation(count)
    return order[:train_count], order[train_count:]


def make_vectors(table: RecordTable, examples: LongArray, kind: PilotKind) -> Float32Array:
    """Return what the network sees beside pictures, shape [example_count, width]; width 0 where nothing.

    Earlier commands come oldest first: angle, throttle, angle, throttle, …
    """
    if kind.history == "commands":
        commands = np.stack([table.angle, table.throttle], axis=1).astype(np.float32)
        return commands[examples[:, :-1]].reshape(len(examples), -1)
    return table.channels[examples[:, -1]]


def make_targets(table: RecordTable, examples: LongArray, kind: PilotKind, spec: PilotSpec) -> Targets:
    """Return what the network should say about each example, per output name."""
    last = examples[:, -1]
    location = table.location[last] if table.location is not None else None
    return encode_targets(kind, spec, table.angle[last], table.throttle[last], location)
