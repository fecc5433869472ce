"""An index kernel runs once for every index, on any number of threads."""

import numpy as np
import pytest

from donkeysim.core.device import open_device
from donkeysim.core.errors import SpecError
from donkeysim.core.kernel import index_kernel


@index_kernel
def add_index(index, room, visits, rooms, step):
    """Note a visit of an index, and in which working memory it was."""
    visits[index] += step
    rooms[room] = 1


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("count", "block"), [(0, 1), (1, 1), (7, 4), (64, 1), (65, 16)])
def test_every_index_runs_once(threads, count, block):
    device = open_device("cpu", threads)
    visits, rooms = device.zeros((count,), np.int64), device.zeros((device.count_rooms(count),), np.int64)
    for _ in range(3):
        device.run(add_index, count, visits, rooms, 2, block=block)
    device.close()
    assert device.download(visits).tolist() == [6] * count
    assert len(rooms) == threads
    assert rooms.any() == (count > 0)


def test_what_is_uploaded_here_stays_where_it_is():
    device, array = open_device("cpu", 1), np.zeros(3)
    assert device.upload((array,))[0] is array


@pytest.mark.parametrize("name", ["abacus", "cuda:", "cuda:one"])
def test_a_device_that_is_not_there_is_named(name):
    with pytest.raises(SpecError, match=f"'{name}'; it takes 'cpu', 'cuda'"):
        open_device(name)


def test_a_graph_of_this_machine_calls_what_it_was_made_of():
    device, visits = open_device("cpu", 1), np.zeros(3, np.int64)
    graph = device.capture(lambda: device.run(add_index, 3, visits, np.zeros(1), 1))
    graph.launch()
    graph.launch()
    assert visits.tolist() == [2, 2, 2]


def test_functions_of_one_name_are_not_taken_for_each_other():
    def make(step):
        def count_index(index, room, visits):
            visits[index] += step

        return index_kernel(count_index)

    device, visits = open_device("cpu", 1), np.zeros(2, np.int64)
    for step in (1, 10):
        device.run(make(step), 2, visits)
    assert visits.tolist() == [11, 11]
