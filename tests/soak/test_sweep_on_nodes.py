"""A sweep's pilots do not depend on workers, nodes or kills, and Ray costs little beside the training."""

import contextlib
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

import psutil
import pytest

from donkeysim.car.folder import create_car
from stand_ins.steered_tub import SIZE, write_steered_tub

TRIALS = int(os.environ.get("DONKEYSIM_TRIALS", "64"))
EPOCHS = int(os.environ.get("DONKEYSIM_EPOCHS", "2"))

MOST_OVERHEAD = 0.10
"""Of processor time, beside the same trainings one after another in a plain process."""

pytestmark = pytest.mark.soak
pytest.importorskip("ray")
pytest.importorskip("torch")

SWEEP = """
command = "train"
method = "{method}"
trials = {trials}
budget = {epochs}
minimize = "val_loss"
[options]
type = "linear"
[options.set]
CREATE_TF_LITE = false
USE_EARLY_STOP = false
[search.set]
LEARNING_RATE = {{ log_uniform = [1e-4, 1e-2] }}
BATCH_SIZE = [16, 32, 64]
"""


@pytest.fixture
def car(tmp_path, monkeypatch):
    """A car folder with a small tub, which is the working folder."""
    folder = tmp_path / "car"
    create_car(folder, say=lambda text: None)
    (folder / "myconfig.py").write_text(f"IMAGE_W = {SIZE}\nIMAGE_H = {SIZE}\n")
    write_steered_tub(folder / "data", 200)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return folder


def write_sweep(trials=TRIALS, method="random", epochs=2 * EPOCHS):
    with open("sweep.toml", "w") as file:
        file.write(SWEEP.format(method=method, trials=trials, epochs=epochs))


def start(*words):
    """Start the command in a process group of its own."""
    return subprocess.Popen([sys.executable, "-m", "donkeysim", "sweep", *words], start_new_session=True)


class Meter:
    """Sums the processor time of a process and of all that come from it, those that ended among them."""

    def __init__(self, process):
        self._process = psutil.Process(process.pid)
        self._spent = {}

    def read(self):
        for process in (self._process, *self._process.children(recursive=True)):
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            self._spent[process.pid, process.create_time()] = times.user + times.system

    @property
    def seconds(self):
        return sum(self._spent.values())


def finish(*words):
    """Run the command and return the seconds it took: on the clock, and of processors."""
    seconds, (spent,) = finish_side_by_side(words)
    return seconds, spent


def finish_side_by_side(*commands):
    """Run commands at the same time and return the seconds on the clock until all are done, and those of processors."""
    begun, processes = time.perf_counter(), [start(*words) for words in commands]
    meters = [Meter(process) for process in processes]
    while any(process.poll() is None for process in processes):
        for meter in meters:
            with contextlib.suppress(psutil.NoSuchProcess):
                meter.read()
        time.sleep(0.2)
    assert [process.wait(60) for process in processes] == [0] * len(commands)
    return time.perf_counter() - begun, [meter.seconds for meter in meters]


def read_pilots(folder):
    """Return what came of each training: its figures, and its pilot's bytes as a checksum."""
    pilots = {}
    for path in sorted((folder / "trials").iterdir()):
        result = json.loads((path / "result.json").read_text())["result"]
        pilots[path.name] = result["figures"], hashlib.sha256((path / "pilot.h5").read_bytes()).hexdigest()
    return pilots


def count_trials(folder):
    return len(list((folder / "trials").glob("[0-9]*")))


def find_workers(folder):
    """Return the processes that train now, by training; folders of killed ones lie there until the end."""
    names = [path.name for path in (folder / "trials").glob(".*.part")]
    workers = {name.split(".")[1]: int(name.removesuffix(".part").rpartition("-")[2]) for name in names}
    return {name: worker for name, worker in workers.items() if psutil.pid_exists(worker)}


def wait_for(condition, seconds=300.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def start_nodes(count):
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(count - 1):
        cluster.add_node(num_cpus=1)
    return cluster


def test_the_same_pilots_here_with_workers_and_on_several_nodes(car):
    write_sweep(epochs=EPOCHS)
    for words in (["--workers", "0"], ["--workers", "2"]):
        seconds, spent = finish("sweep.toml", "--out", words[1], *words)
        print(f"{TRIALS} trials, {' '.join(words)}: {seconds:.1f} s, {spent:.1f} s of processors")
    cluster = start_nodes(3)
    try:
        seconds, _ = finish("sweep.toml", "--out", "nodes", "--address", cluster.address)
    finally:
        cluster.shutdown()
    print(f"{TRIALS} trials, 3 nodes on this machine: {seconds:.1f} s")
    plain = read_pilots(car / "0")
    assert len(plain) == TRIALS
    assert len({checksum for _, checksum in plain.values()}) == TRIALS
    assert read_pilots(car / "2") == plain
    assert read_pilots(car / "nodes") == plain
    assert (car / "nodes" / "best" / "commands.txt").read_text() == (car / "0" / "best" / "commands.txt").read_text()


def test_ray_costs_little_beside_the_training(car):
    """Trainings of half a minute: to start Ray takes some seconds, however long a sweep is."""
    count = TRIALS // 8
    write_sweep(trials=count, epochs=80 * EPOCHS)
    plain, spent_plain = finish("sweep.toml", "--out", "plain", "--workers", "0")
    print(f"{count} trials, plain process: {plain:.1f} s, {spent_plain:.1f} s of processors")
    costs = []
    for workers in range(1, (os.cpu_count() or 1) + 1):
        seconds, spent = finish("sweep.toml", "--out", f"{workers}", "--workers", f"{workers}")
        print(f"{workers} actors: {seconds:.1f} s, {plain / seconds:.2f} times as fast, {spent:.1f} s of processors")
        beside = spent_plain
        if workers > 1:  # cores that share caches slow each other down, with Ray and without
            names = [f"beside-{workers}-{index}" for index in range(workers)]
            _, all_spent = finish_side_by_side(*(("sweep.toml", "--out", name, "--workers", "0") for name in names))
            beside = statistics.mean(all_spent)
        costs.append(spent / beside - 1.0)
        print(f"{workers} plain processes side by side: {beside:.1f} s of processors each; Ray: {costs[-1]:+.1%}")
        assert read_pilots(car / f"{workers}") == read_pilots(car / "plain")
    assert max(costs) <= MOST_OVERHEAD


def test_a_killed_worker_costs_its_trial_only(car):
    write_sweep(trials=12)
    finish("sweep.toml", "--out", "whole", "--workers", "0")
    process = start("sweep.toml", "--out", "killed", "--workers", "2")
    folder, killed = car / "killed", []
    for count in (2, 5, 8):
        wait_for(lambda count=count: count_trials(folder) >= count and find_workers(folder))
        name, worker = next(iter(find_workers(folder).items()))
        os.kill(worker, signal.SIGKILL)
        killed.append(name)
    print(f"killed while they trained: {', '.join(killed)}")
    assert process.wait(600) == 0
    assert read_pilots(folder) == read_pilots(car / "whole")


@pytest.mark.parametrize("method", ["random", "halving", "population"])
def test_a_killed_sweep_goes_on(car, method):
    write_sweep(trials=9, method=method)
    finish("sweep.toml", "--out", "whole", "--workers", "0")
    words, kills, seen = ["sweep.toml", "--out", "killed", "--workers", "2"], 0, set()
    while True:
        process = start(*words)
        before = count_trials(car / "killed") if kills else 0
        wait_for(lambda p=process, b=before: p.poll() is not None or count_trials(car / "killed") >= b + 3)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        times = {path: path.stat().st_mtime_ns for path in (car / "killed" / "trials").glob("[0-9]*")}
        print(f"killed {kills} times: {len(times)} trainings are done")
        assert seen <= set(times.items())
        seen = set(times.items())
        words = ["--resume", "killed", "--workers", "2"]
    assert process.returncode == 0
    assert kills >= 2
    assert read_pilots(car / "killed") == read_pilots(car / "whole")
    assert not list((car / "killed" / "trials").glob(".*"))


def test_pilots_are_evaluated_on_several_nodes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def evaluate(out, *words):
        command = [sys.executable, "-m", "donkeysim", "evaluate", "--tracks", "generated_track", "carpet_hall"]
        return subprocess.run([*command, "--seeds", "4", "--laps", "1", "--out", out, *words], check=False).returncode

    begun = time.perf_counter()
    code = evaluate("plain.json", "--workers", "0")
    print(f"8 drives in a plain process: {time.perf_counter() - begun:.1f} s")
    cluster = start_nodes(3)
    try:
        begun = time.perf_counter()
        assert evaluate("nodes.json", "--address", cluster.address) == code
    finally:
        cluster.shutdown()
    print(f"8 drives on 3 nodes of this machine: {time.perf_counter() - begun:.1f} s")
    assert (tmp_path / "nodes.json").read_text() == (tmp_path / "plain.json").read_text()
