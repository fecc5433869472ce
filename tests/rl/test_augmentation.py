"""Examples that a student sees otherwise at each look stay true: what is mirrored is steered the other way."""

import pytest
import torch

from donkeysim.rl import dagger
from donkeysim.rl.dagger import LabelledCrops, augment

COUNT = 400


def draw(depth=3, pictures=1, seed=0):
    """Return pictures whose left half is dark and whose right one is bright, all of them steering right."""
    crop = torch.full((COUNT, depth * pictures, 40, 80), 0.3)
    crop[..., 40:] = 0.6
    said = torch.tensor([[0.5, 0.2]]).expand(COUNT, 2)
    return augment(LabelledCrops(crop, 0.5 * said, said), depth, torch.Generator().manual_seed(seed)), crop


@pytest.fixture
def plain(monkeypatch):
    """Leave only the mirror."""
    for name in ("GAMMA", "GAIN", "CONTRAST", "LEVEL", "MIXED", "COVER_HEIGHT", "COVER_WIDTH", "BUMPER_SHARE"):
        monkeypatch.setattr(dagger, name, 0.0)


@pytest.mark.parametrize(("depth", "pictures"), [(3, 1), (3, 2), (1, 1)])
def test_half_of_them_are_mirrored_with_their_steering_and_not_their_throttle(plain, depth, pictures):
    seen, crop = draw(depth, pictures)
    is_mirrored = seen.label[:, 0] < 0.0
    assert 0.4 < is_mirrored.float().mean() < 0.6
    for mirrored, expected in ((True, crop.flip(3)), (False, crop)):
        rows = is_mirrored == mirrored
        side = -1.0 if mirrored else 1.0
        assert torch.allclose(seen.crop[rows], expected[rows], atol=1e-6)
        assert torch.allclose(seen.label[rows], torch.tensor([0.5 * side, 0.2]))
        assert torch.allclose(seen.last[rows], torch.tensor([0.25 * side, 0.1]))


def test_colours_differ_from_example_to_example_and_stay_colours():
    seen, crop = draw()
    middles = seen.crop[:, :, 0, [10, 70]]
    assert middles.std(0).min() > 0.05
    assert seen.crop.min() >= 0.0
    assert seen.crop.max() <= 1.0
    assert not torch.equal(seen.crop, crop)


def test_what_is_brighter_stays_brighter(monkeypatch):
    monkeypatch.setattr(dagger, "COVER_WIDTH", 0.0)
    monkeypatch.setattr(dagger, "BUMPER_SHARE", 0.0)
    seen, _ = draw()
    left, right = seen.crop[..., :40].mean((1, 2, 3)), seen.crop[..., 40:].mean((1, 2, 3))
    is_mirrored = seen.label[:, 0] < 0.0
    assert torch.where(is_mirrored, left >= right, right >= left).all()


def test_pictures_of_one_example_change_alike():
    seen, _ = draw(pictures=2)
    assert torch.equal(seen.crop[:, :3], seen.crop[:, 3:])


def test_something_may_be_in_the_way_and_most_is_still_seen(plain, monkeypatch):
    monkeypatch.setattr(dagger, "COVER_HEIGHT", 16)
    monkeypatch.setattr(dagger, "COVER_WIDTH", 32)
    monkeypatch.setattr(dagger, "BUMPER_SHARE", 1.0)
    seen, crop = draw()
    same = torch.where(seen.label[:, :1, None, None] < 0.0, crop.flip(3), crop)
    covered = ((seen.crop - same).abs() > 1e-6).any(1).float().mean((1, 2))
    assert covered.mean() > 0.05
    assert covered.max() < 0.45
    below = ((seen.crop - same).abs() > 1e-6)[:, 0, -1].float().mean(1)
    assert (below > 0.9).float().mean() > 0.8


def test_the_same_generator_gives_the_same():
    assert torch.equal(draw(seed=4)[0].crop, draw(seed=4)[0].crop)
    assert not torch.equal(draw(seed=4)[0].crop, draw(seed=5)[0].crop)
