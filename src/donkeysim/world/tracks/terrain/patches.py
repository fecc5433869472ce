"""Rectangles painted on the ground: mats, rugs, painted fields, with a border and a text, or lying pictures."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.errors import SceneError, describe_unknown
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.scene import CLASS_LINE
from donkeysim.world.tracks.art import list_pictures, read_picture
from donkeysim.world.tracks.tables.ground import Patch
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame
from donkeysim.world.tracks.textures import AnyFloat, as_colour

SOFT = 0.6
"""Width of a patch's edge [texel]."""

BAND = 128
"""Rows of texels painted at a time, so that intermediate arrays stay small."""


def paint_patch(patch: Patch, frame: AtlasFrame, atlas: ByteArray, classes: ByteArray | None = None) -> None:
    """Paint a patch into the atlas, at each of its places, as far as it lies inside.

    Args:
        patch: What and where.
        frame: Where the atlas lies.
        atlas: Written.
        classes: Of the atlas' texels; written: the patch is a line on the road.

    Raises:
        SceneError: There is no such picture.
    """
    picture = _shrink_picture(patch, frame.texel) if patch.picture else None
    for x, y, yaw in patch.places or ((*(patch.at or (0.0, 0.0)), 0.0),):
        one = dataclasses.replace(patch, at=(x, y), places=(), yaw=yaw + patch.yaw)
        _paint_one(one, (x, y), picture, frame, atlas, classes)


def _paint_one(
    patch: Patch,
    middle: tuple[float, float],
    picture: Float32Array | None,
    frame: AtlasFrame,
    atlas: ByteArray,
    classes: ByteArray | None,
) -> None:
    """Paint a patch of one place about its middle [m]."""
    yaw = math.radians(patch.yaw)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    half = 0.5 * np.array(patch.size)
    reach = np.array((abs(cosine) * half[0] + abs(sine) * half[1], abs(sine) * half[0] + abs(cosine) * half[1]))
    low, high = (np.array(middle) - reach - frame.origin, np.array(middle) + reach - frame.origin)
    first, last = np.floor(low / frame.texel).astype(int) - 1, np.ceil(high / frame.texel).astype(int) + 1
    columns = slice(max(0, first[0]), min(frame.columns, last[0]))
    rows = slice(max(0, frame.rows - last[1]), min(frame.rows, frame.rows - first[1]))
    part = atlas[rows, columns, :3]
    if not part.size:
        return
    mean = np.maximum(part.mean(axis=(0, 1)), 1.0).astype(np.float32)
    x = frame.origin[0] + (np.arange(columns.start, columns.stop) + 0.5) * frame.texel - middle[0]
    y = frame.origin[1] + (frame.rows - np.arange(rows.start, rows.stop) - 0.5) * frame.texel - middle[1]
    for top in range(0, len(y), BAND):
        band = part[top : top + BAND]
        below = y[top : top + BAND, None]
        along, across = x * cosine + below * sine, below * cosine - x * sine
        if picture is None:
            _paint_band(patch, frame.texel, band, mean, along, across)
        else:
            _show_picture(patch, picture, band, along, across)
        if classes is not None:
            inside = (np.abs(along) <= half[0]) & (np.abs(across) <= half[1])
            classes[rows, columns][top : top + BAND][inside] = CLASS_LINE


def _paint_band(patch: Patch, texel: float, band: ByteArray, mean: AnyFloat, along: AnyFloat, across: AnyFloat) -> None:
    """Paint a patch over some rows of the atlas; `along` and `across`: where their texels lie from its middle [m]."""
    inset = np.minimum(0.5 * patch.size[0] - np.abs(along), 0.5 * patch.size[1] - np.abs(across)) / texel
    cover = np.clip(inset / SOFT + 0.5, 0.0, 1.0)[..., None]
    own = band.astype(np.float32)
    colour = as_colour(patch.colour) * np.ones_like(own)
    if patch.chequer > 0.0:
        share = _cover_squares(along, patch.chequer, texel) * _cover_squares(across, patch.chequer, texel)
        colour += (as_colour(patch.border_colour) - colour) * (0.5 - 0.5 * share)[..., None]
    if patch.text:
        ink = _write_text(patch, along, across)[..., None]
        colour += (as_colour(patch.text_colour) - colour) * ink
    if patch.border > 0.0:
        inside = np.clip((inset - patch.border / texel) / SOFT + 0.5, 0.0, 1.0)[..., None]
        colour += (as_colour(patch.border_colour) - colour) * (1.0 - inside)
    painted = colour * (patch.cover + (1.0 - patch.cover) * own / mean)
    band[:] = np.clip(own + (painted - own) * cover + 0.5, 0.0, 255.0)


def _shrink_picture(patch: Patch, texel: float) -> Float32Array:
    """Return a patch's picture in its tint, no finer than the atlas, its colours times its alpha (0 to 1)."""
    if patch.picture not in (known := list_pictures()):
        raise SceneError(describe_unknown("picture", patch.picture, known), "ground.patches")
    whole = read_picture(patch.picture).astype(np.float32)
    alpha = whole[..., 3:] / 255.0
    channels = np.concatenate((whole[..., :3] * as_colour(patch.colour) / 255.0 * alpha, alpha), axis=2)
    size = [min(own, max(1, math.ceil(side / texel))) for own, side in zip(whole.shape[1::-1], patch.size, strict=True)]
    box = Image.Resampling.BOX
    return np.stack(
        [np.asarray(Image.fromarray(np.ascontiguousarray(channels[..., n])).resize(size, box)) for n in range(4)],
        axis=2,
    )


def _show_picture(patch: Patch, picture: Float32Array, band: ByteArray, along: AnyFloat, across: AnyFloat) -> None:
    """Lay a picture, bilinear, over some rows of the atlas; its right end lies along the patch's length."""
    high, wide = picture.shape[:2]
    column = (along / patch.size[0] + 0.5) * wide - 0.5
    row = (0.5 - across / patch.size[1]) * high - 0.5
    inside = (np.abs(along) <= 0.5 * patch.size[0]) & (np.abs(across) <= 0.5 * patch.size[1])
    column, row = column[inside], row[inside]
    left, top = np.floor(column).astype(int), np.floor(row).astype(int)
    share_x, share_y = (column - left)[:, None], (row - top)[:, None]
    columns = [np.clip(left + n, 0, wide - 1) for n in (0, 1)]
    rows = [np.clip(top + n, 0, high - 1) for n in (0, 1)]
    upper, lower = (picture[r, columns[0]] * (1.0 - share_x) + picture[r, columns[1]] * share_x for r in rows)
    seen = (upper * (1.0 - share_y) + lower * share_y) * patch.cover
    band[inside] = np.clip(band[inside] * (1.0 - seen[:, 3:]) + seen[:, :3] + 0.5, 0.0, 255.0)


def _cover_squares(place: AnyFloat, side: float, texel: float) -> AnyFloat:
    """Return 1 in every other row of squares, -1 between them, smooth over a texel; a row begins at 0."""
    wave = 0.5 - np.abs(np.mod(place / side - 0.5, 2.0) - 1.0)
    return np.asarray(np.clip(2.0 * wave * side / texel, -1.0, 1.0))


def _write_text(patch: Patch, along: AnyFloat, across: AnyFloat) -> AnyFloat:
    """Return how much of each texel the text covers, 0 to 1: along the patch, read with its left edge upwards."""
    length, width = patch.size
    size = (1024, max(16, round(1024 * width / length)))
    picture = Image.new("L", size)
    font = ImageFont.load_default(size=0.6 * size[1])
    box = font.getbbox(patch.text)
    fit = min(1.0, 0.9 * size[0] / max(1.0, box[2] - box[0]))
    font = ImageFont.load_default(size=0.6 * size[1] * fit)
    ImageDraw.Draw(picture).text((size[0] / 2, size[1] / 2), patch.text, fill=255, font=font, anchor="mm")
    ink = np.asarray(picture, np.float32) / 255.0
    column = np.clip(((along / length + 0.5) * size[0]).astype(int), 0, size[0] - 1)
    row = np.clip(((0.5 - across / width) * size[1]).astype(int), 0, size[1] - 1)
    return np.asarray(ink[row, column])
