"""Short films of a drive: from behind the car, with what its own camera sees in the corner."""

import io
from collections.abc import Sequence

from PIL import Image

from donkeysim.core.image import spread_grey
from donkeysim.core.types import ByteArray
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.sim.viewpoint import draw_car

# 16 to 9, and small enough to be kept inside a report's page.
WIDTH, HEIGHT = 512, 288
"""Of a film [pixel]."""

INSET_WIDTH, INSET_MARGIN, INSET_FRAME = 160, 10, 2
"""Of the car's own picture in the corner [pixel]."""

WEBP_QUALITY = 60


def draw_views(car: BuiltInCar) -> tuple[ByteArray, ByteArray]:
    """Return what a camera behind the car sees and what its own camera sees, [height, width, 3] each."""
    simulator, row = car.simulator, car.row
    chase = draw_car(simulator, row, "chase", WIDTH, HEIGHT)
    simulator.render((row,))
    return chase, simulator.get_picture(row).copy()


def encode_film(pictures: Sequence[tuple[ByteArray, ByteArray]], rate: float) -> bytes:
    """Return a film as an animated WebP that repeats.

    Args:
        pictures: From behind, and the car's own, for every picture of the film; at least one.
        rate: Pictures per second.
    """
    first, *others = [_compose(chase, own) for chase, own in pictures]
    buffer = io.BytesIO()
    first.save(
        buffer,
        format="WEBP",
        save_all=True,
        append_images=others,
        duration=round(1000.0 / rate),
        loop=0,
        quality=WEBP_QUALITY,
        method=2,
    )
    return buffer.getvalue()


def _compose(chase: ByteArray, own: ByteArray) -> Image.Image:
    """Return both pictures in one, the car's own in the corner."""
    picture = Image.fromarray(chase)
    inset = Image.fromarray(spread_grey(own))
    width = INSET_WIDTH
    height = round(width * inset.height / inset.width)
    inset = inset.resize((width, height), Image.Resampling.NEAREST)
    frame = Image.new("RGB", (width + 2 * INSET_FRAME, height + 2 * INSET_FRAME), "white")
    frame.paste(inset, (INSET_FRAME, INSET_FRAME))
    picture.paste(frame, (picture.width - frame.width - INSET_MARGIN, INSET_MARGIN))
    return picture
