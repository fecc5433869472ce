"""A dataset's bytes do not depend on workers, nodes or kills."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

FRAMES = int(os.environ.get("DONKEYSIM_FRAMES", "20000"))

pytestmark = pytest.mark.soak
pytest.importorskip("ray")


def start(folder, *words):
    """Start the command in a process group of its own."""
    command = [sys.executable, "-m", "donkeysim", "generate", str(folder), "--frames", str(FRAMES)]
    words = ("--track", "generated_track", "pallet_hall", "harbour_town", "--randomize", "mild", *words)
    return subprocess.Popen([*command, *words], start_new_session=True)


def finish(folder, *words):
    """Run the command and return its seconds and the summary."""
    begun = time.perf_counter()
    assert start(folder, *words).wait(3600) == 0
    return time.perf_counter() - begun, json.loads((folder / "dataset.json").read_text())


def kill_all(process):
    """Kill the command and what it has started, Ray's processes among them; those of others live on."""
    family = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for member in family:
        with suppress(psutil.NoSuchProcess):  # Ray's own end with the program that started them
            member.kill()
    assert not psutil.wait_procs(family, 30)[1]


def test_one_worker_and_two_write_the_same_bytes(tmp_path):
    checksums = {}
    for workers in (0, 1, 2):
        seconds, summary = finish(tmp_path / str(workers), "--workers", str(workers))
        size = sum(shard["size"] for shard in summary["shards"])
        print(f"{workers} workers: {FRAMES / seconds:,.0f} frames/s, {seconds:.1f} s, {size / FRAMES:,.0f} bytes/frame")
        checksums[workers] = summary["checksum"]
    assert len(set(checksums.values())) == 1


def test_killed_again_and_again_nothing_is_lost_or_doubled(tmp_path):
    seconds, whole = finish(tmp_path / "whole", "--workers", "0")
    kills, enough = 0, max(8.0, seconds / 4)  # for a file or two, also where others use the machine
    while True:
        process = start(tmp_path / "killed", "--workers", "2")
        try:
            assert process.wait(enough + kills % 3) == 0
            break
        except subprocess.TimeoutExpired:
            kills += 1
        kill_all(process)
        done = len(list((tmp_path / "killed").glob("frames-*.parquet")))
        print(f"killed {kills} times: {done} of {len(whole['shards'])} files")
    assert kills >= 3
    _, again = finish(tmp_path / "killed", "--workers", "2")
    assert again == whole
    assert len(list((tmp_path / "killed").iterdir())) == len(whole["shards"]) + 2


def test_several_nodes_write_the_same_bytes(tmp_path):
    from ray.cluster_utils import Cluster

    _, whole = finish(tmp_path / "whole", "--workers", "0")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        seconds, summary = finish(tmp_path / "nodes", "--address", cluster.address)
    finally:
        cluster.shutdown()
    print(f"3 nodes on this machine: {FRAMES / seconds:,.0f} frames/s")
    assert summary == whole
