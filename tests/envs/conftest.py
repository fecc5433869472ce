"""Simulators of these tests share built scenes, which nobody changes."""

import functools

import pytest

from donkeysim.sim import simulator


@pytest.fixture(autouse=True, scope="package")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulator, "load_scene", functools.cache(simulator.load_scene))
        yield
