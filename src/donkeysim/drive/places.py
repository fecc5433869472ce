"""Where the car drives and where else it could, and how it looks: what the control page asks of a simulated car."""

from __future__ import annotations

from typing import Protocol

from donkeysim.core.errors import DonkeySimError, WireError, describe_unknown
from donkeysim.drive.look import Look

_NO_CAR = "its manage.py gives the page no car; run `donkey update`."


class Traveller(Protocol):
    """A car that can be sent elsewhere; its methods may be called from any thread."""

    @property
    def place(self) -> str:
        """Name of the place where it drives; "" in a simulator's menu."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where it could drive; () where it is not known."""

    @property
    def look(self) -> Look:
        """How it looks."""

    def dress(self, look: Look) -> None:
        """Let it look otherwise soon.

        Raises:
            DonkeySimError: That is not possible now.
        """

    def go_to(self, place: str) -> None:
        """Begin to go there.

        Raises:
            DonkeySimError: That is not possible now.
        """

    def take_trouble(self) -> str:
        """Return why it could not go where it was sent, once; "" for nothing."""


def send_car(car: Traveller | None, place: str) -> None:
    """Send a car to a place.

    Raises:
        WireError: It cannot go there; a sentence for who asked.
    """
    if car is None:
        raise WireError(f"this car cannot go to {place!r}: {_NO_CAR}")
    if place not in car.places:
        raise WireError(describe_unknown("place", place, car.places))
    try:
        car.go_to(place)
    except DonkeySimError as error:
        raise WireError(str(error)) from error


def dress_car(car: Traveller | None, look: Look) -> None:
    """Let a car look otherwise.

    Raises:
        WireError: That is not possible now; a sentence for who asked.
    """
    if car is None:
        raise WireError(f"this car cannot look otherwise: {_NO_CAR}")
    try:
        car.dress(look)
    except DonkeySimError as error:
        raise WireError(str(error)) from error
