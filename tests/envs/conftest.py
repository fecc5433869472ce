"""Simulators of these tests share built scenes, which nobody changes."""

import functools

import pytest

from donkeysim.sim import place


@pytest.fixture(autouse=True, scope="package")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "share_scene", functools.cache(place.share_scene))
        yield
