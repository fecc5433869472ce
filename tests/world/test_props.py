"""Every kind of prop: it stands on the ground, its colliders are where it is seen, and nothing of it is on the road."""

import numpy as np
import pytest

from donkeysim.world.scene import COLLIDER_BOX
from donkeysim.world.tracks.mesh import Assets
from donkeysim.world.tracks.props import PROP_KINDS
from donkeysim.world.tracks.structures.placement import outline_base
from donkeysim.world.tracks.structures.structure import place_structure

FORMS = [(kind, variant) for kind, prop in PROP_KINDS.items() for variant in range(prop.variants)]


@pytest.fixture(scope="module")
def built():
    assets = Assets()
    return {(kind, variant): PROP_KINDS[kind].build(assets, variant) for kind, variant in FORMS}


@pytest.mark.parametrize(("kind", "variant"), FORMS)
def test_a_prop_stands_on_the_ground_with_few_triangles(built, kind, variant):
    mesh = built[kind, variant].mesh
    assert -0.1 <= mesh.vertex[:, 2].min() <= 0.001
    assert 3 <= len(mesh.triangle) <= 240


@pytest.mark.parametrize(("kind", "variant"), FORMS)
def test_colliders_of_a_prop_lie_within_what_is_seen_of_it(built, kind, variant):
    structure = built[kind, variant]
    low, high = structure.mesh.vertex.min(axis=0) - 0.03, structure.mesh.vertex.max(axis=0) + 0.03
    for collider in structure.colliders:
        base = outline_base(collider)
        assert np.all(base >= low[:2])
        assert np.all(base <= high[:2])
        assert low[2] <= collider.centre[2] - collider.half_size[2]
        assert collider.centre[2] + collider.half_size[2] <= high[2]


@pytest.mark.parametrize(("kind", "variant"), FORMS)
def test_the_radius_of_a_prop_covers_its_base(built, kind, variant):
    prop, structure = PROP_KINDS[kind], built[kind, variant]
    if prop.movable is not None:
        assert not structure.colliders
        assert prop.radius == prop.movable.radius_base
    else:
        reach = max(np.hypot(*outline_base(collider).T).max() for collider in structure.colliders)
        assert reach <= 1.02 * prop.radius
        assert {collider.friction > 0.0 for collider in structure.colliders} == {True}


def test_a_placed_structure_is_scaled_turned_and_moved(built):
    structure = built["rock", 0]
    placed = place_structure(structure, (1.0, 2.0, 0.5), np.pi / 2.0, 2.0, "a rock")
    collider, before = placed.colliders[0], structure.colliders[0]
    assert collider.kind != COLLIDER_BOX
    assert collider.centre == pytest.approx((1.0, 2.0, 0.5 + 2.0 * before.centre[2]))
    assert collider.half_size == pytest.approx([2.0 * half for half in before.half_size])
    turned = 2.0 * np.column_stack((-structure.mesh.vertex[:, 1], structure.mesh.vertex[:, 0]))
    assert placed.mesh.vertex[:, :2] == pytest.approx(turned + np.array((1.0, 2.0)), abs=1e-5)
