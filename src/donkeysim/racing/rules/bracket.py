"""Tournaments: who races whom, and who ends where, from the seeds and the results so far.

A bracket is a fold: the same entries and results give the same matches and the same ranking, so a folder of results is
all there is to remember. Entries are names, the best seed first; a result is a match's names in the order of finishing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from donkeysim.core.errors import SpecError, describe_unknown

Results = Mapping[str, Sequence[str]]
"""Names in the order of finishing, by match."""


class Match(NamedTuple):
    """A race that is to be held."""

    name: str
    """Of its own in the tournament, and fit for a file's name."""
    entries: tuple[str, ...]
    """Better seeds first."""


class Bracket(Protocol):
    """A kind of tournament."""

    def list_ready(self, results: Results) -> list[Match]:
        """Return the matches that can be held now; none: the tournament is over."""

    def rank(self, results: Results) -> list[tuple[str, ...]]:
        """Return the entries from the first place on; those who share a place together."""


class DoubleElimination:
    """Two cars a match; a car that has lost twice is out. The winners' champion must be beaten twice in the final."""

    def __init__(self, entries: Sequence[str]) -> None:
        """Seed the entries: the best two meet in the final of the winners if they keep winning.

        Raises:
            SpecError: There are fewer than two, or two have the same name.
        """
        _check_entries(entries)
        self._entries = tuple(entries)
        size = 1 << (len(entries) - 1).bit_length()
        self._seeds = [entries[seed] if seed < len(entries) else None for seed in _order_seeds(size)]

    def list_ready(self, results: Results) -> list[Match]:
        """Return the matches that can be held now."""
        ready, _ = self._play(results)
        return ready

    def rank(self, results: Results) -> list[tuple[str, ...]]:
        """Return the entries from the first place on; those that go out in the same round share a place."""
        _, out = self._play(results)
        gone = {name for place in out for name in place}
        left = tuple(name for name in self._entries if name not in gone)
        return [place for place in (left, *reversed(out)) if place]

    def _play(self, results: Results) -> tuple[list[Match], list[tuple[str, ...]]]:
        """Return what is ready, and who went out, round by round."""
        ready: list[Match] = []
        out: list[tuple[str, ...]] = []

        def meet(name: str, pairs: Sequence[tuple[_Seat, _Seat]]) -> tuple[list[_Seat], list[_Seat]]:
            """Hold a round and return its winners and its losers."""
            decided = [_decide(f"{name}{index}", pair, results, ready) for index, pair in enumerate(pairs, start=1)]
            return [winner for winner, _ in decided], [loser for _, loser in decided]

        winners, level = meet("winners-1-", _pair([_Seat(name) for name in self._seeds]))
        number = 1
        while len(winners) > 1:
            level, gone = meet(f"losers-{2 * number - 1}-", _pair(level))
            out.append(_list_names(gone))
            winners, dropped = meet(f"winners-{number + 1}-", _pair(winners))
            # Turned round, so that whoever has met in the winners' rounds does not meet again at once.
            level, gone = meet(f"losers-{2 * number}-", list(zip(level, reversed(dropped), strict=True)))
            out.append(_list_names(gone))
            number += 1
        return ready, [*out, *self._play_final(winners[0], level[0], results, ready)]

    def _play_final(
        self, champion: _Seat, challenger: _Seat, results: Results, ready: list[Match]
    ) -> list[tuple[str, ...]]:
        winner, loser = _decide("final", (champion, challenger), results, ready)
        if winner.is_open or winner == champion:
            return [_list_names([loser])]
        _, loser = _decide("final-again", (champion, challenger), results, ready)
        return [_list_names([loser])]


class _Seat(NamedTuple):
    """A place in a match.

    Attributes:
        name: Who sits there; None: nobody, the other one advances without a race.
        is_open: Whether it is not known yet.
    """

    name: str | None
    is_open: bool = False


_OPEN = _Seat(None, True)


class Ladder:
    """Heats from the lowest seeds upwards; the winner of each joins the next one above."""

    def __init__(self, entries: Sequence[str], cars: int = 2) -> None:
        """Take the entries; `cars` race at once.

        Raises:
            SpecError: There are too few, two have the same name, or one car would race alone.
        """
        _check_entries(entries)
        if cars < 2:
            raise SpecError(f"a ladder of heats of {cars} is not possible; it takes 2 cars or more.")
        self._entries, self._cars = tuple(entries), cars

    def list_ready(self, results: Results) -> list[Match]:
        """Return the next heat."""
        return self._climb(results)[0]

    def rank(self, results: Results) -> list[tuple[str, ...]]:
        """Return the entries from the first place on."""
        _, below, waiting = self._climb(results)
        return [(name,) for name in (*waiting, *below)]

    def _climb(self, results: Results) -> tuple[list[Match], list[str], list[str]]:
        """Return the heat that is ready, who is ranked by now, and who is not."""
        waiting, below, number = list(self._entries), list[str](), 1
        while len(waiting) > 1:
            heat = Match(f"heat-{number}", tuple(waiting[-self._cars :]))
            if heat.name not in results:
                return [heat], below, waiting
            order = _read_result(heat, results)
            below = [*order[1:], *below]
            waiting = [*waiting[: -self._cars], order[0]]
            number += 1
        return [], below, waiting


class Heats:
    """Rounds of heats; of each the better half advances, until one heat, the final, is left."""

    def __init__(self, entries: Sequence[str], cars: int = 4) -> None:
        """Take the entries; `cars` race at once.

        Raises:
            SpecError: There are too few, two have the same name, or one car would race alone.
        """
        _check_entries(entries)
        if cars < 2:
            raise SpecError(f"heats of {cars} are not possible; they take 2 cars or more.")
        self._entries, self._cars = tuple(entries), cars

    def list_ready(self, results: Results) -> list[Match]:
        """Return the heats of this round that are still to be held."""
        return self._play(results)[0]

    def rank(self, results: Results) -> list[tuple[str, ...]]:
        """Return the entries from the first place on; those that go out in a round at the same place share one."""
        _, final, out = self._play(results)
        return [*((name,) for name in final), *(place for places in reversed(out) for place in places)]

    def _play(self, results: Results) -> tuple[list[Match], list[str], list[list[tuple[str, ...]]]]:
        """Return the heats that are ready, the final's order, and who went out, round by round."""
        racing, out, number = list(self._entries), list[list[tuple[str, ...]]](), 1
        while True:
            heats = self._draw(racing, number)
            ready = [heat for heat in heats if heat.name not in results]
            if ready:
                return ready, racing, out
            orders = [_read_result(heat, results) for heat in heats]
            if len(heats) == 1:
                return [], orders[0], out
            kept = [order[: (len(order) + 1) // 2] for order in orders]
            lost = [order[len(keep) :] for order, keep in zip(orders, kept, strict=True)]
            out.append(
                [tuple(order[place] for order in lost if place < len(order)) for place in range(max(map(len, lost)))]
            )
            racing = [order[place] for place in range(max(map(len, kept))) for order in kept if place < len(order)]
            number += 1

    def _draw(self, racing: Sequence[str], number: int) -> list[Match]:
        """Deal the entries out, to and fro, so that the heats are equally strong."""
        count = -(-len(racing) // self._cars)
        if count == 1:
            return [Match("final", tuple(racing))]
        groups: list[list[str]] = [[] for _ in range(count)]
        for index, name in enumerate(racing):
            turn, place = divmod(index, count)
            groups[place if turn % 2 == 0 else count - 1 - place].append(name)
        return [Match(f"round-{number}-heat-{place}", tuple(group)) for place, group in enumerate(groups, start=1)]


BRACKETS = ("double_elimination", "ladder", "heats")
"""Kinds of tournaments."""


def make_bracket(kind: str, entries: Sequence[str], cars: int) -> Bracket:
    """Return a tournament.

    Args:
        kind: One of `BRACKETS`.
        entries: Names, the best seed first.
        cars: How many race at once; a double elimination has two.

    Raises:
        SpecError: There is no such kind, or it is not possible with these entries.
    """
    if kind == "double_elimination":
        return DoubleElimination(entries)
    if kind in BRACKETS:
        return Ladder(entries, cars) if kind == "ladder" else Heats(entries, cars)
    raise SpecError(describe_unknown("kind of tournament", kind, BRACKETS))


def _check_entries(entries: Sequence[str]) -> None:
    if len(entries) < 2 or len(set(entries)) < len(entries):
        raise SpecError(f"a tournament of {list(entries)} is not possible; it takes 2 entries or more, all different.")


def _order_seeds(size: int) -> list[int]:
    """Return seeds, from 0, in the order of the bracket: the best two in different halves, and so on."""
    order = [0]
    while len(order) < size:
        order = [seed for best in order for seed in (best, 2 * len(order) - 1 - best)]
    return order


def _pair(seats: Sequence[_Seat]) -> list[tuple[_Seat, _Seat]]:
    return list(zip(seats[::2], seats[1::2], strict=True))


def _decide(name: str, pair: tuple[_Seat, _Seat], results: Results, ready: list[Match]) -> tuple[_Seat, _Seat]:
    """Return winner and loser of a match; one that can be held now is added to `ready`."""
    one, other = pair
    if one.is_open or other.is_open:
        return _OPEN, _OPEN
    if one.name is None or other.name is None:
        return (one, other) if other.name is None else (other, one)
    match = Match(name, (one.name, other.name))
    if name not in results:
        ready.append(match)
        return _OPEN, _OPEN
    first, second = _read_result(match, results)
    return _Seat(first), _Seat(second)


def _read_result(match: Match, results: Results) -> list[str]:
    order = list(results[match.name])
    if sorted(order) != sorted(match.entries):
        raise SpecError(
            f"the result of {match.name} names {order}, but {list(match.entries)} were to race; race it again."
        )
    return order


def _list_names(seats: Sequence[_Seat]) -> tuple[str, ...]:
    return tuple(seat.name for seat in seats if seat.name is not None)
