"""What has been learned so far as a file, whole or not at all, so that a killed program can resume.

The file is NumPy's `.npz`: the tensors, and a tree of everything else as JSON, which says where each tensor belongs.
Reading it runs nothing that stands in it.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.files import write_whole

CHECKPOINT_NAME = "checkpoint.npz"

FORMAT = 1
"""Number of the form of the file."""


def write_checkpoint(folder: Path, state: Mapping[str, Any]) -> None:
    """Write tensors, numbers, texts, and mappings and lists of them.

    Raises:
        DonkeySimError: The file cannot be written; the one before is still there then.
    """
    tensors: list[torch.Tensor] = []
    tree = json.dumps({"format": FORMAT, "state": _take_apart(state, tensors)})
    content = io.BytesIO()
    arrays: dict[str, Any] = {f"tensor_{index}": tensor.detach().cpu().numpy() for index, tensor in enumerate(tensors)}
    np.savez(content, tree=np.frombuffer(tree.encode(), np.uint8), **arrays)
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
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            kept = json.loads(arrays["tree"].tobytes())
            number = int(kept["format"])
            state: dict[str, Any] = _put_together(kept["state"], arrays) if number <= FORMAT else {}
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise SpecError(f"{path} cannot be read ({reason}); remove it, or give another --out.") from error
    if number > FORMAT:
        raise SpecError(f"{path} has the format {number}, this version reads up to {FORMAT}; get a newer donkeysim.")
    return state


def _take_apart(value: Any, tensors: list[torch.Tensor]) -> Any:
    """Return a value as JSON can hold it; its tensors are appended to the list."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if isinstance(value, Mapping):
        return {"mapping": [[key, _take_apart(part, tensors)] for key, part in value.items()]}  # keys may be numbers
    if isinstance(value, list | tuple):
        return [_take_apart(part, tensors) for part in value]
    return value


def _put_together(value: Any, arrays: Mapping[str, Any]) -> Any:
    """Return what `_take_apart` was given."""
    if isinstance(value, list):
        return [_put_together(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return torch.from_numpy(np.array(arrays[f"tensor_{value['tensor']}"]))
    return {key: _put_together(part, arrays) for key, part in value["mapping"]}
