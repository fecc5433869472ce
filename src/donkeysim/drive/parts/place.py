"""Where on the track the car is, as a number that a pilot can learn to predict."""

from donkeysim.world.telemetry import Telemetry


class LocationTracker:
    """Divides the lap into equal parts and says in which of them the car is."""

    def __init__(self, location_count: int) -> None:
        self.location_count = location_count

    def run(self, telemetry: Telemetry | None) -> int | None:
        """Return the part's number, 0 from the first node of the path on; None when the simulator does not say."""
        if telemetry is None or telemetry.activeNode is None or not telemetry.totalNodes:
            return None
        return telemetry.activeNode * self.location_count // telemetry.totalNodes % self.location_count
