"""People who watch: each asks for the next picture as the page does. `python -m benchmarks.race_watching.viewers …`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import websockets

INTERVAL = 1.0 / 30.0
"""Least time between two questions, as the page's [s]."""


async def watch(address: str, question: dict[str, Any], seconds: float, number: int) -> tuple[int, int, float]:
    """Return how many pictures came, how many were other ones than before, and how long they took in the middle [s]."""
    count, changes, last, waits, at = 0, 0, b"", [], question.get("at", 0.0)
    # An address of its own for each, as people have; on Linux all of 127.0.0.0/8 is this machine.
    place = f"127.0.0.{2 + number}", 0
    url = address.replace("http", "ws") + "/picture"
    async with websockets.connect(url, origin=address, local_addr=place) as socket:  # type: ignore[arg-type]
        due = began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            asked = time.perf_counter()
            if "at" in question:
                question["at"] = at + asked - began
            await socket.send(json.dumps(question))
            picture = await socket.recv()
            waits.append(time.perf_counter() - asked)
            assert isinstance(picture, bytes), picture
            count, changes, last = count + 1, changes + (picture != last), picture
            due = max(due + INTERVAL, time.perf_counter() - INTERVAL)
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
