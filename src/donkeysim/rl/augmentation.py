"""Examples made more various while a student looks at them: mirrored, in other colours, partly covered.

It costs a fraction of what drawing other pictures would, and it takes away what a student could hold on to in places it
knows: that the road is grey, that the left line is yellow.

References:
    Shorten and Khoshgoftaar 2019, A survey on image data augmentation for deep learning,
    https://doi.org/10.1186/s40537-019-0197-0; DeVries and Taylor 2017, Improved regularization of convolutional neural
    networks with cutout, https://arxiv.org/abs/1708.04552.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch

_Draw: TypeAlias = Callable[..., torch.Tensor]

# Twice the range of the preset real (`world/randomizations/real.toml`), as what is seen once is learned from ten times.
GAMMA, GAIN, CONTRAST, LEVEL = 0.6, 0.3, 0.4, 0.15
"""Greatest change of each: of gamma, of each channel's gain and of contrast by its natural logarithm; of brightness."""

MIXED = 0.4
"""How much of each channel may go into another one: greens become blues, a line stays another colour than its road."""

# At most two fifths of the crop's height and width: bumpers, cables and other cars cover as much.
COVER_HEIGHT, COVER_WIDTH = 16, 32
"""Greatest size of what is covered [pixel of a crop of 40x80]."""

BUMPER, BUMPER_SHARE = 8, 0.3
"""Greatest height of a bumper at the lower edge, likewise, and in which share of the pictures there is one."""


@dataclass(frozen=True)
class LabelledCrops:
    """What a student learns from.

    Attributes:
        crop: 0 to 1, shape [n, channels, height, width].
        last: The actions before, shape [n, 2].
        label: What the teacher says, shape [n, 2].
    """

    crop: torch.Tensor
    last: torch.Tensor
    label: torch.Tensor


def augment(examples: LabelledCrops, depth: int, generator: torch.Generator) -> LabelledCrops:
    """Return examples as they are in a mirror, half of them, in other colours and with something in the way.

    Args:
        examples: They stay as they are.
        depth: Channels of one picture; several pictures of an example change alike.
        generator: Of all chance, on this machine's processor.
    """
    count, device = len(examples.crop), examples.crop.device

    def draw(*shape: int) -> torch.Tensor:
        return torch.rand(count, *shape, generator=generator).to(device)

    side = torch.where(draw() < 0.5, -1.0, 1.0)
    turned = torch.stack((side, torch.ones_like(side)), 1)
    crop = torch.where(side[:, None, None, None] < 0.0, examples.crop.flip(3), examples.crop)
    pictures = crop.reshape(count, -1, depth, *crop.shape[2:])
    pictures = _cover(_recolour(pictures, draw), draw)
    return LabelledCrops(pictures.reshape(crop.shape), turned * examples.last, turned * examples.label)


def _recolour(pictures: torch.Tensor, draw: _Draw) -> torch.Tensor:
    """Return pictures, 0 to 1, shape [n, pictures, depth, height, width], with channels mixed and another exposure."""
    depth = pictures.shape[2]
    mix = torch.eye(depth, device=pictures.device) + MIXED * _spread(draw(depth, depth))
    mix = mix / mix.sum(2, keepdim=True).clamp(min=0.4)
    mixed = torch.einsum("nij,npjhw->npihw", mix, pictures).clamp(1e-3, 1.0)
    gain, gamma = (GAIN * _spread(draw(1, depth, 1, 1))).exp(), (GAMMA * _spread(draw(1, 1, 1, 1))).exp()
    contrast = (CONTRAST * _spread(draw(1, 1, 1, 1))).exp()
    level = 0.5 + LEVEL * _spread(draw(1, 1, 1, 1))
    return ((mixed**gamma * gain - 0.5) * contrast + level).clamp(0.0, 1.0)


def _cover(pictures: torch.Tensor, draw: _Draw) -> torch.Tensor:
    """Return pictures with a box of one grey somewhere, and at times a bumper at the lower edge."""
    height, width = pictures.shape[3:]
    row = torch.arange(height, device=pictures.device)[:, None]
    column = torch.arange(width, device=pictures.device)
    box = ((row - height * draw(1, 1)).abs() < 0.5 * COVER_HEIGHT * draw(1, 1)) & (
        (column - width * draw(1, 1)).abs() < 0.5 * COVER_WIDTH * draw(1, 1)
    )
    bumper = (row >= height - BUMPER * draw(1, 1)) & (draw(1, 1) < BUMPER_SHARE)
    return torch.where((box | bumper)[:, None, None], draw(1, 1, 1, 1), pictures)


def _spread(share: torch.Tensor) -> torch.Tensor:
    """Return numbers of 0 to 1 as -1 to 1."""
    return 2.0 * share - 1.0
