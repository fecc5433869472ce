"""Working memory for pictures: made when a picture of a new size is drawn, kept for the sizes drawn last."""

from __future__ import annotations

from collections.abc import Iterable

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
    WORK_FLOATS,
    WORK_INTS,
)
from donkeysim.render.tables import Scratch

MOST_SAMPLES = 1 << 24
"""A thread keeps working memory for so many samples, at 16 bytes each, and for its latest picture in any case."""

MOST_SHAPES = 16
"""And for so many sizes of pictures: part of the memory, some 2 MB, is as large for a small one."""

Shape = tuple[int, int, bool]
"""Width and height [sample], and whether colours are varied."""


class ScratchRoom:
    """Working memory of threads that draw; who asks for picture after picture of another size does not fill it."""

    def __init__(self) -> None:
        self._kept: dict[int, dict[Shape, Scratch]] = {}

    def find(self, worker: int, shape: Shape, record_limit: int, draw_limit: int) -> Scratch:
        """Return working memory of one thread, valid until its next picture.

        Args:
            worker: Number of the thread.
            shape: Of its picture.
            record_limit: Triangles that the picture may show at most.
            draw_limit: Meshes that it may show at most.
        """
        kept = self._kept.setdefault(worker, {})
        scratch = kept.pop(shape, None)
        if scratch is None or len(scratch.record_float) < record_limit or len(scratch.draw_mesh) < draw_limit:
            while len(kept) >= MOST_SHAPES or (kept and _count_samples((*kept, shape)) > MOST_SAMPLES):
                del kept[next(iter(kept))]  # the one that was not used for longest
            scratch = make_scratch(*shape[:2], record_limit, draw_limit, shape[2])
        kept[shape] = scratch
        return scratch


def _count_samples(shapes: Iterable[Shape]) -> int:
    return sum(width * height for width, height, _ in shapes)


def make_scratch(width: int, height: int, record_limit: int, draw_limit: int, with_classes: bool) -> Scratch:
    """Return working memory for pictures of one size [sample]; `with_classes`: for varied colours too."""
    stride = round_up(width) + LANES
    pixels = stride * height + stride
    record_float = np.zeros((record_limit, RECORD_FLOATS), np.float32)
    record_int = np.zeros((record_limit, RECORD_INTS), np.int32)
    return Scratch(
        depth=np.zeros(pixels, np.float32),
        ident=np.zeros(pixels, np.uint32),
        colour=np.zeros(pixels, np.uint32),
        warped=np.zeros(pixels, np.uint32),
        work_float=np.zeros((WORK_FLOATS, CLUSTER_ROOM), np.float32),
        work_int=np.zeros((WORK_INTS, max(CLUSTER_ROOM, round_up(height))), np.int32),
        record_float=record_float,
        record_int=record_int,
        flat_float=record_float.reshape(-1),
        flat_int=record_int.reshape(-1),
        span_input=np.zeros((SPAN_INPUTS, BAND * stride), np.int32),
        span_float=np.zeros((SPAN_FLOATS, BAND * stride), np.float32),
        span_int=np.zeros((SPAN_INTS, BAND * stride), np.int32),
        draw_mesh=np.zeros(draw_limit, np.int32),
        basis=np.zeros((draw_limit, BASIS_WIDTH), np.float32),
        iota=np.arange(max(stride, round_up(height)), dtype=np.float32),
        run_end=np.zeros(width, np.int32),
        mesh_pose=np.zeros(POSE_WIDTH, np.float32),
        body_pose=np.zeros(POSE_WIDTH, np.float32),
        zero=np.zeros(3, np.float32),
        drawn=np.zeros(1, np.int64),
        light=np.zeros(LIGHT_WIDTH, np.float32),
        classes=np.zeros((height, width) if with_classes else (1, 1), np.uint8),
        factor=np.ones(width, np.float32),
    )


def round_up(width: int) -> int:
    """Return the columns of whole lanes that hold a row."""
    return (width + LANES - 1) // LANES * LANES
