"""What happened is told in sentences."""

import pytest

from donkeysim.racing.rules.describe import describe_end, describe_incident, describe_reason, describe_rules
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.rules.rule_book import load_rule_book


@pytest.mark.parametrize(
    ("what", "told"),
    [("wall", "a wall"), ("arch", "an arch"), ("cone 3", "cone 3"), ("bales", "bales"), ("something", "something")],
)
def test_what_was_touched_is_named_as_in_a_sentence(what, told):
    incident = Incident(1, 2.0, 0, "obstacle", 1, what=what)
    assert describe_incident(incident, {0: "Anna"}) == f"no. 1: Anna touched {told}"


def test_other_incidents_keep_what_they_are_about():
    assert describe_incident(Incident(2, 2.0, 0, "stuck", 1, what="asked"), {0: "Anna"}).endswith("road (asked)")
    assert describe_incident(Incident(3, 2.0, 0, "obstacle", 1), {0: "Anna"}) == "no. 3: Anna touched an obstacle"


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("rear_end", "drove into a car from behind"),
        ("engineer", "penalty of the race engineer"),
        ("time is up", "time is up"),
    ],
)
def test_why_a_car_is_out_is_told_in_words(why, told):
    assert describe_reason(why) == told
    assert describe_end("disqualified", why) == f"disqualified: {told}"
    assert (describe_end("finished", ""), describe_end("did not start", "")) == ("", "did not start")


def test_a_finish_window_is_told():
    assert "the others have 100 % more of the winner's time to finish" in describe_rules(
        load_rule_book("robo_racing_carnage")
    )
