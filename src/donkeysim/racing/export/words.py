"""Numbers, names and colours of a race as a page shows them."""

import colorsys
import unicodedata
from collections.abc import Sequence
from html import escape

from donkeysim.core.errors import shorten

LIGHT_GROUND, DARK_GROUND = (1.0, 1.0, 1.0), (0.11, 0.13, 0.12)
"""Of the page's cards, sRGB 0 to 1."""

_HIDDEN, _JOINERS = "\N{REPLACEMENT CHARACTER}", "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"

CONTRAST = 3.0
"""Least contrast of a car's colour against the ground."""


def show_name(name: str, most: int = 40) -> str:
    """Return a car's name as HTML: one line, without what would turn the letters around it."""
    line = " ".join(name.split())
    plain = "".join(_HIDDEN if unicodedata.category(sign)[0] == "C" and sign not in _JOINERS else sign for sign in line)
    return escape(shorten(plain, most))


def join_words(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def format_time(seconds: float | None) -> str:
    """Return a time: "21.300", "1:24.823", "" for none."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds, 3), 60.0)
    return f"{int(minutes)}:{rest:06.3f}" if minutes else f"{rest:.3f}"


def fit_colour(colour: tuple[int, int, int], ground: tuple[float, float, float]) -> str:
    """Return a colour as CSS names it, made darker or lighter until it can be seen on a ground, sRGB 0 to 1."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(level / 255.0 for level in colour))
    step = -0.02 if _measure_luminance(ground) > 0.5 else 0.02
    red, green, blue = colorsys.hls_to_rgb(hue, lightness, saturation)
    while _measure_contrast((red, green, blue), ground) < CONTRAST and 0.0 < lightness < 1.0:
        lightness += step
        red, green, blue = colorsys.hls_to_rgb(hue, lightness, saturation)
    return "#" + "".join(f"{round(255 * min(max(level, 0.0), 1.0)):02x}" for level in (red, green, blue))


def _measure_contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, 1 to 21."""
    low, high = sorted((_measure_luminance(one), _measure_luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _measure_luminance(colour: tuple[float, float, float]) -> float:
    linear = [level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
