"""Arrays in a module's memory: where they are, what is written, and how kernels are told."""

import struct

import numpy as np
import pytest

from donkeysim.site.memory import BASE, MemoryImage


def test_views_of_one_array_share_its_place():
    image, numbers = MemoryImage(), np.arange(12, dtype=np.float64).reshape(3, 4)
    at = image.find(numbers)
    assert at == BASE
    assert image.find(numbers[1:]) == at + 32
    assert image.find(numbers[:, 2:]) == at + 16
    assert image.find(numbers.reshape(-1)) == at
    assert image.find(np.zeros(1)) >= at + numbers.nbytes


def test_only_what_is_not_zero_is_written():
    image, empty, full = MemoryImage(), np.zeros(1000), np.arange(3, dtype=np.int32)
    image.find(empty)
    at = image.find(full)
    assert list(image.list_parts()) == [(at, full.tobytes())]
    assert image.size == at + full.nbytes


def test_an_array_in_the_order_of_fortran_is_written_as_it_lies():
    image, numbers = MemoryImage(), np.asfortranarray(np.arange(6.0).reshape(2, 3))
    image.find(numbers)
    ((_, content),) = image.list_parts()
    assert content == np.array([0.0, 3.0, 1.0, 4.0, 2.0, 5.0]).tobytes()


def test_a_call_lists_its_arguments_eight_bytes_each():
    image, table = MemoryImage(), np.ones((2, 3), np.float32)
    call = image.add_call("draw", (7, 0.5, np.float32(0.25), True, (table,)))
    content = dict(image.list_parts())[call.block]
    at = image.find(table)
    assert content[:32] == struct.pack("<qdfxxxxq", 7, 0.5, 0.25, 1)
    assert struct.unpack("<9q", content[32:]) == (0, 0, 6, 4, at, 2, 3, 12, 4)
    assert call.next_row == 0


def test_memory_with_gaps_is_refused():
    loose = np.ndarray((2, 2), np.float64, bytearray(64), strides=(32, 8))
    with pytest.raises(ValueError, match="gaps"):
        MemoryImage().find(loose)
