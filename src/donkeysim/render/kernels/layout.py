"""Where things stand in the rows of scratch that the picture kernels share."""

from __future__ import annotations

BASIS_COLUMNS = 32
"""Camera in a mesh's frame: rows X, Y, Z (0-8), eye (9-11), ray per column, per row, at the first pixel (12-20),
direction to the sun (21-23), paint (24-26)."""

RECORD_FLOATS = 16
"""Of a triangle that may be seen: 1/w per column, per row, at the first pixel (0-2), u/w (3-5), v/w (6-8) in texels,
red, green, blue factor (9-11), fog rate (12), scales of u and v at the chosen mip level (13, 14)."""

RECORD_INTS = 20
"""Triangle (0), draw (1), `STATE_*` (2), texture (3), middle column and row (4, 5), side (6), longer side of its
bounds (7), first texel (8), logarithm of the width (9), masks of u and v (10, 11), steps to the other texels of
a pixel (12-15), packed colour (16)."""

STATE_NEW, STATE_FLAT, STATE_SMALL, STATE_LARGE, STATE_PLAIN = range(5)
"""How a record is coloured: not known yet; one colour; one mip level; a mip level per block; the sky."""

SMALL_SIDE = 40
"""Triangles with fewer columns and rows than this have one mip level and one amount of fog."""

TINY_SIDE = 5
"""Those with fewer than this have one colour, the mean of their part of the texture."""

TINY_SIDE_FAST = 12
"""The same for the quality `fast`."""

WORK_FLOATS = 21
"""Rows of a cluster's float scratch: see `draw_mesh`."""

WORK_INTS = 11
"""Rows of its integer scratch."""

LANES = 8
"""Row loops run over multiples of this many pixels; rows are padded accordingly."""
