"""The fine meshes of the cars fill the boxes of the coarse ones, and are whole: nothing flat, nothing inside out."""

from collections import defaultdict

import numpy as np
import pytest

from donkeysim.watch.place_model import FINE_CREASE, find_corner_normals
from donkeysim.world.scene import CLASS_CAR, SHADE_GLOSS, SHADE_METAL, SHADE_PAINT, SHADE_TEXTURE
from donkeysim.world.specs import BODY_STYLES
from donkeysim.world.tracks.art import find_mesh, read_form

NAMES = ("wheel", *BODY_STYLES)
MOST_BYTES = 500_000
REAR_LAMP = (0.92, 0.08, 0.06)


def read_fine(name):
    return read_form(f"cars/fine_{name}", 0)


def find_parts(form):
    """Return the triangles of each part, whose corners are all connected."""
    triangle = form.triangle[:, :3]
    label = np.arange(len(form.corner))
    while True:
        lowest = label[triangle].min(axis=1)
        before = label.copy()
        np.minimum.at(label, triangle.ravel(), np.repeat(lowest, 3))
        label = label[label]
        if (label == before).all():
            break
    parts = defaultdict(list)
    for row, key in zip(triangle.tolist(), label[triangle[:, 0]].tolist(), strict=True):
        parts[key].append(row)
    return [np.array(rows) for rows in parts.values()]


def is_closed(part):
    edges = {tuple(edge) for edge in np.concatenate((part[:, [0, 1]], part[:, [1, 2]], part[:, [2, 0]])).tolist()}
    return all((end, start) in edges for start, end in edges)


@pytest.mark.parametrize("name", NAMES)
def test_a_fine_mesh_fills_the_box_of_the_coarse_one(name):
    fine, coarse = read_fine(name).corner[:, :3], read_form(f"cars/{name}", 0).corner[:, :3]
    assert np.abs(fine.min(axis=0) - coarse.min(axis=0)).max() < 0.002
    assert np.abs(fine.max(axis=0) - coarse.max(axis=0)).max() < 0.002


@pytest.mark.parametrize("name", NAMES)
def test_it_is_fine_but_not_heavy(name):
    least, most = (1_000, 1_600) if name == "wheel" else (1_500, 6_000)
    assert least <= len(read_fine(name).triangle) <= most


def test_all_files_are_small():
    assert sum(find_mesh(f"cars/fine_{name}").stat().st_size for name in NAMES) < MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_materials_are_of_a_car_and_have_no_pictures(name):
    skins = read_fine(name).skins
    assert {skin.segment for skin in skins} == {CLASS_CAR}
    assert not any(skin.flags & SHADE_TEXTURE for skin in skins)
    assert any(skin.flags & SHADE_METAL for skin in skins)
    assert any(skin.flags & SHADE_PAINT for skin in skins) == (name != "wheel")
    flags = [skin.flags for name in NAMES for skin in read_form(f"cars/{name}", 0).skins]
    assert not any(flag & (SHADE_METAL | SHADE_GLOSS) for flag in flags), "cameras know neither"


@pytest.mark.parametrize("name", BODY_STYLES)
def test_rear_lamps_are_of_the_red_that_pages_know(name):
    forms = (read_fine(name), read_form(f"cars/{name}", 0))
    fine, coarse = (any(skin.colour == REAR_LAMP for skin in form.skins) for form in forms)
    assert fine == coarse


@pytest.mark.parametrize("name", NAMES)
def test_no_triangle_is_flat_or_comes_twice(name):
    form = read_fine(name)
    corner = form.corner[form.triangle[:, :3], :3].astype(float)
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    assert area.min() > 0.0
    turned = np.sort(form.triangle[:, :3], axis=1)
    assert len(np.unique(turned, axis=0)) == len(turned)


@pytest.mark.parametrize("name", BODY_STYLES)
def test_closed_parts_face_outwards(name):
    form = read_fine(name)
    parts = [part for part in find_parts(form) if is_closed(part)]
    assert sum(len(part) for part in parts) > 0.5 * len(form.triangle)
    for part in parts:
        corner = form.corner[part, :3].astype(float)
        corner -= corner.mean(axis=(0, 1))
        assert np.einsum("ij,ij->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) > 0.0


def test_the_tread_faces_outwards():
    form = read_fine("wheel")
    corner = form.corner[form.triangle[:, :3], :3].astype(float)
    facing = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    middle = corner.mean(axis=1) * (1.0, 0.0, 1.0)
    is_top = np.hypot(corner[..., 0], corner[..., 2]).min(axis=1) > 0.0395
    assert is_top.sum() >= 2 * 2 * 20
    assert (np.einsum("ij,ij->i", facing, middle)[is_top] > 0.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_normals_lie_on_the_side_that_is_seen(name):
    form = read_fine(name)
    triangle, vertex = form.triangle[:, :3], form.corner[:, :3]
    normal = find_corner_normals(vertex, triangle, FINE_CREASE, is_chained=True)
    corner = vertex[triangle].astype(float)
    facing = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    along = np.einsum("ijk,ik->ij", normal, facing)
    assert np.allclose(np.linalg.norm(normal, axis=2), 1.0, atol=1e-4)
    assert (along > 0.0).mean() > 0.995
    assert np.median(along) > 0.9
