"""Batches of examples, gathered and augmented on a thread of their own while the network learns from the last one.

Pictures are changed at random, anew in every epoch, so that a pilot bears other light. BRIGHTNESS and BLUR are
those of donkeycar 5; MULTIPLY is what its version 4 has instead of BRIGHTNESS, and CROP and TRAPEZE may stand among the
augmentations there.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from donkeysim.car.config import Config
from donkeysim.car.transform import Transform, make_steps
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.types import ByteArray, Float32Array, LongArray
from donkeysim.learn.kinds import Targets
from donkeysim.learn.pictures import PictureStore
from donkeysim.learn.recovery import Views

BATCHES_AHEAD = 2

Augmentation = Callable[[ByteArray, np.random.Generator], ByteArray]
"""Picture, shape [h, w, channels], to a changed one."""

LIKELIHOOD = {"BRIGHTNESS": 0.5, "BLUR": 0.5, "MULTIPLY": 1.0, "CROP": 1.0, "TRAPEZE": 1.0}
"""How often each augmentation is applied to a picture."""

# Three standard deviations on each side of a blur of 2 pixels.
BLUR_SIZE = 13
"""Width of the Gaussian's window [pixel]."""


@dataclass(frozen=True)
class TrainingBatch:
    """Some examples.

    Attributes:
        pictures: Shape [n(, sequence), h, w, channels].
        vectors: What else the network sees, shape [n, width]; width 0 where nothing.
        targets: What it should say, per output name.
    """

    pictures: ByteArray
    vectors: Float32Array
    targets: Targets

    def __len__(self) -> int:
        return len(self.pictures)


@dataclass(frozen=True)
class Examples:
    """Examples of one part of the split.

    Attributes:
        store: Pictures of all records.
        rows: Records of each example, shape [n, record_count]; the last is the one to answer.
        has_sequence: The network sees the pictures of all of an example's records, not only of the last.
        vectors: Shape [n, width].
        targets: Per output name, n rows.
        views: Moves each picture and its steering; examples of one picture and a number for the angle.
        prepare: Done to each picture after that.
        augment: Changes each picture at random after that; an example's pictures each by its own draw.
        finish: Done to each picture after that.
    """

    store: PictureStore
    rows: LongArray
    has_sequence: bool
    vectors: Float32Array
    targets: Targets
    views: Views | None = None
    prepare: Transform | None = None
    augment: Augmentation | None = None
    finish: Transform | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: LongArray, rng: np.random.Generator) -> TrainingBatch:
        """Return the examples with these numbers as a batch."""
        records = self.rows[chosen] if self.has_sequence else self.rows[chosen, -1]
        pictures = self.store.take_many(records)
        targets = {name: rows[chosen] for name, rows in self.targets.items()}
        if self.views is not None:
            angles = next(iter(targets.values()))
            for index, picture in enumerate(pictures):
                pictures[index], angles[index, 0] = self.views.move(picture, float(angles[index, 0]), rng)
        for index, picture in enumerate(flat := pictures.reshape(-1, *pictures.shape[-3:])):
            changed = picture if self.prepare is None else self.prepare(picture)
            changed = changed if self.augment is None else self.augment(changed, rng)
            if self.finish is not None:
                changed = self.finish(changed)
            if changed is not picture:
                flat[index] = changed.reshape(picture.shape)
        return TrainingBatch(pictures, self.vectors[chosen], targets)


def split_batch(batch: TrainingBatch, size: int) -> list[TrainingBatch]:
    """Return a batch in parts of equally many examples; the last may have fewer."""
    cuts = [slice(begin, begin + size) for begin in range(0, len(batch), size)]
    return [
        TrainingBatch(
            batch.pictures[cut], batch.vectors[cut], {name: rows[cut] for name, rows in batch.targets.items()}
        )
        for cut in cuts
    ]


def iterate_batches(examples: Examples, batch_size: int, seed: int, epoch: int | None) -> Iterator[TrainingBatch]:
    """Yield all examples in batches, made on a thread while the caller works on the one before.

    Args:
        batch_size: Of all but the last batch.
        seed: Of the order and the augmentations.
        epoch: From 1; each has its own order and its own augmentations. None: in order.
    """
    rng = np.random.default_rng([seed, 1, epoch or 0])
    order = np.arange(len(examples)) if epoch is None else rng.permutation(len(examples))
    waiting: deque[Future[TrainingBatch]] = deque()
    pool = ThreadPoolExecutor(1, thread_name_prefix="donkeysim-batches")  # one thread: draws stay in order
    try:
        for begin in range(0, len(order), batch_size):
            waiting.append(pool.submit(examples.take, order[begin : begin + batch_size], rng))
            if len(waiting) > BATCHES_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def make_augmentation(config: Config, otherwise: Sequence[str] = ()) -> Augmentation | None:
    """Return what AUGMENTATIONS of a configuration asks for, or `otherwise` where that is nothing; None for nothing.

    Raises:
        SpecError: An unknown name, or an impossible range.
    """
    makers = {"BRIGHTNESS": _make_brightness, "BLUR": _make_blur, "MULTIPLY": _make_multiply}
    names = list(getattr(config, "AUGMENTATIONS", []) or otherwise)
    for name in names:
        if name not in LIKELIHOOD:
            raise SpecError(describe_unknown("augmentation", str(name), LIKELIHOOD))
    steps = [(LIKELIHOOD[name], makers[name](config) if name in makers else _make_mask(config, name)) for name in names]
    if not steps:
        return None

    def augment(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        for likelihood, step in steps:
            if rng.random() < likelihood:
                picture = step(picture, rng)
        return picture

    return augment


def _make_mask(config: Config, name: str) -> Augmentation:
    mask = make_steps(config, [name])
    return lambda picture, _: mask(picture)


def _make_multiply(config: Config) -> Augmentation:
    low, high = getattr(config, "AUG_MULTIPLY_RANGE", (0.5, 1.5))
    grey = np.arange(256, dtype=np.float64)

    def change(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        table = np.clip(np.rint(grey * rng.uniform(low, high)), 0, 255).astype(np.uint8)
        changed: ByteArray = table[picture]
        return changed

    return change


def _make_brightness(config: Config) -> Augmentation:
    """Contrast times 1 plus what is drawn from the range, then brightness plus another draw of it, 1: full white."""
    given = getattr(config, "AUG_BRIGHTNESS_RANGE", 0.2)
    low, high = given if isinstance(given, tuple | list) else (-given, given)
    grey = np.arange(256, dtype=np.float64)

    def change(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        brightness, contrast = rng.uniform(low, high, 2)
        table = np.clip(np.rint(grey * (1.0 + contrast) + 255.0 * brightness), 0, 255).astype(np.uint8)
        changed: ByteArray = table[picture]
        return changed

    return change


def _make_blur(config: Config) -> Augmentation:
    given = getattr(config, "AUG_BLUR_RANGE", (0, 3))
    low, high = given if isinstance(given, tuple | list) else (0.0, given)
    if not (isinstance(low, int | float) and isinstance(high, int | float) and 0 <= low <= high):
        raise SpecError(f"AUG_BLUR_RANGE = {given!r} is not valid; it takes two widths in pixels, as (0, 3).")

    def change(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        import cv2

        sigma = rng.uniform(low, high)
        if sigma < 0.1:  # nothing to see; 0 would mean "as the window" there
            return picture
        blurred = cv2.GaussianBlur(picture, (BLUR_SIZE, BLUR_SIZE), sigma)
        return np.asarray(blurred, dtype=np.uint8).reshape(picture.shape)

    return change
