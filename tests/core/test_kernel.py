"""Compiled kernels are kept where one can write, under a name that follows their sources."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from donkeysim.core import index_loops, kernel, rng
from donkeysim.core.errors import DonkeySimError
from small_disk import fill_up, mount_disk


def test_the_cache_folder_can_be_chosen_and_is_filled(tmp_path):
    script = (
        "from donkeysim.core import rng, kernel; rng.draw_uniform(1, 2, 3, 4); print(kernel.count_cached_kernels())"
    )
    environment = dict(os.environ, DONKEYSIM_KERNEL_CACHE=str(tmp_path))
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert int(run.stdout) >= 1
    assert [folder.name for folder in tmp_path.iterdir()] == [kernel.CACHE_FOLDER.name]


def test_a_read_only_install_uses_the_users_cache_folder(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder would have to be made")
    monkeypatch.delenv("DONKEYSIM_KERNEL_CACHE", raising=False)
    monkeypatch.setattr(kernel, "_user_cache", lambda: tmp_path / "user")
    monkeypatch.setattr(kernel, "_hash_sources", lambda: "hash")
    monkeypatch.setattr(kernel, "_PACKAGE", blocked)
    assert kernel.find_cache_folder() == tmp_path / "user" / "kernels" / "hash"


SOURCES = (*kernel._SHARED, "physics/kernels/called.py")


@pytest.mark.parametrize("changed", SOURCES)
def test_a_changed_kernel_source_changes_the_folder(tmp_path, monkeypatch, changed):
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a = 1")
    monkeypatch.setattr(kernel, "_PACKAGE", tmp_path)
    before = kernel._hash_sources()
    (tmp_path / changed).write_text("a = 2")
    assert kernel._hash_sources() != before


@kernel.kernel
def add_up(factor, numbers, total):
    """Add up numbers of any type."""
    for number in numbers:
        total[0] += factor * number


def test_repeated_calls_are_those_of_the_kernel_whatever_they_are_given():
    call, total = index_loops.RepeatedCall(add_up), np.zeros(1)
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
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
        monkeypatch.setattr(kernel, "_unsaved", [])
        caplog.clear()
        anew = kernel.kernel(rng.draw_uniform.py_func)
        assert anew(1, 2, 3, 4) == DRAWN
        return kernel.is_cache_whole()

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
        kernel.find_cache_folder()
