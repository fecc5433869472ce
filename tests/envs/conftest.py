"""Simulators of these tests share built scenes and skies, which nobody changes."""

import functools

import pytest

from donkeysim.render import looks
from donkeysim.sim import simulator


@pytest.fixture(autouse=True, scope="package")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulator, "load_scene", functools.cache(simulator.load_scene))
        skies = {}
        make_faces = looks.make_sky_faces

        def make_faces_once(panorama):
            if id(panorama) not in skies:
                skies[id(panorama)] = (panorama, make_faces(panorama))
            return list(skies[id(panorama)][1])

        patch.setattr(looks, "make_sky_faces", make_faces_once)
        yield
