"""Charts and maps as SVG: axes with round numbers, lines through points, a road from above; pages that hold them."""

import math
import time
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

import numpy as np

from donkeysim import __version__
from donkeysim.core.types import FloatArray

Points = FloatArray | Sequence[tuple[float, float]]

Ticks = Iterable[tuple[float, str]]
"""Values of an axis that have a mark, and what stands there."""

REPORT_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {
  --ground: #f6f7f4; --card: #fff; --ink: #1d2320; --soft: #5d6862; --line: #dfe4de; --accent: #1f5fbf;
  --good: #1f7a43; --good-soft: #e2f2e7; --bad: #b3261e; --bad-soft: #fbe6e3; color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #131715; --card: #1b211e; --ink: #e9eeea; --soft: #9aa69f; --line: #2d3531; --accent: #86aeea;
    --good: #6fd195; --good-soft: #193325; --bad: #ff8f85; --bad-soft: #3a1d1a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 28px 20px 48px; }
h1 { margin: 0 0 .2em; font-size: clamp(1.5rem, 4vw, 2.1rem); line-height: 1.2; overflow-wrap: anywhere; }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 20px 22px; margin-bottom: 22px;
}
svg { display: block; width: 100%; height: auto; }
</style>"""
"""With what each report begins: its colours by day and night, its column and its cards."""


def fill_report(template: Path, **texts: str) -> str:
    """Return a report as HTML: its template with the texts, a `head`, our `version` and when it was `written`."""
    written = time.strftime("%Y-%m-%d %H:%M")
    page = Template(template.read_text(encoding="utf-8"))
    return page.substitute(texts, head=REPORT_HEAD, version=__version__, written=written)


class Axis(NamedTuple):
    """Where values lie in a chart.

    Attributes:
        low: Smallest value that is shown.
        high: Greatest value that is shown.
        begin: Pixel of the smallest.
        end: Pixel of the greatest.
        is_log: Whether equal distances are equal ratios.
    """

    low: float
    high: float
    begin: float
    end: float
    is_log: bool = False

    def find(self, value: float) -> float:
        """Return the pixel of a value; of one outside, the nearest end's."""
        value = min(max(value, self.low), self.high)
        if self.is_log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def list_ticks(self, most: int = 7) -> list[float]:
        """Return round values, at most `most` and one; of a logarithmic axis the powers of ten."""
        if not self.is_log:
            return choose_ticks(self.low, self.high, most)
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        ticks = [10.0**power for power in range(first, last + 1)]
        return ticks if len(ticks) > 1 else [self.low, self.high]


def make_axis(low: float, high: float, begin: float, end: float, is_log: bool = False) -> Axis:
    """Return an axis; where there is one value only, it is in the middle."""
    if low == high:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    return Axis(low, high, begin, end, is_log and low > 0)


def choose_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return round values between two, at most `most` and one."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if span / (factor * power) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(index * step, 9) for index in range(first, last + 1)]


class Area(NamedTuple):
    """The rectangle of a chart that holds lines, and the margins for numbers and names [pixel]."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float

    def open(self, kind: str, label: str) -> str:
        """Return the start of a chart: its class for style sheets, and what it shows for those who cannot see it."""
        width, height = self.left + self.width + self.right, self.top + self.height + self.bottom
        return f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}">'

    def make_across(self, low: float, high: float, is_log: bool = False) -> Axis:
        """Return an axis from left to right."""
        return make_axis(low, high, self.left, self.left + self.width, is_log)

    def make_up(self, low: float, high: float) -> Axis:
        """Return an axis from the bottom to the top."""
        return make_axis(low, high, self.top + self.height, self.top)

    def draw_axes(self, across: Axis, across_ticks: Ticks, up: Axis, up_ticks: Iterable[float]) -> str:
        """Return a line for each tick of the axis upwards, a mark for each across, and their numbers."""
        foot = self.top + self.height
        parts = []
        for tick in up_ticks:
            y = up.find(tick)
            parts.append(f'<path class="grid" d="M{self.left} {y:.1f}h{self.width}"/>')
            parts.append(write("tick", self.left - 7, y + 4, f"{tick:.4g}", "end"))
        for tick, text in across_ticks:
            x = across.find(tick)
            parts.append(f'<path class="grid" d="M{x:.1f} {foot}v5"/>')
            parts.append(write("tick", x, foot + 20, escape(text), "middle"))
        return "".join(parts)


def write(kind: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    """Return a text that is already escaped, at a pixel."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def join_pixels(points: Points) -> str:
    """Return the path through points of a chart."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in np.asarray(points).tolist())


def join_places(points: Points) -> str:
    """Return the path through places of a map, world frame [m]: x to the right, y up."""
    return "M" + "L".join(f"{x:.3f} {-y:.3f}" for x, y in np.asarray(points).tolist())


class RoadMap(NamedTuple):
    """The beginning of a map, and its size [m]."""

    svg: str
    width: float
    height: float


def open_map(left: FloatArray, right: FloatArray, margin: float, label: str) -> RoadMap:
    """Return the beginning of a map from above that shows a road.

    Args:
        left: The road's left edge, world frame [m], shape [point_count, 2].
        right: Its right edge.
        margin: Around the road [m].
        label: What the map shows, for those who cannot see it.
    """
    edges = np.concatenate([left, right])
    low, high = edges.min(axis=0) - margin, edges.max(axis=0) + margin
    width, height = (high - low).tolist()
    box = f"{low[0]:.2f} {-high[1]:.2f} {width:.2f} {height:.2f}"
    svg = f'<svg class="map" viewBox="{box}" role="img" aria-label="{escape(label)}">'
    road = f'<path class="road" fill-rule="evenodd" d="{join_places(left)}Z{join_places(right)}Z"/>'
    return RoadMap(svg + road, width, height)
