"""A page in this process, on a loop in a thread of its own."""

import asyncio
import threading

from donkeysim.web.serving import PageServer, bind_port


def visit_app(app, visit):
    """Run `visit(port)` on the loop that serves an app, and return what it returns."""

    async def run():
        async with PageServer(app, bind_port(0)) as server:
            return await visit(int(server.address.rsplit(":", 1)[1]))

    return asyncio.run(run())


class ServedApp:
    """`start` serves an app, and `stop` serves it no more; `close` ends the loop too."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def start(self, app, port=0):
        """Serve it at `address`."""

        async def start():
            self.server = PageServer(app, bind_port(port))
            await self.server.start()

        self._run(start())
        self.address = self.server.address

    def stop(self):
        """Serve it no more."""
        self._run(self.server.stop())

    def close(self):
        """End all of it."""
        self.stop()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
        self.loop.close()

    def _run(self, task):
        asyncio.run_coroutine_threadsafe(task, self.loop).result(20)
