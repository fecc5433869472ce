"""Arrays change hands without a copy, and live as long as somebody holds them."""

import gc
import weakref

import numpy as np
import pytest

from donkeysim.core.device import open_device
from donkeysim.envs import exchange
from donkeysim.envs.exchange import DeviceArray, take_array

torch = pytest.importorskip("torch")
KINDS = [np.float32, np.float64, np.uint8, np.int32, np.int64, bool]


@pytest.fixture
def device():
    device = open_device("cpu", 1)
    yield device
    device.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4,), (2, 3, 5), (0, 3)])
def test_torch_sees_the_very_memory(device, kind, shape):
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(kind)
    taken = torch.from_dlpack(DeviceArray(array, device))
    assert tuple(taken.shape) == shape
    assert np.array_equal(taken.numpy(), array)
    if array.size:
        assert taken.data_ptr() == array.ctypes.data
        array.flat[0] = 1
        assert taken.flatten()[0] == 1


def test_a_column_of_a_table_is_lent_as_it_lies(device):
    table = np.arange(12.0).reshape(4, 3)
    column = torch.from_dlpack(DeviceArray(table[:, 1], device))
    table[2, 1] = 70.0
    assert column.tolist() == [1.0, 4.0, 70.0, 10.0]


def test_an_array_lives_as_long_as_who_took_it(device):
    before = len(exchange._lent)
    array = np.zeros(100)
    ended = weakref.ref(array)
    taken = torch.from_dlpack(DeviceArray(array, device))
    part = taken[3:]
    del array, taken
    gc.collect()
    assert ended() is not None
    assert len(exchange._lent) == before + 1
    del part
    gc.collect()
    assert ended() is None
    assert len(exchange._lent) == before


def test_a_capsule_that_nobody_took_lets_go(device):
    before = len(exchange._lent)
    capsule = DeviceArray(np.zeros(3), device).__dlpack__()
    assert len(exchange._lent) == before + 1
    del capsule
    assert len(exchange._lent) == before


def test_a_copy_is_not_made_unasked_nor_asked(device):
    with pytest.raises(BufferError, match="lent as it is"):
        DeviceArray(np.zeros(3), device).__dlpack__(copy=True)


def test_torch_s_tensors_are_taken_without_a_copy(device):
    tensor = torch.arange(6.0).reshape(2, 3)
    taken = take_array(tensor, device)
    assert taken.ctypes.data == tensor.data_ptr()
    own = np.zeros(3)
    assert take_array(own, device) is own
    assert take_array(DeviceArray(own, device), device) is own
    assert take_array([[1, 2]], device).tolist() == [[1, 2]]


def test_numpy_reads_a_copy(device):
    array = np.arange(3.0)
    read = np.asarray(DeviceArray(array, device))
    assert read.tolist() == [0.0, 1.0, 2.0]
    assert not np.shares_memory(read, array)


def test_this_machine_s_memory_has_no_cuda_interface(device):
    assert not hasattr(DeviceArray(np.zeros(3), device), "__cuda_array_interface__")


def test_jax_sees_the_very_memory(device):
    jax = pytest.importorskip("jax", reason="JAX is not installed, and nothing here needs it")
    array = np.arange(6, dtype=np.float32)
    taken = jax.dlpack.from_dlpack(DeviceArray(array, device))
    assert taken.unsafe_buffer_pointer() == array.ctypes.data
