"""A sweep's trials, rounds, folder and report; who is stopped goes on, and the order of arrival changes nothing."""

import argparse
import io
import json
import random
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from donkeysim.cli import donkey
from donkeysim.cli.commands import rl, train
from donkeysim.cli.commands.sweep import draw_table, join_words
from donkeysim.cli.commands.train import read_changes
from donkeysim.cli.sweep_options import OWN, list_options, read_options, spell_repeat
from donkeysim.cli.sweep_training import check_sweep, make_learning
from donkeysim.cluster.executor import Executor
from donkeysim.cluster.sweep.plan import Job, Plan, TrialResult, draw_trials, find_best
from donkeysim.cluster.sweep.report import format_report
from donkeysim.cluster.sweep.run import run_sweep
from donkeysim.cluster.sweep.spec import read_sweep
from donkeysim.cluster.sweep.store import PROGRESS_NAME, TrialStore, claim_folder, gather_curve, resume_folder
from donkeysim.core import files
from donkeysim.core.errors import DonkeySimError, SpecError

HEAD = 'command = "rl"\nbudget = 900\nmaximize = "laps"\n'
SEARCH = "[search]\nspeed = { uniform = [0.5, 0.9] }\ncars = [16, 32, 64]\n"


def write(folder, text):
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


@pytest.fixture
def read(tmp_path):
    return lambda text: read_sweep(write(tmp_path, text))


def go_through(plan, score, order=None):
    """Do a plan; the jobs that are ready together are done in some order."""
    rounds = []
    while not plan.is_over:
        ready = []
        while (job := plan.take()) is not None:
            ready.append(job)
        rounds.append(list(ready))
        if order is not None:
            order.shuffle(ready)
        for job in ready:
            plan.note(job, TrialResult({"laps": score(job)}, pilot="pilot.h5"))
    return rounds


def test_a_grid_has_all_combinations(read):
    file = read(f'{HEAD}method = "grid"\n[search]\nspeed = [0.6, 0.8]\ncars = [16, 32, 64]\n')
    found = [(options["speed"], options["cars"]) for options in draw_trials(file)]
    assert found == [(0.6, 16), (0.6, 32), (0.6, 64), (0.8, 16), (0.8, 32), (0.8, 64)]


def test_drawn_options_lie_within_their_ranges_and_are_the_same_again(read):
    text = (
        f'{HEAD}method = "random"\ntrials = 400\n[search]\nspeed = {{ uniform = [0.5, 0.9] }}\n'
        "laps = { int = [1, 3] }\ncars = { log_uniform = [1, 100] }\n"
    )
    trials = draw_trials(read(text))
    assert trials == draw_trials(read(text))
    assert trials[:5] == draw_trials(read(text.replace("400", "5")))
    assert trials != draw_trials(read(f"seed = 1\n{text}"))
    assert {options["laps"] for options in trials} == {1, 2, 3}
    assert all(0.5 <= options["speed"] <= 0.9 for options in trials)
    assert 170 < sum(options["cars"] < 10 for options in trials) < 230


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("command = 'fly'", "line 1: unknown command 'fly'"),
        (f"{HEAD}method = 'grid'\ntrials = 3\n{SEARCH}", "line 5: trials is not for a grid"),
        (f"{HEAD}method = 'random'\n{SEARCH}", "trials is 0; it takes 1 to 10000"),
        (f"{HEAD}method = 'random'\ntrials = 3\nfactor = 2\n{SEARCH}", "line 6: factor is for the method halving"),
        (f"{HEAD}method = 'halving'\ntrials = 3\nleast = 901\n{SEARCH}", "line 6: least is 901; it takes 1 or more"),
        (f"{HEAD}minimize = 'steps'\nmethod = 'grid'\n{SEARCH}", "minimize or maximize has to name a figure"),
        (f"{HEAD}method = 'grid'\n{SEARCH}", "line 6: speed is a range, but a grid takes lists"),
        (f"{HEAD}method = 'grid'\n", "[search] is empty"),
        (
            f"{HEAD}method = 'grid'\n[search]\ncars = 16\n",
            "line 6: cars is 16, but must be a list of values, or a range",
        ),
        (
            f"{HEAD}method = 'random'\ntrials = 3\n[search]\ncars = {{ gauss = [1, 2] }}\n",
            "line 7: unknown range 'gauss'",
        ),
        (f"{HEAD}method = 'random'\ntrials = 3\n[search]\ncars = {{ int = [3, 1] }}\n", "the smaller one first"),
        (f"{HEAD}method = 'random'\ntrials = 3\n[search]\ncars = {{ log_uniform = [0, 1] }}\n", "above 0"),
        (f"{HEAD}method = 'grid'\n[options]\ncars = 8\n[search]\ncars = [16]\n", "line 8: cars is in [options], too"),
        (
            f"{HEAD}method = 'grid'\n[search]\ncarss = [16]\n",
            "line 6: unknown option of donkey rl 'carss'; did you mean 'cars'?",
        ),
        (
            f"{HEAD}method = 'grid'\n[search]\ncars = ['x']\n",
            "line 6: cars is 'x', which donkey rl refuses: argument --cars",
        ),
        (f"{HEAD}method = 'grid'\n[search]\nout = ['x']\n", "line 6: out is the sweep's own matter"),
        (f"{HEAD}method = 'grid'\n[search]\ncolour = [1]\n", "it takes true or false"),
        (f"{HEAD.replace('laps', 'lap')}method = 'grid'\n[search]\ncars = [16]\n", "unknown figure of donkey rl 'lap'"),
    ],
)
def test_what_is_not_possible_is_said_with_its_line(text, message, tmp_path, capsys):
    path = write(tmp_path, text)
    with pytest.raises(SpecError) as caught:
        check_sweep(read_sweep(path))
    said = str(caught.value)
    assert message in said
    assert said.startswith(str(path))
    assert said.count(str(path)) == 1


def test_keys_of_the_configuration_are_checked_too(tmp_path, monkeypatch):
    (tmp_path / "config.py").write_text("")
    monkeypatch.chdir(tmp_path)
    head = 'command = "train"\nmethod = "grid"\nbudget = 3\nminimize = "val_loss"\n[search.set]\n'
    for line, message in (
        ("LEARNING_RAT = [0.1]", "the configuration has no key LEARNING_RAT; did you mean LEARNING_RATE?"),
        ("BATCH_SIZE = ['x', 32]", "line 6: BATCH_SIZE"),
        ("MAX_EPOCHS = [3]", "line 6: set.MAX_EPOCHS is the sweep's own matter"),
        ("BATCH_SIZE = [32]", "data"),  # there is no tub
    ):
        with pytest.raises(SpecError, match=message.replace("?", r"\?")):
            check_sweep(read_sweep(write(tmp_path, head + line)))


@pytest.mark.parametrize("command", ["rl", "train"])
def test_any_option_of_a_command_can_be_named(command, read):
    parser = argparse.ArgumentParser()
    {"rl": rl, "train": train}[command].add_arguments(parser)
    for name, action in list_options(command).items():
        if name in OWN[command]:
            continue
        value = True if action.nargs == 0 else action.choices[0] if action.choices else 3
        head = HEAD if command == "rl" else HEAD.replace('"rl"', '"train"').replace("laps", "loss")
        file = read(f'{head}method = "grid"\n[search]\n"{name}" = {json.dumps([value])}\n')
        [options] = draw_trials(file)
        if name == "set":
            options = {"set": "IMAGE_W=3"}
        words = spell_repeat(file, Job(0, 0, options, 900, "00000-0"))[2:]
        assert f"--{name}" in {word.partition("=")[0] for word in words}
        given = vars(parser.parse_args(words))
        for key, typed in read_options(command, options).items():
            if key == "changes":
                assert read_changes(given[key]).items() >= typed.items()
            else:
                assert given[key] == typed, "words for people mean the same"


def test_seeds_differ_by_trial_unless_they_are_options(read):
    file = read(f'{HEAD}seed = 40\nmethod = "grid"\n[search]\ncars = [16, 32, 64]\n')
    job = Job(2, 0, {"cars": 64}, 900, "00002-0")
    task, limit = make_learning(file, job, None)
    assert (task.seed, task.car_count, task.tracks, limit.steps) == (42, 64, ("generated_track",), 900)
    assert "--seed=42" in spell_repeat(file, job)
    file = read(f'{HEAD}method = "grid"\n[search]\nseed = [7]\n')
    assert make_learning(file, Job(0, 0, {"seed": 7}, 900, "00000-0"), None)[0].seed == 7


def test_halving_keeps_the_best_with_more_budget(read):
    plan = Plan(read(f'{HEAD}method = "halving"\ntrials = 9\n{SEARCH}'))
    rounds = go_through(plan, lambda job: float(job.trial in (2, 5, 7)) + (job.trial == 5))
    assert [[job.trial for job in jobs] for jobs in rounds] == [list(range(9)), [2, 5, 7], [5]]
    assert [{job.budget for job in jobs} for jobs in rounds] == [{100}, {300}, {900}]
    last = rounds[2][0]
    assert last.prolongs
    assert (last.source.trial, last.source.turn) == (5, 1)
    assert spell_repeat(plan_file(read, "halving"), last) == ["donkey", "rl", "--resume", "00005-0", "--steps=900"]


def plan_file(read, method):
    return read(f'{HEAD}method = "{method}"\ntrials = 9\n{SEARCH}')


def test_training_has_no_way_to_go_on_so_rounds_begin_anew(read):
    text = HEAD.replace('"rl"', '"train"').replace("laps", "loss")
    file = read(f'{text}method = "halving"\ntrials = 3\n[search.set]\nBATCH_SIZE = [16, 32]\n')
    plan = Plan(file)
    rounds = []
    while (job := plan.take()) is not None:
        rounds.append(job)
        plan.note(job, TrialResult({"loss": 1.0}))
    last = rounds[-1]
    assert (last.turn, last.source, last.prolongs) == (2, None, False)
    assert spell_repeat(file, last)[-2:] == ["--model", "00000-2/pilot.h5"]


def test_who_failed_is_not_kept(read):
    plan = Plan(plan_file(read, "halving"))
    for _ in range(9):
        job = plan.take()
        plan.note(
            job, TrialResult({"laps": 1.0}, pilot="pilot.h5") if job.trial == 8 else TrialResult(error="it broke.")
        )
    assert plan.take().trial == 8
    assert plan.take() is None
    plan = Plan(plan_file(read, "population"))
    for _ in range(9):
        plan.note(plan.take(), TrialResult(error="it broke."))
    assert plan.is_over


def test_the_worst_of_a_population_take_over_from_the_best(read):
    file = read(f'{HEAD}method = "population"\ntrials = 8\ngenerations = 3\n{SEARCH}')
    rounds = go_through(Plan(file), lambda job: float(job.trial))
    assert [len(jobs) for jobs in rounds] == [8, 8, 8]
    first, second, third = rounds
    assert [job.source.trial for job in second[2:]] == [2, 3, 4, 5, 6, 7]
    assert {job.source.trial for job in second[:2]} <= {6, 7}
    assert [job.prolongs for job in second] == [False, False, True, True, True, True, True, True]
    assert [job.budget for job in second] == [300, 300, 600, 600, 600, 600, 600, 600]
    assert third[7].budget == 900
    assert second[7].options == first[7].options
    assert second[0].options != first[second[0].source.trial].options
    words = spell_repeat(file, third[0])
    assert words[words.index(f"--from={third[0].source.root}/pilot.h5")]


@pytest.mark.parametrize("method", ["random", "halving", "population"])
def test_the_order_of_arrival_changes_nothing(method, read):
    def score(job):
        return job.options["speed"] + job.budget / 1000.0

    expected = go_through(Plan(plan_file(read, method)), score)
    for seed in range(5):
        assert go_through(Plan(plan_file(read, method)), score, random.Random(seed)) == expected


def make_store(folder, train, method="halving"):
    path = write(folder, f'{HEAD}method = "{method}"\ntrials = 9\n{SEARCH}')
    return TrialStore(claim_folder(path, folder / "out"), folder / "out", folder, train)


def pretend(job_spec):
    """Stands for a training."""
    if job_spec.job.trial == 4:
        raise DonkeySimError("it diverged.")
    for step in range(5):
        job_spec.report(step, {"laps": step * job_spec.job.options["speed"], "nothing": float("nan")})
    (job_spec.folder / "pilot.h5").write_text(f"{job_spec.job}")
    return TrialResult({"laps": job_spec.job.options["speed"] * job_spec.job.budget}, words=["rl"], pilot="pilot.h5")


def test_who_is_stopped_goes_on_and_does_nothing_twice(tmp_path):
    whole = make_store(tmp_path, pretend)
    plan = Plan(whole.file)
    run_sweep(whole, Executor(workers=0), plan, lambda: None)
    done = []

    def stumble(job_spec):
        done.append(job_spec.job.name)
        if len(done) in (3, 8, 11):
            (job_spec.folder / "half").touch()
            raise KeyboardInterrupt
        return pretend(job_spec)

    (tmp_path / "again").mkdir()
    store = make_store(tmp_path / "again", stumble)
    for _ in range(4):
        again = Plan(store.file)
        run_sweep(store, Executor(workers=0), again, lambda: None)
    assert again.is_over
    assert [(job, result) for job, result in again.done] == [(job, result) for job, result in plan.done]
    assert len(done) == len(plan.done) + 3
    assert sorted(path.name for path in (store.folder / "trials").iterdir()) == sorted(job.name for job, _ in plan.done)
    file, base = resume_folder(store.folder)
    assert (file, base) == (store.file, Path.cwd())


def test_a_training_is_kept_though_a_scanner_looks_into_its_folder_as_on_windows(tmp_path, monkeypatch):
    store, refusals = make_store(tmp_path, pretend), [PermissionError(13, "Access is denied")]
    job = Plan(store.file).take()

    def refuse_at_first(rename):
        return lambda part, place: (_ for _ in ()).throw(refusals.pop()) if refusals else rename(part, place)

    for name in ("rename", "replace"):
        monkeypatch.setattr(Path, name, refuse_at_first(getattr(Path, name)))
    monkeypatch.setattr(files, "RENAME_TRIES", 50)
    assert store.read(job) is None
    assert store.do(job) == store.read(job)


def test_commands_are_written_for_the_shell_of_the_system(monkeypatch):
    words = ["donkey", "rl", "--track", r"my tracks\oval.toml", "--set", "AUGMENTATIONS=['BLUR']"]
    assert shlex.split(join_words(words)) == words
    monkeypatch.setattr("donkeysim.cli.commands.sweep.sys", SimpleNamespace(platform="win32"))
    assert join_words(words) == r"""donkey rl --track "my tracks\oval.toml" --set AUGMENTATIONS=['BLUR']"""


def test_one_sweep_at_a_time_works_in_a_folder(tmp_path):
    store = make_store(tmp_path, pretend)
    refusal = pytest.raises(SpecError, match="another donkey sweep works in")
    with store.locked(), refusal:
        run_sweep(store, Executor(workers=0), Plan(store.file), lambda: None)
    run_sweep(store, Executor(workers=0), Plan(store.file), lambda: None)


def test_figures_that_are_no_numbers_are_left_out(tmp_path):
    store = make_store(tmp_path, pretend)
    job = Plan(store.file).take()
    result = store.do(job)
    assert set(result.curve) == {"laps"}
    assert store.read(job) == result
    with (store.locate(job) / PROGRESS_NAME).open("a") as file:
        file.write('[1, {"lap')
    assert store.do(job) == result
    assert len(gather_curve([(place, {"laps": 1.0}) for place in range(1001)])["laps"]) <= 200


def test_the_report_needs_nothing_else(tmp_path):
    store = make_store(tmp_path, pretend)
    plan = Plan(store.file)
    run_sweep(store, Executor(workers=0), plan, lambda: None)
    best = find_best(store.file.spec, plan.done)
    page = format_report(store.file, plan.done, best)
    assert "http" not in page
    assert "it diverged." in page
    assert page.count("<tr") == 10
    assert f"Best: trial {best[0].trial}" in page
    assert best[0].turn == 2
    broken = [(job, TrialResult(error="<b>it broke.")) for job, _ in plan.done]
    assert "&lt;b&gt;it broke." in format_report(store.file, broken, None)


def test_a_folder_that_holds_something_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make_store(tmp_path, pretend)
    with pytest.raises(SpecError, match="continue with --resume"):
        make_store(tmp_path, pretend)
    assert donkey.run(["sweep", "--resume", "nowhere"]) != 0
    assert "holds no sweep" in capsys.readouterr().err
    assert donkey.run(["sweep"]) != 0
    assert "give the FILE.toml" in capsys.readouterr().err


def test_the_table_shows_who_is_done_and_who_is_under_way(tmp_path):
    store = make_store(tmp_path, pretend)
    plan = Plan(store.file)
    done, under_way, begins = plan.take(), plan.take(), plan.take()
    plan.note(done, store.do(done))
    for job, text in ((under_way, '[40, {"laps": 2.5}]\n'), (begins, "")):
        part = store.locate(job).with_name(f".{job.name}.host-1.part")
        part.mkdir()
        (part / PROGRESS_NAME).write_text(text)
    screen = Console(file=io.StringIO(), width=120)
    screen.print(draw_table(store, plan))
    title, *lines = screen.file.getvalue().splitlines()
    assert title.strip() == "1 training done, 2 under way, 6 of this round wait"
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    assert [(row[0], row[2]) for row in rows] == [("1", "2.5"), ("2", ""), ("0", f"{100 * done.options['speed']:.6g}")]
    assert rows[0][3].endswith("(40 of 100)")
    assert rows[1][3].endswith("(begins)")


def test_a_sweep_of_the_time_when_our_places_had_the_originals_names_goes_on_in_ours(tmp_path):
    tracks = 'track = ["warren", ["warren", "oval"]]\n'
    path = write(tmp_path, f'{HEAD}method = "grid"\n[options]\ntest = ["warehouse"]\n[search]\n{tracks}speed = [0.5]\n')
    store = TrialStore(claim_folder(path, tmp_path / "out"), tmp_path / "out", tmp_path, pretend)
    store.do(Plan(store.file).take())
    assert resume_folder(store.folder)[0] == store.file
    for note in (store.folder / "sweep.json", *store.folder.glob("trials/*/result.json")):
        note.write_text(json.dumps(json.loads(note.read_text()) | {"format": 1}))
    file, _ = resume_folder(store.folder)
    assert file.fixed == {"test": ["pallet_hall"]}
    assert file.search["track"].values == ("carpet_hall", ["carpet_hall", "oval"])
    again = TrialStore(file, store.folder, store.base, pretend)
    job = Plan(file).take()
    assert job.options["track"] == "carpet_hall"
    assert again.read(job) is not None, "it is done already"
