"""`donkey race host` and `donkey race engineer`: what they refuse, and that the engineer's acts reach the page."""

import argparse
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import msgspec
import pytest

from donkeysim.cli import race_host
from donkeysim.cli.donkey import run
from donkeysim.core.errors import SpecError
from donkeysim.racing.host.engineer import PAGE, EngineersPage, make_act
from donkeysim.racing.rules import act
from donkeysim.racing.show.race_view import Mark, RaceView, TowerLine


def ask(words):
    """Return the options of a command line of `donkey race host`."""
    from donkeysim.cli.commands import race

    parser = argparse.ArgumentParser()
    race.add_arguments(parser)
    return parser.parse_args(["host", *words])


def make_view(*names):
    rest = ("racing", 0, None, None, 0, None, None, False, (), None, 0.0, "", True)
    lines = [TowerLine(row, row, name, (0, 0, 0), row + 1, *rest) for row, name in enumerate(names)]
    return RaceView("Club", "race", 1, "green", False, 1.0, 60.0, 3, 1.0, tuple(lines), (), {}, False)


def engineer(*words):
    parser = argparse.ArgumentParser()
    from donkeysim.cli.race_host import add_engineer_arguments

    add_engineer_arguments(parser)
    return parser.parse_args(words)


def ask_act(asked, view):
    """Return the act that a command line asks for."""
    return make_act(asked.act, asked.object or "", asked.why, view)


def test_the_server_is_on_the_track_of_the_race_and_hides_where_cars_are():
    options = race_host.read_host_options(ask(["--track", "waveshare", "--port", "0", "--no-page"]))
    assert options.simulation.experiment.scene.name == "waveshare"
    assert not options.simulation.has_training_fields
    assert (options.port, options.has_page, options.begins_in_menu) == (0, False, False)
    assert race_host.read_host_options(ask(["--training-telemetry"])).simulation.has_training_fields


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--time-scale", "max"], "a race needs steady time"),
        (["--cars", "7"], "7 cars cannot race by these rules, which let 6 on the track"),
        (["--cars", "3", "--max-cars", "2"], "--cars is 3, but --max-cars lets 2 in"),
        (["--cars", "-1"], "--cars is -1; it takes 0 or more"),
        (["--wait", "nan"], "--wait is nan; it takes seconds, 0 or more"),
        (["--rules", "diyrobocars", "--pilot", "fast", "--pilot", "steady"], "2 cars cannot race by these rules"),
        (["--rules", "nonsense"], "nonsense"),
    ],
)
def test_what_cannot_be_held_is_refused_in_one_sentence(words, sentence, capsys):
    assert run(["race", "host", *words]) == 1
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pause"], act.Pause()),
        (["continue"], act.Continue()),
        (["restart"], act.Restart()),
        (["put-back", "Ben"], act.PutBack(1)),
        (["penalise", "a=b=2.5", "--why", "rude"], act.Penalise(2, seconds=2.5, why="rude")),
        (["disqualify", "Anna"], act.Penalise(0, out=True)),
        (["undo", "3"], act.Undo(3)),
    ],
)
def test_acts_are_about_the_rows_of_names(words, expected):
    assert ask_act(engineer(*words), make_view("Anna", "Ben", "a=b")) == expected


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["put-back", "Bem"], "did you mean"),
        (["penalise", "Ben=much"], "it takes seconds"),
        (["undo", "first"], "is no number of an incident"),
    ],
)
def test_acts_that_make_no_sense_are_refused(words, sentence):
    with pytest.raises(SpecError, match=sentence):
        ask_act(engineer(*words), make_view("Anna", "Ben"))


def test_an_engineer_without_a_page_is_told_so(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert run(["race", "engineer", "show", "--at", address]) == 1
    assert "nobody answers at" in capsys.readouterr().err
    assert run(["race", "engineer", "pause", "Ben"]) == 1
    assert "pause takes nothing" in capsys.readouterr().err
    assert run(["race", "engineer", "show", "--at", "ftp://here"]) == 1
    assert "it takes the address of the page" in capsys.readouterr().err


def test_a_mark_before_the_countdown_has_no_time(capsys):
    marks = (Mark(0.0, None, "Ada: 5 s, rude", 0, 1), Mark(9.0, 2.5, "Ada: cone", 0, 2))
    race_host.show_view(msgspec.structs.replace(make_view(), marks=marks))
    assert capsys.readouterr().out.splitlines()[1:] == ["            Ada: 5 s, rude", "    2.50 s  Ada: cone"]


class RacePage(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(msgspec.json.encode(make_view("Anna")))

    def log_message(self, *_):
        pass


def test_the_engineer_asks_the_page_itself_and_no_proxy(monkeypatch):
    """By its number: Windows looks for a localhost elsewhere first."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with HTTPServer(("127.0.0.1", 0), RacePage) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        view = EngineersPage(f"http://127.0.0.1:{server.server_port}", "").show()
    assert view.tower[0].name == "Anna"
    assert PAGE == "http://127.0.0.1:9093"
