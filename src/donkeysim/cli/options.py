"""The command line of `donkey_sim`: its own options, and those that launchers of the original pass."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from donkeysim import __version__
from donkeysim.cli.shared_options import add_car_arguments, add_tracks_argument
from donkeysim.core.errors import SpecError, nearest_name
from donkeysim.serve.options import DEFAULT_CONTROL, WIRE_CONTROLS, SimulationOptions
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import ChallengeSpec, RoadSpec, SceneSpec

if TYPE_CHECKING:
    from donkeysim.racing.host.paddock import RaceOffer

PHYSICS_RATE = 480
"""As `core.types.PHYSICS_RATE`, which this light module cannot import; a test compares them."""

WINDOWLESS = ("--headless", "--nogui", "--remote")
"""What programs start the original with to have no window; it passes over all but its own options."""

T = TypeVar("T", int, float)


@dataclass(frozen=True)
class ServerOptions:
    """How the server is started; see `--help`.

    Raises:
        SpecError: Options contradict each other.
    """

    simulation: SimulationOptions
    begins_in_menu: bool = False
    host: str = "127.0.0.1"
    port: int = 9091
    wire_control: str = DEFAULT_CONTROL
    private_host: str = "127.0.0.1"
    private_port: int | None = None
    log_file: str | None = None
    has_page: bool = True
    page_port: int = 9093
    has_tls: bool = False
    car_folder: str | None = None
    ignored: tuple[str, ...] = ()
    race: RaceOffer | None = None

    def __post_init__(self) -> None:
        if self.private_host != ServerOptions.private_host and self.private_port is None:
            raise SpecError("--private-host is the address of the private API; --private-port turns it on.")
        if self.has_tls and not self.has_page:
            raise SpecError("--tls is for the watching page, which --no-page leaves out; give one of them.")


def read_options(arguments: Sequence[str]) -> ServerOptions:
    """Return the options of a command line; ends the program with one sentence and exit code 2 when one is wrong."""
    parser = _make_parser()
    own, log_file, ignored = _split_engine_switches(arguments, parser)
    given, unknown = parser.parse_known_args(_join_negative_numbers(own))
    if unknown:
        parser.error(_describe_unknown(unknown[0], parser))
    if given.ghost_cones and not given.cones:
        parser.error("--ghost-cones changes the cones of --cones; give both")
    simulation = SimulationOptions(
        experiment=_read_experiment(given, parser),
        telemetry_rate=given.telemetry_hz,
        pace_car=given.pace_car,
        idle_timeout=given.idle_timeout,
        has_training_fields=not given.no_training_telemetry,
        numbers_as_strings=given.numbers_as_strings,
    )
    try:
        return make_options(
            given,
            simulation,
            begins_in_menu=given.scene is None,
            wire_control=given.wire_control,
            private_host=given.private_host,
            log_file=log_file,
            car_folder=given.drive,
            ignored=tuple(ignored),
        )
    except SpecError as error:
        parser.error(str(error))


def make_options(given: argparse.Namespace, simulation: SimulationOptions, **more: Any) -> ServerOptions:
    """Return how the server is started.

    Args:
        given: What was said of the arguments of `add_server_arguments`.
        simulation: All else that is said of the simulation.
        **more: All else that is said of the server.

    Raises:
        SpecError: Options contradict each other.
    """
    workers = max(1, min(4, (os.cpu_count() or 1) - 1))
    return ServerOptions(
        replace(simulation, time_scale=given.time_scale, max_cars=given.max_cars, worker_count=workers),
        host=given.host,
        port=given.port,
        private_port=given.private_port,
        has_page=not given.no_page,
        page_port=given.page_port,
        has_tls=given.tls,
        **more,
    )


def _read_experiment(given: argparse.Namespace, parser: argparse.ArgumentParser) -> Experiment:
    challenges = ChallengeSpec(given.cones, given.ghost_cones, given.trees, given.random_light, given.seed)
    name, road = SceneSpec.name if given.scene is None else given.scene, _read_road(given, parser)
    scene = SceneSpec(name, tuple(given.track_folders), road, challenges, given.look)
    try:
        randomization = read_randomization(given.randomization)
    except SpecError as error:
        parser.error(str(error))
    return Experiment((scene,), given.car or Experiment.car, given.seed, given.action_log, randomization, given.camera)


def _read_road(given: argparse.Namespace, parser: argparse.ArgumentParser) -> RoadSpec | None:
    """Return which of the generated roads; None: none was asked for."""
    style, seed, turn = given.road_style, given.road_seed, given.road_turn
    if style is None and seed is None and turn is None:
        return None
    if style is not None and not 0 <= style <= 1 << 31:
        parser.error(f"argument --road-style: {style} is not a style; it takes 0 or more")
    return RoadSpec(style or 0, seed or 0, 1.0 if turn is None else turn)


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the sentence and end with exit code 2."""
        sentence = message.removeprefix("argument ").replace("expected one argument", "a value is missing, see --help")
        end = "" if sentence.endswith((".", "?")) else "."
        print(f"{self.prog}: {sentence}{end}", file=sys.stderr)
        raise SystemExit(2)


def _make_parser() -> _Parser:
    parser = _Parser(
        prog="donkey_sim",
        description="The Donkey Simulator: serves cars to clients of the original, and a page to watch them on.",
        epilog="-logFile FILE sends the log to a file. Switches of the original's engine (-batchmode ...) and "
        "--headless are ignored.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--version", action="version", version=f"donkey_sim {__version__}")
    add_server_arguments(parser)
    add("--scene", help="start in this scene or track file instead of the menu")
    add_tracks_argument(parser)
    add("--look", metavar="NAME", default="", help='look of scenes that offer it, such as "meadow" on generated_track')
    add("--action-log", metavar="FILE", help="record everything for donkey replay, one file per scene")
    add("--randomization", metavar="FILE", help="ranges to draw light, colours, cars and more from, at each reset")
    add("--seed", type=_seed, default=0, help="seed of all random numbers (default 0)")
    add("--telemetry-hz", type=_rate, default=20, help="telemetry messages per simulated second (default 20)")
    add("--pace-car", nargs="?", const="steady", choices=("steady", "fast"), help="add a car that drives by itself")
    add("--drive", metavar="FOLDER", nargs="?", const="mycar", help="drive the car of this folder too (default mycar)")
    add_car_arguments(parser, "original")
    add("--idle-timeout", type=_seconds, help="disconnect clients whose car has not moved for this many seconds")
    wire_control = "what remote clients may do that affects all: nothing, load and exit scenes (default), or quit too"
    add("--wire-control", choices=WIRE_CONTROLS, default=DEFAULT_CONTROL, help=wire_control)
    add("--private-host", metavar="ADDR", default="127.0.0.1", help="address of the private API (default 127.0.0.1)")
    add("--numbers-as-strings", action="store_true", help="write the numbers in telemetry as strings")
    add("--no-training-telemetry", action="store_true", help="leave out pos_*, vel_* and cte; refuse set_position")
    _add_scene_options(parser)
    return parser


def add_server_arguments(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe where clients and watchers come in, and how fast time runs; races that are hosted take it, too."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address for clients and page (default 127.0.0.1; 0.0.0.0: the network)")
    add("--port", type=_port, default=9091, help="TCP port for clients (default 9091; 0: any free one, printed)")
    add("--time-scale", type=_time_scale, default=1.0, help='simulated seconds per second (default 1.0), or "max"')
    add("--max-cars", type=_car_count, default=64, help="maximum number of client cars (default 64)")
    add("--no-page", action="store_true", help="do not serve the watching page")
    add("--page-port", type=_port, default=9093, help="port of the watching page (default 9093, or the next free one)")
    add("--tls", action="store_true", help="serve the watching page over https, with a self-signed certificate")
    private_port = "also serve the original's private API, for organisers who know its key (N: 9092; 0: any free port)"
    add("--private-port", type=_port, nargs="?", const=9092, metavar="N", help=private_port)


def _add_scene_options(parser: argparse.ArgumentParser) -> None:
    """Describe what may be asked of scenes."""
    add = parser.add_argument_group("challenges, drawn from --seed").add_argument
    add("--cones", type=_added, nargs="?", const=20, default=0, metavar="N", help="add random cones (default 20)")
    add("--ghost-cones", action="store_true", help="cones cannot be hit; driving through one costs a second")
    add("--trees", type=_added, nargs="?", const=100, default=0, metavar="N", help="add random trees (default 100)")
    add("--random-light", action="store_true", help="random position and colour of the sun")
    add = parser.add_argument_group("scenes that generate their road").add_argument
    add("--road-style", type=_whole, metavar="N", help="width and surface of the road; generated_road has 0 to 4")
    add("--road-seed", type=_seed, metavar="N", help="a different seed gives a different road")
    add("--road-turn", type=_turn, metavar="DEGREES", help="how sharply the road turns, 0.1 to 20 (default 1)")


def _split_engine_switches(
    arguments: Sequence[str], parser: argparse.ArgumentParser
) -> tuple[list[str], str | None, list[str]]:
    """Return our own arguments, the log file, and what the original passes over, with its values."""
    own: list[str] = []
    ignored: list[str] = []
    log_file = None
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        is_engines = argument[:1] == "-" and argument[1:2].isalpha() and argument != "-h"
        if not is_engines and argument not in WINDOWLESS:
            own.append(argument)
        elif argument.lower() == "-logfile":
            if not rest:
                parser.error("-logFile needs the name of a file")
            log_file = rest.pop(0)
        elif f"-{argument}" in _list_options(parser):
            parser.error(_describe_unknown(argument, parser))
        else:
            has_value = bool(rest) and not rest[0].startswith("-")
            ignored.append(f"{argument} {rest.pop(0)}" if has_value else argument)
    return own, log_file, ignored


def _join_negative_numbers(arguments: list[str]) -> list[str]:
    """Return the arguments with "--option -1" as "--option=-1", which argparse would take for two options."""
    joined: list[str] = []
    for argument in arguments:
        if argument[:1] == "-" and argument[1:2].isdigit() and joined and joined[-1].startswith("--"):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _list_options(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in parser._actions for name in action.option_strings]


def _describe_unknown(given: str, parser: argparse.ArgumentParser) -> str:
    if not given.startswith("-"):
        return f"{given!r} is not an option; donkey_sim only takes options, see --help"
    name = given.split("=")[0]
    nearest = nearest_name(name.lower(), _list_options(parser))
    return f"unknown option {name!r}; " + (f"did you mean {nearest!r}?" if nearest else "see --help for the valid ones")


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:80]!r} is not a whole number") from None


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def _time_scale(text: str) -> float | None:
    if text == "max":
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.01 <= value <= 1000.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not valid; it takes 0.01 to 1000, or 'max'")
    return value


def _rate(text: str) -> int:
    value = _whole(text)
    if value < 1 or PHYSICS_RATE % value:
        raise argparse.ArgumentTypeError(
            f"{text} does not divide the physics rate of {PHYSICS_RATE}; it takes 20, 30, 60 or another divisor"
        )
    return value


def _within(read: Callable[[str], T], low: T, high: T, refusal: str) -> Callable[[str], T]:
    """Return a reader of numbers from `low` to `high`; others get `refusal`, where {} stands for the text."""

    def parse(text: str) -> T:
        value = read(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(refusal.format(text[:80]))
        return value

    return parse


_seed = _within(_whole, 0, (1 << 63) - 1, f"{{}} is not a seed; it takes 0 to {(1 << 63) - 1}")
_added = _within(_whole, 0, 1000, "{} is not valid; it takes 0 to 1000")
_turn = _within(_number, 0.1, 20.0, "{} is not valid; it takes 0.1 to 20 degrees")
_seconds = _within(_number, math.ulp(0.0), math.inf, "{} s is not valid; it takes more than 0")
_port = _within(_whole, 0, 65535, "{} is not a port; it takes 0 (any free one) to 65535")
_car_count = _within(_whole, 1, 256, "{} cars are not valid; it takes 1 to 256")
