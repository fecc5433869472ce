"""The roof of a picture's time: what is measured there does what it says."""

import numpy as np
from benchmarks.roof import HEIGHT, STRIDE, WIDTH, colour, make_canvas, mark


def test_every_pixel_is_coloured_however_rows_are_cut_and_marked_once():
    whole, short = make_canvas(WIDTH), make_canvas(8)
    pictures = []
    for canvas in (whole, short):
        canvas.colour[:] = 0xFFFFFFFF
        colour(canvas)
        pictures.append(canvas.colour[: HEIGHT * STRIDE].reshape(HEIGHT, STRIDE)[:, :WIDTH])
    assert pictures[0].max() < 1 << 24
    assert len(np.unique(pictures[0])) > 10_000  # of 19,200 pixels that each show texels of their own
    assert (pictures[0] == pictures[1]).mean() > 0.9  # but for how places on the texture are rounded
    mark(whole)
    assert (whole.ident[: HEIGHT * STRIDE].reshape(HEIGHT, STRIDE)[:, :WIDTH] == 7).all()
