"""A race's result on the terminal."""

from donkeysim.cli.race_results import show_incidents
from donkeysim.racing.rules.director import Line, Result
from donkeysim.racing.rules.incident import ENGINEER, Incident
from donkeysim.racing.rules.rule_book import load_rule_book
from donkeysim.racing.run.race_file import RacePlan, Report


def test_incidents_that_were_taken_back_are_not_listed(capsys):
    book = load_rule_book("robo_racing_carnage")
    incidents = tuple(Incident(number, 10.0 * number, 0, ENGINEER, 1, seconds=5.0) for number in (1, 2))
    journal = tuple(Line(10.0 * number, "race", f"no. {number}: Anna: 5 s", 0) for number in (1, 2))
    result = Result("somewhere", book.title, 1, (), incidents, (1,), (), ())
    show_incidents(Report(RacePlan("somewhere", "", book, ("Anna",)), result, journal, "race.dlog"))
    assert capsys.readouterr().out == "   20.00 s  no. 2: Anna: 5 s\n"
