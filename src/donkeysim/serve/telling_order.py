"""Who hears before whom in a beat, and who together.

A beat has little time: who comes late in it may have to wait for the next one, but everybody hears now and then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from donkeysim.core.clock import Clock
from donkeysim.serve.participants import SceneCar
from donkeysim.serve.picture_budget import Account

PARTY_SECONDS = 0.0025
"""What should take longer is not made together, while time is paced: the beat could end meanwhile [s]."""


def take_turns(pairs: Sequence[tuple[SceneCar, Account]], room: Clock | None) -> Iterator[tuple[SceneCar, Account]]:
    """Yield those for whom there is room, while time passes; then who has waited for longest, if not only now."""
    late = []
    for pair in pairs:
        if pair[1].fits(room):
            yield pair
        else:
            late.append(pair)
    longest = max(late, key=lambda pair: pair[1].late_count, default=None)
    if longest is not None and longest[1].late_count > 1:
        longest[1].late_count = 0
        yield longest


def line_up(cars: list[SceneCar], late: Sequence[int]) -> list[SceneCar]:
    """Return who hears before whom: the first who came, who had to wait, all others; last those who make trouble.

    Args:
        cars: In the order in which they came, at least one.
        late: Ids of those that had to wait, longest first.
    """
    if not late and not any(car.client is not None and car.client.is_troublesome for car in cars):
        return cars
    place = {car_id: rank - len(late) for rank, car_id in enumerate(late)}
    place[cars[0].car_id] = -len(late) - 1

    def find_place(car: SceneCar) -> tuple[bool, int]:
        return car.client is not None and car.client.is_troublesome, place.get(car.car_id, 0)

    return sorted(cars, key=find_place)


def count_party(expected: Sequence[float], due: int, seconds: float) -> int:
    """Return how many of those who wait are told together next: as many as fit, and those that are due in any case.

    Args:
        expected: What each should take [s].
        due: So many are told whether there is time or not, though not all of them together.
        seconds: What there is time for, in the same measure [s].
    """
    total = 0.0
    for count, one in enumerate(expected):
        total += one
        if (count and total > PARTY_SECONDS) or (count >= due and total > seconds):
            return count
    return len(expected)
