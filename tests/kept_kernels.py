"""Kernels as tests compile them, kept from run to run beside the package's own: most of what such tests take."""

from typing import Any

import numba

from donkeysim.core.kernel_cache import KernelCache
from donkeysim.core.kernel_folders import CACHE_FOLDER


def compile_kept(kernel: Any, shelf: str, **options: Any) -> Any:
    """Return a kernel compiled for this processor, with an entry from Python.

    Args:
        kernel: Of the package: the cache folder has another name when any of its kernels has changed.
        shelf: Folder of kernels that are compiled with the same options.
        **options: Of `numba.njit`.
    """
    dispatcher: Any = numba.njit(**options)(kernel.py_func)
    dispatcher._cache = KernelCache(kernel.py_func, folder=CACHE_FOLDER / "tests" / shelf)
    return dispatcher
