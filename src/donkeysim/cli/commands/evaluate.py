"""Let a pilot drive laps faster than real time, and write a report.

The report is one HTML file: the track coloured by the distance from its middle line, speed and steering along the laps,
lap times and a short film. Inside a car folder, its config determines the size of the pictures and how they are
transformed; elsewhere pictures have the pilot's size. The exit code is 1 if the pilot left the road, hit something, or
did not finish its laps.

Several pilots, or --seeds, make a matrix instead: each pilot on each track from each start, with confidence intervals.

--stress shows how robust pilots are: each drives under other light, shadows, distractors, a weak or fresh battery, late
pictures and commands, another field of view and more, at three strengths; the report is a table.

--real compares pilots with recorded drives, such as a real car's: how well their steering fits the driver's, beside
that of a pilot trained on the same drive.

For example: donkey evaluate --model models/mypilot.h5 --laps 3
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console, make_table, show_progress
from donkeysim.cli.evaluation_matrix import (
    add_matrix_arguments,
    check_pilots,
    check_start,
    choose_executor,
    choose_out,
    find_laps,
    format_interval,
    gather,
    is_matrix,
    run_matrix,
    write_drives,
)
from donkeysim.cli.evaluation_real import add_real_arguments, run_real
from donkeysim.cli.shared_options import add_car_arguments, add_config_arguments, choose_car, find_config, has_config
from donkeysim.core.errors import SpecError

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.cluster.stress import StressCell, StressSpec
    from donkeysim.envs.conf import EnvConf
    from donkeysim.learn.evaluate import Conditions, Evaluation, PilotRun

LATEST = 1.0
"""Pictures come no later in an evaluation [s]; see `DelayRanges`."""

FILM_TIME = 8.0
"""Length of a report's film [s]."""

REPORT_NAME = "stress.html"

SEEDS = 4
"""Drives of each cell, unless --seeds says otherwise."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument(
        "--model",
        nargs="+",
        action="extend",
        metavar="MODEL",
        help="pilot's file: .onnx, .tflite, .h5 or .keras, or built-in (default); several are compared",
    )
    parser.add_argument("--type", help="type of the pilot, if its file does not say")
    parser.add_argument(
        "--tracks",
        nargs="+",
        action="extend",
        metavar="TRACK",
        help="names of tracks, files, or folders of files (default: the config's track)",
    )
    parser.add_argument(
        "--look", metavar="NAME", help="look of tracks that offer it, such as 2020 (default: the config's)"
    )
    parser.add_argument("--laps", type=int, help="whole laps on each track (default 3; with --stress 1)")
    parser.add_argument("--seed", type=int, help="0 starts on the grid (default), any other elsewhere on the road")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the report, .html (default: the model's file with _report.html); of several pilots or starts the drives, "
        ".json (default evaluation.json); with --stress or --real the report, .html, all figures in a .json beside it "
        "(default stress.html, real.html)",
    )
    add_matrix_arguments(parser)
    add_real_arguments(parser)
    add_car_arguments(parser, "that of the config's GYM_CONF")
    add_config_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Drive, show the figures, write the report."""
    from donkeysim.learn.database import BUILT_IN, find_pilot
    from donkeysim.learn.evaluate import evaluate
    from donkeysim.learn.pilot import load_pilot, try_pilot
    from donkeysim.tub.folder import split_paths
    from donkeysim.world.tracks.catalogue import expand_tracks

    if arguments.model:
        arguments.model = [str(path) for path in split_paths(arguments.model)]
    if arguments.real:
        return run_real(arguments, [find_pilot(model) for model in arguments.model or (BUILT_IN,)])
    if arguments.ceiling is not None:
        raise SpecError("--ceiling is for --real, which compares pilots with recorded drives; give the drives.")
    check_start(arguments)
    config = choose_car(find_config(arguments), arguments)
    if arguments.look is not None:
        vars(config).update(GYM_CONF={**(config.GYM_CONF or {}), "look": arguments.look})
    conditions, scene = read_conditions(config, fits_pilot=not has_config(arguments))
    tracks = expand_tracks(arguments.tracks or [scene])
    if arguments.stress or is_matrix(arguments):
        models = [find_pilot(model) for model in arguments.model or (BUILT_IN,)]
        run_many = run_stress if arguments.stress else run_matrix
        return run_many(arguments, models, tracks, replace(conditions, film_time=0.0))
    model = arguments.model[0] if arguments.model else BUILT_IN
    out = choose_out(arguments, name_report(model), "where the report is a page")
    path = find_pilot(model)
    pilot = load_pilot(path, arguments.type, config)
    try_pilot(pilot, path)
    with show_progress("driving") as report:
        laps, seed = find_laps(arguments), arguments.seed or 0
        evaluation = evaluate(pilot, tracks, laps, conditions, seed, report, keeps_interrupted=True)
    show_evaluation(evaluation)
    written = report_evaluation(evaluation, path, out)
    console.print(f"report: {written}", soft_wrap=True)
    return 130 if evaluation.was_interrupted else 0 if evaluation.is_passed else 1


def name_report(model: str) -> str:
    """Return where a report lies by default; with the model's ending, as an `.onnx` lies beside each `.h5`."""
    from donkeysim.learn.database import BUILT_IN

    return "built_in_report.html" if model == BUILT_IN else f"{model}_report.html"


def read_conditions(config: Config, fits_pilot: bool = False) -> tuple[Conditions, str]:
    """Return what a car's config says about driving with a pilot, and the track.

    Args:
        fits_pilot: Whether pictures are of the pilot's size instead of the config's.
    """
    from donkeysim.car.transform import make_transform
    from donkeysim.drive.simulator_settings import read_settings
    from donkeysim.learn.evaluate import Conditions
    from donkeysim.learn.kinds import read_spec

    settings = read_settings(config)
    has_steps = bool(config.TRANSFORMATIONS or config.POST_TRANSFORMATIONS)
    conditions = Conditions(
        conf=_delay_pictures(settings.conf, settings.latency),
        transform=make_transform(config) if has_steps else None,
        rate=settings.rate,
        throttle_factor=float(config.AI_THROTTLE_MULT),
        throttle_range=read_spec(config).throttle_range,
        film_time=FILM_TIME,
        fits_pilot=fits_pilot,
    )
    return conditions, settings.scene


def _delay_pictures(conf: EnvConf, seconds: float) -> EnvConf:
    """Return what a car drives with whose pictures come so much later, as SIM_ARTIFICIAL_LATENCY has them in drives."""
    if not seconds:
        return conf
    spec = conf.experiment.randomization
    least, most = (bound + seconds for bound in spec.delay.picture or (0.0, 0.0))
    if most > LATEST:
        raise SpecError(
            f"pictures that are {most:g} s late are more than an evaluation takes, {LATEST:g} s; lower "
            "SIM_ARTIFICIAL_LATENCY."
        )
    delay = replace(spec.delay, picture=(least, most))
    return replace(conf, experiment=replace(conf.experiment, randomization=replace(spec, delay=delay)))


def report_evaluation(evaluation: Evaluation, model: Path, out: str | Path) -> Path:
    """Write the report with what there is to say about the pilot, and return where."""
    from donkeysim.learn.report import write_report

    slowest = max(run.inference_time for run in evaluation.runs)
    pace = sum(run.simulated_time for run in evaluation.runs) / sum(run.wall_time for run in evaluation.runs)
    facts = {
        "type": evaluation.kind,
        "car": evaluation.car,
        "file": f"{model.name}, {model.stat().st_size / 1e6:.2f} MB",
        "a picture takes": f"{1000.0 * slowest:.2f} ms",
        "driven at": f"{pace:.0f} times real time",
    }
    return write_report(evaluation, out, model.name, facts)


def show_evaluation(evaluation: Evaluation) -> None:
    """Print the figures, a column for each track, and the verdict."""
    from donkeysim.learn.report import describe_verdict

    table = make_table(f"{evaluation.kind} pilot", ("", *(run.scene.name for run in evaluation.runs)), left=("",))
    columns = [list_figures(run) for run in evaluation.runs]
    for row in zip(*(column.items() for column in columns), strict=True):
        table.add_row(row[0][0], *(value for _, value in row))
    console.print(table)
    console.print(describe_verdict(evaluation), style="green" if evaluation.is_passed else "red")


def list_figures(run: PilotRun) -> dict[str, str]:
    """Return the figures of a run for people."""
    times = run.lap_times
    return {
        "laps": f"{len(times)} of {run.wanted_laps}",
        "ended": run.ending,
        "best lap": f"{min(times):.2f} s" if times else "",
        "mean lap": f"{sum(times) / len(times):.2f} s" if times else "",
        "on the road": f"{100.0 * run.on_road_share:.1f} %",
        "hits": str(len(run.hits)),
        "mean |cte|": f"{100.0 * run.cte_mean:.1f} cm",
        "greatest |cte|": f"{100.0 * run.cte_most:.1f} cm",
        "mean speed": f"{run.speed_mean:.2f} m/s",
        "a picture takes": f"{1000.0 * run.inference_time:.2f} ms",
    }


def run_stress(arguments: argparse.Namespace, models: list[Path], tracks: list[str], conditions: Conditions) -> int:
    """Drive, print, write; a pilot that fails under stress is no error, so the exit code is 0."""
    from donkeysim.cluster.stress import StressSpec, drive_stress, format_report, sum_up
    from donkeysim.core.files import write_whole

    out = choose_out(arguments, REPORT_NAME, "where the report is a page with all drives in a .json beside it")
    names = check_pilots(arguments, models, conditions)
    seeds = SEEDS if arguments.seeds is None else arguments.seeds
    spec = StressSpec(names, tuple(tracks), seeds, find_laps(arguments, 1), kind=arguments.type or "")
    drives, was_interrupted = gather(drive_stress(spec, conditions, choose_executor(arguments)), len(spec.drives))
    found = sum_up(spec, drives)
    if not found:
        raise KeyboardInterrupt  # before all pilots were through one column
    car = conditions.conf.experiment.describe_car()
    print_cells(spec, found)
    write_whole(out, format_report(spec, found, car).encode())
    write_drives(out.with_suffix(".json"), spec, car, cells=found, drives=drives)
    console.print(f"report: {out}, all drives: {out.with_suffix('.json')}", soft_wrap=True)
    return 130 if was_interrupted else 0


def print_cells(spec: StressSpec, cells: list[StressCell]) -> None:
    """Print a row for each column of the test, and in it a cell for each pilot."""
    from donkeysim.learn.database import name_pilots

    names = name_pilots(spec.models)
    title = "share of the way before anything went wrong, with 95 % intervals; mean |cte| until then"
    table = make_table(title, ("", *(names[model] for model in spec.models)), left=("",))
    for column in dict.fromkeys(cell.column for cell in cells):
        table.add_row(column, *(_describe(cell) for cell in cells if cell.column == column))
    console.print(table)


def _describe(cell: StressCell) -> str:
    score = cell.score
    share = f"{100 * score.mean:.0f} % ({100 * score.low:.0f} to {100 * score.high:.0f})"
    return f"{share}, {format_interval(cell.cte, 100.0)} cm"
