"""Arrays to and from other libraries without a copy: DLPack, and CUDA's array interface.

Whoever takes a `DeviceArray` (`torch.from_dlpack`, `jax.dlpack.from_dlpack`) sees the very memory that the batch writes
in every step; a reference that the taker holds keeps that memory alive. On a GPU the taker's stream waits for
what has been enqueued so far; read an array that was taken once in later steps on that same stream, or ask the device
to `order` another one.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.device import Device, is_here
from donkeysim.core.errors import SpecError

Convert = Callable[[Any], Any]
"""Makes somebody's own array of one of the device's without a copy, as `torch.from_dlpack` does."""

HOST, CUDA = 1, 2
"""DLPack's numbers of kinds of memory."""

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
"""DLPack's numbers of kinds of numbers, by NumPy's."""

_NAME, _USED_NAME = b"dltensor", b"used_dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("axis_count", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]

_lent: dict[int, tuple[Any, ...]] = {}
"""What takers hold, by the address of its `_Managed`: kept until they let go of it."""


@_Deleter
def _let_go(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


@_Destructor
def _drop(capsule: int) -> None:
    """Let go of what nobody has taken out of its capsule."""
    if _is_valid(capsule, _NAME):
        _lent.pop(int(_get_pointer(capsule, _NAME)), None)


class DeviceArray:
    """An array in a device's memory, for whoever speaks DLPack or CUDA's array interface."""

    def __init__(self, array: Any, device: Device) -> None:
        self.array, self._device = array, device
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device.dlpack_device

    def __dlpack__(self, *, stream: int | None = None, copy: bool | None = None, **_: Any) -> Any:
        """Return a capsule around this memory; `stream`: of the taker, to wait for what runs now; -1: not to."""
        if copy:
            raise BufferError("the array is lent as it is; copy what you have taken.")
        if stream is not None and stream != -1:
            self._device.order(stream)
        return _make_capsule(self.array, self.find_pointer(), self.__dlpack_device__())

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._device.dlpack_device[0] != CUDA:
            raise AttributeError("the array lies in this machine's memory.")
        described: dict[str, Any] = self.array.__cuda_array_interface__
        return described

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return a copy for NumPy, of an array of a GPU after all that runs has ended."""
        here = self._device.download(self.array)
        return np.array(here, dtype, copy=copy if copy is not None else True)

    def find_pointer(self) -> int:
        """Return the address of the first number."""
        if self._device.dlpack_device[0] == CUDA:
            return int(self.array.__cuda_array_interface__["data"][0])
        return int(self.array.ctypes.data)


def _make_capsule(owner: Any, pointer: int, place: tuple[int, int]) -> Any:
    dtype = np.dtype(owner.dtype)
    axes = len(owner.shape)
    shape = (ctypes.c_int64 * max(axes, 1))(*owner.shape)
    strides = (ctypes.c_int64 * max(axes, 1))(*(stride // dtype.itemsize for stride in owner.strides))
    kind = _CODES[dtype.kind], 8 * dtype.itemsize, 1
    managed = _Managed(_Tensor(pointer, *place, axes, *kind, shape, strides, 0), None, _let_go)
    address = ctypes.addressof(managed)
    _lent[address] = (managed, shape, strides, owner)
    return _new_capsule(address, _NAME, _drop)


def is_lent(taken: Any, lent: DeviceArray, device: Device) -> bool:
    """Return whether what a taker made of an array is its very memory, not a copy.

    JAX for one copies on the CPU what is not aligned as it likes, or has 64 bits.
    """
    try:
        seen = DeviceArray(take_array(taken, device), device)
        return seen.dtype == lent.dtype and seen.find_pointer() == lent.find_pointer()
    except Exception:  # noqa: BLE001  (of any library; if it cannot say, it gets a copy, which is always right)
        return False


class Lender:
    """Gives a device's arrays to whoever steps a batch.

    Attributes:
        is_plain: Whether they get NumPy's arrays as they are.
    """

    def __init__(self, device: Device, convert: Convert | None) -> None:
        """Note who they are for.

        Args:
            convert: Makes the taker's own of each; None: NumPy's on this machine, `DeviceArray` on a GPU.
        """
        self._device, self._convert = device, convert
        self._is_here = is_here(device)
        self.is_plain = convert is None and self._is_here
        self._lent: dict[int, tuple[Any, Any]] = {}

    def copy(self, array: Any) -> Any:
        """Return a copy that is the taker's own."""
        own = (array if self._is_here else self._device.download(array)).copy(order="K")
        return own if self._convert is None else self._convert(own)

    def lend(self, array: Any) -> Any:
        """Return an array itself, the same object in every step where it shows our memory in later steps too."""
        if self.is_plain:
            return array
        known = self._lent.get(id(array))
        if known is not None:
            return known[1]
        lent = DeviceArray(array, self._device)
        given = lent if self._convert is None else self._convert(lent)
        if self._convert is None or is_lent(given, lent, self._device):
            self._lent[id(array)] = array, given
        return given


def take_array(given: Any, device: Device) -> Any:
    """Return what somebody gives as an array without a copy: of the device, or NumPy's where it lies on this machine.

    Args:
        given: An array of any library that speaks DLPack or CUDA's array interface, or what NumPy makes an array of.
        device: Where it is wanted.

    Raises:
        SpecError: It lies in the memory of a GPU that is not the device.
    """
    if isinstance(given, DeviceArray):
        return given.array
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack_device__"):
        return np.asarray(given)
    place = tuple(map(int, given.__dlpack_device__()))
    if place[0] == HOST:
        return np.from_dlpack(given)
    if place != device.dlpack_device:
        raise SpecError(f"the array is in a GPU's memory, the batch on {device.name!r}; copy it there first.")
    return device.adopt(given)
