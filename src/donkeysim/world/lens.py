"""A real lens, as somebody has calibrated it."""

import math
from dataclasses import dataclass

from donkeysim.core.errors import SpecError, describe_unknown

SMALLEST_SIDE, LARGEST_PICTURE = 16, (3840, 2160)
"""Least columns and rows of a camera's picture, and most columns and rows [pixel]."""

LENS_MODELS = {"plumb_bob": 5, "equidistant": 4}
"""How a lens bends rays, by the names that ROS gives them, and how many coefficients each takes."""

MOST_ANGLE = math.radians(75.0)
"""Rays farther from the optical axis are not drawn [rad]; the picture is black there."""


@dataclass(frozen=True)
class LensSpec:
    """Where in its picture a lens shows a point: the numbers of a `camera_info` file, or of OpenCV's calibration.

    A point X right of the optical axis, Y below it and Z before the camera has x = X/Z, y = Y/Z, r² = x² + y²:

    * `plumb_bob` (Brown and Conrady), coefficients k1, k2, p1, p2, k3: with s = 1 + k1 r² + k2 r⁴ + k3 r⁶
      x' = s x + 2 p1 x y + p2 (r² + 2 x²) and y' = s y + p1 (r² + 2 y²) + 2 p2 x y.
    * `equidistant` (Kannala and Brandt), k1 to k4: with t = arctan r
      x' = x/r · t (1 + k1 t² + k2 t⁴ + k3 t⁶ + k4 t⁸), and y' likewise.

    It is seen in column fx x' + cx and row fy y' + cy of a picture of `size`.

    Attributes:
        model: One of `LENS_MODELS`.
        size: Width and height of the pictures it was calibrated with [pixel].
        focal: (fx, fy) [pixel].
        centre: (cx, cy), where the optical axis ends; middles of pixels are whole numbers [pixel].
        coefficients: As many as the model takes.
    """

    model: str
    size: tuple[int, int]
    focal: tuple[float, float]
    centre: tuple[float, float]
    coefficients: tuple[float, ...]

    @property
    def fov(self) -> float:
        """Vertical field of view of a picture of `size` with this focal length, if the lens bent nothing [rad]."""
        return 2.0 * math.atan(0.5 * self.size[1] / self.focal[1])

    def __post_init__(self) -> None:
        if self.model not in LENS_MODELS:
            raise SpecError(describe_unknown("lens model", self.model, list(LENS_MODELS)))
        if len(self.coefficients) != LENS_MODELS[self.model] or not all(map(math.isfinite, self.coefficients)):
            raise SpecError(
                f"coefficients {list(self.coefficients)} are not valid for a lens of the model {self.model}; "
                f"it takes {LENS_MODELS[self.model]} numbers."
            )
        if min(self.size) < 1 or not all(0.0 < side < math.inf for side in self.focal):
            raise SpecError(
                f"size {list(self.size)} and focal {list(self.focal)} are not valid for a lens; all are above 0 pixels."
            )
        if not all(0.0 <= place <= side for place, side in zip(self.centre, self.size, strict=True)):
            raise SpecError(
                f"centre {list(self.centre)} is not valid for a lens of pictures of {list(self.size)} pixels; "
                "it lies within them."
            )


def make_plain_lens(size: tuple[int, int], fov: float) -> LensSpec:
    """Return a lens that bends nothing.

    Args:
        size: Width and height of its pictures [pixel].
        fov: Vertical field of view [rad].
    """
    focal = 0.5 * size[1] / math.tan(0.5 * fov)
    return LensSpec("plumb_bob", size, (focal, focal), (0.5 * size[0] - 0.5, 0.5 * size[1] - 0.5), (0.0,) * 5)
