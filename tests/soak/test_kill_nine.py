"""Kill what records, logs, saves and trains at random moments, on a large disk and on one of 4 MB that fills up.

Set DONKEYCAR_PYTHON to an interpreter that has donkeycar 5.3.0 to have the original read each tub after each kill;
without it a reader as strict as the original's does. KILLS and SEED change how many and when.
"""

import collections
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from small_disk import fill_up, mount_disk

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

KILL_COUNT, SEED = int(os.environ.get("KILLS", "1000")), int(os.environ.get("SEED", "1"))
KILLS_A_FOLDER = 40
MOST_SECONDS = 0.05
"""A writer lives so long, most often counted from its first success [s]."""

KILLS_WHILE_FULL = 8
"""So many writers find the small disk full before there is room again."""

ROOMS = range(512, 4096, 512)
"""What there is room for on the small disk: each time it is full there is more, until all is thrown away [KiB]."""
JUDGE = Path(__file__).parents[1] / "judges" / "read_tub.py"


@contextlib.contextmanager
def open_judge():
    """Yield a function that says how many records the original finds in a tub."""
    from soak.killed_writers import read_as_strictly_as_the_original

    python = os.environ.get("DONKEYCAR_PYTHON")
    if not python:
        yield read_as_strictly_as_the_original
        return
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([python, JUDGE, "follow"], text=True, bufsize=1, **pipes) as process:

        def ask(path):
            process.stdin.write(f"{path}\n")
            answer = next(line for line in process.stdout if line.startswith("{"))
            return json.loads(answer).get("count", 0)

        yield ask
        process.stdin.close()


def kill_one(kind, folder, number, chance):
    """Let a process write, kill it, and return what it told last; now and then before it has told anything."""
    from soak.killed_writers import Pipe

    pipe = Pipe()
    child = os.fork()
    if child == 0:
        try:
            kind.write(folder, number, pipe.tell)
        except BaseException as error:  # noqa: BLE001  (the parent must not go on twice)
            os.write(2, f"{type(kind).__name__}: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(1)
    pipe.close_writer()
    told = pipe.listen() if chance.random() < 0.8 else b""
    time.sleep(chance.uniform(0.0, MOST_SECONDS))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "the writer ended by itself"
    return pipe.read_rest(told)


class Tally:
    """Counts kills, and checks what each left."""

    def __init__(self, root, kinds):
        self.root, self.kinds = root, kinds
        self.kills, self.lost, self.full = collections.Counter(), collections.Counter(), collections.Counter()
        self.written = collections.Counter()
        self.hidden = 0
        self._numbers, self._folders = {}, collections.Counter()

    def kill(self, name, chance):
        """Kill a writer of a kind; return whether its disk was full."""
        from soak.killed_writers import BEGUN, DONE, FULL, list_hidden

        folder = self.root / f"{name}-{self._folders[name]}"
        folder.mkdir(exist_ok=True)
        before = self._numbers.get(folder, 0)
        told = kill_one(self.kinds[name], folder, before, chance)
        self.kills[name] += 1
        count = self.kinds[name].count(folder, is_thorough=self.kills[name] % 10 == 0)
        done = max(before, told.get(DONE, -1) + 1)
        assert done <= count <= done + 1, f"{name}: {done} were written, {count} are there"
        self.lost[name] += told.get(BEGUN, -1) == count and told.get(FULL, -1) != count
        self.full[name] += FULL in told
        self.hidden = max(self.hidden, len(list_hidden(folder)))
        self.written[name] += count - before
        self._numbers[folder] = count
        if self.kills[name] % KILLS_A_FOLDER == 0:
            self.begin_folder(name)
        return FULL in told

    def begin_folder(self, name):
        """Give a kind a new folder; what was in the old one has been looked at."""
        shutil.rmtree(self.root / f"{name}-{self._folders[name]}", ignore_errors=True)
        self._folders[name] += 1


def kill_all(root, scratch, make_room=lambda tally: None):
    from soak import killed_writers as writers

    chance = random.Random(SEED)
    with open_judge() as judge:
        kinds = {"tub": writers.Tubs(judge), "log": writers.Logs(), "snapshot": writers.Snapshots()}
        tally = Tally(root, {**kinds, "checkpoint": writers.Checkpoints()})
        for name, kind in tally.kinds.items():
            kind.warm_up(scratch / name)
        begun = time.monotonic()
        for _ in range(KILL_COUNT):
            name = min(tally.kinds, key=lambda name: tally.kills[name])
            if tally.kill(name, chance):
                make_room(tally)
        seconds = round(time.monotonic() - begun)
    counts = {
        "kills": tally.kills,
        "written": tally.written,
        "begun_and_not_there": tally.lost,
        "found_the_disk_full": tally.full,
    }
    print("\n" + json.dumps({"seed": SEED, "seconds": seconds, **counts, "most_hidden_files": tally.hidden}))
    return tally


def test_every_file_is_whole_after_every_kill(tmp_path):
    root = tmp_path / "kept"
    root.mkdir()
    tally = kill_all(root, tmp_path)
    assert sum(tally.kills.values()) == KILL_COUNT
    assert tally.hidden <= 1, "what killed writers leave piles up"
    assert sum(tally.full.values()) == 0


def test_every_file_is_whole_after_every_kill_on_a_disk_of_4_mb_that_fills_up(tmp_path):
    with mount_disk(tmp_path / "disk", "4m") as disk:
        rooms = iter(ROOMS)
        ballast = fill_up(disk, next(rooms) << 10)

        found_full = itertools.count(1)

        def make_room(tally):
            nonlocal rooms
            if next(found_full) % KILLS_WHILE_FULL:
                return
            room = next(rooms, None)
            if room is None:
                for name in tally.kinds:
                    tally.begin_folder(name)
                rooms = iter(ROOMS)
                fill_up(disk, next(rooms) << 10)
            else:
                os.truncate(ballast, (4096 - room) << 10)

        tally = kill_all(disk, tmp_path, make_room)
    assert sum(tally.kills.values()) == KILL_COUNT
    assert sum(tally.full.values()) > 0
