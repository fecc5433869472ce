"""`donkey_sim`: the Donkey Simulator as a server for any client, with a page to watch it.

It opens its socket first and imports the simulator afterwards, on the simulation's thread, so that a client that tries
once after five seconds finds it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from donkeysim.cli.options import ServerOptions, read_options
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.files import describe_failure
from donkeysim.drive.options import print_anyhow

if TYPE_CHECKING:
    import socket

    from starlette.routing import BaseRoute

    from donkeysim.cli.drive_beside import DriveBeside
    from donkeysim.cli.private_port import PrivatePort
    from donkeysim.core.clock import Clock
    from donkeysim.racing.host.threaded_races import ThreadedRaces
    from donkeysim.serve.options import SimulationOptions
    from donkeysim.serve.scene_loader import SceneLoader
    from donkeysim.serve.server import Server
    from donkeysim.serve.simulation import Simulation
    from donkeysim.serve.watched_thread import WatchedThread
    from donkeysim.web.access import Access
    from donkeysim.web.serving import PageServer

END_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")

SWITCH_SECONDS = 0.0005
"""How long the event loop works before it lets the simulation, which asks after each picture, continue [s]."""

_log = logging.getLogger("donkeysim")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program; ends with an exit code."""
    gc.disable()  # what is imported stays, and looking for garbage in it takes a tenth of the time; until _make_loader
    print_anyhow()
    try:
        code = run(read_options(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the simulation's thread may be in the middle of compiling and cannot be interrupted


def run(options: ServerOptions) -> int:
    """Run the simulator until it is ended, and return the exit code."""
    from donkeysim.cli.private_port import open_private_port
    from donkeysim.web.listener import PortInUseError, open_listener

    _start_log(options.log_file)
    for switch in options.ignored:
        _log.info("ignored %s, which is meant for the original", switch)
    try:
        _check_files(options)
    except DonkeySimError as error:
        return _complain(str(error), 2)
    try:
        listener = open_listener(options.host, options.port)
        private = open_private_port(options.private_host, options.private_port)
    except DonkeySimError as error:
        return _complain(str(error), 1 if isinstance(error, PortInUseError) else 2)
    host, port = listener.getsockname()[:2]
    print(f"donkey_sim listens on {host}:{port}", flush=True)
    import asyncio

    return asyncio.run(_serve(options, listener, private))


def _check_files(options: ServerOptions) -> None:
    """Raise when the scene to start in, the car or a folder of tracks does not exist or is broken.

    Other broken tracks are reported in the log.
    """
    from donkeysim.cli.shared_options import check_car
    from donkeysim.world.tracks.catalogue import find_track, list_scenes
    from donkeysim.world.tracks.track_file import read_track

    experiment = options.simulation.experiment
    check_car(experiment.car, experiment.camera)
    if not options.begins_in_menu:
        read_track(find_track(experiment.scene), experiment.scene.look)
    list_scenes(experiment.scene.folders, lambda error: _log.warning("left out of the menu: %s", error))


async def _serve(options: ServerOptions, listener: socket.socket, private: PrivatePort | None) -> int:
    import asyncio
    import time

    from donkeysim.core.clock import AwakeClock

    if options.simulation.time_scale is not None:
        sys.setswitchinterval(SWITCH_SECONDS)
    clock = AwakeClock(time.perf_counter)
    server = _make_server(options, listener, private, clock)
    failures: list[DonkeySimError] = []

    def give_up(error: DonkeySimError) -> None:
        failures.append(error)
        server.quit()

    scene = options.simulation.experiment.scene
    thread, races = _make_thread(options, server, clock, give_up)
    _end_at_signals(server.quit)
    await server.start(thread)
    thread.start()
    if not options.begins_in_menu:
        thread.begin_scene(scene.name, give_up)
    drives: list[DriveBeside] = []
    find_control = lambda: drives[0].control_url if drives else ""  # noqa: E731
    page, url = await _open_page(options, thread, races, listener, server.faults.totals, find_control)
    drive = _start_drive(options, listener.getsockname()[1], url, give_up)
    if drive is not None:
        drives.append(drive)
        following = asyncio.create_task(_follow_drive(drive, give_up, server.quit))
    await server.run()
    if drive is not None:
        await asyncio.to_thread(drive.stop)
        await following
    await server.stop()
    if page is not None:
        await page.stop()
    thread.stop(1.0)
    return _complain(str(failures[0]), 1) if failures else 0


def _make_thread(
    options: ServerOptions, server: Server, clock: Clock, give_up: Callable[[DonkeySimError], None]
) -> tuple[WatchedThread, ThreadedRaces | None]:
    """Return the thread of what clients drive in, scenes of their choice or races, and what is shown of the latter."""
    import asyncio

    from donkeysim.serve.watched_thread import WatchedThread

    folders = options.simulation.experiment.scene.folders
    if options.race is None:
        make = functools.partial(_make_simulation, options.simulation, clock)
        return WatchedThread(make, server.deliver, clock, give_up, folders), None
    from donkeysim.racing.host.threaded_races import ThreadedRaces

    loop = asyncio.get_running_loop()
    offer = replace(options.race, end=lambda: loop.call_soon_threadsafe(server.quit))

    def make_races() -> Simulation:
        simulation = _make_simulation(options.simulation, clock)
        from donkeysim.racing.host.race_host import RaceHost

        races.races = RaceHost(simulation, offer, clock)
        return simulation

    thread = WatchedThread(make_races, server.deliver, clock, give_up, folders)
    races = ThreadedRaces(thread)
    return thread, races


def _make_server(options: ServerOptions, listener: socket.socket, private: PrivatePort | None, clock: Clock) -> Server:
    from donkeysim.serve.private_api import PrivateApi
    from donkeysim.serve.server import Server

    server = Server(listener, clock, options.wire_control)
    if private is not None:
        server.neighbours.append(PrivateApi(private.listener, clock, private.key))
    return server


def _make_simulation(options: SimulationOptions, read_clock: Clock) -> Simulation:
    """Import the simulator and return what runs in it; runs on the simulation's thread."""
    loader = _make_loader(options)
    from donkeysim.serve.simulation import Simulation

    return Simulation(options, read_clock, loader)


def _make_loader(options: SimulationOptions) -> SceneLoader:
    """Let other processes compile what is missing before this one imports the rest of the simulator."""
    from donkeysim.sim.compile_processes import CompileProcesses

    processes = CompileProcesses()
    from donkeysim.serve.scene_loader import SceneLoader
    from donkeysim.world.tracks.build_apart import load_apart

    gc.enable()
    return SceneLoader(options, lambda text: print(f"First run: {text}", flush=True), processes, load_apart)


async def _open_page(
    options: ServerOptions,
    thread: WatchedThread,
    races: ThreadedRaces | None,
    listener: socket.socket,
    faults: Mapping[str, int],
    find_control: Callable[[], str],
) -> tuple[PageServer | None, str]:
    """Start the watching page where the wire listens, on the next free port when its own is taken; return its address.

    Without a page, which has no address, the simulator still runs.
    """
    host, wire_port = listener.getsockname()[:2]
    bound = _bind_page(options, host)
    if bound is None:
        return None, ""
    page_listener, access = bound
    from donkeysim.envs.registration import SCENE_BY_ID
    from donkeysim.watch.spectator import create_app
    from donkeysim.web.serving import PageServer

    ids = {scene: name for name, scene in SCENE_BY_ID.items()}
    app = create_app(
        thread,
        wire_port=wire_port,
        access=access,
        faults=faults,
        environments=ids,
        find_control=find_control,
        races=races,
        race_routes=() if races is None else _open_races(races, host, wire_port, access),
    )
    page = PageServer(app, page_listener, certificate=access.certificate)
    await page.start()
    print(f"Watch it at {access.url}", flush=True)
    if access.network_url is not None:
        print(f"Others in the network can watch at {access.network_url}", flush=True)
        print(f"To control it from there, open {access.network_url}/?token={access.token}", flush=True)
    return page, access.url


def _bind_page(options: ServerOptions, host: str) -> tuple[socket.socket, Access] | None:
    """Return where the watching page is and who reaches it; None where there is none."""
    if not options.has_page:
        return None
    from donkeysim.web.access import arrange_access
    from donkeysim.web.serving import bind_port
    from donkeysim.web.token import make_token

    try:
        tls_folder = _find_tls_folder() if options.has_tls else None
        listener = bind_port(options.page_port, host)
        return listener, arrange_access(listener, make_token, tls_folder)
    except SpecError as error:
        _log.warning("no watching page: %s", error)
        return None


def _open_races(races: ThreadedRaces, host: str, port: int, access: Access) -> list[BaseRoute]:
    """Let the page say where drivers find the races, and return what may be asked of them."""
    from donkeysim.racing.show.race_show import list_race_routes
    from donkeysim.racing.show.race_view import Joining
    from donkeysim.web.listener import find_network_address

    address = find_network_address() or host if host in ("0.0.0.0", "::") else host
    races.address = Joining(address, port, access.network_url or access.url)
    return list_race_routes(races)


def _find_tls_folder() -> Path:
    """Return where the page's certificate and its key are kept, so that browsers ask about it once."""
    import platformdirs

    return Path(platformdirs.user_data_dir("donkeysim", appauthor=False)) / "web"


def _start_drive(
    options: ServerOptions, port: int, watching_url: str, give_up: Callable[[DonkeySimError], None]
) -> DriveBeside | None:
    """Start to drive the car of --drive; None when there is none, or when `give_up` was called."""
    if options.car_folder is None:
        return None
    from donkeysim.cli.drive_beside import DriveBeside

    try:
        scene = None if options.begins_in_menu else options.simulation.experiment.scene.name
        return DriveBeside(options.car_folder, port, watching_url, scene)
    except DonkeySimError as error:
        give_up(error)
        return None


async def _follow_drive(
    drive: DriveBeside, give_up: Callable[[DonkeySimError], None], quit_program: Callable[[], object]
) -> None:
    """End with the drive, which has said why."""
    import asyncio

    code = await asyncio.to_thread(drive.wait)
    if code:
        give_up(DonkeySimError(f"the car's program has ended with exit code {code}, so the simulator ends too."))
    elif code is not None:
        quit_program()


def _end_at_signals(quit_program: Callable[[], object]) -> None:
    """Let Ctrl-C, SIGTERM, a closed terminal or window and Ctrl-Break end the event loop's work, but for `nohup`."""
    import asyncio
    import signal

    loop = asyncio.get_running_loop()
    for name in END_SIGNALS:
        number = getattr(signal, name, None)
        if number is None or (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
            continue
        try:
            loop.add_signal_handler(number, quit_program)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(quit_program))


class _LogHandler(logging.StreamHandler[TextIO]):
    """Says once, and without a traceback, that the log cannot be written; continues when it can."""

    has_told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is the library's)
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self.has_told:
            self.has_told = True
            with contextlib.suppress(OSError):
                print(f"donkey_sim: the log cannot be written: {describe_failure(error)}.", file=sys.stderr)


def _start_log(path: str | None) -> None:
    """Send the log to a file, to standard output ("-"), or to standard error."""
    stream, trouble = sys.stdout if path == "-" else sys.stderr, None
    if path is not None and path != "-":
        try:
            stream = open(path, "a", encoding="utf-8")  # noqa: SIM115  (it is written to until the end)
        except OSError as error:
            trouble = describe_failure(error)
    handler = _LogHandler(stream)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", handlers=[handler])
    if trouble is not None:
        _log.warning("cannot write the log to %s (%s); it goes to standard error", path, trouble)


def _complain(text: str, code: int) -> int:
    print(f"donkey_sim: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
