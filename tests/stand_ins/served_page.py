"""A control page in its thread, without a vehicle: tests tick it."""

import socket
import threading
from types import SimpleNamespace

from websockets.sync.client import connect

from donkeysim.drive.control_page import ControlPage
from donkeysim.drive.control_state import ControlMessage
from waiting import PATIENCE, wait_until


class ServedPage:
    """The part and its thread; `tick` hands back mode, recording and pilot as a loop does."""

    def __init__(self, watching_url="", traveller=None, views=None, **config):
        self.part = ControlPage(SimpleNamespace(**{"WEB_CONTROL_PORT": 0, **config}), watching_url, traveller, views)
        self.port = int(self.part.url.rsplit(":", 1)[1])
        self.address = f"{self.part.url.partition(':')[0]}://127.0.0.1:{self.port}"
        self.wish = None
        self.thread = threading.Thread(target=self.part.update)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.part.shutdown()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()

    def tick(self, **inputs):
        """Run the part once and return what it wants."""
        if self.wish:
            inputs = {"mode": self.wish.mode, "recording": self.wish.recording, "pilot": self.wish.pilot, **inputs}
        self.wish = self.part.run_threaded(**inputs)
        return self.wish

    def tick_until(self, condition, **inputs):
        """Run the part 50 times a second until what it wants fulfils a condition."""
        self.wait_for(lambda: condition(self.tick(**inputs)))

    def wait_for(self, condition):
        """Wait until something is true."""
        wait_until(condition)

    def settle(self):
        """Wait until the page's loop runs and has done all it was handed."""
        done = threading.Event()
        self.wait_for(lambda: self.part._loop)
        self.part._call_in_loop(done.set)
        assert done.wait(PATIENCE)

    def connect(self, path="/wsDrive", origin=None, host=None):
        """Open a WebSocket, as if this machine were called `host`."""
        address = f"ws://{host or self.address.partition('//')[2]}{path}"
        plain = socket.create_connection(("127.0.0.1", self.port))
        return connect(address, sock=plain, origin=origin, proxy=None, open_timeout=PATIENCE, close_timeout=0.2)

    @staticmethod
    def message(**fields):
        """Return a message."""
        return ControlMessage(**fields)
