"""Learn to drive from pictures alone: no recorded drives, no trained network to begin with.

Many cars try at once, and the policy learns from what happens to them. Learning ends when the policy drives its laps in
a row on fresh starts, without chance and without leaving the road, at the speed that was asked for; or when the time is
up. The folder then holds the pilot (.h5 and .onnx), a report with a film of its best lap, and the curve of learning.

With --teacher, a driver that knows where it is shows the policy what to do, which takes less time. Ctrl-C ends
learning and keeps what was learned; --resume continues, also after the program was killed. The exit code is 1 if the
policy does not drive its laps yet.

For example: donkey rl --track generated_track --minutes 10
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from donkeysim.cli.console import console, make_table, show_progress
from donkeysim.cli.rl_check import check_limit, check_request
from donkeysim.cli.shared_options import add_car_arguments, find_car
from donkeysim.core.errors import SpecError, import_extra

if TYPE_CHECKING:
    from donkeysim.rl.page import LivePage
    from donkeysim.rl.progress import Check, Update, Watch
    from donkeysim.rl.session import Limit, SessionResult, TrainingSession
    from donkeysim.rl.story import Ending
    from donkeysim.rl.task import TrainingTask

BEGUN = time.perf_counter()
"""When the command was given, nearly: its module is the first that is imported."""

FILM_TIME = 60.0
"""Longest film of a lap in the report [s]."""

PAGE_PORT = 8889

MINUTES, DAY = 10.0, 1440.0
"""For learning, where nothing is said of it, and where a number of steps is [min]."""

CURVE_NAME = "curve.jsonl"

PRINT_EVERY = 5.0
"""Time between two lines where the output is no terminal [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    _add_task_arguments(parser)
    add = parser.add_argument
    add("--minutes", type=float, metavar="M", help="for learning, earlier sessions included (default 10)")
    steps = "of all cars together, to learn from at most; without --minutes no other limit"
    add("--steps", type=int, metavar="N", help=steps)
    add(
        "--test",
        nargs="+",
        action="extend",
        metavar="TRACK",
        help="tracks to drive a lap on at the end, where it has not learned",
    )
    add("--test-roads", type=int, default=0, metavar="N", help="random roads to drive a lap on at the end (default 0)")
    add("--out", metavar="DIR", help="folder to write into (default rl_TRACK_SEED)")
    add("--resume", metavar="DIR", help="continue with what was asked for in this folder")
    add(
        "--page",
        type=int,
        default=PAGE_PORT,
        metavar="PORT",
        help=f"of the page with curve and map; 0: none (default {PAGE_PORT})",
    )
    add("--tensorboard", action="store_true", help="write files for TensorBoard, too")


def _add_task_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is kept as a `TrainingTask`; the arguments have the names of its fields."""
    add = parser.add_argument
    tracks = "where to learn: names or files, or all (default generated_track)"
    add("--track", dest="tracks", nargs="+", action="extend", metavar="TRACK", help=tracks)
    add("--roads", type=int, metavar="N", help="random roads to learn on besides (default 0)")
    add("--places", type=int, metavar="N", help="random places to learn in besides: roads, lines, floors (default 0)")
    add(
        "--teacher",
        nargs="?",
        const="learned",
        metavar="expert",
        help="learn from a driver that knows where it is: one that learns first, or (expert) the path follower",
    )
    add("--from", dest="source", metavar="FILE", help="pilot to start from: .h5, .keras or .onnx")
    add("--seed", type=int, metavar="N", help="of all chance; the same command gives the same weights (default 0)")
    add("--laps", type=int, metavar="N", help="to drive in a row on the road (default 10; on several tracks 1)")
    speed = "to reach, of the fast pace car's mean speed (default 0.5)"
    add("--speed", dest="share", type=float, metavar="SHARE", help=speed)
    add("--cars", dest="car_count", type=int, metavar="N", help="that learn together (default 128)")
    colour = "the policy sees colours (default: grey)"
    add("--colour", dest="has_colour", action="store_true", default=None, help=colour)
    add("--pictures", type=int, metavar="N", help="that it sees at once; with 2 it sees how fast it is (default 1)")
    varied = "vary light, colours, camera and car: mild, real, wide, or a file"
    add("--randomize", dest="randomization", metavar="PRESET", help=varied)
    add("--device", metavar="cuda", help="drive the cars that learn, and learn, on an NVIDIA GPU (default cpu)")
    everywhere = (
        "a pilot for real roads and places that it has not seen: random places, expert, colour, --randomize real"
    )
    add("--generalist", action="store_true", help=everywhere)
    add("--reward", metavar="FILE", help="Python file with a DeepRacer reward_function(params) to learn from")
    add_car_arguments(parser, "original")


def run(arguments: argparse.Namespace) -> int:
    """Learn, then judge the pilot and say how to drive with it."""
    check_request(arguments)
    import_extra("torch", "learning needs PyTorch")
    import_extra("h5py", "writing .h5 needs h5py")
    import_extra("onnx", "writing .onnx needs onnx")
    from donkeysim.rl.session import TrainingSession

    task, folder = read_request(arguments)
    limit = make_limit(arguments.minutes, arguments.steps)
    session = TrainingSession(task, folder, limit, BEGUN, arguments.resume is not None)
    with ExitStack() as stack:
        watches = open_records(session, arguments.tensorboard, stack)
        page = open_live_page(session, arguments.page, stack)
        watches += [page] if page else []
        with show_bar() as bar:
            outcome = session.run([bar, *watches])
        if page:
            finish_page(page, task, outcome, None)
        report = say_result(session, outcome, arguments)
        if page:
            finish_page(page, task, outcome, report)
            page.stay(is_wanted=console.is_terminal and not outcome.was_interrupted)
    return 130 if outcome.was_interrupted else 0 if outcome.is_passed else 1


def read_request(arguments: argparse.Namespace) -> tuple[TrainingTask, Path]:
    """Return what is asked for, and the folder.

    Raises:
        DonkeySimError: It is not possible, or beside --resume something else is asked for than before.
    """
    from donkeysim.rl.check import list_tests
    from donkeysim.rl.task import read_task

    list_tests(arguments.test or (), arguments.test_roads)
    if arguments.resume is None:
        task = make_task(vars(arguments))
        return task, choose_folder(task, arguments.out)
    folder = Path(arguments.resume)
    task = read_task(folder)
    names = [name for name, value in choose_fields(vars(arguments)).items() if value != getattr(task, name)]
    if names or arguments.out:
        raise SpecError(
            f"--resume {folder} continues what was asked for there, but {', '.join(names) or 'out'} is given anew; "
            "leave it out, or begin anew with --out."
        )
    if task.reward and not arguments.reward:
        raise SpecError(
            f"{folder}/task.json names {task.reward}, a Python file that would run with your rights; if it is yours "
            f"or you have looked into it: donkey rl --resume {folder} --reward {task.reward}"
        )
    return task, folder


def make_task(given: Mapping[str, Any]) -> TrainingTask:
    """Return what there is to learn; `given`: values of the command's options by the names of their arguments.

    Raises:
        SpecError: It is not possible.
    """
    from donkeysim.rl.task import TrainingTask

    chosen = choose_fields(given)
    tracks = chosen.get("tracks", ())
    laps = {"laps": 1} if len(tracks) > 1 or "all" in tracks or chosen.get("roads") or chosen.get("places") else {}
    return TrainingTask(**laps | chosen)


def choose_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of a task's fields among what is given.

    Raises:
        SpecError: There is no such car or camera.
    """
    from donkeysim.rl.task import GENERALIST, TrainingTask

    names = [field.name for field in fields(TrainingTask) if field.name not in ("car", "camera")]
    chosen: dict[str, Any] = {**GENERALIST} if given.get("generalist") else {}
    chosen = chosen | {name: given[name] for name in names if given.get(name) is not None}
    if "tracks" in chosen:
        chosen["tracks"] = tuple(chosen["tracks"])
    return chosen | find_car(given.get("car", ""), given.get("camera", ""))


def make_limit(minutes: float | None, steps: int | None) -> Limit:
    """Return when learning ends at the latest.

    Raises:
        SpecError: That is never, or at once.
    """
    from donkeysim.rl.session import Limit

    check_limit(minutes, steps)
    if minutes is None:
        minutes = MINUTES if steps is None else DAY
    return Limit(60.0 * minutes, steps)


def choose_folder(task: TrainingTask, out: str | None) -> Path:
    """Return the folder that is asked for, or a new one here.

    Raises:
        SpecError: Something was learned there already.
    """
    from donkeysim.rl.task import TASK_NAME

    if out is not None:
        if (Path(out) / TASK_NAME).exists():
            raise SpecError(f"{out} holds an earlier run; continue it with --resume {out}, or give another --out.")
        return Path(out)
    name = f"rl_{Path(task.tracks[0]).stem}_{task.seed}"
    names = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(Path(name) for name in names if not Path(name).exists())


def open_records(session: TrainingSession, has_tensorboard: bool, stack: ExitStack) -> list[Watch]:
    """Return what writes the curve of learning into files, closed with the stack."""
    from donkeysim.rl.curve import CurveFile, TensorBoardWriter

    curve = CurveFile(session.folder / CURVE_NAME, session.steps)
    stack.callback(curve.close)
    if not has_tensorboard:
        return [curve]
    writer = TensorBoardWriter(session.folder / "tensorboard", session.steps)
    stack.callback(writer.close)
    return [curve, writer]


def open_live_page(session: TrainingSession, port: int, stack: ExitStack) -> LivePage | None:
    """Return the page that shows how it goes, closed with the stack; None: none is wanted, or no port is free."""
    from donkeysim.rl.curve import read_curve
    from donkeysim.rl.page import open_page

    page = open_page(port, session.list_places(), read_curve(session.folder / CURVE_NAME), session.ghosts)
    if page:
        stack.callback(page.close)
        console.print(f"How it goes: {page.url}", soft_wrap=True)
    return page


@contextmanager
def show_bar() -> Iterator[Watch]:
    """Show how learning goes, on a terminal as one line that changes, else as a line now and then."""
    from rich.progress import BarColumn, Progress, TextColumn

    from donkeysim.rl.progress import StallDetector

    columns = (BarColumn(bar_width=20), TextColumn("{task.description}", markup=False))
    printed_at, stall = -math.inf, StallDetector()
    with Progress(*columns, console=console, transient=True, disable=not console.is_interactive) as progress:
        bar = progress.add_task("cars take their places", total=1.0)

        def show(update: Update) -> None:
            nonlocal printed_at
            line = update.describe()
            if warning := stall.find(update):
                console.print(warning, style="yellow", soft_wrap=True)
            progress.update(bar, completed=update.seconds, total=update.time_limit, description=line)
            if not console.is_interactive and update.seconds - printed_at >= PRINT_EVERY:
                printed_at = update.seconds
                console.print(line, soft_wrap=True)

        yield show


def say_result(session: TrainingSession, outcome: SessionResult, arguments: argparse.Namespace) -> Path | None:
    """Say how it ended, let the pilot drive, and return the report, if there is one."""
    from donkeysim.rl.curve import plot_curve

    console.print(describe_ending(outcome), style="green" if outcome.is_passed else "yellow", soft_wrap=True)
    if outcome.checks:
        show_checks(outcome.checks, "where it has learned")
    console.print(f"Pilot: {outcome.pilot} and .onnx; drive with it: {describe_drive(outcome)}", soft_wrap=True)
    if session.task.equipment:
        console.print(f"It knows one car only: GYM_CONF = {session.task.equipment} in myconfig.py", soft_wrap=True)
    if outcome.was_interrupted:
        console.print(f"Continue: {describe_resume(session.task, outcome)}", soft_wrap=True)
        return None
    if find_spec("matplotlib"):
        plot_curve(session.folder / CURVE_NAME, session.folder / "curve.png", f"{', '.join(session.task.tracks)}")
    report = judge_pilot(session, outcome)
    console.print(f"Report: {report}", soft_wrap=True)
    test_elsewhere(session, arguments)
    return report


def describe_ending(outcome: SessionResult) -> str:
    """Return in a sentence why learning ended."""
    spent = f"after {outcome.seconds:.0f} s and {outcome.steps:,} steps"
    if outcome.is_passed:
        return f"It drives: all checks passed {spent}."
    if outcome.was_interrupted:
        return f"Stopped by Ctrl-C {spent}; what was learned is kept."
    what = "The steps are done" if outcome.has_used_steps else "The time is up"
    return f"{what} {spent}, and the checks are not passed yet; the best policy is kept."


def show_checks(checks: Sequence[Check], title: str) -> None:
    """Print the checks of a policy, a line for each track."""
    headings = ("track", "laps", "left the road", "m/s", "wanted", "steering")
    table = make_table(title, headings, left=("track",), title_justify="left")
    for check in checks:
        laps, style = min(check.laps, check.wanted_laps), "" if check.is_clean else "yellow"
        table.add_row(
            check.scene,
            f"{max(0.0, laps):.1f} of {check.wanted_laps}",
            f"{check.departures} of {check.cars} cars",
            f"{check.speed:.2f}",
            f"{check.wanted_speed:.2f}",
            f"{check.chatter:.3f}",
            style=style,
        )
    console.print(table)


def test_elsewhere(session: TrainingSession, arguments: argparse.Namespace) -> None:
    """Let the best policy drive where it has not learned, if that is asked for, and print how it went."""
    from donkeysim.rl.check import check_elsewhere, list_tests

    tracks, roads = list_tests(arguments.test or (), arguments.test_roads)
    if not tracks and not roads:
        return
    with show_progress("driving elsewhere") as report:
        checks = check_elsewhere(session.load_best(), session.setup, [*tracks, *roads], report)
    session.note_elsewhere(checks)
    if tracks:
        show_checks(checks[: len(tracks)], "where it has not learned")
    if roads:
        clean = sum(check.is_clean for check in checks[len(tracks) :])
        console.print(f"Random roads it has not seen: a lap driven on the road on {clean} of {len(roads)}.")


def judge_pilot(session: TrainingSession, outcome: SessionResult) -> Path:
    """Let the pilot drive as `donkey evaluate` does, and write the report with a film of its best lap."""
    from donkeysim.cli.commands.evaluate import report_evaluation, show_evaluation
    from donkeysim.envs.conf import EnvConf
    from donkeysim.learn.evaluate import Conditions, evaluate
    from donkeysim.learn.pilot import load_pilot

    tracks = list(dict.fromkeys(scene.name for scene in session.setup.scenes if scene.road is None))
    conditions = Conditions(EnvConf(session.task.experiment), film_time=FILM_TIME, films_best_lap=True)
    pilot = outcome.pilot.with_suffix(".onnx")
    with show_progress("driving") as report:
        evaluation = evaluate(load_pilot(pilot), tracks, session.task.laps, conditions, 0, report)
    show_evaluation(evaluation)
    return report_evaluation(evaluation, pilot, session.folder / "report.html")


def describe_drive(outcome: SessionResult) -> str:
    """Return the command that drives with the pilot in a car's folder."""
    return f"python manage.py drive --model {outcome.pilot.resolve()}"


def describe_evaluation(task: TrainingTask, outcome: SessionResult) -> str:
    """Return the command that evaluates the pilot in the car that it learned to drive."""
    return " ".join(
        ["donkey evaluate --model", str(outcome.pilot), *(f"--{key} {name}" for key, name in task.equipment.items())]
    )


def describe_resume(task: TrainingTask, outcome: SessionResult) -> str:
    """Return the command that resumes; a reward is named again, as it is a program."""
    return f"donkey rl --resume {outcome.folder}" + (f" --reward {task.reward}" if task.reward else "")


def finish_page(page: LivePage, task: TrainingTask, outcome: SessionResult, report: Path | None) -> None:
    """Show on the page how it ended."""
    from donkeysim.rl.story import TrainingSummary

    ending: Ending = "learnt" if outcome.is_passed else "stopped" if outcome.was_interrupted else "time_up"
    page.finish(
        TrainingSummary(
            ending,
            pilot=str(outcome.pilot),
            report=str(report or ""),
            drive=describe_drive(outcome),
            evaluate=describe_evaluation(task, outcome),
            resume="" if outcome.is_passed else describe_resume(task, outcome),
        )
    )
