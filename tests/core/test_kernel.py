"""Compiled kernels are kept where one can write, under a name that follows their sources."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from donkeysim.core import index_loops, kernel, kernel_cache, kernel_folders, rng
from donkeysim.core.errors import DonkeySimError
from small_disk import fill_up, mount_disk


def test_the_cache_folder_can_be_chosen_and_is_filled(tmp_path):
    script = (
        "from donkeysim.core import rng, kernel_folders as kept; rng.draw_uniform(1, 2, 3, 4); "
        "print(kept.count_cached_kernels())"
    )
    environment = dict(os.environ, DONKEYSIM_KERNEL_CACHE=str(tmp_path))
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert int(run.stdout) >= 1
    assert [folder.name for folder in tmp_path.iterdir()] == [kernel_folders.CACHE_FOLDER.name]


def test_a_read_only_install_uses_the_users_cache_folder(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder would have to be made")
    monkeypatch.delenv("DONKEYSIM_KERNEL_CACHE", raising=False)
    monkeypatch.setattr(kernel_folders, "_user_cache", lambda: tmp_path / "user")
    monkeypatch.setattr(kernel_folders, "_hash_sources", lambda: "hash")
    monkeypatch.setattr(kernel_folders, "PACKAGE", blocked)
    assert kernel_folders.find_cache_folder() == tmp_path / "user" / "kernels" / "hash"


SOURCES = (*kernel_folders._SHARED, "physics/kernels/called.py")


@pytest.mark.parametrize("changed", SOURCES)
def test_a_changed_kernel_source_changes_the_folder(tmp_path, monkeypatch, changed):
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a = 1")
    monkeypatch.setattr(kernel_folders, "PACKAGE", tmp_path)
    before = kernel_folders._hash_sources()
    (tmp_path / changed).write_text("a = 2")
    assert kernel_folders._hash_sources() != before


@kernel.kernel
def add_up(factor, numbers, total):
    """Add up numbers of any type."""
    for number in numbers:
        total[0] += factor * number


def test_repeated_calls_are_those_of_the_kernel_whatever_they_are_given():
    call, total = index_loops.repeat(add_up), np.zeros(1)
    for numbers in (np.arange(4), np.arange(4), np.arange(4) + 0.5, np.arange(8)[::2], np.arange(4, dtype=np.int8)):
        for factor in (1, 3):
            before = total[0]
            call((numbers,), factor, numbers, total)
            assert total[0] - before == factor * numbers.sum()


DRAWN = rng.draw_uniform(1, 2, 3, 4)


@pytest.fixture
def draw(monkeypatch, caplog):
    """Call a kernel that was compiled, or loaded, anew with a folder for it; return whether it is kept there."""

    def draw(folder):
        monkeypatch.setattr(kernel_cache, "CACHE_FOLDER", folder)
        monkeypatch.setattr(kernel_folders, "_unsaved", [])
        caplog.clear()
        anew = kernel.kernel(rng.draw_uniform.py_func)
        assert anew(1, 2, 3, 4) == DRAWN
        return kernel_folders.is_cache_whole()

    return draw


def test_a_damaged_cache_costs_a_compilation_and_is_mended(tmp_path, draw, caplog):
    assert draw(tmp_path)
    for ending, length in (("nbi", 0), ("nbc", 10), ("nbi", 100)):
        files = list(tmp_path.rglob(f"*.{ending}"))
        assert files
        for path in files:
            path.write_bytes(path.read_bytes()[:length])
        assert draw(tmp_path)
        assert not caplog.records
        assert all(path.stat().st_size > 100 for path in files)


def test_a_full_disk_costs_the_cache_only_and_is_told_with_what_to_do(tmp_path, draw, caplog):
    with mount_disk(tmp_path / "disk") as disk:
        ballast = fill_up(disk)
        assert not draw(disk)
        (told,) = caplog.messages
        assert "No space left on device; make room" in told
        ballast.unlink()
        assert draw(disk)
        assert not caplog.records


def test_when_no_folder_takes_kernels_it_is_said_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DONKEYSIM_KERNEL_CACHE", str(tmp_path / "file"))
    with pytest.raises(DonkeySimError, match="set DONKEYSIM_KERNEL_CACHE to a folder"):
        kernel_folders.find_cache_folder()


def double(value):
    """Return a number twice."""
    return 2.0 * value


@pytest.mark.parametrize("taken_in", [True, False])
def test_a_kernel_is_kept_as_machine_code_and_what_others_take_in_only_where_asked_for(tmp_path, monkeypatch, taken_in):
    monkeypatch.setattr(kernel_cache, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(kernel_cache, "PACKAGE", Path(__file__).parent)
    kept = kernel.kernel(taken_in=taken_in)
    first = kept(double)
    assert first(2.0) == 4.0
    loaded = kept(double)
    assert loaded(2.0) == 4.0
    assert sum(loaded.stats.cache_hits.values()) == 1
    for inner in (first, loaded):
        outer = numba.njit(lambda value, inner=inner: inner(value) + 1.0)
        if taken_in:
            assert outer(2.0) == 5.0
        else:
            with pytest.raises(TypeError, match="taken_in=True"):
                outer(2.0)


FORGET = """
from donkeysim.core import rng
from donkeysim.core.kernel_cache import forget_statements
from donkeysim.world.kernels.paths import PathRows, find_poses
import numpy as np
forget_statements()
rows = PathRows(np.array([[0, 2, 0]]), np.array([2.0]), np.array([[0.0, 0, 0, 0], [2, 2, 0, 0]]), np.array(
    [[2.0, 0, 0, 2, 0, 0, 1, 0, 1, 0, 0], [0.0] * 11]))
position, orientation = np.empty((1, 3)), np.empty((1, 4))
find_poses(rows, 0, np.array([0.5]), np.array([0.25]), np.zeros(1), position, orientation)
(compiled,) = find_poses.overloads.values()
print(*position[0], sum(find_poses.stats.cache_misses.values()), compiled.library._final_module.closed)
rng.draw_gaussian(1, 2, 3, 4)
(compiled,) = rng.draw_gaussian.overloads.values()
print(compiled.library._final_module.closed)
"""


def test_a_kernel_whose_statements_are_forgotten_still_runs(tmp_path):
    environment = dict(os.environ, DONKEYSIM_KERNEL_CACHE=str(tmp_path))
    run = subprocess.run([sys.executable, "-c", FORGET], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["0.5", "0.25", "0.0", "1", "True", "False"]
