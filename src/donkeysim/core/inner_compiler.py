"""How functions are compiled that only kernels call: no further than other kernels need them.

Numba optimises each function with all that it calls, makes machine code of it, and does both again for every kernel
that takes its code in. Machine code that nobody can call, and code that is optimised once more by its caller, were two
fifths of what LLVM did at a first start. Here a function ends as code for its callers; they optimise it.

This is a pipeline of Numba's with a library of another kind. Where a later Numba has other libraries,
`COMPILER` is empty, and kernels are compiled as Numba does by itself: slower, to the same results.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonTypeInference
from numba.core.types import BaseFunction

_REPLACED = ("_optimize_final_module", "_finalize_final_module", "get_pointer_to_function", "codegen")
"""What `_InnerLibrary` has its own of; Numba's own has no promise for them."""


class _NoEngine:
    """Stands where a library has the engine that runs machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: only an entry from Python has objects of Python at hand, and there is none."""


class _InnerLibrary(JITCodeLibrary):
    """Code to be taken into other libraries: neither optimised as a whole nor made machine code of."""

    @property
    def codegen(self) -> _NoEngine:
        """Asked for after compiling only, to hand the function its environment."""
        return _NoEngine()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """Return Numba's word for a function that is not here."""
        return 0


_register: Any = register_pass


@_register(mutates_CFG=False, analysis_only=False)
class _ChooseLibrary(FunctionPass):
    """Names the library that the following pass writes code into."""

    _name = "choose_inner_library"

    def __init__(self) -> None:
        pass  # Numba has an abstract one that does nothing

    def run_pass(self, state: Any) -> bool:
        library: Any = _InnerLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class InnerCompiler(CompilerBase):
    """Numba's usual pipeline, which writes into an `_InnerLibrary`."""

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline, as `CompilerBase` asks for it."""
        builder: Any = DefaultPassBuilder
        manager = builder.define_nopython_pipeline(self.state)
        manager.add_pass_after(_ChooseLibrary, NopythonTypeInference)
        manager.finalize()
        return [manager]


COMPILER: dict[str, Any] = {}
"""An option of `numba.njit`."""
if all(hasattr(JITCodeLibrary, name) for name in _REPLACED):
    COMPILER["pipeline_class"] = InnerCompiler


def remember_call_types() -> None:
    """Let Numba remember, for the rest of this process, what calls of built-in functions return.

    For each `a[i]`, `a + b` or `min(a, b)` Numba tries one rule after the other until one fits the types of the
    arguments, and begins anew for the next one that has the same types: a tenth of the time for physics, a fifth for
    pictures. What it finds depends on nothing but the function, these types and the options of the function being
    compiled: a type, and which code is to be called, which a function keeps for the last one that asked.
    """
    numba_function: Any = BaseFunction
    work_out = numba_function.get_call_type
    known: dict[Any, Any] = {}
    options = _OptionNames()

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            return work_out(function, context, args, kws)
        key = function, tuple(args), options.name_current()
        if key not in known:
            signature = work_out(function, context, args, kws)  # an error is raised anew each time
            known[key] = signature, function.get_impl_key(signature)
        signature, function._impl_keys[signature.args] = known[key]
        return signature

    numba_function.get_call_type = get_call_type


class _OptionNames:
    """Short names of the options with which functions are compiled; equal options have equal names."""

    def __init__(self) -> None:
        self._name: tuple[Any, str] = (None, "")

    def name_current(self) -> str:
        """Return the name of those of the function that is being compiled."""
        stack: Any = ConfigStack
        options = stack.top_or_none()
        if options is not self._name[0]:
            self._name = options, "" if options is None else repr(options)
        return self._name[1]
