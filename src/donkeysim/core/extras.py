"""How donkeysim is installed, and packages that come with an extra only, imported when they are needed first."""

from importlib import import_module
from typing import Any

from donkeysim.core.errors import DonkeySimError

INSTALL = "in the checkout: pip install ."
"""How messages say that donkeysim is installed, while no index of packages has it.

On the day of publishing this becomes "with: pip install donkeysim"; a test then names each line of README, docs and
examples that has to follow.
"""


def describe_install(extra: str = "") -> str:
    """Return the words that follow "install it": `in the checkout: pip install ".[learn]"`."""
    words, package = INSTALL.rsplit(" ", 1)
    return f'{words} "{package}[{extra}]"' if extra else INSTALL


def import_extra(module: str, need: str, extra: str = "learn") -> Any:
    """Return a module of an extra; when it is missing the error says `need` ("films need PyAV") and how to install it.

    Raises:
        DonkeySimError: It is missing.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise DonkeySimError(f"{need}; install it {describe_install(extra)}") from error
