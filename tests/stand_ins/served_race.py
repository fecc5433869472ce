"""A race by a script and its page."""

from donkeysim.racing.show.race_show import list_race_routes
from donkeysim.watch.spectator import create_app
from donkeysim.web.access import THIS_MACHINE
from stand_ins.scripted_race import RACERS, ScriptedRace
from stand_ins.served_app import ServedApp


class ServedRace(ServedApp):
    """`set` makes it another race, of the first so many racers."""

    def __init__(self, wrap=lambda app: app, access=THIS_MACHINE):
        super().__init__()
        self.stage = ScriptedRace(names=list(RACERS[:8]))
        app = create_app(
            self.stage,
            wire_port=9091,
            environments={"generated_track": "donkey-generated-track-v0"},
            access=access,
            races=self.stage,
            race_routes=list_race_routes(self.stage),
        )
        self.start(wrap(app))

    def set(self, count=8, **fields):
        """Begin anew."""
        vars(self.stage).clear()
        self.stage.__init__(names=list(RACERS[:count]), **fields)

    def list_pictures(self):
        """Return view, car and moment of the pictures that were asked for."""
        return [(call[1], call[2], *call[5:]) for call in list(self.stage.calls) if call[0] == "take_picture"]

    def list_acts(self):
        """Return what the race engineer has done."""
        return [call[1] for call in list(self.stage.calls) if call[0] == "act"]
