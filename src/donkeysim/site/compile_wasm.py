"""Compiles kernels to one WebAssembly module: `python -m donkeysim.site.compile_wasm MODULE`.

A program of its own, as Numba compiles everything in a process for one kind of machine. Here that is WebAssembly: LLVM
optimises for its vectors of 128 bits and its addresses of 32. The wheel `ziglang` links the objects with a C library's
sines; nothing else of one is used.

The module takes its memory from outside. Each kernel is a function of one number, the address of its arguments (see
`memory`), and returns 0 where all went well.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
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
        self._tm, self._data_layout = make_target(), LAYOUT
        self._target_data = llvm.create_target_data(LAYOUT)

    def _create_empty_module(self, name: str) -> Any:
        module = super()._create_empty_module(name)  # type: ignore[no-untyped-call]
        module.triple, module.data_layout = TRIPLE, LAYOUT
        return module

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: there is no Python in a page."""


def make_target() -> Any:
    """Return LLVM's idea of the machine."""
    return llvm.Target.from_triple(TRIPLE).create_target_machine(features=FEATURES, opt=3)


def compile_kernel(name: str, kernel: Any, types: tuple[Any, ...]) -> bytes:
    """Return a kernel as an object with one function of this name."""
    kernel._cache = NullCache()
    kernel.targetoptions |= _OPTIONS
    kernel.compile(types)
    compiled = kernel.overloads[types]
    with global_compiler_lock:
        compiled.library._ensure_finalized()
    module = llvm.parse_bitcode(compiled.library._final_module.as_bitcode())
    symbol = compiled.fndesc.llvm_func_name
    module.link_in(llvm.parse_assembly(_write_entry(name, module.get_function(symbol))))
    _drop_unused(module, name)
    machine_code: bytes = make_target().emit_object(module)
    return machine_code


def _write_entry(name: str, function: Any) -> str:
    """Return a function that reads a kernel's arguments from a block of memory, eight bytes for each."""
    types = [str(argument.type) for argument in function.arguments]
    # Where the kernel writes what it returns and what it raises: nothing, and nothing that anybody asks for.
    reads, given = [], ["ptr %nowhere", "ptr %nowhere"]
    for index, kind in enumerate(types[len(given) :]):
        reads.append(f"%place{index} = getelementptr i8, ptr %block, i32 {8 * index}")
        reads.append(f"%value{index} = load {kind}, ptr %place{index}")
        given.append(f"{kind} %value{index}")
    lines = "\n".join(reads)
    return f"""
        target triple = "{TRIPLE}"
        target datalayout = "{LAYOUT}"
        declare i32 @"{function.name}"({", ".join(types)})
        define i32 @{name}(ptr %block) {{
            %nowhere = alloca i64
            {lines}
            %status = call i32 @"{function.name}"({", ".join(given)})
            ret i32 %status
        }}
    """


def _drop_unused(module: Any, name: str) -> None:
    """Leave a function and what it calls."""
    for symbol in (*module.functions, *module.global_variables):
        if not symbol.is_declaration and symbol.name != name:
            symbol.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(make_target(), llvm.create_pipeline_tuning_options(3)))


def link(objects: dict[str, bytes], module: Path) -> None:
    """Write a module of some objects, each with one function of its name."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, content in objects.items():
            files.append(str(Path(folder, f"{name}.o")))
            Path(files[-1]).write_bytes(content)
        exports = [f"-Wl,--export={name}" for name in (*objects, "__heap_base")]
        options = ("-mexec-model=reactor", "-O2", "-Wl,--no-entry", "-Wl,--gc-sections", "-Wl,--strip-all")
        room = ("-Wl,--import-memory", f"-Wl,-z,stack-size={STACK}")
        zig = (sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi")
        subprocess.run((*zig, *options, *room, *exports, *files, "-lm", "-o", str(module)), check=True)


def main() -> None:
    """Compile what pages call to the file that is named."""
    from donkeysim.site.freeze import KERNELS, list_types

    types = list_types()  # by kernels of this machine; from then on all that is compiled is for pages
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    codegen: Any = _Codegen
    cpu_target.target_context._internal_codegen = codegen("numba.wasm")
    link({name: compile_kernel(name, KERNELS[name], types[name]) for name in KERNELS}, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
