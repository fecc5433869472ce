"""Kernels that came with the package as a library are called without a compiler, and do what Numba's do."""

import sys
import threading
from typing import NamedTuple

import numba
import numpy as np
import pytest
from supply.kernels import name_type, write_library

from donkeysim.core import kernel, ready_kernel
from donkeysim.core.dispatcher import compile_function
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.index_loops import repeat
from donkeysim.core.kernel_folders import TARGETS, can_run, find_target
from donkeysim.core.ready_kernel import ReadyKernel

needs_target = pytest.mark.skipif(find_target() is None, reason="wheels carry no kernels for this processor")
pytestmark = needs_target


class Table(NamedTuple):
    """Arrays of several types."""

    words: np.ndarray
    wide: np.ndarray


inner = None
"""A kernel that another one calls, where a test sets it."""


def weigh(count, factor, small, is_double, table, out):
    """Write a sum of all that is given."""
    total = 0.0
    for row in range(table.wide.shape[0]):
        for column in range(table.wide.shape[1]):
            total += table.wide[row, column] * (row + 1) + column
    for word in table.words:
        total += word
    out[0] = count + factor * total + small * (2.0 if is_double else 1.0)


def count_down(first):
    """Return a number that is a float."""
    return first - 0.5


def double(value):
    """Return twice what a kernel makes of a number."""
    return 2.0 * inner(value)


def hash_word(word):
    """Return a large number."""
    return np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)


WIDE = np.arange(12, dtype=np.float64).reshape(3, 4)
LAYOUTS = {"rows": WIDE, "columns": np.asfortranarray(WIDE), "gaps": np.repeat(np.repeat(WIDE, 2, 0), 3, 1)[::2, ::3]}


def list_arguments(wide, out):
    words = np.array([1, 2, 3], np.uint32)
    return 7, 0.25, np.float32(1.5), True, Table(words, wide), out


def call_all():
    weighing, down, hashing = (kernel.kernel(function) for function in (weigh, count_down, hash_word))
    for wide in LAYOUTS.values():
        weighing(*list_arguments(wide, np.zeros(1)))
    down(4)
    hashing(3)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return a library of the functions above."""
    path = tmp_path_factory.mktemp("library") / "kernels.so"
    write_library(path, call_all)
    return path


@pytest.fixture
def make(library, monkeypatch):
    """Return what makes a kernel as an install with this library does."""
    monkeypatch.setattr(ready_kernel, "READY_LIBRARY", library)
    monkeypatch.setattr(kernel, "READY_LIBRARY", library)
    ready_kernel.load_forms.cache_clear()
    yield kernel.kernel
    ready_kernel.load_forms.cache_clear()


@pytest.fixture
def no_compiler(monkeypatch):
    """Let there be no Numba."""
    monkeypatch.setitem(sys.modules, "numba", None)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments_of_every_kind_arrive(make, no_compiler, layout):
    expected, out = np.zeros(1), np.zeros(1)
    weigh(*list_arguments(LAYOUTS[layout], expected))
    ready = make(weigh)
    assert isinstance(ready, ReadyKernel)
    ready(*list_arguments(LAYOUTS[layout], out))
    assert out == expected


def test_numbers_are_returned(make, no_compiler):
    assert make(count_down)(4) == 3.5
    assert make(hash_word)(3) == 3 * 0x9E3779B97F4A7C15 % 2**64


def test_repeated_calls_follow_whatever_they_are_given(make, no_compiler):
    call, out = repeat(make(weigh)), np.zeros(1)
    first = list_arguments(LAYOUTS["rows"], out)
    changed = [first, first, (8, *first[1:]), (*first[:4], Table(first[4].words * 3, WIDE + 1), out)]
    changed += [list_arguments(wide, out) for wide in LAYOUTS.values()]
    changed += [(*first[:4], Table(first[4].words, np.ones((9, 2))), out), first]
    for arguments in changed:
        expected = np.zeros(1)
        weigh(*arguments[:5], expected)
        call((), *arguments)
        assert out == expected


def test_threads_may_repeat_one_call_at_once(make):
    call, outs = repeat(make(weigh)), [np.zeros(1) for _ in range(4)]

    def work(number):
        for _ in range(300):
            call((), number, *list_arguments(WIDE, outs[number])[1:])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.zeros(1)
    weigh(*list_arguments(WIDE, expected))
    assert [out[0] - number for number, out in enumerate(outs)] == [expected[0] - 7] * 4


def test_what_did_not_come_is_compiled_with_all_that_it_calls(make, monkeypatch):
    monkeypatch.setitem(globals(), "inner", kernel.inner_kernel(count_down))
    doubled = make(double)
    assert doubled(4) == 7.0
    assert doubled.dispatcher is not None
    assert make(count_down)(4.5) == 4.0
    call, out = repeat(make(weigh)), np.zeros(1)
    call((), *list_arguments(WIDE.astype(np.float32), out))
    assert out[0] > 0


def test_without_a_compiler_it_is_said_what_to_install(make, no_compiler):
    with pytest.raises(DonkeySimError, match=r"count_down did not come compiled .*Numba; install it .*\[compile\]"):
        make(count_down)(4.5)


def test_a_kernel_that_only_kernels_call_cannot_be_called(make):
    with pytest.raises(TypeError, match="only kernels call"):
        kernel.inner_kernel(count_down)(4)


def test_a_damaged_library_is_named_with_what_to_do(make, tmp_path, monkeypatch):
    damaged = tmp_path / "kernels.so"
    damaged.write_bytes(b"nothing")
    damaged.with_suffix(".json").write_text("{}")
    monkeypatch.setattr(ready_kernel, "READY_LIBRARY", damaged)
    ready_kernel.load_forms.cache_clear()
    with pytest.raises(DonkeySimError, match=r"kernels.so.*DONKEYSIM_COMPILE=1"):
        make(count_down)(4)


@pytest.mark.parametrize(
    "value",
    [
        *(1, 0.5, True, np.float32(1), np.int32(1), np.uint64(1), np.bool_(True)),
        *(
            np.zeros(3),
            np.zeros((2, 3), np.float32).T,
            np.zeros((4, 4), np.uint8)[::2],
            np.broadcast_to(np.zeros(1), 3),
        ),
        *((1, (np.zeros(2, bool),)), Table(np.zeros(1, np.uint32), WIDE), (0.5, 0.5), (np.zeros(1), np.zeros(1))),
    ],
    ids=str,
)
def test_types_have_one_name_whoever_asks(value):
    assert name_type(numba.typeof(value)) == ready_kernel.name_type(value)


def test_no_text_is_taken_for_a_number():
    with pytest.raises(TypeError, match="not str"):
        ready_kernel.name_type(("far",))


def test_a_thawed_kernel_is_compiled_as_it_was_declared():
    loose = ReadyKernel(count_down, {"is_loose": True, "is_merged": True}, lambda _: None)
    from donkeysim.core.dispatcher import thaw

    declared = compile_function(count_down, is_loose=True, is_merged=True)
    assert thaw(loose).targetoptions == declared.targetoptions
    assert thaw(loose) is thaw(loose)


def test_a_processor_without_one_of_the_features_gets_no_ready_kernels():
    target = TARGETS["x86_64"]
    able = dict.fromkeys(("SSE3", "SSE41", "SSE42", "AVX", "AVX2", "FMA3", "F16C", "BMI2", "LAHF"), True)
    assert can_run(target, able)
    for name in able:
        assert not can_run(target, able | {name: False})
    del able["FMA3"]
    assert not can_run(target, able)
    assert not can_run(target, {})


def test_tuples_may_grow_shorter_and_longer():
    packed = ready_kernel._Packed()
    for values in ((1, (2.0, 3.0)), (1, ()), (), (1, (2.0,)), ((), ()), (1, (2.0, 3.0))):
        packed.update(values)
        assert packed.kinds == ready_kernel.name_type(values)
        assert packed.block == ready_kernel.pack(values)


def test_after_arguments_that_are_none_the_next_ones_have_their_own_types():
    packed = ready_kernel._Packed()
    packed.update((np.zeros(2), 1))
    with pytest.raises(TypeError, match="not str"):
        packed.update((np.zeros(2, np.float32), "far"))
    values = np.zeros(2, np.float32), 1
    packed.update(values)
    assert packed.kinds == ready_kernel.name_type(values)
    assert packed.block == ready_kernel.pack(values)
