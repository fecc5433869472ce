"""The report of an evaluation: one HTML file that needs nothing else, no server, no network, no other file.

Its figures are SVG: the track from above coloured by cte, and curves along the lap.
"""

import base64
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from donkeysim.core.chart import Area, choose_ticks, fill_report, join_pixels, join_places, open_map
from donkeysim.core.errors import format_count
from donkeysim.core.files import write_whole
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.learn.evaluate import LAPS_DONE, Evaluation, PilotRun, RunEvent
from donkeysim.watch.watchable import draw_outline

_TEMPLATE = Path(__file__).with_name("report.html")

CURSOR_STEP = 2
"""Rows of the trace from one whose figures the page can show to the next."""

COLOURS = ("#1f5fbf", "#4f86d9", "#86aeea", "#b9cdea", "#9fd3a6", "#f3cf9f", "#f0a35e", "#e2742d", "#b84a0c")
"""Of cte, from far left over the path to far right."""

MAP_MARGIN = 0.6
"""Around the road [m]."""

PLOT = Area(width=900, height=170, left=46, top=12, right=12, bottom=26)


def write_report(evaluation: Evaluation, path: Path | str, pilot_name: str, facts: Mapping[str, str]) -> Path:
    """Write the report of an evaluation and return where it is.

    Args:
        path: Of the HTML file; its folder is made.
        pilot_name: What to call the pilot.
        facts: What else to say about it, as names and values.

    Raises:
        DonkeySimError: The file cannot be written.
    """
    path = Path(path).expanduser().absolute()
    write_whole(path, format_report(evaluation, pilot_name, facts).encode())
    return path


def format_report(evaluation: Evaluation, pilot_name: str, facts: Mapping[str, str]) -> str:
    """Return the report of an evaluation as HTML."""
    tracks = " and ".join(run.scene.name for run in evaluation.runs)
    verdict = "passed" if evaluation.is_passed else "failed"
    shown = {**facts, "seed": str(evaluation.seed)}
    return fill_report(
        _TEMPLATE,
        title=escape(f"{pilot_name} on {tracks}"),
        pilot=escape(pilot_name),
        tracks=escape(tracks),
        verdict=verdict,
        verdict_text=escape(describe_verdict(evaluation)),
        facts="".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in shown.items()),
        colours="".join(f".c{index}{{stroke:{colour}}}" for index, colour in enumerate(COLOURS)),
        runs="".join(_format_run(run) for run in evaluation.runs),
    )


def describe_verdict(evaluation: Evaluation) -> str:
    """Return one sentence about how the pilot did."""
    if evaluation.is_passed:
        laps = sum(run.wanted_laps for run in evaluation.runs)
        done = "The lap was" if laps == 1 else f"All {laps} laps"
        return f"{done} driven, on the road throughout, nothing touched."
    return " ".join(f"{run.scene.name}: {describe_run(run)}" for run in evaluation.runs if not run.is_passed)


def describe_run(run: PilotRun) -> str:
    """Return one sentence about a run."""
    text = run.ending
    if run.ending != LAPS_DONE:
        text += f" after {len(run.lap_times)} of {format_count(run.wanted_laps, 'lap')}"
    if run.departures:
        times = len(run.departures)
        text += f", off the road {('once', 'twice')[times - 1] if times < 3 else f'{times} times'}"
    if run.hits:
        names = ", ".join(sorted({event.name for event in run.hits}))
        text += f", {format_count(len(run.hits), 'hit')} ({names})"
    return text + "."


def _format_run(run: PilotRun) -> str:
    """Return the section of one track."""
    film = base64.b64encode(run.film).decode()
    part = "The best lap" if run.shows_best_lap else "The last seconds of the drive"
    picture = (
        f'<figure class="film"><img alt="{part} from behind the car, and what the pilot saw" '
        f'src="data:image/webp;base64,{film}"><figcaption>{part}; in the corner what the pilot '
        "saw.</figcaption></figure>"
        if film
        else ""
    )
    scale = find_cte_scale(run)
    most = 1.2 * max(run.cte_most, scale)
    fastest = max(1.0, float(run.column("speed").max())) * 1.1
    return (
        f'<section class="run"><h2>{escape(run.scene.name)}</h2>'
        f'<p class="sentence">{escape(describe_run(run).capitalize())}</p>'
        f'<div class="cards">{_format_cards(run)}</div>'
        f'<div class="pair"><figure>{draw_map(run)}<figcaption>{_format_legend(scale)}</figcaption></figure>'
        f"{picture}</div>"
        f'<div class="bar">{_format_chips(run)}<output></output></div>'
        f'<div class="scroll">{draw_curves(run, "speed", "speed [m/s]", 0.0, fastest, choose_ticks(0.0, fastest))}'
        f"{draw_curves(run, 'cte', 'distance from the path [m], + = left', -most, most, choose_ticks(-most, most))}"
        f"{draw_curves(run, 'steering', 'steering, + = right', -1.05, 1.05, (-1.0, -0.5, 0.0, 0.5, 1.0))}</div>"
        f"{_format_laps(run)}{_format_events(run)}"
        f'<script type="application/json">{_format_trace(run)}</script></section>'
    )


def _format_cards(run: PilotRun) -> str:
    best = f"{min(run.lap_times):.2f} s" if run.lap_times else "none"
    cards = {
        "laps": f"{len(run.lap_times)} of {run.wanted_laps}",
        "on the road": _format_share(run.on_road_share),
        "best lap": best,
        "mean speed": f"{run.speed_mean:.2f} m/s",
        "mean distance from the path": f"{100.0 * run.cte_mean:.1f} cm",
        "greatest distance": f"{100.0 * run.cte_most:.1f} cm",
    }
    return "".join(f"<div><b>{value}</b><span>{name}</span></div>" for name, value in cards.items())


def _format_legend(scale: float) -> str:
    swatches = "".join(f'<i style="background:{colour}"></i>' for colour in COLOURS)
    return (
        f'<span class="legend">{100.0 * scale:.0f} cm left of the path {swatches} {100.0 * scale:.0f} cm right of it'
        "</span>"
    )


def _format_chips(run: PilotRun) -> str:
    laps = sorted({int(lap) for lap in run.column("lap")})
    buttons = "".join(f'<button data-lap="{lap}">{lap or "start"}</button>' for lap in laps if lap <= run.wanted_laps)
    return f'<span>lap</span><button data-lap="" aria-pressed="true">all</button>{buttons}'


def _format_laps(run: PilotRun) -> str:
    rows = []
    lap, best = run.column("lap"), min(run.lap_times, default=0.0)
    for number, seconds in enumerate(run.lap_times, start=1):
        chosen = lap == number
        cte = np.abs(run.column("cte")[chosen])
        mark = ' class="best"' if seconds == best else ""
        rows.append(
            f"<tr{mark}><td>{number}</td><td>{seconds:.2f}</td><td>{run.column('speed')[chosen].mean():.2f}</td>"
            f"<td>{100.0 * cte.mean():.1f}</td><td>{100.0 * cte.max():.1f}</td>"
            f"<td>{_format_share(float(run.column('on_road')[chosen].mean()))}</td></tr>"
        )
    if not rows:
        return ""
    heads = ("lap", "time [s]", "mean speed [m/s]", "mean distance [cm]", "greatest distance [cm]", "on the road")
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _format_events(run: PilotRun) -> str:
    events = [(event.time, f"left the road to the {event.name}", event.lap) for event in run.departures]
    events += [(event.time, f"hit {event.name}", event.lap) for event in run.hits]
    rows = [f"<li><b>{moment:.1f} s</b> {escape(text)}, in lap {lap}</li>" for moment, text, lap in sorted(events)]
    return f'<ul class="events">{"".join(rows)}</ul>' if rows else ""


def _format_trace(run: PilotRun) -> str:
    """Return what the page needs to show figures under the pointer, as JSON."""
    names = ("lap", "along", "x", "y", "speed", "cte", "time")
    columns = {name: np.round(run.column(name)[::CURSOR_STEP], 3).tolist() for name in names}
    return json.dumps({**columns, "length": round(run.scene.path.frame.length, 3)}, separators=(",", ":"))


def _format_share(share: float) -> str:
    """Return a share as percent; 100 only when it is whole."""
    return "100 %" if share == 1.0 else f"{min(99.9, 100.0 * share):.1f} %"


def find_cte_scale(run: PilotRun) -> float:
    """Return the cte at which the colours end [m]: just above the greatest, within the road's narrower side."""
    path = run.scene.path
    rounded = 0.05 * np.ceil(run.cte_most / 0.05)
    return float(min(max(0.1, rounded), path.width_left.min(), path.width_right.min()))


def draw_map(run: PilotRun) -> str:
    """Return the track from above with all laps, coloured by cte; world x to the right, y up."""
    outline = draw_outline(run.scene)
    label = f"{run.scene.name} from above, the driven line coloured by its distance from the path"
    parts = [open_map(outline.left, outline.right, MAP_MARGIN, label).svg]
    parts.append(f'<path class="middle" d="{join_places(outline.path)}Z"/>')
    parts.extend(f'<path class="start" d="{join_places(line)}"/>' for line in outline.start_line)
    parts.extend(_draw_trace(run))
    parts.extend(_mark(event, "departure", f"left the road to the {event.name}") for event in run.departures)
    parts.extend(_mark(event, "hit", f"hit {event.name}") for event in run.hits)
    return "".join([*parts, '<circle class="here" r="0.11" cx="0" cy="0" visibility="hidden"/></svg>'])


def _draw_trace(run: PilotRun) -> Iterator[str]:
    """Yield the driven line in pieces of one colour and one lap each."""
    place = np.column_stack([run.column("x"), run.column("y")])
    share = np.clip(-run.column("cte") / find_cte_scale(run), -1.0, 1.0)
    colour = np.clip((0.5 + 0.5 * share) * len(COLOURS), 0, len(COLOURS) - 1).astype(int)
    lap = run.column("lap").astype(int)
    for begin, end in _find_pieces((np.diff(colour) != 0) | (np.diff(lap) != 0)):
        piece = place[begin : end + 1]
        yield f'<path class="lap lap-{lap[begin]} c{colour[begin]}" d="{join_places(piece)}"/>'


def _find_pieces(is_broken: BoolArray) -> Iterator[tuple[int, int]]:
    """Return begin and end of each piece of a line that is broken behind the given points, shape [point_count - 1]."""
    return itertools.pairwise([0, *(np.flatnonzero(is_broken) + 1).tolist(), len(is_broken) + 1])


def draw_curves(run: PilotRun, name: str, label: str, low: float, high: float, ticks: Sequence[float]) -> str:
    """Return a plot of one column of the trace along the lap, a curve for each lap.

    Args:
        label: Of the y axis, with its unit.
        low: Lower end of the y axis.
        ticks: Values with a line.
    """
    length = run.scene.path.frame.length
    across, up = PLOT.make_across(0.0, length), PLOT.make_up(low, high)
    metres = [(metre, f"{metre:g} m") for metre in np.arange(0.0, length, 5.0).tolist()]
    parts = [
        PLOT.open("plot", f"{label} along the lap, a curve for each lap"),
        f'<text class="label" x="{PLOT.left + 6}" y="{PLOT.top + 12}">{escape(label)}</text>',
        PLOT.draw_axes(across, metres, up, ticks),
    ]
    column = [across.find(value) for value in run.column("along")]
    row = [up.find(value) for value in run.column(name)]
    parts.extend(_draw_laps(run, np.column_stack([column, row])))
    cursor = f'<path class="cursor" d="M0 {PLOT.top}v{PLOT.height}" visibility="hidden"/>'
    return "".join([*parts, cursor, "</svg>"])


def _draw_laps(run: PilotRun, point: FloatArray) -> Iterator[str]:
    """Yield curves, broken where a lap ends or the place along the path jumps back."""
    lap = run.column("lap").astype(int)
    for begin, end in _find_pieces((np.diff(lap) != 0) | (np.abs(np.diff(point[:, 0])) > 0.2 * PLOT.width)):
        yield f'<path class="curve lap lap-{lap[begin]}" d="{join_pixels(point[begin:end])}"/>'


def _mark(event: RunEvent, kind: str, text: str) -> str:
    title = escape(f"{text} after {event.time:.1f} s, in lap {event.lap}")
    return (
        f'<g class="{kind}" transform="translate({event.x:.3f} {-event.y:.3f})"><title>{title}</title>'
        '<circle r="0.14"/><path d="M-0.07 -0.07L0.07 0.07M-0.07 0.07L0.07 -0.07"/></g>'
    )
