"""Packages that come with an extra only, imported when they are needed first."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from donkeysim.core.errors import DonkeySimError


def import_extra(module: str, need: str, extra: str = "learn") -> Any:
    """Return a module of an extra; when it is missing the error says `need` ("films need PyAV") and how to install it.

    Raises:
        DonkeySimError: It is missing.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise DonkeySimError(f'{need}; install it with: pip install "donkeysim[{extra}]"') from error
