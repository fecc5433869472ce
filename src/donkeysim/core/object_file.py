"""Kernels compiled ahead, for other programs than the one that compiles: object files, linked to one library.

Each kernel is a function of one number, the address of a block with its arguments, eight bytes for each number, and
returns 0 where all went well. One that returns a number writes it where a second address says.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba import types
from numba.core.compiler_lock import global_compiler_lock


class Machine(NamedTuple):
    """What code is made for, in LLVM's words.

    Attributes:
        triple: Processor and system.
        features: What the processor can do, and how LLVM is to write for it.
        processor: LLVM's name of it; "": any.
        relocation: Whether code may lie anywhere in memory: "pic", as libraries must.
    """

    triple: str
    features: str
    processor: str = ""
    relocation: str = "default"

    def open(self) -> Any:
        """Return LLVM's target machine."""
        target = llvm.Target.from_triple(self.triple)
        words = {"cpu": self.processor, "features": self.features, "reloc": self.relocation}
        return target.create_target_machine(opt=3, **words)


def write_object(name: str, compiled: Any, machine: Machine) -> bytes:
    """Return a compiled form of a kernel, as Numba has it, as an object file with one function of this name."""
    with global_compiler_lock:
        compiled.library._ensure_finalized()
    module = llvm.parse_bitcode(compiled.library._final_module.as_bitcode())
    symbol = compiled.fndesc.llvm_func_name
    entry = _write_entry(name, module.get_function(symbol), compiled.signature.return_type != types.none)
    heads = f'target triple = "{module.triple}"\ntarget datalayout = "{module.data_layout}"\n'
    module.link_in(llvm.parse_assembly(heads + entry))
    _drop_unused(module, name, machine)
    machine_code: bytes = machine.open().emit_object(module)
    return machine_code


def _write_entry(name: str, function: Any, returns: bool) -> str:
    """Return a function that reads a kernel's arguments from a block of memory, eight bytes for each."""
    kinds = [str(argument.type) for argument in function.arguments]
    # Where the kernel writes what it returns and what it raises, which nobody asks for.
    reads, given = [], ["ptr %result" if returns else "ptr %nowhere", "ptr %nowhere"]
    for index, kind in enumerate(kinds[len(given) :]):
        reads.append(f"%place{index} = getelementptr i8, ptr %block, i32 {8 * index}")
        reads.append(f"%value{index} = load {kind}, ptr %place{index}")
        given.append(f"{kind} %value{index}")
    lines = "\n".join(reads)
    return f"""
        declare i32 @"{function.name}"({", ".join(kinds)})
        define i32 @{name}(ptr %block{", ptr %result" if returns else ""}) {{
            %nowhere = alloca i64
            {lines}
            %status = call i32 @"{function.name}"({", ".join(given)})
            ret i32 %status
        }}
    """


def _drop_unused(module: Any, name: str, machine: Machine) -> None:
    """Leave a function and what it calls."""
    for symbol in (*module.functions, *module.global_variables):
        if not symbol.is_declaration and symbol.name != name:
            symbol.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine.open(), llvm.create_pipeline_tuning_options(3)))


def link(objects: dict[str, bytes], library: Path, options: Iterable[str]) -> None:
    """Write a library of some object files, each with one function of its name; needs the wheel `ziglang`.

    Args:
        objects: By the names of their functions.
        library: The file.
        options: Of `zig cc`.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, content in objects.items():
            files.append(str(Path(folder, f"{name}.o")))
            Path(files[-1]).write_bytes(content)
        zig = (sys.executable, "-m", "ziglang", "cc")
        subprocess.run((*zig, *options, *files, "-lm", "-o", str(library)), check=True)
