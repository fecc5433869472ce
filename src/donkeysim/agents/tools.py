"""The tools that an agent drives with, by the Model Context Protocol: observe, set_motion, stop and no more.

The protocol is the business of its own library (`mcp`, of the extra `agents`), which is imported here only.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from donkeysim import __version__
from donkeysim.agents.trip import FRAME, MOST_BACK, MOST_SECONDS, MOST_SPEED, Readings, Trip, TripSummary
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.image import encode_picture

INSTRUCTIONS = (
    "You drive a small car with a camera on a road. Get as far along the road as you can without leaving it or "
    "touching anything. Simulated time passes only while set_motion or stop works, so take your time. Look with "
    "observe, drive a little with set_motion, look again. stop ends the trip and writes down how far you came; observe "
    "begins a new one."
)

Finish = Callable[[str, TripSummary], None]
"""Called after each trip with who drove and how far."""

Steering = Annotated[float, Field(ge=-1.0, le=1.0, description="-1 = far left, 0 = straight on, 1 = far right")]
Speed = Annotated[float, Field(ge=-MOST_BACK, le=MOST_SPEED, description="to reach and hold [m/s]; below 0 backwards")]
Seconds = Annotated[float, Field(ge=FRAME, le=MOST_SECONDS, description="how long to drive so [simulated seconds]")]


class Tools:
    """The tools and the trip that they belong to; calls wait for each other."""

    def __init__(self, trip: Trip, finish: Finish, name: str | None = None) -> None:
        """Make the tools.

        Args:
            finish: Called with every trip that has begun to move.
            name: Of the driver; None: as its client calls itself.
        """
        self._trip, self._finish, self._name = trip, finish, name
        self._driver = name or "unknown"
        self._lock = threading.Lock()

    def make_server(self) -> MCPServer[Any]:
        """Return a server with the three tools."""
        server: MCPServer[Any] = MCPServer("donkeysim", version=__version__, instructions=INSTRUCTIONS)
        for tool in (self.observe, self.set_motion, self.stop):
            server.tool(structured_output=False)(tool)
        return server

    def observe(self, context: Context[Any, Any]) -> list[Any]:
        """Look: the picture of the car's camera and its readings. No time passes. After a trip, a new one begins."""
        with self._lock:
            self._note_driver(context)
            if self._trip.readings.ending:
                self._trip.begin()
            return [Image(data=encode_picture(self._trip.look(), "PNG"), format="png"), _describe(self._trip.readings)]

    def set_motion(self, context: Context[Any, Any], steering: Steering, speed: Speed, seconds: Seconds = 0.5) -> str:
        """Drive with this steering and speed for some simulated seconds, then time stands still again."""
        return self._act(context, lambda: self._trip.drive(steering, speed, seconds))

    def stop(self, context: Context[Any, Any]) -> str:
        """Brake until the car stands and end the trip; its result is written down."""
        return self._act(context, self._trip.stop)

    def leave(self) -> None:
        """End the trip of a client that is gone; one that never moved is not written down."""
        with self._lock:
            if self._trip.readings.turns and not self._trip.readings.ending:
                self._trip.leave()
                self._finish(self._driver, self._trip.summary)

    def _act(self, context: Context[Any, Any], turn: Callable[[], Readings]) -> str:
        with self._lock:
            self._note_driver(context)
            try:
                readings = turn()
            except DonkeySimError as error:
                raise ToolError(str(error)) from error
            if readings.ending:
                self._finish(self._driver, self._trip.summary)
            return _describe(readings)

    def _note_driver(self, context: Context[Any, Any]) -> None:
        client = context.session.client_params
        if self._name is None and client is not None:
            self._driver = client.client_info.name


def _describe(readings: Readings) -> str:
    return json.dumps(asdict(readings))
