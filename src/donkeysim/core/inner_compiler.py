"""How functions are compiled that only kernels call: no further than other kernels need them.

Numba optimises each function with all that it calls, makes machine code of it, and does both again for every kernel
that takes its code in. Machine code that nobody can call, and code that is optimised once more by its caller, were two
fifths of what LLVM did at a first start. Here a function ends as code for its callers; they optimise it. It is kept
packed, once and without what it calls itself: a kernel of a hundred functions took a fifth more memory to compile when
each held its callees' code, and its types and statements besides.

This is a pipeline of Numba's with a library of another kind. Where a later Numba has other libraries,
`COMPILER` is empty, and kernels are compiled as Numba does by itself: slower, to the same results.
"""

from typing import Any, NamedTuple

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, LoweringPass, register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NoPythonBackend, NopythonTypeInference
from numba.core.types import BaseFunction

_REPLACED = ("finalize", "_get_module_for_linking", "get_pointer_to_function", "codegen", "_finalize_dynamic_globals")
"""What `_InnerLibrary` has its own of, or builds on; Numba has no promise for them."""


class _NoEngine:
    """Stands where a library has the engine that runs machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: only an entry from Python has objects of Python at hand, and there is none."""


class _Packed(NamedTuple):
    """What a library that takes another one in asks for its code."""

    library: Any

    def clone(self) -> Any:
        """Return the code of the library and of all that it calls, in the order in which it calls them."""
        libraries: dict[Any, None] = {}
        _list_libraries(self.library, libraries)
        modules = map(_unpack, libraries)  # one at a time
        module = next(modules)
        for other in modules:
            module.link_in(other)
        return module


def _list_libraries(library: Any, known: dict[Any, None]) -> None:
    if library not in known:
        known[library] = None
        for called in library._linking_libraries if isinstance(library, _InnerLibrary) else ():
            _list_libraries(called, known)


def _unpack(library: Any) -> Any:
    parse: Any = binding.parse_bitcode
    return parse(library.packed) if isinstance(library, _InnerLibrary) else library._get_module_for_linking().clone()


class _InnerLibrary(JITCodeLibrary):
    """Code to be taken into other libraries: neither optimised as a whole nor made machine code of."""

    packed = b""

    @property
    def codegen(self) -> _NoEngine:
        """Asked for after compiling only, to hand the function its environment."""
        return _NoEngine()

    def finalize(self) -> None:
        """Pack the function's own code, which several libraries may take in."""
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._final_module.verify()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        note_globals: Any = self._finalize_dynamic_globals
        note_globals()
        self.packed = self._final_module.as_bitcode()
        self._final_module = None
        self._finalized = True

    def _get_module_for_linking(self) -> _Packed:
        return _Packed(self)

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


@_register(mutates_CFG=False, analysis_only=False)
class _Forget(LoweringPass):
    """Drops types and statements of a compiled function, which Numba keeps for people who look at them."""

    _name = "forget_inner_function"

    def __init__(self) -> None:
        pass

    def run_pass(self, state: Any) -> bool:
        state.cr.fndesc.typemap = state.cr.fndesc.calltypes = None
        state.cr = state.cr._replace(type_annotation=None)
        return False


class InnerCompiler(CompilerBase):
    """Numba's usual pipeline, which writes into an `_InnerLibrary` and keeps nothing else."""

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline, as `CompilerBase` asks for it."""
        builder: Any = DefaultPassBuilder
        manager = builder.define_nopython_pipeline(self.state)
        manager.add_pass_after(_ChooseLibrary, NopythonTypeInference)
        manager.add_pass_after(_Forget, NoPythonBackend)
        manager.finalize()
        return [manager]


COMPILER: dict[str, Any] = {}
"""An option of `numba.njit`."""
if all(hasattr(JITCodeLibrary, name) for name in _REPLACED):
    COMPILER["pipeline_class"] = InnerCompiler


def free_pass_managers() -> None:
    """Let llvmlite free its pass managers, for the rest of this process: 25 MB of 180 while kernels are compiled.

    Numba makes one for each function. In llvmlite 0.50 they find the `_dispose` of `ObjectRef`, which does nothing,
    before the one of `NewPassManager`, which frees them.
    """
    managers: Any = getattr(binding, "newpassmanagers", None)
    if managers is not None:
        for kind in (managers.FunctionPassManager, managers.ModulePassManager):
            kind._dispose = managers.NewPassManager._dispose


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
