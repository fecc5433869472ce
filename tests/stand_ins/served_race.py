"""A race by a script and its page, on a loop in a thread of their own."""

import asyncio
import threading

from donkeysim.racing.show.race_routes import list_race_routes
from donkeysim.watch.spectator import create_app
from donkeysim.web.access import THIS_MACHINE
from donkeysim.web.serving import PageServer, bind_port
from stand_ins.scripted_race import RACERS, ScriptedRace


class ServedRace:
    """`set` makes it another race, of the first so many racers."""

    def __init__(self, wrap=lambda app: app, access=THIS_MACHINE):
        self.wrap, self.access = wrap, access
        self.stage = ScriptedRace(names=list(RACERS[:8]))
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self.loop).result(20)

    async def start(self):
        """Serve it."""
        ids = {"generated_track": "donkey-generated-track-v0"}
        app = create_app(
            self.stage,
            wire_port=9091,
            environments=ids,
            access=self.access,
            races=self.stage,
            race_routes=list_race_routes(self.stage),
        )
        self.server = PageServer(self.wrap(app), bind_port(0))
        await self.server.start()
        self.address = self.server.address

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

    def close(self):
        """Serve it no more."""
        asyncio.run_coroutine_threadsafe(self.server.stop(), self.loop).result(20)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
        self.loop.close()
