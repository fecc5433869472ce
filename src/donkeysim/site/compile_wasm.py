"""Compiles kernels to one WebAssembly module: `python -m donkeysim.site.compile_wasm MODULE`.

A program of its own, as Numba compiles everything in a process for one kind of machine. Here that is WebAssembly: LLVM
optimises for its vectors of 128 bits and its addresses of 32. The wheel `ziglang` links the objects with a C library's
sines; nothing else of one is used.

The module takes its memory from outside. Each kernel is a function of one number, the address of its arguments (see
`memory`), and returns 0 where all went well.
"""

import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.registry import cpu_target

from donkeysim.core.dispatcher import thaw
from donkeysim.core.object_file import Machine, link, write_object

LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
MACHINE = Machine("wasm32-unknown-unknown", "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals")
"""What all browsers of today have."""

STACK = 1 << 19
"""Of the module [byte]; it and the module's own numbers lie below `memory.BASE`."""

_OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Library(JITCodeLibrary):
    """Code that is optimised and not run."""

    def _finalize_final_module(self) -> None:
        finalize: Any = self._finalize_dynamic_globals
        finalize()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """Return Numba's word for a function that is not here."""
        return 0


class _Codegen(JITCPUCodegen):
    """Numba's way from types to code, for another machine than this one."""

    _library_class = _Library

    def _init(self, module: Any) -> None:
        super()._init(module)  # type: ignore[no-untyped-call]
        self._tm, self._data_layout = MACHINE.open(), LAYOUT
        self._target_data = llvm.create_target_data(LAYOUT)

    def _create_empty_module(self, name: str) -> Any:
        module = super()._create_empty_module(name)  # type: ignore[no-untyped-call]
        module.triple, module.data_layout = MACHINE.triple, LAYOUT
        return module

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: there is no Python in a page."""


def compile_kernel(name: str, kernel: Any, arguments: tuple[Any, ...]) -> bytes:
    """Return a kernel for arguments of such types as an object file with one function of this name."""
    dispatcher, kinds = thaw(kernel), tuple(map(numba.typeof, arguments))
    dispatcher._cache = NullCache()
    dispatcher.targetoptions |= _OPTIONS
    dispatcher.compile(kinds)
    return write_object(name, dispatcher.overloads[kinds], MACHINE)


def main() -> None:
    """Compile what pages call to the file that is named."""
    from donkeysim.site.freeze import KERNELS, list_calls

    calls = list_calls()  # by kernels of this machine; from then on all that is compiled is for pages
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    codegen: Any = _Codegen
    cpu_target.target_context._internal_codegen = codegen("numba.wasm")
    objects = {name: compile_kernel(name, KERNELS[name], calls[name]) for name in KERNELS}
    exports = [f"-Wl,--export={name}" for name in (*objects, "__heap_base")]
    options = ("-mexec-model=reactor", "-O2", "-Wl,--no-entry", "-Wl,--gc-sections", "-Wl,--strip-all")
    memory = ("-Wl,--import-memory", f"-Wl,-z,stack-size={STACK}")
    link(objects, Path(sys.argv[1]), ["-target", "wasm32-wasi", *options, *memory, *exports])


if __name__ == "__main__":
    main()
