"""Batches of examples, gathered and augmented on a thread of their own while the network learns from the last one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from donkeysim.car.transform import Transform
from donkeysim.core.types import ByteArray, Float32Array, LongArray
from donkeysim.learn.augment import Augmentation
from donkeysim.learn.kinds import Targets
from donkeysim.learn.pictures import PictureStore

BATCHES_AHEAD = 2


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
        augment: Changes each picture at random; an example's pictures each by its own draw.
        finish: Done to each picture after that.
    """

    store: PictureStore
    rows: LongArray
    has_sequence: bool
    vectors: Float32Array
    targets: Targets
    augment: Augmentation | None = None
    finish: Transform | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: LongArray, rng: np.random.Generator) -> TrainingBatch:
        """Return the examples with these numbers as a batch."""
        records = self.rows[chosen] if self.has_sequence else self.rows[chosen, -1]
        pictures = self.store.take_many(records)
        if self.augment is not None or self.finish is not None:
            flat = pictures.reshape(-1, *pictures.shape[-3:])
            for index, picture in enumerate(flat):
                changed = picture if self.augment is None else self.augment(picture, rng)
                changed = changed if self.finish is None else self.finish(changed)
                flat[index] = changed.reshape(picture.shape)
        targets = {name: rows[chosen] for name, rows in self.targets.items()}
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
        examples: What to draw from.
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
