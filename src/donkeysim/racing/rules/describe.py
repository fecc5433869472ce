"""Rule books in words, made from their numbers and not from their texts; incidents and decisions of a director."""

import re
from collections.abc import Iterable, Mapping

from donkeysim.racing.rules import decision as decide
from donkeysim.racing.rules.classification import FINISHED
from donkeysim.racing.rules.incident import ENGINEER, INCIDENTS, Incident
from donkeysim.racing.rules.rule_book import Penalty, RuleBook


def describe_rules(book: RuleBook) -> list[str]:
    """Return what a rule book says, a line for each rule."""
    race, lines = book.race, []
    if book.practice:
        lines.append(f"practice: {book.practice:g} s")
    if (rules := book.qualifying) is not None:
        laps = f"{rules.laps} laps, " if rules.laps else ""
        by = "the best lap counts" if rules.by == "best_lap" else "the time of all laps counts"
        limit = f"{rules.limit:g} s at most, " if rules.limit else ""
        lines.append(f"qualifying: {laps}{limit}{'alone, ' if rules.alone else ''}{by}")
    held = "cars are held" if book.start.holds else f"false start beyond {book.start.false_start:g} m"
    lines.append(f"start: grid by {book.start.grid}, countdown {book.start.countdown:g} s, {held}")
    laps = f"{race.laps} laps" if race.laps else "as many laps as time allows"
    more = f", {race.warm_up_laps} before and {race.cool_down_laps} after" if race.warm_up_laps else ""
    limit = f", {race.limit:g} s at most" if race.limit else ""
    together = "each car alone" if race.alone else f"up to {book.cars} cars together"
    lines.append(f"race: {laps}{more}{limit}, {together}")
    orders = {"time": "least time for all laps", "distance": "most laps, then earliest", "best_lap": "best lap"}
    lines.append(f"order: {orders[race.order]}; clock from {race.clock}; ties: {race.ties}")
    if race.least_lap:
        lines.append(f"laps below {race.least_lap:g} s do not count")
    if race.finish_window:
        lines.append(f"the others have {100.0 * race.finish_window:g} % more of the winner's time to finish")
    if race.checkpoint_limit:
        lines.append(f"{race.checkpoint_limit:g} s to each next checkpoint")
    if race.reruns:
        lines.append(f"run again up to {race.reruns} times: {', '.join(race.rerun_when)}")
    return [*lines, *map(describe_penalty, book.penalty)]


def describe_penalty(penalty: Penalty) -> str:
    """Return what a penalty is for and what it costs."""
    costs = []
    if penalty.seconds:
        costs.append(f"{penalty.seconds:g} s" + (", then twice, three times ... that" if penalty.compounds else ""))
    if penalty.laps:
        costs.append(f"laps: {penalty.laps}")
    if penalty.voids_lap:
        costs.append("the lap does not count")
    if penalty.slow_time:
        costs.append(f"{penalty.slow_time:g} s at {penalty.slow_speed:g} m/s")
    if penalty.put_back != "no":
        costs.append(f"put back ({penalty.put_back})")
    if penalty.out != "no":
        costs.append(penalty.out + (f" after more than {penalty.out_after}" if penalty.out_after else ""))
    free = f"; {penalty.free} free" if penalty.free else ""
    return f"{'; '.join(INCIDENTS[name] for name in penalty.incidents)}: {', '.join(costs) or 'noted'}{free}"


def describe_incident(incident: Incident, names: Mapping[int, str]) -> str:
    """Return an incident in words."""
    name = names[incident.row]
    if incident.kind == ENGINEER:
        cost = "out" if incident.out else f"{incident.seconds:g} s, {incident.laps} laps"
        text = f"{name}: penalty of the race engineer, {cost}" + (f" ({incident.what})" if incident.what else "")
    else:
        about = f" ({incident.what})" if incident.what else ""
        about = f" ({names.get(incident.other, 'another car')})" if incident.other >= 0 else about
        about = "" if incident.kind == "obstacle" else about
        text = f"{name} {describe_kind(incident)}{about}"
    return f"no. {incident.number}: {text}" + ("" if incident.counts else "; it does not count")


def describe_kind(incident: Incident) -> str:
    """Return what a car did, such as "left the road" and "touched a wall"."""
    if incident.kind == "obstacle" and incident.what:
        return f"touched {add_article(incident.what)}"
    return describe_reason(incident.kind)


def describe_reason(why: str) -> str:
    """Return why a car is out: what a kind of incident is called in words; other reasons are words already."""
    return "penalty of the race engineer" if why == ENGINEER else INCIDENTS.get(why, why)


def describe_end(status: str, why: str) -> str:
    """Return how a race ended for a car, and why if it is out; "" for one that has finished."""
    return "" if status == FINISHED else ": ".join(filter(None, (status, describe_reason(why))))


def add_article(thing: str) -> str:
    """Return the name of a thing as a sentence has it: a wall, an arch; "cone 3", "bales", "something" as they are."""
    thing = thing.replace("_", " ")
    if thing[-1].isdigit() or (thing[-1] == "s" and thing[-2:] != "us") or thing == "something":
        return thing
    return f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}"


def describe_decision(decision: decide.Decision, names: Mapping[int, str]) -> str:
    """Return a decision in words."""
    fields = decision._asdict()
    rows: Iterable[int] = fields.pop("rows", None) or ([fields["row"]] if fields.get("row", -1) >= 0 else [])
    fields.pop("row", None)
    cars = ", ".join(names.get(row, str(row)) for row in rows)
    rest = ", ".join(f"{value:.2f}" if isinstance(value, float) else str(value) for value in fields.values())
    words = re.sub(r"\B[A-Z]", lambda match: f" {match[0]}", type(decision).__name__).lower()
    return " ".join(filter(None, (words, rest, f"({cars})" if cars else "")))
