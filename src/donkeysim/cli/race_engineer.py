"""`donkey race engineer`: what a race engineer may do to a race that a server holds, by the watching page's address."""

from __future__ import annotations

import argparse
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING

import msgspec

from donkeysim.core.errors import DonkeySimError, SpecError, describe_unknown

if TYPE_CHECKING:
    from donkeysim.racing.rules.act import Act
    from donkeysim.racing.show.race_view import RaceView

PAGE = "http://localhost:9093"
"""Where the page is unless something else has taken its port."""

SECONDS = 10.0
"""Longest wait for an answer [s]."""

ACTS = {
    "show": "who is where, and the incidents with their numbers",
    "start": "begin the race that is waited for in the paddock",
    "pause": "red flag: time stands still",
    "continue": "time goes on",
    "restart": "run the race again, from the grid",
    "put-back": "put a car (NAME) back on the path",
    "penalise": "give a car seconds (NAME=SECONDS)",
    "disqualify": "take a car (NAME) out of the race",
    "undo": "take back an incident (its number)",
}

_WITHOUT = ("show", "start", "pause", "continue", "restart")


def add_engineer_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what can be done."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(f"  {name:<11} {what}" for name, what in ACTS.items())
    parser.add_argument("act", choices=tuple(ACTS), metavar="ACT", help="what to do, see below")
    parser.add_argument("object", nargs="?", metavar="NAME|NAME=SECONDS|NO", help="to which car, or which incident")
    parser.add_argument("--why", default="", metavar="TEXT", help="what the journal says about a penalty")
    parser.add_argument("--at", default=PAGE, metavar="URL", help=f"address of the watching page (default {PAGE})")
    parser.add_argument("--token", default="", metavar="WORD", help="the page's token, from another machine")


def engineer(arguments: argparse.Namespace) -> int:
    """Do it, and say how the race stands."""
    from donkeysim.racing.show.race_view import RaceView

    if (arguments.act in _WITHOUT) != (arguments.object is None):
        raise SpecError(f"{arguments.act} takes {'nothing' if arguments.act in _WITHOUT else ACTS[arguments.act]}.")
    page = _Page(arguments.at, arguments.token)
    if arguments.act == "start":
        page.post("race/start", b"{}")
    elif arguments.act != "show":
        view = _read_view(page.get("race"), RaceView)
        page.post("race/act", msgspec.json.encode(make_act(arguments, view)))
    show_view(_read_view(page.get("race"), RaceView))
    return 0


def make_act(arguments: argparse.Namespace, view: RaceView) -> Act:
    """Return what is to be done.

    Raises:
        SpecError: There is no such car, or a number is none.
    """
    from donkeysim.racing.rules import act

    rows = {line.name: line.row for line in view.tower}

    def find(name: str) -> int:
        if name not in rows:
            raise SpecError(describe_unknown("car of this race", name, rows))
        return rows[name]

    if arguments.act == "undo":
        if not arguments.object.isdigit():
            raise SpecError(f"{arguments.object!r} is no number of an incident; see donkey race engineer show.")
        return act.Undo(int(arguments.object))
    if arguments.act == "put-back":
        return act.PutBack(find(arguments.object))
    if arguments.act == "disqualify":
        return act.Penalise(find(arguments.object), out=True, why=arguments.why)
    if arguments.act == "penalise":
        name, _, seconds = arguments.object.rpartition("=")
        return act.Penalise(find(name), seconds=read_seconds(seconds), why=arguments.why)
    plain: dict[str, Act] = {"pause": act.Pause(), "continue": act.Continue(), "restart": act.Restart()}
    return plain[arguments.act]


def read_seconds(text: str) -> float:
    """Return a penalty [s].

    Raises:
        SpecError: It is none.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds < 1e6:
        raise SpecError(f"a penalty is {text!r}; it takes seconds, such as Anna=5.")
    return seconds


def show_view(view: RaceView) -> None:
    """Print how a race stands."""
    from donkeysim.cli.console import console

    clock = "" if view.clock is None else f", {view.clock:.1f} s"
    console.print(f"{view.title}: {view.session}{clock}{', held' if view.is_held else ''}")
    if view.waiting:
        console.print(view.waiting, soft_wrap=True)
    for line in view.tower:
        gap = "" if line.gap is None else f"+{line.gap:.1f} s"
        remark = "" if line.status == "racing" else line.status
        text = f"{line.place or '':>3}  {line.name:<24} {line.laps:>3} laps  {gap:<9} {remark}"
        console.print(text, soft_wrap=True)
    for mark in view.marks:
        if mark.number and not mark.is_undone:
            console.print(f"{mark.time:8.2f} s  {mark.text}", soft_wrap=True)


def _read_view(answer: bytes, kind: type[RaceView]) -> RaceView:
    try:
        view = msgspec.json.decode(answer, type=kind | None)
    except msgspec.DecodeError as error:
        raise DonkeySimError(f"the page answers something else than a race ({error}); is it of this version?") from None
    if view is None:
        raise SpecError("no race is held there; hold one with donkey race host.")
    return view


class _Page:
    """Asks a watching page."""

    def __init__(self, address: str, token: str) -> None:
        parts = urllib.parse.urlsplit(address if "://" in address else f"http://{address}")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SpecError(f"--at is {address!r}; it takes the address of the page, such as {PAGE}.")
        query = urllib.parse.parse_qs(parts.query).get("token", [""])
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._token = token or query[0]
        # The page's certificate is its own; who it is, the token says.
        self._context = ssl._create_unverified_context() if parts.scheme == "https" else None

    def get(self, path: str) -> bytes:
        return self._ask(urllib.request.Request(f"{self._base}/{path}"))

    def post(self, path: str, body: bytes) -> bytes:
        return self._ask(urllib.request.Request(f"{self._base}/{path}", data=body, method="POST"))

    def _ask(self, request: urllib.request.Request) -> bytes:
        request.add_header("Content-Type", "application/json")
        request.add_header("Origin", self._base)
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=SECONDS, context=self._context) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise DonkeySimError(_read_refusal(error)) from None
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise DonkeySimError(
                f"nobody answers at {self._base} ({reason}); give the page's address with --at."
            ) from None


def _read_refusal(error: urllib.error.HTTPError) -> str:
    """Return the sentence of a refusal, whichever way it was sent."""
    text = error.read(4096).decode("utf-8", "replace").strip()
    try:
        return str(msgspec.json.decode(text)["error"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return text or f"the page refuses ({error.code})."
