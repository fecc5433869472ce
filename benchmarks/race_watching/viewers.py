"""People who watch: each asks for the next picture, or moment, as the page does.

`python -m benchmarks.race_watching.viewers …`
"""

import asyncio
import json
import sys
import time
from typing import Any

import websockets

INTERVAL = 1.0 / 30.0
"""Least time between two questions for pictures, as the page's [s]."""

MOMENT_INTERVAL, PAST_INTERVAL = 0.015, 0.05
"""The same for moments, whose answers wait until there is a new one; and for those of the past, which do not [s]."""


async def watch(address: str, question: dict[str, Any], seconds: float, number: int) -> tuple[int, int, float]:
    """Return how many answers came, how many were other ones than before, and how long they took in the middle [s]."""
    count, changes, last, waits, at = 0, 0, b"", [], question.get("at")
    path, interval = ("/picture", INTERVAL) if "view" in question else ("/moments", MOMENT_INTERVAL)
    if path == "/moments" and at is not None:
        interval = PAST_INTERVAL
    # An address of its own for each, as people have; on Linux all of 127.0.0.0/8 is this machine.
    place = f"127.0.0.{2 + number}", 0
    url = address.replace("http", "ws") + path
    async with websockets.connect(url, origin=address, local_addr=place) as socket:  # type: ignore[arg-type]
        due = began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            asked = time.perf_counter()
            if at is not None:
                question["at"] = at + asked - began
            await socket.send(json.dumps(question))
            picture = await socket.recv()
            waits.append(time.perf_counter() - asked)
            assert isinstance(picture, bytes), picture
            count, changes, last = count + 1, changes + (picture != last), picture
            due = max(due + interval, time.perf_counter() - interval)
            await asyncio.sleep(max(due - time.perf_counter(), 0.0))
    return count, changes, sorted(waits)[len(waits) // 2]


async def main() -> None:
    """Watch with as many viewers as there are questions, and print what each got."""
    address, seconds, questions = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
    watching = (watch(address, question, seconds, number) for number, question in enumerate(questions))
    print(json.dumps(await asyncio.gather(*watching)))
    if not questions:
        await asyncio.sleep(seconds)


if __name__ == "__main__":
    asyncio.run(main())
