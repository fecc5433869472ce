"""Kernels that came with the package are used instead of compiling, where the processor can run them."""

from types import SimpleNamespace

import pytest
from numba.core.registry import cpu_target

from donkeysim.core import kernel, kernel_cache, rng
from donkeysim.core.kernel_folders import TARGETS, can_run

DRAWN = rng.draw_uniform(1, 2, 3, 4)


@pytest.fixture
def draw(monkeypatch):
    """Call a kernel anew; return how often it was compiled."""

    def draw(cache, ready=None, target=None):
        monkeypatch.setattr(kernel_cache, "CACHE_FOLDER", cache)
        monkeypatch.setattr(kernel_cache, "READY_FOLDER", ready)
        monkeypatch.setattr(kernel_cache, "find_target", lambda: target)
        anew = kernel.kernel(rng.draw_uniform.py_func)
        assert anew(1, 2, 3, 4) == DRAWN
        return sum(anew.stats.cache_misses.values())

    return draw


def take_here_for_a_target():
    """Return a target that stands for this processor, so that what was compiled here is ready for it."""
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return SimpleNamespace(name=name, switches=features)


def test_what_came_with_the_package_is_not_compiled_again(tmp_path, draw):
    ready, cache = tmp_path / "ready", tmp_path / "cache"
    assert draw(ready) == 1
    before = sorted(ready.rglob("*"))
    assert draw(cache, ready, take_here_for_a_target()) == 0
    assert sorted(ready.rglob("*")) == before
    assert not list(cache.rglob("*.nbc"))


def test_kernels_for_another_target_are_left_alone(tmp_path, draw):
    ready = tmp_path / "ready"
    draw(ready)
    other = SimpleNamespace(name="another", switches="+wings")
    assert draw(tmp_path / "cache", ready, other) == 1


def test_damaged_files_of_the_package_cost_a_compilation(tmp_path, draw):
    ready = tmp_path / "ready"
    draw(ready)
    for path in ready.rglob("*.nb*"):
        path.write_bytes(path.read_bytes()[:10])
    assert draw(tmp_path / "cache", ready, take_here_for_a_target()) == 1


def test_a_processor_without_one_of_the_features_gets_no_ready_kernels():
    target = TARGETS["x86_64"]
    able = dict.fromkeys(target.features, True)
    assert can_run(target, able)
    assert not can_run(target, able | {"avx2": False})
    del able["fma"]
    assert not can_run(target, able)


def test_a_place_does_not_tell_where_the_package_lies(tmp_path, monkeypatch):
    places = []
    for name in ("one", "two"):
        monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path / name)
        source = tmp_path / name / "render" / "kernels" / "picture.py"
        places.append(kernel_cache._Shelf("ready", False).from_function(draw_nothing, str(source)).folder)
    assert places[0] == places[1]


def draw_nothing():
    """Stand for a kernel."""
