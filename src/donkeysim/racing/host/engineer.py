"""What a race engineer may do to a race that a server holds, by the address of its watching page."""

import ssl
import urllib.error
import urllib.parse
import urllib.request

import msgspec

from donkeysim.core.errors import DonkeySimError, SpecError, describe_unknown
from donkeysim.racing.rules import act
from donkeysim.racing.show.race_view import RaceView

PAGE = "http://127.0.0.1:9093"
"""Where the page is, unless something else has its port. Windows takes 2 s to find that a localhost is this number."""

SECONDS = 10.0
"""Longest wait for an answer [s]."""


def make_act(name: str, given: str, why: str, view: RaceView) -> act.Act:
    """Return what is to be done.

    Args:
        name: "pause", "continue", "restart", "put-back", "penalise", "disqualify" or "undo".
        given: To which car, or to which incident; "" where that is none.
        why: What the journal says about a penalty.

    Raises:
        SpecError: There is no such car, or a number is none.
    """
    rows = {line.name: line.row for line in view.tower}

    def find(car: str) -> int:
        if car not in rows:
            raise SpecError(describe_unknown("car of this race", car, rows))
        return rows[car]

    if name == "undo":
        if not given.isdigit():
            raise SpecError(f"{given!r} is no number of an incident; see donkey race engineer show.")
        return act.Undo(int(given))
    if name == "put-back":
        return act.PutBack(find(given))
    if name == "disqualify":
        return act.Penalise(find(given), out=True, why=why)
    if name == "penalise":
        car, _, seconds = given.rpartition("=")
        return act.Penalise(find(car), seconds=read_seconds(seconds), why=why)
    plain: dict[str, act.Act] = {"pause": act.Pause(), "continue": act.Continue(), "restart": act.Restart()}
    return plain[name]


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


class EngineersPage:
    """Asks the watching page of a server that holds races, and changes them."""

    def __init__(self, address: str, token: str) -> None:
        parts = urllib.parse.urlsplit(address if "://" in address else f"http://{address}")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SpecError(f"--at is {address!r}; it takes the address of the page, such as {PAGE}.")
        query = urllib.parse.parse_qs(parts.query).get("token", [""])
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._token = token or query[0]
        # The page's certificate is its own; who it is, the token says. Pages of races are near: no proxy knows them.
        trust = urllib.request.HTTPSHandler(context=ssl._create_unverified_context())
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), trust)

    def show(self) -> RaceView:
        """Return how the race stands.

        Raises:
            SpecError: No race is held there.
            DonkeySimError: Nobody answers, or something else does.
        """
        return _read_view(self._ask(urllib.request.Request(f"{self._base}/race")))

    def start(self) -> None:
        """Begin the race that is waited for."""
        self._post("start", b"{}")

    def act(self, deed: act.Act) -> None:
        """Let the race engineer do something."""
        self._post("act", msgspec.json.encode(deed))

    def _post(self, deed: str, body: bytes) -> None:
        self._ask(urllib.request.Request(f"{self._base}/race/{deed}", data=body, method="POST"))

    def _ask(self, request: urllib.request.Request) -> bytes:
        request.add_header("Content-Type", "application/json")
        request.add_header("Origin", self._base)
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
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


def _read_view(answer: bytes) -> RaceView:
    try:
        view = msgspec.json.decode(answer, type=RaceView | None)
    except msgspec.DecodeError as error:
        raise DonkeySimError(f"the page answers something else than a race ({error}); is it of this version?") from None
    if view is None:
        raise SpecError("no race is held there; hold one with donkey race host.")
    return view
