"""What has been learned so far as a file, whole or not at all, so that a killed program can go on."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.files import write_whole

CHECKPOINT_NAME = "checkpoint.pt"

FORMAT = 1
"""Number of the form of the file."""


def write_checkpoint(folder: Path, state: Mapping[str, Any]) -> None:
    """Write tensors, numbers, and mappings and lists of them.

    Raises:
        DonkeySimError: The file cannot be written; the one before is still there then.
    """
    content = io.BytesIO()
    torch.save({"format": FORMAT, **state}, content)
    write_whole(folder / CHECKPOINT_NAME, content.getvalue(), DonkeySimError)


def read_checkpoint(folder: Path) -> dict[str, Any] | None:
    """Return what was written last; None when nothing was yet.

    Raises:
        SpecError: The file is of a newer version, or broken.
    """
    path = folder / CHECKPOINT_NAME
    if not path.is_file():
        return None
    try:
        state = dict(torch.load(path, weights_only=True))
        number = int(state["format"])
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise SpecError(
            f"{path} cannot be read ({reason}); remove it to begin again, or give another --out."
        ) from error
    if number > FORMAT:
        raise SpecError(f"{path} has the format {number}, this version reads up to {FORMAT}; get a newer donkeysim.")
    return state
