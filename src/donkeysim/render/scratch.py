"""Working memory for pictures: made when a larger picture is drawn than any before, kept for all."""

import operator
from typing import Any, NamedTuple

import numpy as np

from donkeysim.render.geometry import CLUSTER_ROOM
from donkeysim.render.kernels.layout import (
    BAND,
    BASIS_WIDTH,
    LANES,
    LIGHT_WIDTH,
    POSE_WIDTH,
    RECORD_FLOATS,
    RECORD_INTS,
    SPAN_FLOATS,
    SPAN_INPUTS,
    SPAN_INTS,
    VIEW_WIDTH,
    WORK_FLOATS,
    WORK_INTS,
)
from donkeysim.render.tables import Scratch

MOST_SAMPLES = 1 << 24
"""For how many samples, at 16 bytes each, a thread keeps working memory; more only for the picture that needs it."""

Shape = tuple[int, int, bool]
"""Width and height [sample], and whether colours are varied."""


class Size(NamedTuple):
    """What pictures need of working memory, each the most of all of them."""

    width: int
    height: int
    samples: int
    has_classes: int
    record_limit: int
    draw_limit: int


Kept = tuple[tuple[Shape, int, int], Size, Scratch]
"""What was asked for last, the size of all that was asked for, and the memory."""


class ScratchRoom:
    """Working memory of threads that draw, each its own, large enough for all pictures that it has drawn.

    One for each size would be made again and again where many sizes take turns, and that takes longer than drawing. Of
    what is there only the parts that are too small are made anew: fresh memory can cost more than the picture.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Kept] = {}

    def find(self, worker: int, shape: Shape, record_limit: int, draw_limit: int) -> Scratch:
        """Return working memory of one thread, valid until its next picture; larger than asked for, as a rule.

        Args:
            worker: Number of the thread.
            shape: Of its picture.
            record_limit: Triangles that the picture may show at most.
            draw_limit: Meshes that it may show at most.
        """
        asked = shape, record_limit, draw_limit
        kept = self._kept.get(worker)
        if kept is None or kept[0] != asked:
            kept = self._kept[worker] = (asked, *self._extend(self._kept.pop(worker, None), *asked))
        return kept[2]

    def _extend(self, kept: Kept | None, shape: Shape, record_limit: int, draw_limit: int) -> tuple[Size, Scratch]:
        """Return working memory for one more picture, the same if it is large enough already."""
        width, height, is_varied = shape
        size = Size(width, height, (round_up(width) + LANES) * (height + 1), is_varied, record_limit, draw_limit)
        if kept is None or kept[1].samples > MOST_SAMPLES:
            return size, make_scratch(size, None)
        size = Size(*map(max, kept[1], size))
        return size, kept[2] if size == kept[1] else make_scratch(size, kept[2])


def make_scratch(size: Size, old: Scratch | None) -> Scratch:
    """Return working memory for pictures up to a size, with those parts of the old that are large enough."""
    row, columns = round_up(size.width) + LANES, max(round_up(size.width) + LANES, round_up(size.height))
    shapes: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
        "depth": ((size.samples,), np.float32),
        "ident": ((size.samples,), np.uint32),
        "colour": ((size.samples,), np.uint32),
        "warped": ((size.samples,), np.uint32),
        "work_float": ((WORK_FLOATS, CLUSTER_ROOM), np.float32),
        "work_int": ((WORK_INTS, max(CLUSTER_ROOM, round_up(size.height))), np.int32),
        "record_float": ((size.record_limit, RECORD_FLOATS), np.float32),
        "record_int": ((size.record_limit, RECORD_INTS), np.int32),
        "span_input": ((SPAN_INPUTS, BAND * row), np.int32),
        "span_float": ((SPAN_FLOATS, BAND * row), np.float32),
        "span_int": ((SPAN_INTS, BAND * row), np.int32),
        "draw_mesh": ((size.draw_limit,), np.int32),
        "basis": ((size.draw_limit, BASIS_WIDTH), np.float32),
        "run_end": ((size.width,), np.int32),
        "mesh_pose": ((POSE_WIDTH,), np.float32),
        "body_pose": ((POSE_WIDTH,), np.float32),
        "camera_view": ((VIEW_WIDTH,), np.float32),
        "drawn": ((1,), np.int64),
        "light": ((LIGHT_WIDTH,), np.float32),
        "classes": ((size.height, size.width) if size.has_classes else (1, 1), np.uint8),
    }
    parts = {name: _extend(old, name, shape, kind) for name, (shape, kind) in shapes.items()}
    return Scratch(
        **parts,
        flat_float=parts["record_float"].reshape(-1),
        flat_int=parts["record_int"].reshape(-1),
        iota=np.arange(columns, dtype=np.float32),
        factor=np.ones(size.width, np.float32),
    )


def _extend(old: Scratch | None, name: str, shape: tuple[int, ...], kind: type[np.generic]) -> Any:
    """Return a part of the old memory, or zeros where it is too small."""
    array = None if old is None else getattr(old, name)
    fits = array is not None and all(map(operator.ge, array.shape, shape))
    return array if fits else np.zeros(shape, kind)


def round_up(width: int) -> int:
    """Return the columns of whole lanes that hold a row."""
    return (width + LANES - 1) // LANES * LANES
