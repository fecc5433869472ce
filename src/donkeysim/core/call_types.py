"""Types of calls, worked out once in a process that only compiles.

For each `a[i]`, `a + b` or `min(a, b)` Numba tries one rule after the other until one fits the types of the arguments,
and begins anew for the next one that has the same types: a tenth of the time for physics, a fifth for pictures. What it
finds depends on nothing but the function, these types and the options of the function being compiled: a type, and which
code is to be called, which a function keeps for the last one that asked.
"""

from __future__ import annotations

from typing import Any

from numba.core.targetconfig import ConfigStack
from numba.core.types import BaseFunction


def remember_call_types() -> None:
    """Let Numba remember, for the rest of this process, what calls of built-in functions return."""
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
