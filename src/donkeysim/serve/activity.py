"""What the running scene is for: the seam between a server's scene and whoever decides what happens in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from donkeysim.serve.output import Output
from donkeysim.wire.messages import Request

if TYPE_CHECKING:
    from donkeysim.serve.participants import Client
    from donkeysim.sim.simulator import Simulator

Change = Literal["exit", "road", "pace car", "reset"]
"""What somebody who watches may change."""


class Activity(Protocol):
    """Decides who gets a car and what clients may do; on the simulation's thread.

    `serve.simulation.FreeDriving` is the usual one, `racing.host.race_host.RaceHost` holds races.
    """

    def open(self, simulator: Simulator) -> None:
        """Give those who are here cars: the scene has been loaded.

        Raises:
            DonkeySimError: It cannot be had in this scene.
        """

    def welcome(self, client: Client) -> None:
        """Welcome a client."""

    def part(self, client: Client) -> None:
        """Take the car of a client that has gone."""

    def may_perform(self, client_id: int, request: Request) -> bool:
        """Return whether a request can be carried out now; otherwise it waits."""

    def perform(self, client: Client, request: Request) -> None:
        """Carry out what a client asks for, or refuse it."""

    def check_change(self, change: Change) -> None:
        """Let somebody who watches change something.

        Raises:
            SceneError: It may not be changed now.
        """

    def pass_time(self, simulator: Simulator, step_count: int) -> None:
        """Let the scene take `step_count` physics steps, and clients know what happens."""

    def before_beat(self) -> None:
        """Do what comes before time moves on, whether or not it is due."""

    def after_beat(self) -> None:
        """Do what comes after."""

    def note_outputs(self, outputs: Sequence[Output]) -> None:
        """Take note of what is being sent."""

    def recover(self) -> None:
        """Leave what may fail again at each beat, after an error of our own making."""

    def close(self) -> None:
        """End what the simulation does not know of."""
