"""What a page shows of a race: names, times, colours, and charts as SVG, lines for each car or the track from above."""

import colorsys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from donkeysim.core.chart import Area, Axis, choose_ticks, join_pixels, join_places, make_axis, open_map, write
from donkeysim.core.errors import shorten
from donkeysim.racing.export.story import CarStory, IncidentStory, RaceStory, Trace
from donkeysim.racing.rules.describe import describe_kind
from donkeysim.watch.watchable import draw_outline

AREA = Area(width=772, height=260, left=56, top=14, right=132, bottom=36)
"""Of a chart; there is room for names at the right."""

# A line of the charts' font.
LABEL_SPACE = 15.0
"""Names stand at least so far apart from top to bottom, where they might touch [pixel]."""

NAME_SPACE = 112.0
"""Of a name of sixteen letters, from left to right [pixel]."""

Point = tuple[float, float]

SPEED_CLASSES = 5
"""Colours of the fastest lap, from its slowest to its fastest places."""

MARGIN = 0.5
"""Around the road [m]."""

LIGHT_GROUND, DARK_GROUND = (1.0, 1.0, 1.0), (0.11, 0.13, 0.12)
"""Of the page's cards, sRGB 0 to 1."""

_HIDDEN, _JOINERS = "\N{REPLACEMENT CHARACTER}", "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"

CONTRAST = 3.0
"""Least contrast of a car's colour against the ground."""


class Curve(NamedTuple):
    """A car's line."""

    row: int
    name: str
    pieces: Sequence[Sequence[Point]]
    """Points that are joined; several pieces where the line is broken."""
    has_dots: bool = True


class Side(NamedTuple):
    """One side of a chart."""

    low: float
    high: float
    ticks: Sequence[float]
    unit: str = ""


def draw_chart(title: str, curves: Sequence[Curve], across: Side, up: Side, height: int = 260) -> str:
    """Return a chart.

    Args:
        title: For who cannot see it.
        curves: Of the cars, the first one on top.
        across: From left to right.
        up: From the bottom to the top; low above high turns it over.
        height: Of its area, at least; all names find room [pixel].
    """
    area = AREA._replace(height=max(height, round(LABEL_SPACE * len(curves))))
    x = area.make_across(across.low, across.high)
    foot = area.top + area.height
    y = area.make_up(up.low, up.high) if up.low < up.high else make_axis(up.high, up.low, area.top, foot)
    numbers = [(tick, f"{tick:g}{across.unit}") for tick in across.ticks]
    parts = [area.open("chart", title), area.draw_axes(x, numbers, y, up.ticks)]
    parts.extend(_draw_curve(curve, x, y) for curve in reversed(curves))
    parts.extend(_draw_names(curves, x, y, foot))
    return "".join([*parts, "</svg>"])


def _draw_curve(curve: Curve, x: Axis, y: Axis) -> str:
    pieces = [[(x.find(across), y.find(up)) for across, up in piece] for piece in curve.pieces if piece]
    lines = "".join(map(join_pixels, pieces))
    dots = "".join(
        f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3.4"/>'
        for piece in pieces
        for across, up in piece
        if curve.has_dots
    )
    name = f"<title>{show_name(curve.name)}</title>"
    return f'<g class="car car-{curve.row}">{name}<path class="curve" d="{lines}"/>{dots}</g>'


def _draw_names(curves: Sequence[Curve], x: Axis, y: Axis, lowest: float) -> Iterable[str]:
    """Yield the names at the ends of the lines, moved apart: where lines end early, else at the right."""
    last = max((curve.pieces[-1][-1][0] for curve in curves if curve.pieces[-1]), default=0.0)
    groups: list[list[_End]] = []
    for end in sorted(_find_end(curve, x, y, last) for curve in curves if curve.pieces[-1]):
        if not groups or end.column - groups[-1][-1].column >= NAME_SPACE:
            groups.append([])
        groups[-1].append(end)
    for group in groups:
        group.sort(key=lambda end: end.level)
        heights = _move_apart([end.level for end in group], lowest)
        for height, (column, begin, level, curve) in zip(heights, group, strict=True):
            leader = f'<path class="leader" d="M{begin + 5:.1f} {level:.1f}L{column - 4:.1f} {height:.1f}"/>'
            name = write("name", column, height + 4, show_name(curve.name, 16))
            yield f'<g class="car car-{curve.row}">{leader}{name}</g>'


class _End(NamedTuple):
    """Where a line ends, and its name begins [pixel]."""

    column: float
    begin: float
    level: float
    curve: Curve


def _find_end(curve: Curve, x: Axis, y: Axis, last: float) -> _End:
    across, up = curve.pieces[-1][-1]
    begin = x.find(across)
    column = begin if across < 0.96 * last else AREA.left + AREA.width
    return _End(column + 12.0, begin, y.find(up), curve)


def _move_apart(levels: Sequence[float], lowest: float) -> list[float]:
    """Return heights at or near rising levels, so far apart that names can be read, none below the lowest [pixel]."""
    heights = list(levels)
    for place in range(1, len(heights)):
        heights[place] = max(heights[place], heights[place - 1] + LABEL_SPACE)
    if heights and heights[-1] > lowest:
        heights[-1] = lowest
        for place in range(len(heights) - 2, -1, -1):
            heights[place] = min(heights[place], heights[place + 1] - LABEL_SPACE)
    return heights


# -- what is drawn ----------------------------------------------------------------------------------------------------


def draw_lap_chart(cars: Sequence[CarStory]) -> str:
    """Return who was where after each lap, from the grid on."""
    count = max(len(car.ends) for car in cars)
    places = {car.row: [float(car.grid)] for car in cars}
    for lap in range(count):
        arrived = sorted((car.ends[lap], car.grid, car.row) for car in cars if len(car.ends) > lap)
        for place, (_, _, row) in enumerate(arrived, start=1):
            places[row].append(float(place))
    curves = [Curve(car.row, car.name, [list(enumerate(places[car.row]))]) for car in cars]
    up = Side(len(cars) + 0.5, 0.5, [float(place) for place in range(1, len(cars) + 1)])
    return draw_chart("Places after each lap", curves, _make_lap_axis(count, 0), up, max(120, 26 * len(cars)))


def draw_gaps(cars: Sequence[CarStory]) -> str:
    """Return how far each car was behind the first after each lap, in seconds."""
    count = max(len(car.ends) for car in cars)
    first = [min(car.ends[lap] for car in cars if len(car.ends) > lap) for lap in range(count)]
    gaps = {
        car.row: [(lap + 1.0, end - ahead) for lap, (end, ahead) in enumerate(zip(car.ends, first, strict=False))]
        for car in cars
    }
    most = max((gap for points in gaps.values() for _, gap in points), default=0.0) or 1.0
    up = Side(1.04 * most, 0.0, choose_ticks(0.0, most))
    curves = [Curve(car.row, car.name, [gaps[car.row]]) for car in cars if gaps[car.row]]
    return draw_chart("Seconds behind the first after each lap", curves, _make_lap_axis(count, 1), up)


def draw_lap_times(cars: Sequence[CarStory]) -> str:
    """Return the time of each lap, in seconds."""
    times = {car.row: [(lap + 1.0, done.time) for lap, done in enumerate(car.laps)] for car in cars}
    seconds = [time for points in times.values() for _, time in points]
    margin = 0.06 * (max(seconds) - min(seconds)) or 1.0
    low, high = min(seconds) - margin, max(seconds) + margin
    curves = [Curve(car.row, car.name, [times[car.row]]) for car in cars if times[car.row]]
    across = _make_lap_axis(max(map(len, times.values())), 1)
    return draw_chart("Lap times in seconds", curves, across, Side(low, high, choose_ticks(low, high)))


def draw_speeds(cars: Sequence[CarStory], length: float) -> str:
    """Return speed along the track in the best laps."""
    curves = []
    for car in cars:
        if car.best is not None:
            points = list(zip(car.best.along, car.best.speed, strict=True))
            curves.append(Curve(car.row, car.name, _break_line(points, 0.3 * length), has_dots=False))
    fastest = 1.08 * max(up for curve in curves for piece in curve.pieces for _, up in piece)
    across = Side(0.0, length, choose_ticks(0.0, length, 10), " m")
    return draw_chart("Speed along the track", curves, across, Side(0.0, fastest, choose_ticks(0.0, fastest)))


def _break_line(points: Sequence[Point], leap: float) -> list[list[Point]]:
    """Return the pieces of a line that is broken where it leaps across."""
    pieces: list[list[Point]] = [[]]
    for point in points:
        if pieces[-1] and abs(point[0] - pieces[-1][-1][0]) > leap:
            pieces.append([])
        pieces[-1].append(point)
    return sorted(pieces)


def _make_lap_axis(count: int, first: int) -> Side:
    """Return the axis of laps; the grid is lap 0."""
    ticks = [tick for tick in choose_ticks(first, max(count, first + 1), 14) if tick == round(tick)]
    return Side(first - 0.04 * count, count if count > first else first + 1.0, ticks)


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
    incidents = sorted(story.incidents, key=lambda item: bool(item.cost))  # those that cost on top
    parts += [_mark(item, names[item.incident.row], unit) for item in incidents if item.place is not None]
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
