"""A scripted agent to compare others with: it drives by the tools alone, along a yellow line."""

import base64
import json
from typing import Any

import numpy as np
from mcp import Client

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.image import decode_picture
from donkeysim.core.types import ByteArray

NAME = "scripted baseline"

# With the default camera the floor from about 1.3 m to 0.25 m ahead: what is farther is a few texels wide, what is
# nearer leaves the picture in bends.
BAND = (0.45, 0.75)
"""Rows of the picture in which it looks for the line, as shares of its height."""

YELLOWNESS = 36
"""By how much red and green outshine blue on a yellow line, at least, 0 to 255."""

LINE_ENOUGH = 0.002
"""Share of the band that must be line."""

# The line is the middle of the road, and the right lane is to be driven. Full lock when the line stands half a picture
# away from where it should; a fifth of a second at 1 m/s is less than a car's length, so each picture still shows what
# the last turn did.
TARGET, TURN_GAIN, TURN_SECONDS = -0.3, 1.8, 0.2
"""Where in the picture it wants the line, -1 = left edge, 1 = right edge; steering per distance from there; length of a
turn [s]."""

FAST, SLOW = 1.0, 0.4
"""Speed straight on, and with the wheels turned as far as they go [m/s]."""


class LineFollower:
    """Decides by one picture after another: towards the yellow line, to keep a little to the right of it."""

    def __init__(self) -> None:
        self._steering = 0.0

    def decide(self, picture: ByteArray) -> dict[str, float]:
        """Return what to call `set_motion` with; where no line is seen, the wheels stay as they are."""
        height, width = picture.shape[:2]
        band = picture[int(BAND[0] * height) : int(BAND[1] * height)].astype(np.int64)
        red, green, blue = np.moveaxis(band, 2, 0)
        is_line = (np.minimum(red, green) - blue > YELLOWNESS) & (red >= green)
        if is_line.mean() > LINE_ENOUGH:
            place = 2.0 * (float(np.nonzero(is_line)[1].mean()) + 0.5) / width - 1.0
            self._steering = float(np.clip(TURN_GAIN * (place - TARGET), -1.0, 1.0))
        speed = FAST + (SLOW - FAST) * abs(self._steering)
        return {"steering": self._steering, "speed": speed, "seconds": TURN_SECONDS}


async def drive(server: Any, most_turns: int) -> dict[str, Any]:
    """Drive a trip and return its last readings.

    Args:
        server: Whatever `mcp.Client` connects to.
        most_turns: After which it stops by itself.

    Raises:
        DonkeySimError: A tool answers with an error.
    """
    follower = LineFollower()
    async with Client(server) as client:
        readings: dict[str, Any] = {"ending": ""}
        for _ in range(most_turns):
            picture = (await _call(client, "observe")).content[0]
            motion = follower.decide(decode_picture(base64.b64decode(picture.data)))
            readings = json.loads((await _call(client, "set_motion", motion)).content[0].text)
            if readings["ending"]:
                return readings
        return dict(json.loads((await _call(client, "stop")).content[0].text))


async def _call(client: Client, tool: str, arguments: dict[str, float] | None = None) -> Any:
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise DonkeySimError(f"the tool {tool} failed: {result.content}")
    return result
