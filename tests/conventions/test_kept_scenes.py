"""Scenes that the workers of a run share are what was built."""

from collections import namedtuple
from types import SimpleNamespace

import numpy as np

from kept_scenes import keep_scenes

Track = namedtuple("Track", ["name"])


def make_builder(folder, built):
    def build(track):
        built.append(track.name)
        return SimpleNamespace(texture=np.arange(1 << 16, dtype=np.uint8).reshape(2, -1), small=np.arange(3))

    return keep_scenes(build, folder)


def test_what_another_worker_has_built_is_read(tmp_path):
    built = []
    first = make_builder(tmp_path, built)(Track("waveshare"))
    second = make_builder(tmp_path, built)(Track("waveshare"))
    assert built == ["waveshare"]
    assert second.texture is first.texture, "an array in use is that very array"
    before = first.texture.copy()
    del first, second
    third = make_builder(tmp_path, built)(Track("waveshare"))
    assert built == ["waveshare"]
    assert np.array_equal(third.texture, before)
    assert third.small.tolist() == [0, 1, 2]
    third.texture[0, 0] = 9  # as an array that was built, and for this worker alone
    assert make_builder(tmp_path, built)(Track("waveshare")).texture[0, 0] == 9


def test_a_track_of_a_test_s_own_is_built_in_each_worker(tmp_path):
    built = []
    for _ in range(2):
        builder = make_builder(tmp_path, built)
        assert builder(Track("mine")) is builder(Track("mine"))
    assert built == ["mine", "mine"]
    assert list(tmp_path.iterdir()) == []
