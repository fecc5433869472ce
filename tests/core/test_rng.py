"""Random numbers depend on who asks and when, and on nothing else."""

import numpy as np

from donkeysim.core.rng import draw_gaussian, draw_uniform, hash_words


def test_the_hash_is_splitmix():
    from donkeysim.core.rng import mix

    assert int(mix(np.uint64(0))) == 0xE220A8397B1DCDAF


def test_uniform_numbers_are_uniform():
    numbers = np.array([draw_uniform(7, slot, step, 0) for slot in range(50) for step in range(200)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.01
    assert abs(np.histogram(numbers, 10)[0] - 1000).max() < 150


def test_gaussian_numbers_have_unit_variance():
    numbers = np.array([draw_gaussian(7, 0, step, 3) for step in range(20_000)])
    assert abs(numbers.mean()) < 0.03
    assert abs(numbers.std() - 1) < 0.03


def test_every_argument_matters():
    base = int(hash_words(1, 2, 3, 4))
    others = {
        int(hash_words(*words)) for words in [(0, 2, 3, 4), (1, 0, 3, 4), (1, 2, 0, 4), (1, 2, 3, 0), (2, 1, 3, 4)]
    }
    assert base not in others
    assert len(others) == 5
