"""When a batch begins new episodes: Gymnasium's `AutoresetMode`, also where Gymnasium is too old to have it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import gymnasium

from donkeysim.core.errors import SpecError, describe_unknown

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode as AutoresetMode
elif hasattr(gymnasium.vector, "AutoresetMode"):
    AutoresetMode = gymnasium.vector.AutoresetMode
else:

    class AutoresetMode(Enum):
        """As Gymnasium has it since 1.1; what 1.0 always does is `NEXT_STEP`."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"


def read_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return one of Gymnasium's autoreset modes.

    Raises:
        SpecError: There is no such mode.
    """
    modes = [mode.value for mode in AutoresetMode]
    if not isinstance(mode, AutoresetMode) and mode not in modes:
        raise SpecError(describe_unknown("autoreset mode", str(mode), modes))
    return AutoresetMode(mode)
