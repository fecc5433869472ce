"""Simulators of these tests share built scenes, which nobody changes."""

import functools

import pytest

from donkeysim.sim import places


@pytest.fixture(autouse=True, scope="package")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "load_scene", functools.cache(places.load_scene))
        yield
