"""Working memory for pictures: made when a larger picture is drawn than any before, kept for all."""

from __future__ import annotations

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
"""A thread keeps working memory for so many samples, at 16 bytes each; more only for the picture that needs it."""

Shape = tuple[int, int, bool]
"""Width and height [sample], and whether colours are varied."""


class ScratchRoom:
    """Working memory of threads that draw, each its own, large enough for all pictures that it has drawn.

    One for each size would be made again and again where many sizes take turns, and that takes longer than drawing.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Shape, Scratch]] = {}

    def find(self, worker: int, shape: Shape, record_limit: int, draw_limit: int) -> Scratch:
        """Return working memory of one thread, valid until its next picture; larger than asked for, as a rule.

        Args:
            worker: Number of the thread.
            shape: Of its picture.
            record_limit: Triangles that the picture may show at most.
            draw_limit: Meshes that it may show at most.
        """
        kept, scratch = self._kept.get(worker, ((0, 0, False), None))
        limits = record_limit, draw_limit
        if kept == shape and scratch is not None and _fits(scratch, *limits):
            return scratch
        joined = (max(shape[0], kept[0]), max(shape[1], kept[1]), shape[2] or kept[2])
        if joined[0] * joined[1] > MOST_SAMPLES:
            joined = shape
        if joined != kept or scratch is None or not _fits(scratch, *limits):
            self._kept.pop(worker, None)
            scratch = None  # so that both need not fit into memory
            scratch = make_scratch(*joined[:2], *limits, joined[2])
            self._kept[worker] = joined, scratch
        return scratch


def _fits(scratch: Scratch, record_limit: int, draw_limit: int) -> bool:
    return len(scratch.record_float) >= record_limit and len(scratch.draw_mesh) >= draw_limit


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
        camera_view=np.zeros(VIEW_WIDTH, np.float32),
        drawn=np.zeros(1, np.int64),
        light=np.zeros(LIGHT_WIDTH, np.float32),
        classes=np.zeros((height, width) if with_classes else (1, 1), np.uint8),
        factor=np.ones(width, np.float32),
    )


def round_up(width: int) -> int:
    """Return the columns of whole lanes that hold a row."""
    return (width + LANES - 1) // LANES * LANES
