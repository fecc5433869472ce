"""Textures: what is made of a sky is made once, and forgotten with it."""

import gc

import numpy as np

from donkeysim.render import texture


def test_faces_of_a_sky_are_made_once_and_go_with_it():
    panorama = np.full((32, 64, 4), 200, np.uint8)
    kept = len(texture._SKY_FACES)
    faces = texture.take_sky_faces(panorama)
    assert texture.take_sky_faces(panorama) is faces
    assert np.array_equal(faces[0], texture.make_sky_faces(panorama)[0])
    assert texture.take_sky_faces(panorama.copy()) is not faces
    del panorama
    gc.collect()
    assert len(texture._SKY_FACES) == kept
