"""A track from above as SVG, with a race's fastest lap and its incidents."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from donkeysim.core.chart import join_places, open_map
from donkeysim.racing.export.story import IncidentStory, RaceStory, Trace
from donkeysim.racing.export.words import show_name
from donkeysim.racing.rules.describe import describe_kind
from donkeysim.watch.watchable import draw_outline

SPEED_CLASSES = 5
"""Colours of the fastest lap, from its slowest to its fastest places."""

MARGIN = 0.5
"""Around the road [m]."""


def draw_map(story: RaceStory, fastest: Trace | None) -> str:
    """Return the map: the road, a lap coloured by its speed, and the incidents; those that cost have numbers."""
    outline = draw_outline(story.scene)
    label = f"{story.scene.name} from above with the fastest lap and all incidents"
    road = open_map(outline.left, outline.right, MARGIN, label)
    unit = max(road.width, 1.6 * road.height) / 100.0
    parts = [road.svg]
    parts += [
        f'<path class="gate" d="{join_places(line)}" stroke-width="{0.5 * unit:.3f}"/>' for line in outline.checkpoint
    ]
    parts += [
        f'<path class="start" d="{join_places(line)}" stroke-width="{0.9 * unit:.3f}"/>' for line in outline.start_line
    ]
    if fastest is not None:
        parts += _draw_lap(fastest, 0.7 * unit)
    names = dict(enumerate(story.plan.names))
    told = sorted(story.incidents, key=lambda item: bool(item.cost))  # those that cost on top
    parts += [_mark(item, names[item.incident.row], unit) for item in told if item.place is not None]
    return "".join([*parts, "</svg>"])


def _draw_lap(trace: Trace, width: float) -> Iterator[str]:
    """Yield a lap in pieces of one colour each; the classes hold equally many places."""
    speed = np.array(trace.speed)
    bounds = np.quantile(speed, np.arange(1, SPEED_CLASSES) / SPEED_CLASSES)
    kinds = np.searchsorted(bounds, speed).tolist()
    places = list(zip(trace.x, trace.y, strict=True))
    begin = 0
    for end in range(1, len(kinds) + 1):
        if end == len(kinds) or kinds[end] != kinds[begin]:
            line = join_places(places[begin : end + 1])
            yield f'<path class="lap speed-{kinds[begin]}" d="{line}" stroke-width="{width:.3f}"/>'
            begin = end


def _mark(item: IncidentStory, name: str, unit: float) -> str:
    incident, (x, y) = item.incident, item.place or (0.0, 0.0)
    what = escape(describe_kind(incident))
    title = f"<title>no. {incident.number}: {show_name(name)} {what}</title>"
    kind = f'class="mark car car-{incident.row}" transform="translate({x:.3f} {-y:.3f})"'
    if not item.cost or item.is_undone:
        return f'<g {kind}>{title}<circle class="free" r="{0.7 * unit:.3f}"/></g>'
    letters = (1.7 if incident.number < 100 else 1.3) * unit
    number = f'<text y="{0.36 * letters:.3f}" font-size="{letters:.3f}" text-anchor="middle">{incident.number}</text>'
    return f'<g {kind}>{title}<circle r="{1.5 * unit:.3f}" stroke-width="{0.25 * unit:.3f}"/>{number}</g>'
