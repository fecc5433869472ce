"""Where things stand in the rows of scratch that the picture kernels share."""

from __future__ import annotations

BASIS_COLUMNS = 32
"""Camera in a mesh's frame: rows X, Y, Z (0-8), eye (9-11), ray per column, per row, at the first pixel (12-20),
direction to the sun (21-23), paint (24-26)."""

RECORD_FLOATS = 16
"""Of a triangle that may be seen: 1/w per column, per row, at the first pixel (0-2), u/w (3-5), v/w (6-8) in texels,
red, green, blue factor (9-11), fog rate (12), scales of u and v at the mip level of its holes (13, 14)."""

RECORD_INTS = 20
"""Triangle (0), draw (1), `STATE_*` (2), texture (3), middle column and row (4, 5), side (6), longer side of its
bounds (7) until it is shaded, then width, height and last mip level of its texture (7-9, logarithms to base 2); of
holes, while it is drawn: first texel (8), logarithm of a row (9), masks of u and v (10, 11); packed colour (16)."""

STATE_NEW, STATE_FLAT, STATE_SMALL, STATE_LARGE, STATE_PLAIN = range(5)
"""How a record is coloured: not known yet; one colour; one mip level; a mip level per block; the sky."""

SMALL_SIDE = 40
"""Triangles with fewer columns and rows than this have one mip level and one amount of fog."""

TINY_SIDE = 5
"""Those with fewer than this have one colour, the mean of their part of the texture."""

TINY_SIDE_FAST = 12
"""The same for the quality `fast`."""

BLOCK = 32
"""Pixels of a large triangle's row that share a mip level."""

BAND = 8
"""Rows whose spans are prepared together; a power of two."""

SPAN_PLAIN, SPAN_ONE, SPAN_FOUR, SPAN_FLAT = range(4)
"""How a span is coloured: one texel as it is; one texel; four texels; one colour."""

SPAN_INPUTS = 6
"""Rows of what is listed of spans: see `list_run`."""

SPAN_FLOATS = 6
"""Rows of how spans run over their textures: see `set_up_spans`."""

SPAN_INTS = 8
"""Rows of where spans lie in their textures: see `set_up_spans`."""

WORK_FLOATS = 21
"""Rows of a cluster's float scratch: see `draw_mesh`."""

WORK_INTS = 11
"""Rows of its integer scratch."""

LANES = 8
"""Row loops run over multiples of this many pixels; rows are padded accordingly."""
