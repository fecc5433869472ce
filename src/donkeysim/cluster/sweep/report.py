"""The report of a sweep: one HTML file with curves, what each option does, and a table of all trials."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from donkeysim.cluster.sweep.plan import Job, TrialResult, list_latest
from donkeysim.cluster.sweep.spec import Range, SweepFile
from donkeysim.core.chart import Area, Axis, Ticks, fill_report, join_pixels, write
from donkeysim.core.errors import format_count, shorten
from donkeysim.core.files import write_whole

_TEMPLATE = Path(__file__).with_name("report.html")

Done = tuple[Job, TrialResult]

AREA = Area(width=900, height=300, left=62, top=12, right=12, bottom=40)
"""Of the curves."""

SMALL = AREA._replace(width=330, height=190)
"""Of one option."""

CLIPPED = 0.05
"""Curves' highest and lowest values, this share of them, do not stretch the plot: first steps often lie far away."""

_UNITS = {"rl": "steps", "train": "epochs"}


def write_report(file: SweepFile, done: Sequence[Done], best: Done | None, path: Path) -> Path:
    """Write the report of a sweep and return where it is.

    Args:
        best: The best of them; None: all failed.

    Raises:
        DonkeySimError: It cannot be written.
    """
    write_whole(path, format_report(file, done, best).encode())
    return path


def format_report(file: SweepFile, done: Sequence[Done], best: Done | None) -> str:
    """Return the report of a sweep as HTML."""
    spec = file.spec
    facts = {
        "command": f"donkey {spec.command}",
        "method": spec.method,
        "trials": str(len(list_latest(done))),
        "trainings": str(len(done)),
        "failed": str(sum(bool(result.error) for _, result in done)),
        "budget": format_count(spec.budget, _UNITS[spec.command].removesuffix("s")),
        "seed": str(spec.seed),
        "training time": f"{sum(result.seconds for _, result in done):,.0f} s",
    }
    goal = "lowest" if spec.minimize else "highest"
    parts = [_format_best(best), _format_curves(file, done, best)]
    parts += [_format_options(file, done, best), _format_table(file, done, best)]
    return fill_report(
        _TEMPLATE,
        title=escape(f"{len(list_latest(done))} trials of donkey {spec.command}: {goal} {spec.metric}"),
        facts="".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items()),
        sections="".join(parts),
    )


def _format_best(best: Done | None) -> str:
    if best is None:
        return "<section><h2>No trial could be done</h2><p>The table says why.</p></section>"
    job, result = best
    figures = ", ".join(f"{escape(name)} <b>{value:.6g}</b>" for name, value in result.figures.items())
    options = ", ".join(f"{escape(name)} <b>{escape(format_value(value))}</b>" for name, value in job.options.items())
    words = escape(" ".join(result.words))
    before = "" if job.source is None else " (its last round; best/commands.txt has all)"
    return (
        f"<section><h2>Best: trial {job.trial}</h2><p>{figures}</p><p>{options}</p>"
        f"<pre>{words}</pre><p>trains it again{before}.</p></section>"
    )


def format_value(value: object) -> str:
    """Return the value of an option in a few characters."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _format_curves(file: SweepFile, done: Sequence[Done], best: Done | None) -> str:
    """Return a plot of the figure that decides on its way, a curve for each trial."""
    metric = file.spec.metric
    curves = [(job, result.curve[metric]) for job, result in list_latest(done) if metric in result.curve]
    if not curves:
        return ""
    values = np.array([value for _, points in curves for _, value in points])
    low, high = np.quantile(values, [0.0, 1.0 - CLIPPED] if file.spec.minimize else [CLIPPED, 1.0])
    across = AREA.make_across(0.0, max(points[-1][0] for _, points in curves))
    up = AREA.make_up(float(low), float(high))
    chosen = best[0].trial if best else -1
    lines = [
        _draw_curve(job.trial, [(across.find(x), up.find(y)) for x, y in points], job.trial == chosen)
        for job, points in sorted(curves, key=lambda pair: pair[0].trial == chosen)
    ]
    title = f"{metric} on the way"
    frame = _draw_frame(AREA, title, across, _list_numbers(across), up, _UNITS[file.spec.command])
    return f"<section><h2>{escape(title)}</h2>{frame}{''.join(lines)}</svg></section>"


def _draw_curve(trial: int, points: Sequence[tuple[float, float]], is_best: bool) -> str:
    kind = "curve best" if is_best else "curve"
    if len(points) == 1:
        x, y = points[0]
        return f'<circle class="{kind.replace("curve", "dot")}" data-trial="{trial}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<path class="{kind}" data-trial="{trial}" d="{join_pixels(points)}"><title>trial {trial}</title></path>'


def _draw_frame(area: Area, label: str, across: Axis, ticks: Ticks, up: Axis, name: str) -> str:
    """Return the beginning of a plot: its axes, and the name of the lower one."""
    foot = write("label", area.left + area.width, area.top + area.height + 36, escape(name), "end")
    return area.open("plot", label) + area.draw_axes(across, ticks, up, up.list_ticks(5)) + foot


def _list_numbers(axis: Axis) -> Ticks:
    return [(tick, f"{tick:,.6g}") for tick in axis.list_ticks(5)]


def _format_options(file: SweepFile, done: Sequence[Done], best: Done | None) -> str:
    """Return a small plot for each option: its values and what came of them."""
    metric = file.spec.metric
    rows = [(job, result.figures[metric]) for job, result in list_latest(done) if metric in result.figures]
    if not rows:
        return ""
    values = np.array([value for _, value in rows])
    low, high = np.quantile(values, [0.0, 1.0 - CLIPPED] if file.spec.minimize else [CLIPPED, 1.0])
    up = SMALL.make_up(float(low), float(high))
    plots = [_draw_option(file, name, rows, up, best[0].trial if best else -1) for name in file.search]
    return f'<section><h2>What the options do</h2><div class="dots">{"".join(plots)}</div></section>'


def _draw_option(file: SweepFile, name: str, rows: Sequence[tuple[Job, float]], up: Axis, chosen: int) -> str:
    dimension = file.search[name]
    if isinstance(dimension, Range):
        across = SMALL.make_across(dimension.low, dimension.high, dimension.kind == "log_uniform")
        places, ticks = [job.options[name] for job, _ in rows], _list_numbers(across)
    else:
        across = SMALL.make_across(-0.5, len(dimension.values) - 0.5)
        places = [dimension.values.index(job.options[name]) for job, _ in rows]
        ticks = [(place, shorten(format_value(value), 14)) for place, value in enumerate(dimension.values)]
    frame = _draw_frame(SMALL, f"{file.spec.metric} by {name}", across, ticks, up, name.removeprefix("set."))
    dots = [
        f'<circle class="dot{" best" if job.trial == chosen else ""}" data-trial="{job.trial}" '
        f'cx="{across.find(x):.1f}" cy="{up.find(value):.1f}" r="4">'
        f"<title>trial {job.trial}: {value:.6g}</title></circle>"
        for (job, value), x in sorted(zip(rows, places, strict=True), key=lambda pair: pair[0][0].trial == chosen)
    ]
    return f"{frame}{''.join(dots)}</svg>"


def _format_table(file: SweepFile, done: Sequence[Done], best: Done | None) -> str:
    """Return a row for each trial, the best ones first."""
    spec = file.spec
    rows = sorted(list_latest(done), key=lambda pair: (-pair[0].turn, -spec.score(pair[1].figures), pair[0].trial))
    figures = list(dict.fromkeys([spec.metric, *(name for _, result in rows for name in result.figures)]))
    heads = ["trial", "round", *figures, *(name.removeprefix("set.") for name in file.search), "s"]
    head = "".join(f"<th><button>{escape(name)}</button></th>" for name in heads)
    chosen = best[0].trial if best else -1
    body = "".join(_format_row(file, figures, job, result, job.trial == chosen) for job, result in rows)
    return (
        f'<section><h2>All trials</h2><div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
        "</table></div></section>"
    )


def _format_row(file: SweepFile, figures: Sequence[str], job: Job, result: TrialResult, is_best: bool) -> str:
    cells = [f"<td>{job.trial}</td><td>{job.turn + 1}</td>"]
    if result.error:
        cells.append(f'<td class="error" colspan="{len(figures)}">{escape(result.error)}</td>')
    else:
        cells += [f"<td>{result.figures[name]:.6g}</td>" if name in result.figures else "<td></td>" for name in figures]
    cells += [f"<td>{escape(format_value(job.options[name]))}</td>" for name in file.search]
    kind = ' class="best"' if is_best else ""
    return f'<tr{kind} data-trial="{job.trial}">{"".join(cells)}<td>{result.seconds:.1f}</td></tr>'
