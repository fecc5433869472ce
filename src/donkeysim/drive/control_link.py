"""The WebSockets of the control page: who listens, and what is still to be sent to each.

News of the original (`driveMode`, `recording`, `num_records`) goes to everybody. A client that asked for reports gets
the newest one whenever the one before has been taken from it; a slow one gets fewer and never old ones.
"""

import asyncio
from collections import deque
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from donkeysim.core.errors import DonkeySimError
from donkeysim.drive.control_report import CarReport
from donkeysim.drive.control_state import ControlState, Driver, read_message

# Three seconds of news at 20 Hz; a page that is farther behind gets the present instead.
LONGEST_QUEUE = 64
"""News that a client has not taken; older ones are dropped."""

_encode = msgspec.json.Encoder().encode


class Listener:
    """One WebSocket: takes what its client says, sends what is new."""

    def __init__(self, state: ControlState, socket: WebSocket, wants_reports: bool) -> None:
        self.driver: Driver = state.join()
        self.wants_reports = wants_reports
        self._state = state
        self._socket = socket
        self._news: deque[str] = deque(maxlen=LONGEST_QUEUE)
        self._report: str | None = None
        self._waiting = asyncio.Event()

    def send(self, **news: Any) -> None:
        """Send some news soon."""
        self._news.append(_encode(news).decode())
        self._waiting.set()

    def show(self, report: str) -> None:
        """Send this report instead of one that still waits."""
        self._report = report
        self._waiting.set()

    async def serve(self) -> None:
        """Serve until the client leaves."""
        sending = asyncio.create_task(self._send_all())
        try:
            while True:
                received = await self._socket.receive()
                if received["type"] == "websocket.disconnect":
                    return
                self._take(received.get("text") or received.get("bytes") or "")
        finally:
            self._state.leave(self.driver)
            sending.cancel()

    def _take(self, text: str | bytes) -> None:
        try:
            self._state.take(read_message(text), self.driver)
        except DonkeySimError as error:
            self.send(error=str(error))

    async def _send_all(self) -> None:
        while True:
            await self._waiting.wait()
            self._waiting.clear()
            try:
                while self._news:
                    await self._socket.send_text(self._news.popleft())
                if self._report is not None:
                    report, self._report = self._report, None
                    await self._socket.send_text(report)
            except (WebSocketDisconnect, RuntimeError):  # closed meanwhile: Starlette says it in either way
                return


class ControlLink:
    """All listeners; used in the loop that serves them."""

    def __init__(self, state: ControlState, about: dict[str, Any]) -> None:
        """Bring to `state` what clients say; `about` is sent once to each that asks for reports."""
        self._state = state
        self._about = about
        self._listeners: set[Listener] = set()

    @property
    def wants_reports(self) -> bool:
        """Whether anybody asked for reports."""
        return any(listener.wants_reports for listener in self._listeners)

    async def serve(self, socket: WebSocket) -> None:
        """Serve one WebSocket; `?reports=1` at its address asks for reports."""
        await socket.accept()
        listener = Listener(self._state, socket, socket.query_params.get("reports") == "1")
        self._listeners.add(listener)
        if listener.wants_reports:
            listener.send(about=self._about)
        try:
            await listener.serve()
        finally:
            self._listeners.discard(listener)

    def broadcast(self, news: dict[str, Any]) -> None:
        """Send to everybody."""
        for listener in self._listeners:
            listener.send(**news)

    def warn(self, driver: Driver) -> None:
        """Tell a driver that its throttle was taken away."""
        for listener in self._listeners:
            if listener.driver is driver:
                listener.send(released=True)

    def show(self, report: CarReport) -> None:
        """Show the newest report to those who asked."""
        text = _encode({"report": report}).decode()
        for listener in self._listeners:
            if listener.wants_reports:
                listener.show(text)
