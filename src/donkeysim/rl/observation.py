"""What a policy sees of the car's picture: a crop below the horizon, coarse and grey, or in colour.

While it learns, the camera draws just that crop at just that size. On the road the pilot gets whole pictures of
160x120, and its network's first two layers make the crop of them; both look alike
(`tests/rl/test_learning_to_drive.py`).
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.specs import CameraSpec

PICTURE_HEIGHT, PICTURE_WIDTH = 120, 160
"""Of the pictures that pilots get [pixel]."""

LUMA = (0.2126, 0.7152, 0.0722)
"""Weights of red, green and blue in the camera's grey."""

FRAME_SKIP = 2
"""Frames of the simulator from one decision, and one picture, to the next while it learns: 10 a second. On the road it
decides in every frame."""

MOST_PICTURES = 4
"""That a policy may see at once."""


@dataclass(frozen=True)
class ObservationSpec:
    """The crop, and how many of them are seen at once.

    Attributes:
        crop_top: Rows cut off the top of the whole picture [pixel].
        crop_bottom: Rows cut off its bottom [pixel].
        pooling: Pixels of the picture, both ways, that make one of the crop.
        has_colour: Whether it is in colour; else grey.
        pictures: How many crops are seen at once, `FRAME_SKIP` frames apart, the oldest first: two show the speed.
    """

    crop_top: int = 40
    crop_bottom: int = 0
    pooling: int = 2
    has_colour: bool = False
    pictures: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.pictures <= MOST_PICTURES:
            raise SpecError(f"{self.pictures} pictures at once are not valid; a policy sees 1 to {MOST_PICTURES}.")
        rows = (self.crop_top, self.crop_bottom, PICTURE_HEIGHT, PICTURE_WIDTH)
        if self.pooling < 1 or any(count < 0 or count % self.pooling for count in rows):
            raise SpecError(
                f"a band with {self.crop_top} rows cut off above and {self.crop_bottom} below, {self.pooling} pixels "
                "to one, is not valid; all of them must be multiples of the pooling."
            )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels of all crops, height and width."""
        rows = PICTURE_HEIGHT - self.crop_top - self.crop_bottom
        return self.pictures * self.depth, rows // self.pooling, PICTURE_WIDTH // self.pooling

    @property
    def depth(self) -> int:
        """Channels of one crop."""
        return 3 if self.has_colour else 1

    @property
    def frames(self) -> int:
        """Pictures in a row that hold those which are seen, on the road."""
        return (self.pictures - 1) * FRAME_SKIP + 1

    def make_camera(self, camera: CameraSpec) -> CameraSpec:
        """Return the camera that draws the crop, as this one would see it."""
        return replace(
            camera,
            width=PICTURE_WIDTH // self.pooling,
            height=PICTURE_HEIGHT // self.pooling,
            crop_top=self.crop_top // self.pooling,
            crop_bottom=self.crop_bottom // self.pooling,
            grey=not self.has_colour,
        )

    def read_crop(self, picture: torch.Tensor) -> torch.Tensor:
        """Return what that camera drew, uint8, shape [n, height, width, channels], with the channels second.

        Args:
            picture: All crops side by side, the oldest first.
        """
        return picture[..., : self.shape[0]].permute(0, 3, 1, 2)

    def cut_crop(self, picture: ByteArray) -> torch.Tensor:
        """Return the crops of whole colour pictures as the pilot's network makes them, 0 to 1.

        Args:
            picture: uint8, shape [n, 120, 160, 3 * frames], the oldest first.
        """
        crop = torch.from_numpy(picture[:, self.crop_top : PICTURE_HEIGHT - self.crop_bottom]).permute(0, 3, 1, 2)
        kernel = torch.from_numpy(self.make_kernel()).permute(3, 2, 0, 1)
        count, _, height, width = crop.shape
        seen = crop.reshape(count, self.frames, 3, height, width)[:, ::FRAME_SKIP].flatten(0, 1)
        crops = torch.nn.functional.conv2d(seen.float() / 255.0, kernel, stride=self.pooling)
        return crops.reshape(count, *self.shape)

    def make_kernel(self) -> Float32Array:
        """Return the weights that make the crop of a picture, shape [pooling, pooling, 3, depth]."""
        mix = np.eye(3) if self.has_colour else np.array(LUMA)[:, None]
        return np.tile(mix / self.pooling**2, (self.pooling, self.pooling, 1, 1)).astype(np.float32)

    def make_kernel_in_time(self) -> Float32Array:
        """Return those that make the crops of pictures in a row, shape [frames, pooling, pooling, 3, channels]."""
        one, depth = self.make_kernel(), self.depth
        kernel = np.zeros((self.frames, *one.shape[:-1], self.shape[0]), np.float32)
        for index in range(self.pictures):
            kernel[index * FRAME_SKIP, ..., index * depth : (index + 1) * depth] = one
        return kernel
