"""When a batch begins new episodes: Gymnasium's `AutoresetMode`, also where Gymnasium is too old to have it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import gymnasium

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode
elif hasattr(gymnasium.vector, "AutoresetMode"):
    AutoresetMode = gymnasium.vector.AutoresetMode
else:

    class AutoresetMode(Enum):
        """As Gymnasium has it since 1.1; what 1.0 always does is `NEXT_STEP`."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"


__all__ = ["AutoresetMode"]
