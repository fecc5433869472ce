"""Tracks are built once."""

import functools

import pytest

from donkeysim.sim import place


@pytest.fixture(autouse=True, scope="session")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "share_scene", functools.cache(place.share_scene))
        yield
