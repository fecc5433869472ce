"""Devices that work as a GPU does, for tests."""

import numpy as np

from donkeysim.core.device import Cpu
from donkeysim.core.index_loops import make_loop
from donkeysim.core.workers import Workers


class OneRoomEach(Cpu):
    """Runs like a GPU: each index has a small working memory of its own, and the last index comes first."""

    shares_rooms = False

    def count_rooms(self, count):
        return count

    def run(self, function, count, *arguments, block=1):
        loop = make_loop(function)
        if count == 0:
            loop(np.zeros(1, np.int64), 1, 0, 0, arguments)
        for index in reversed(range(count)):
            loop(np.full(1, index), 1, index + 1, index, arguments)


class FarArray:
    """Memory that this machine cannot read: its shape and type are known, its numbers are not.

    It can what numba-cuda's arrays can, as far as the package asks them for it.
    """

    __array_ufunc__ = None

    def __init__(self, numbers):
        assert isinstance(numbers, np.ndarray), f"{type(numbers)} has no place in a GPU's memory"
        assert numbers.dtype != object
        self.far = numbers

    shape, dtype, size = (
        property(lambda self, name=name: getattr(self.far, name)) for name in ("shape", "dtype", "size")
    )
    ndim, nbytes, strides = (
        property(lambda self, name=name: getattr(self.far, name)) for name in ("ndim", "nbytes", "strides")
    )

    def __len__(self):
        return len(self.far)

    def __getitem__(self, place):
        return FarArray(np.atleast_1d(self.far[place]))

    def reshape(self, *shape):
        told = FarArray(self.far.reshape(*shape))
        assert np.shares_memory(told.far, self.far) or not self.size
        return told

    def refuse(self, *_, **__):
        raise AssertionError("a GPU's memory was read by the host")

    __array__ = __iter__ = __bool__ = __float__ = __int__ = __setitem__ = __eq__ = refuse
    __hash__ = object.__hash__


class FarDevice(OneRoomEach):
    """A device with memory of its own; what the host reads without a download is an error."""

    name, dlpack_device = "far:0", (2, 0)

    def __init__(self):
        super().__init__(Workers(1))

    def run(self, function, count, *arguments, block=1):
        super().run(function, count, *self._reach(arguments))

    def _reach(self, value):
        if isinstance(value, FarArray):
            assert value.far.flags.c_contiguous or not value.size, "numba-cuda would compile another form of the kernel"
            return value.far
        if isinstance(value, tuple):
            parts = map(self._reach, value)
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        assert isinstance(value, (int, float, np.generic)), f"{type(value)} is no argument of a GPU's kernel"
        return value

    def upload(self, value):
        if isinstance(value, tuple):
            parts = map(self.upload, value)
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value if isinstance(value, (int, float, np.generic)) else FarArray(np.array(value, order="C"))

    def download(self, array):
        return array.far.copy()

    def empty(self, shape, dtype):
        return FarArray(np.empty(shape, dtype))

    def zeros(self, shape, dtype):
        return FarArray(np.zeros(shape, dtype))

    def adopt(self, array):
        assert isinstance(array, FarArray)
        return array

    def copy_to(self, target, source):
        target.far[...] = source
