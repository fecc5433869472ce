"""The report of a race: one HTML file that needs nothing else, to be kept and sent around."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import IO

from donkeysim import __version__
from donkeysim.core.chart import fill_report
from donkeysim.core.errors import format_count
from donkeysim.racing.export.charts import (
    DARK_GROUND,
    LIGHT_GROUND,
    SPEED_CLASSES,
    draw_gaps,
    draw_lap_chart,
    draw_lap_times,
    draw_map,
    draw_speeds,
    fit_colour,
    format_time,
    join_words,
    show_name,
)
from donkeysim.racing.export.story import CarStory, IncidentStory, RaceStory, StoryKeeper
from donkeysim.racing.export.walk import RaceWalk
from donkeysim.racing.rules.classification import FINISHED, Placing
from donkeysim.racing.rules.describe import describe_end, describe_kind, describe_rules
from donkeysim.racing.rules.director import OVER
from donkeysim.racing.run.verify import Verification

_TEMPLATE, _SCRIPT = (Path(__file__).with_name(name) for name in ("report.html", "report.js"))

# As many colours as can be told apart at a glance.
SPEEDS_SHOWN = 6
"""Best laps in the chart of speeds; more would be hard to tell apart."""

DASHED_FROM = 8
"""From this many cars on every second line is dashed."""

MEDALS = ("gold", "silver", "bronze")


class ReportExport:
    """Writes the report. Implements `Export`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._keeper = StoryKeeper()

    def begin(self, walk: RaceWalk, stream: IO[bytes]) -> None:
        """Keep the stream; a page is written at the end."""
        del walk
        self._stream = stream

    def note(self, walk: RaceWalk) -> None:
        """Note a frame."""
        self._keeper.note(walk)

    def finish(self, walk: RaceWalk, verdict: Verification) -> None:
        """Write the page."""
        digest = hashlib.sha256(walk.path.read_bytes()).hexdigest()
        self._stream.write(format_report(self._keeper.make_story(walk, verdict), walk.path.name, digest).encode())

    def close(self) -> None:
        """Nothing is left to do."""


def format_report(story: RaceStory, file: str, digest: str) -> str:
    """Return the page; `digest`: SHA-256 of its bytes, as hexadecimal digits."""
    has_laps = any(car.laps for car in story.cars)
    parts = [
        _format_head(story),
        _format_podium(story),
        _format_facts(story),
        format_chips([(car.row, car.name) for car in story.cars]),
        _format_classification(story),
        *(_format_charts(story) if has_laps else ()),
        _format_map(story),
        _format_incidents(story),
        _format_qualifying(story),
        _format_journal(story),
        _format_protest(story, file, digest),
    ]
    title = f"{story.scene.name}, {story.plan.book.title}"
    return fill_page(title, "".join(parts), {car.row: car.colour for car in story.cars}, file)


def fill_page(title: str, content: str, paints: Mapping[int, tuple[int, int, int]], source: str) -> str:
    """Return a page around its content.

    Args:
        title: Of the browser's tab.
        content: As HTML.
        paints: Colours of cars by row, sRGB 0 to 255, in the order in which the page shows them.
        source: What it was made from.
    """
    script = _SCRIPT.read_text(encoding="utf-8")
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return fill_report(
        _TEMPLATE,
        title=escape(title),
        colours=_format_colours(paints),
        content=content,
        script=script,
        script_hash=f"sha256-{checksum}",
        file=escape(source),
    )


def _format_colours(paints: Mapping[int, tuple[int, int, int]]) -> str:
    """Return a colour for each car that can be seen by day and by night."""
    day, night = (
        "".join(f".car-{row}{{--paint:{fit_colour(paint, ground)}}}" for row, paint in paints.items())
        for ground in (LIGHT_GROUND, DARK_GROUND)
    )
    dashed = [f".car-{row} .curve" for row in list(paints)[1::2]] if len(paints) >= DASHED_FROM else []
    dashes = f"{','.join(dashed)}{{stroke-dasharray:7 4}}" if dashed else ""
    return f"{day}{dashes}\n@media (prefers-color-scheme: dark) {{ {night} }}"


# -- the top ----------------------------------------------------------------------------------------------------------


def _format_head(story: RaceStory) -> str:
    verdict, is_fine = describe_verdict(story.verdict)
    return (
        f'<p class="kicker">{escape(story.plan.book.title)} · {escape(story.scene.name)}</p>'
        f'<h1>{_make_headline(story)}</h1><p class="lead">{_make_lead(story)}</p>'
        f'<p class="verdict {"verified" if is_fine else "refused"}">{escape(verdict)}</p>'
    )


def describe_verdict(verdict: Verification) -> tuple[str, bool]:
    """Return whether a race file holds, in a sentence, and as a truth."""
    if verdict.is_confirmed:
        return "✓ played again and counted again: every frame and the result are the same", True
    complaints = "; ".join(verdict.list_complaints())
    return f"this report cannot be relied on: {complaints}", False


def _list_winners(story: RaceStory) -> list[Placing]:
    placings = [car.placing for car in story.cars]
    return [placing for placing in placings if placing.place == 1 and placing.status == FINISHED]


def _make_headline(story: RaceStory) -> str:
    winners = _list_winners(story)
    if story.verdict.counted is None:
        return "A race without an end"
    if not winners:
        return "Nobody finished"
    names = [show_name(placing.name) for placing in winners]
    return f"{names[0]} wins" if len(names) == 1 else f"{join_words(names)} share the first place"


def _make_lead(story: RaceStory) -> str:
    """Return the race in some sentences, as HTML."""
    sentences = list(_describe_winner(story))
    laps = [(car.placing.best_lap, car.name) for car in story.cars if car.placing.best_lap is not None]
    if laps and story.plan.book.race.order != "best_lap":
        best, name = min(laps)
        sentences.append(f"The best lap, {format_time(best)}, was {show_name(name)}'s")
    costly = sum(bool(item.cost) and not item.is_undone for item in story.incidents)
    sentences.append(f"{format_count(costly, 'incident')} cost something" if costly else "No incident cost anything")
    done = sum(car.placing.status == FINISHED for car in story.cars)
    if story.verdict.counted is not None:
        sentences.append(f"{done} of {format_count(len(story.cars), 'car')} finished")
    return ". ".join(sentences) + "."


def _describe_winner(story: RaceStory) -> Iterable[str]:
    """Yield how far the winner was ahead, where there is one."""
    winners, others = _list_winners(story), [car.placing for car in story.cars if car.placing.place > 1]
    second = next((placing for placing in others if placing.result is not None), None)
    if len(winners) != 1 or winners[0].result is None:
        return
    order, result = story.plan.book.race.order, format_time(winners[0].result)
    sentence = f"{format_count(winners[0].laps, 'lap')} in {result}" if order == "time" else f"A lap in {result}"
    if order == "distance":
        sentence = _describe_result(story, winners[0])
    if second is not None and second.result is not None:
        ahead = abs(second.result - winners[0].result)
        by = format_count(round(ahead), "lap") if order == "distance" else f"{ahead:.3f} s"
        sentence += f", {by} ahead of {show_name(second.name)}"
    yield sentence


def _format_podium(story: RaceStory) -> str:
    steps = []
    for car in story.cars:
        placing = car.placing
        if placing.status == FINISHED and 1 <= placing.place <= len(MEDALS):
            steps.append(
                f'<div style="--medal:var(--{MEDALS[placing.place - 1]})"><i>{placing.place}</i>'
                f"<b>{show_name(car.name)}</b><span>{_describe_result(story, placing)}</span></div>"
            )
    return f'<div class="podium">{"".join(steps)}</div>' if steps else ""


def _describe_result(story: RaceStory, placing: Placing) -> str:
    """Return what places go by."""
    if placing.result is None:
        return ""
    if story.plan.book.race.order == "distance":
        return format_count(round(placing.result), "lap")
    return f"{format_time(placing.result)} s"


def _format_facts(story: RaceStory) -> str:
    plan, result = story.plan, story.verdict.counted
    facts = {
        "track": story.scene.name,
        "rules": plan.rules,
        "cars": str(len(plan.names)),
        "physics": plan.car,
        "seed": str(plan.seed),
        "simulated": f"{format_time(story.time)} s",
    }
    if result is not None and result.attempt > 1:
        facts["attempt"] = str(result.attempt)
    items = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return f"<section><dl>{items}</dl></section>"


def format_chips(cars: Sequence[tuple[int, str]]) -> str:
    """Return buttons that fade all others, by row and name."""
    chips = "".join(
        f'<button data-car="{row}" aria-pressed="false"><i class="car-{row}"></i>{show_name(name)}</button>'
        for row, name in cars
    )
    return f'<div class="chips">{chips}</div>'


# -- tables -----------------------------------------------------------------------------------------------------------


def format_table(heads: Sequence[str], rows: Iterable[str], words: Sequence[str] = ()) -> str:
    """Return a table of rows in HTML; columns whose heads are among `words` hold words, and stand at the left."""
    cells = "".join(f"<th{' class=words' if head in words else ''}>{head}</th>" for head in heads)
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def format_who(row: int, name: str) -> str:
    """Return a cell with a car's name and colour."""
    return f'<td class="who car-{row}"><i></i><bdi>{show_name(name)}</bdi></td>'


def _format_classification(story: RaceStory) -> str:
    best = min((car.placing.best_lap for car in story.cars if car.placing.best_lap is not None), default=None)
    first = next((placing.result for placing in _list_winners(story)), None)
    order = story.plan.book.race.order
    rows = []
    for car in story.cars:
        placing = car.placing
        behind = 0.0 if placing.result is None or first is None or order == "distance" else placing.result - first
        kind = ' class="out"' if placing.status != FINISHED else ""
        status = describe_end(placing.status, placing.why)
        fastest = ' class="best"' if best is not None and placing.best_lap == best else ""
        rows.append(
            f"<tr{kind}><td>{placing.place or ''}</td>{format_who(car.row, car.name)}<td>{car.grid}</td>"
            f"<td>{placing.laps}</td><td>{format_time(placing.time)}</td><td>{f'+{behind:.3f}' if behind else ''}</td>"
            f"<td>{f'{placing.penalty:g}' if placing.penalty else ''}</td>"
            f"<td{fastest}>{format_time(placing.best_lap)}</td>"
            f'<td class="words">{escape(status)}</td></tr>'
        )
    heads = ("", "name", "grid", "laps", "time [s]", "behind [s]", "penalty [s]", "best lap [s]", "remark")
    measure = {"time": "the least time", "distance": "the most laps", "best_lap": "the best lap"}[order]
    head = f"<section><h2>Classification</h2><p>By {measure}; penalties are in the times.</p>"
    return f"{head}{format_table(heads, rows, ('name', 'remark'))}</section>"


def _format_charts(story: RaceStory) -> Iterable[str]:
    cars = story.cars
    race = story.plan.book.race
    if len(cars) > 1 and not race.alone and race.order != "best_lap" and any(car.ends for car in cars):
        yield _format_chart("Places", "On the grid, and after each lap that counts.", draw_lap_chart(cars))
        yield _format_chart(
            "Gaps", "Seconds behind the quickest after each lap that counts, without penalties.", draw_gaps(cars)
        )
    yield _format_chart("Lap times", "Seconds for each lap, without penalties.", draw_lap_times(cars), _tabulate(cars))
    timed = [(min(lap.time for lap in car.laps), car) for car in cars if car.best is not None and car.laps]
    quickest = [car for _, car in sorted(timed, key=lambda pair: pair[0])[:SPEEDS_SHOWN]]
    if quickest:
        whose = "each car" if len(cars) <= SPEEDS_SHOWN else "the fastest six"
        sentence = f"Speed [m/s] along the track in the best lap of {whose}."
        yield _format_chart("Speed", sentence, draw_speeds(quickest, float(story.scene.path.frame.length)))


def _format_chart(title: str, sentence: str, chart: str, table: str = "") -> str:
    return f'<section><h2>{title}</h2><p>{sentence}</p><div class="scroll">{chart}</div>{table}</section>'


def _tabulate(cars: Sequence[CarStory]) -> str:
    """Return the table of all lap times."""
    count = max(len(car.laps) for car in cars)
    rows = []
    for car in cars:
        best = min((lap.time for lap in car.laps), default=0.0)
        cells = [f"<td{' class=best' if lap.time == best else ''}>{format_time(lap.time)}</td>" for lap in car.laps]
        rows.append(f"<tr>{format_who(car.row, car.name)}{''.join(cells)}{'<td></td>' * (count - len(car.laps))}</tr>")
    return format_table(("name", *map(str, range(1, count + 1))), rows, ("name",))


def _format_map(story: RaceStory) -> str:
    timed = [(min(lap.time for lap in car.laps), car) for car in story.cars if car.best is not None and car.laps]
    fastest = min(timed, key=lambda pair: pair[0])[1] if timed else None
    note = "Numbers are incidents that cost something, small dots those that did not, in the colour of who is to blame."
    if fastest is not None:
        swatches = "".join(f'<i class="speed-{kind}"></i>' for kind in range(SPEED_CLASSES))
        note += f" The line is the fastest lap, {show_name(fastest.name)}'s:"
        note += f' slow <span class="legend">{swatches}</span> fast.'
    drawn = draw_map(story, fastest.best if fastest is not None else None)
    return f"<section><h2>Map</h2><p>{note}</p>{drawn}</section>"


def _format_incidents(story: RaceStory) -> str:
    costly = [item for item in story.incidents if item.cost or item.is_undone]
    free = [item for item in story.incidents if not item.cost and not item.is_undone]
    parts = ["<section><h2>Incidents</h2>"]
    if costly:
        sentence = "Time is since green. The name is who is to blame; what is struck out the race engineer took back."
        parts.append(f"<p>{sentence}</p>{_tabulate_incidents(story, costly)}")
    else:
        parts.append("<p>Nothing that cost anything.</p>")
    if free:
        summary = f"{format_count(len(free), 'more incident')} that cost nothing"
        parts.append(f"<details><summary>{summary}</summary>{_tabulate_incidents(story, free)}</details>")
    return "".join([*parts, "</section>"])


def _tabulate_incidents(story: RaceStory, items: Sequence[IncidentStory]) -> str:
    names, rows = dict(enumerate(story.plan.names)), []
    for item in items:
        incident = item.incident
        what = escape(describe_kind(incident))
        about = show_name(names[incident.other]) if incident.other in names else escape(incident.what)
        about = "" if incident.kind == "obstacle" else about
        struck = ' class="undone"' if item.is_undone else ""
        rows.append(
            f"<tr{struck}><td>{incident.number}</td><td>{incident.time:.2f}</td><td>{incident.lap or ''}</td>"
            f"{format_who(incident.row, names[incident.row])}"
            f'<td class="words">{what}{f" (<bdi>{about}</bdi>)" if about else ""}</td>'
            f'<td class="words">{item.cost}{"" if incident.counts else "does not count"}</td></tr>'
        )
    return format_table(("no.", "time [s]", "lap", "name", "what", "cost"), rows, ("name", "what", "cost"))


def _format_qualifying(story: RaceStory) -> str:
    result = story.verdict.counted
    if result is None or not result.qualifying:
        return ""
    rows = [
        f"<tr><td>{placing.place or ''}</td>{format_who(placing.row, placing.name)}<td>{placing.laps}</td>"
        f"<td>{format_time(placing.time)}</td><td>{format_time(placing.best_lap)}</td></tr>"
        for placing in result.qualifying
    ]
    table = format_table(("", "name", "laps", "time [s]", "best lap [s]"), rows, ("name",))
    return f"<section><h2>Qualifying</h2>{table}</section>"


# -- the end ----------------------------------------------------------------------------------------------------------


def _format_journal(story: RaceStory) -> str:
    rows = [
        f'<tr><td>{line.time:.2f}</td><td class="words">{escape(line.session)}</td>'
        f'<td class="words"><bdi>{show_name(line.text, 300)}</bdi></td></tr>'
        for line in story.journal
    ]
    table = format_table(("clock [s]", "session", "what"), rows, ("session", "what"))
    summary = f"{format_count(len(rows), 'line')}; the clock begins anew with each run"
    return f"<section><h2>Journal</h2><details><summary>{summary}</summary>{table}</details></section>"


def _format_protest(story: RaceStory, file: str, digest: str) -> str:
    """Return how anybody with the race file can count again, and by which rules."""
    rules = "".join(f"<li>{escape(line)}</li>" for line in describe_rules(story.plan.book))
    source = f"{story.plan.book.source}, as of {story.plan.book.date}" if story.plan.book.source else ""
    command = f"<code>donkey race verify {escape(file)}</code>"
    over = "" if story.journal and story.journal[-1].session == OVER else " The file ends before the race does."
    return (
        f"<section><h2>Who doubts it</h2><p>Whoever has the race file can play it again, frame by frame, and let the "
        f"director count again, on the machine that raced and with the same versions: {command}.{over}</p>"
        f"<dl><div><dt>race file</dt><dd>{escape(file)}</dd></div>"
        f"<div><dt>SHA-256</dt><dd><code>{digest}</code></dd></div>"
        f"<div><dt>donkeysim</dt><dd>{__version__}</dd></div></dl>"
        f"<details><summary>the rules as they were read</summary><p>{escape(source)}</p><ul>{rules}</ul></details>"
        "</section>"
    )
