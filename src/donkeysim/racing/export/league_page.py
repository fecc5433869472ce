"""The page of a league: who leads, and how the points came together, evening by evening."""

import colorsys
from collections.abc import Sequence
from itertools import accumulate

from donkeysim.core.chart import choose_ticks
from donkeysim.racing.export.charts import Curve, Side, draw_chart, join_words, show_name
from donkeysim.racing.export.report_page import fill_page, format_chips, format_table, format_who
from donkeysim.racing.rules.standings import LeagueLine, Outcome, count_points

GOLDEN_HUE = 0.618
"""From one line of the table to the next; so neighbours never look alike."""


def format_league(title: str, outcomes: Sequence[Outcome]) -> str:
    """Return the page; `outcomes`: its races and tournaments, in order."""
    table = count_points(outcomes)
    hues = [colorsys.hsv_to_rgb(GOLDEN_HUE * row % 1.0, 0.85, 0.9) for row in range(len(table))]
    paints = {
        row: (round(255 * red), round(255 * green), round(255 * blue)) for row, (red, green, blue) in enumerate(hues)
    }
    leaders = [show_name(standing.name) for standing in table if standing.place == 1]
    head = (
        f'<p class="kicker">{show_name(title)}</p>'
        f"<h1>{join_words(leaders)} {'leads' if len(leaders) == 1 else 'lead'}</h1>"
        f'<p class="lead">Races and tournaments: {len(outcomes)}; drivers: {len(table)}. Of equal points, more wins '
        "are better, then more second places.</p>"
    )
    content = head + format_chips([(row, standing.name) for row, standing in enumerate(table)])
    content += f"<section><h2>Points</h2>{_tabulate(table, outcomes)}</section>"
    if len(outcomes) > 1:
        content += "<section><h2>The way there</h2><p>Points after each of them.</p>"
        content += f'<div class="scroll">{_draw(table)}</div></section>'
    return fill_page(title, content, paints, title)


def _tabulate(table: Sequence[LeagueLine], outcomes: Sequence[Outcome]) -> str:
    rows = []
    for row, standing in enumerate(table):
        gained = "".join(f"<td>{'' if points is None else f'{points:g}'}</td>" for points in standing.by_outcome)
        rows.append(
            f"<tr><td>{standing.place}</td>{format_who(row, standing.name)}<td><b>{standing.points:g}</b></td>"
            f"<td>{standing.wins}</td>{gained}</tr>"
        )
    heads = ("", "name", "points", "wins", *(show_name(outcome.title) for outcome in outcomes))
    return format_table(heads, rows, ("name",))


def _draw(table: Sequence[LeagueLine]) -> str:
    curves = []
    for row, standing in enumerate(table):
        sums = accumulate((points or 0.0 for points in standing.by_outcome), initial=0.0)
        curves.append(Curve(row, standing.name, [[(float(count), points) for count, points in enumerate(sums)]]))
    count, most = len(table[0].by_outcome), max(standing.points for standing in table) or 1.0
    ticks = [tick for tick in choose_ticks(0.0, count, 14) if tick == round(tick)]
    return draw_chart(
        "Points after each outcome", curves, Side(0.0, count, ticks), Side(0.0, 1.05 * most, choose_ticks(0.0, most))
    )
