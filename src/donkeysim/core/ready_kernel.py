"""Kernels that came with the package as machine code, called without a compiler.

A library of this system has a function for each kernel and each set of types that it is called with. It takes the
address of a block with eight bytes for each number that a kernel is made for: of an array who owns it (nobody), how
many items, their size, where, shape and strides; of a tuple what is in it. A file beside the library says which
function is for which kernel and which types. `python -m supply build` makes both.
"""

import ctypes
import functools
import json
import struct
import threading
from collections.abc import Callable
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.kernel_folders import READY_LIBRARY

_Result = ctypes.c_uint64 * 1
_NOWHERE = _Result()


class ReadyForm(NamedTuple):
    """A kernel for some types.

    Attributes:
        run: Called with a block of arguments and where a number that it returns goes; returns 0 where all went well.
        kind: NumPy's name of the type of that number; "": it returns none.
    """

    run: Callable[[bytes, Any], int]
    kind: str

    def __call__(self, block: bytes) -> Any:
        """Run it and return its number."""
        result = _Result() if self.kind else _NOWHERE
        if self.run(block, result):
            raise RuntimeError("a kernel has failed")
        return np.frombuffer(bytes(result), self.kind)[0].item() if self.kind else None


class ReadyKernel:
    """A function of which machine code came with the package; Numba, where it is installed, compiles what did not.

    Attributes:
        py_func: The function.
        manner: How it is compiled, see `dispatcher.compile_function`.
        dispatcher: Numba's, once it was needed.
    """

    def __init__(
        self, function: Callable[..., Any], manner: dict[str, bool], compile_it: Callable[["ReadyKernel"], Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.manner, self._compile = function, manner, compile_it
        self.dispatcher: Any = None

    @functools.cached_property
    def forms(self) -> dict[str, ReadyForm]:
        """What the library has of it, by the names of the types."""
        return load_forms().get(name_function(self.py_func), {})

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if "is_entry" not in self.manner:
            raise TypeError(f"{self.py_func.__qualname__} is a kernel that only kernels call")
        form = self.forms.get(name_type(arguments))
        return self._compile(self)(*arguments) if form is None else form(pack(arguments))


class ReadyCall(threading.local):
    """Calls of one kernel with the same large arguments: packed anew is what is another object than in the last call.

    Each thread has packed its own. Nobody may change shape or strides of an array in between.
    """

    def __init__(self, kernel: ReadyKernel) -> None:
        self._kernel, self._known = kernel, _Packed()
        self._kinds: str | None = None
        self._form: ReadyForm | None = None

    def __call__(self, _owned: tuple[Any, ...], *arguments: Any) -> None:
        """Call the kernel, see `index_loops.repeat`."""
        known = self._known
        known.update(arguments)
        if known.kinds is not self._kinds:
            self._kinds, self._form = known.kinds, self._kernel.forms.get(known.kinds)
        if self._form is None:
            self._kernel(*arguments)
        else:
            self._form(known.block)


class _Packed:
    """The last tuple of arguments.

    Attributes:
        kinds: Names of its types; the same object as long as none has changed.
        block: Its bytes.
    """

    def __init__(self) -> None:
        self.kinds, self.block = "()", b""
        self._values: tuple[Any, ...] = ()
        self._parts: list[tuple[str, bytes]] = []
        self._tuples: list[_Packed] = []

    def update(self, values: tuple[Any, ...]) -> None:
        """Pack what is another object than before; after an error all is as it was."""
        if len(values) == len(self._values):
            if all(map(is_, values, self._values)):
                return
            before, tuples = zip(self._values, self._parts, strict=True), self._tuples
            parts = [
                part if value is known else self._pack(value, inner)
                for value, (known, part), inner in zip(values, before, tuples, strict=True)
            ]
        else:
            tuples = [_Packed() for _ in values]
            parts = list(map(self._pack, values, tuples))
        if [kind for kind, _ in parts] != [kind for kind, _ in self._parts]:
            self.kinds = f"({','.join([kind for kind, _ in parts])})"
        self._values, self._parts, self._tuples = values, parts, tuples
        self.block = b"".join([block for _, block in parts])

    @staticmethod
    def _pack(value: Any, known: "_Packed") -> tuple[str, bytes]:
        if isinstance(value, tuple):
            known.update(value)
            return known.kinds, known.block
        return name_type(value), pack(value)


def name_function(function: Callable[..., Any]) -> str:
    """Return a function's name in the file of a library."""
    return f"{function.__module__}.{function.__qualname__}"


def name_type(value: Any) -> str:
    """Return a name of an argument's type, all that machine code depends on."""
    match value:
        case np.ndarray():
            layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
            return name_array(value.dtype, value.ndim, layout, value.flags.writeable)
        case tuple():
            return f"({','.join(map(name_type, value))})"
        case np.generic():
            return value.dtype.str
        case bool():
            return "|b1"
        case float():
            return "<f8"
        case int():
            return "<i8"
    raise TypeError(f"kernels take arrays, numbers and tuples, not {type(value).__name__}")


def name_array(dtype: np.dtype[Any], dimensions: int, layout: str, is_writable: bool) -> str:
    """Return a name of an array's type.

    Args:
        dtype: Of its items.
        dimensions: How many.
        layout: "C" or "F", in the order of which there are no gaps; "A" otherwise.
        is_writable: Whether it may be written.
    """
    return f"{dtype.str}{dimensions}{layout}{'' if is_writable else 'r'}"


_ARRAY = [struct.Struct(f"<{5 + 2 * dimensions}q") for dimensions in range(65)]  # NumPy has no more
_FLOAT, _FLOAT32, _WORD = struct.Struct("<d"), struct.Struct("<fxxxx"), struct.Struct("<Q")


def pack(value: Any) -> bytes:
    """Return an argument as kernels of a library take it."""
    if isinstance(value, np.ndarray):
        address = value.__array_interface__["data"][0]
        return _ARRAY[value.ndim].pack(0, 0, value.size, value.itemsize, address, *value.shape, *value.strides)
    if isinstance(value, tuple):
        return b"".join(map(pack, value))
    if isinstance(value, float):
        return _FLOAT.pack(value)
    if getattr(value, "dtype", None) == np.float32:
        return _FLOAT32.pack(value)
    return _WORD.pack(int(value) & 0xFFFF_FFFF_FFFF_FFFF)


@functools.cache
def load_forms() -> dict[str, dict[str, ReadyForm]]:
    """Return all that the library has, by names of functions and of types.

    Raises:
        DonkeySimError: It cannot be loaded.
    """
    if READY_LIBRARY is None:
        return {}
    try:
        library, forms = ctypes.CDLL(str(READY_LIBRARY)), {}
    except OSError as error:
        raise DonkeySimError(
            f"the kernels that came with donkeysim cannot be loaded: {error}; install donkeysim anew, or set "
            "DONKEYSIM_COMPILE=1 where Numba is installed."
        ) from error
    listed = json.loads(READY_LIBRARY.with_suffix(".json").read_text(encoding="utf-8"))
    for name, rows in listed.items():
        forms[name] = {types: _find_form(library, symbol, kind) for types, symbol, kind in rows}
    return forms


def _find_form(library: ctypes.CDLL, symbol: str, kind: str) -> ReadyForm:
    run = library[symbol]
    run.argtypes, run.restype = (ctypes.c_char_p, ctypes.c_void_p), ctypes.c_int
    return ReadyForm(run, kind)
