"""Types used everywhere. Shapes, units and frames stand in the docstring of each field."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
Float32Array: TypeAlias = npt.NDArray[np.float32]
IntArray: TypeAlias = npt.NDArray[np.int32]
LongArray: TypeAlias = npt.NDArray[np.int64]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
WordArray: TypeAlias = npt.NDArray[np.uint32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

Report: TypeAlias = Callable[[int, int], None]
"""Takes news of work that lasts, often: report(done, total)."""

PHYSICS_RATE = 480
"""Physics steps per simulated second; 20 Hz and 60 Hz divide it."""

PHYSICS_STEP = 1.0 / PHYSICS_RATE
"""Length of one physics step [s]."""
