"""Keras on PyTorch, imported when it is needed first."""

import os
import sys
from typing import Any

from donkeysim.core.errors import DonkeySimError, describe_install


def import_keras() -> Any:
    """Return the module `keras`, running on PyTorch.

    Raises:
        DonkeySimError: The extra `learn` is missing, or another part of the program has started Keras on something
            else than PyTorch.
    """
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "torch"
    try:
        import keras
        import torch  # noqa: F401
    except ImportError as error:
        raise DonkeySimError(
            f"this needs Keras and PyTorch ({error.name or error} is missing); install them {describe_install('learn')}"
        ) from error
    if keras.backend.backend() != "torch":
        raise DonkeySimError(
            f"Keras runs on {keras.backend.backend()} in this program, but pilots need PyTorch; "
            "set the environment variable KERAS_BACKEND=torch before starting it."
        )
    return keras
