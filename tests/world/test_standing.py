"""Walls, rooms, blocks, tunnels and arches: seen from outside, with colliders where they are seen, off the road."""

import math

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.world.scene import CLASS_GROUND, SHADE_TWO_SIDED, Mesh
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.structures.blocks import BLOCK_KINDS
from donkeysim.world.tracks.structures.wall_kinds import WALL_KINDS
from donkeysim.world.tracks.terrain.ground import sample_height
from standing import GAP, LENGTH, SPAN, cast_ray, list_walls, write_track

ROOM = '[room]\nmargin = 1.5\ndoors = [{ wall = "east" }, { wall = "west", at = 1.0, kind = "door" }]\nsign = "HALL"\n'
TUNNEL = "[[tunnels]]\nspans = [[7.0, 9.5]]\n"
ARCHES = '[[arches]]\nat = [1.0]\n[[arches]]\nat = [3.0]\nkind = "bridge"\ntext = "GO"\n'
BLOCKS = "".join(
    f'[[blocks]]\nkind = "{kind}"\nplaces = [[{9.0 * index}, -12.0, 30.0]]\n' for index, kind in enumerate(BLOCK_KINDS)
)


class Place:
    """A loaded track, its standing triangles, and lines along its path."""

    def __init__(self, path):
        self.scene = load_scene(SceneSpec(path))
        material = np.array([(item.segment, item.flags) for item in self.scene.materials])
        static = self.scene.static
        kept = material[static.material, 0] != CLASS_GROUND
        self.mesh = Mesh(static.vertex, static.uv, static.triangle[kept], static.material[kept])
        self.two_sided = (material[self.mesh.material, 1] & SHADE_TWO_SIDED) > 0
        self.names = [self.scene.hit_names[index] for index in self.scene.colliders.name]

    def aim(self, along):
        """Return x, y and yaw of the path at a place along it."""
        node = self.scene.path.position[:, :2]
        ends = np.vstack((node, node[:1]))
        step = np.hypot(*np.diff(ends, axis=0).T)
        at = np.concatenate(([0.0], np.cumsum(step)))
        share = along % at[-1]
        x, y = (np.interp(share, at, ends[:, axis]) for axis in (0, 1))
        index = min(int(np.searchsorted(at, share, side="right")) - 1, len(step) - 1)
        return x, y, math.atan2(*(ends[index + 1] - ends[index])[::-1])

    def look(self, x, y, z, yaw, pitch=0.0):
        """Return distance and front of what is first seen."""
        flat = math.cos(pitch)
        direction = np.array((flat * math.cos(yaw), flat * math.sin(yaw), math.sin(pitch)))
        return cast_ray(self.mesh, np.array((x, y, z)), direction, self.two_sided)

    def covers(self, point, slack=0.001):
        """Return for each point x, y whether it lies in a box collider seen from above."""
        rows = self.scene.colliders
        inside = np.zeros(len(point), bool)
        for centre, half, yaw in zip(rows.centre, rows.half_size, rows.yaw, strict=True):
            away = point - centre[:2]
            along = away @ (math.cos(yaw), math.sin(yaw))
            across = away @ (-math.sin(yaw), math.cos(yaw))
            inside |= (np.abs(along) <= half[0] + slack) & (np.abs(across) <= half[1] + slack)
        return inside


@pytest.fixture(scope="module")
def walled(tmp_path_factory):
    return Place(write_track(tmp_path_factory.mktemp("walls"), list_walls()))


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    return Place(write_track(tmp_path_factory.mktemp("street"), TUNNEL + ARCHES + BLOCKS))


@pytest.fixture(scope="module")
def roofed(tmp_path_factory):
    return Place(write_track(tmp_path_factory.mktemp("hall"), ROOM))


@pytest.mark.parametrize("kind", [kind for kind, row in WALL_KINDS.items() if row.label and kind != "invisible"])
def test_a_wall_is_seen_where_its_collider_is(walled, kind):
    index, row = list(WALL_KINDS).index(kind), WALL_KINDS[kind]
    for share in (0.3, 0.5, 0.7):
        x, y, yaw = walled.aim((index + share) * SPAN - 0.05)
        left = yaw + 0.5 * math.pi
        distance, front = walled.look(x, y, 0.8 * row.height if kind == "guard_rail" else 0.02, left)
        assert front
        assert 0.4 + GAP - 0.02 <= distance <= 0.4 + GAP + row.thickness
        beside = np.array([(x + reach * math.cos(left), y + reach * math.sin(left)) for reach in (0.45, 0.52)])
        near = 0.4 + GAP + min(0.02, 0.5 * row.thickness)
        within = np.array([(x + near * math.cos(left), y + near * math.sin(left))])
        assert not walled.covers(beside[:1]).any()
        assert walled.covers(within, slack=0.012).all()


def test_the_pieces_of_a_wall_leave_no_gap(tmp_path):
    for kind in ("wall", "hay", "railing"):
        place = Place(write_track(tmp_path, f'[[walls]]\nkind = "{kind}"\nside = "both"\n'))
        thickness = WALL_KINDS[kind].thickness
        for side in (1.0, -1.0):
            lateral = side * (0.4 + 0.1 + 0.5 * thickness)
            poses = [place.aim(along) for along in np.arange(0.0, LENGTH, 0.05)]
            line = np.array([(x - lateral * math.sin(yaw), y + lateral * math.cos(yaw)) for x, y, yaw in poses])
            assert place.covers(line, slack=0.012).all()


def test_a_curved_wall_has_few_pieces_on_straights(tmp_path):
    place = Place(write_track(tmp_path, '[[walls]]\nkind = "wall"\nside = "right"\n'))
    lengths = 2.0 * place.scene.colliders.half_size[:, 0]
    assert lengths.max() > 0.9 * 6.0
    assert len(lengths) < 45


def test_walls_follow_the_ground(tmp_path):
    text = write_track(tmp_path, '[[walls]]\nkind = "guard_rail"\nside = "left"\n')
    hill = "elevation = [{ at = 0.1, height = 0.0 }, { at = 0.5, height = 0.7 }]\n"
    path = tmp_path / "place.toml"
    path.write_text(path.read_text().replace('texture = "plain"', f'texture = "grass"\n{hill}'))
    place = Place(text)
    rows = place.scene.colliders
    ground = sample_height(place.scene.ground, rows.centre[:, :2])
    assert np.ptp(ground) > 0.5
    assert np.all(rows.centre[:, 2] - rows.half_size[:, 2] < ground)
    assert np.all(rows.centre[:, 2] + rows.half_size[:, 2] > ground + 0.09)
    used = place.mesh.vertex[np.unique(place.mesh.triangle)]
    above = used[:, 2] - sample_height(place.scene.ground, used[:, :2].astype(float))
    assert above.min() == pytest.approx(-0.05, abs=0.02)
    assert above.max() == pytest.approx(0.12, abs=0.02)


def test_a_wall_through_points_has_its_front_to_the_left(tmp_path):
    text = '[[walls]]\nkind = "cliff"\npoints = [[-4.0, -3.0], [4.0, -3.0], [4.0, -6.0]]\n'
    place = Place(write_track(tmp_path, text))
    distance, front = place.look(0.0, -1.0, 0.2, -0.5 * math.pi)
    assert front
    assert distance == pytest.approx(2.0 - 0.45, abs=0.15)
    assert set(place.names) == {"cliff"}


def test_a_room_is_closed_seen_from_inside(roofed):
    middle = 0.5 * (roofed.scene.path.position.min(axis=0) + roofed.scene.path.position.max(axis=0))
    for yaw in np.linspace(0.0, 2.0 * math.pi, 24, endpoint=False) + 0.01:
        for pitch in (0.02, 0.3, 0.8, 1.4):
            distance, front = roofed.look(middle[0], middle[1], 0.1, yaw, pitch)
            assert front
            assert distance < 12.0
    assert roofed.names == ["wall"] * 4


def test_a_room_has_its_walls_where_a_car_meets_them(roofed):
    high = roofed.scene.path.position.max(axis=0)
    distance, _ = roofed.look(high[0], 0.5, 3.3, 0.0)
    assert distance == pytest.approx(1.5, abs=0.02)
    assert roofed.covers(np.array([(high[0] + 1.52, 0.5)])).all()
    assert not roofed.covers(np.array([(high[0] + 1.48, 0.5)])).any()


def test_a_tunnel_is_closed_from_inside_and_open_ahead(furnished):
    x, y, yaw = furnished.aim(8.2)
    for turn in (0.5 * math.pi, -0.5 * math.pi):
        distance, front = furnished.look(x, y, 0.2, yaw + turn)
        assert front
        assert distance == pytest.approx(0.5, abs=0.02)
    assert furnished.look(x, y, 0.2, yaw, 1.5)[0] == pytest.approx(0.55, abs=0.03)
    assert furnished.look(x, y, 0.2, yaw, 1.5)[1]
    x, y, yaw = furnished.aim(6.4)
    assert furnished.look(x, y, 0.1, yaw)[0] > 0.9
    distance, front = furnished.look(x, y, 0.85, yaw)
    assert front
    assert distance == pytest.approx(0.63, abs=0.05)


def test_a_tunnel_is_closed_from_outside(furnished):
    x, y, yaw = furnished.aim(8.2)
    for turn in (0.5 * math.pi, -0.5 * math.pi):
        away = (x + 3.0 * math.cos(yaw + turn), y + 3.0 * math.sin(yaw + turn))
        distance, front = furnished.look(*away, 0.4, yaw + turn + math.pi)
        assert front
        assert distance == pytest.approx(3.0 - 0.62, abs=0.05)
    assert furnished.look(x, y, 3.0, yaw, -1.55)[1]


def test_arches_leave_the_road_free_below(furnished):
    for along in (1.0, 3.0):
        for lateral in (-0.35, 0.0, 0.35):
            x, y, yaw = furnished.aim(along - 0.5)
            eye = (x - lateral * math.sin(yaw), y + lateral * math.cos(yaw))
            assert furnished.look(*eye, 0.15, yaw)[0] > 1.0
    assert furnished.look(*furnished.aim(2.5)[:2], 0.75, furnished.aim(2.5)[2])[0] == pytest.approx(0.33, abs=0.05)


@pytest.mark.parametrize("kind", [kind for kind in BLOCK_KINDS if kind != "invisible"])
def test_a_block_is_closed_and_fills_its_collider(furnished, kind):
    index = list(BLOCK_KINDS).index(kind)
    deep, wide, high = BLOCK_KINDS[kind].size
    for turn, half in ((0.0, deep), (0.5, wide), (1.0, deep), (1.5, wide)):
        yaw = math.radians(30.0) + turn * math.pi
        reach = 0.5 * half + 2.0
        eye = (9.0 * index + reach * math.cos(yaw), -12.0 + reach * math.sin(yaw))
        distance, front = furnished.look(*eye, 0.3 * high, yaw + math.pi)
        assert front
        assert distance == pytest.approx(2.0, abs=0.02)
        edge = (9.0 * index + 0.5 * half * math.cos(yaw), -12.0 + 0.5 * half * math.sin(yaw))
        assert furnished.covers(np.array([edge])).all()
    distance, front = furnished.look(9.0 * index + 0.05, -12.0, 10.0, 0.0, -0.5 * math.pi)
    assert front
    assert 10.0 - distance >= 0.75 * high


def test_a_row_of_blocks_stands_end_to_end_beside_the_road(tmp_path):
    text = '[[blocks]]\nkind = "house"\nside = "right"\ngap = 0.5\nvary = 0.2\nspans = [[0.0, 6.0]]\n'
    place = Place(write_track(tmp_path, text))
    rows = place.scene.colliders
    assert len(rows.kind) in (4, 5, 6)
    assert rows.centre[:, 1] == pytest.approx(np.full(len(rows.kind), -0.9 - 0.5))
    ends = np.column_stack((rows.centre[:, 0] - rows.half_size[:, 1], rows.centre[:, 0] + rows.half_size[:, 1]))
    assert ends[1:, 0] == pytest.approx(ends[:-1, 1], abs=0.05)
    assert len(set(np.round(rows.half_size[:, 1], 6))) > 1


BREAKAGES = [
    ('[[walls]]\nkind = "wal"\nside = "left"', r"unknown walls\[0\]\.kind 'wal'; did you mean 'wall'"),
    ('[[walls]]\nkind = "wall"', r"exactly one of side, offset other than 0, and points"),
    ('[[walls]]\nkind = "wall"\nside = "left"\noffset = 2.0', r"exactly one of side"),
    ('[[walls]]\nkind = "wall"\nside = "left"\ngap = -0.1', r"gap, height, thickness and seed of a wall are 0 or more"),
    ('[[walls]]\nkind = "wall"\npoints = [[0.0, 1.0]]', r"two points or more"),
    ('[[walls]]\nkind = "wall"\nside = "left"\nspans = [[1.0, 1.0]]', r"a span of a wall runs from one place"),
    ('[[walls]]\nkind = "wall"\noffset = 0.2', r"\[\[walls\]\] 1 \(wall\) at .* stands on the road"),
    (
        '[[walls]]\nkind = "hay"\npoints = [[2.0, -2.0], [2.0, 2.0]]',
        r"line \d+: \[\[walls\]\] 1 \(hay\) at .* stands on the road",
    ),
    ('[[blocks]]\nkind = "crate"\nplaces = [[2.0, 0.5]]', r"\[\[blocks\]\] 1 \(crate\) at .* stands on the road"),
    ('[[blocks]]\nkind = "crate"', r"blocks need either places or side"),
    ('[[blocks]]\nkind = "crate"\nplaces = [[2.0]]', r"a place of a block is \[x, y\] or"),
    ("[[tunnels]]\nspans = []", r"a tunnel needs spans"),
    ("[[tunnels]]\nspans = [[1.0, 2.0]]\nheight = 0.1", r"height of 0.4 to 20"),
    ("[[arches]]\nat = [1.0]\nkind = 'hop'", r"unknown arches\[0\]\.kind 'hop'; did you mean 'hoop'"),
    ("[room]\nmargin = 0.0", r"\[room\] at .* stands on the road"),
    ("[room]\nbox = [0.0, 0.0, -1.0, 5.0]", r"box is least x, least y, greatest x, greatest y"),
    ("[room]\ndoors = [{ wall = 'nord' }]", r"unknown room\.doors\[0\]\.wall 'nord'; did you mean 'north'"),
    (
        '[[props]]\nkind = "rack"\nplaces = [[2.0, -1.2, 0.0]]',
        r"line \d+: \[\[props\]\] 1 \(rack\) at .* stands on the road",
    ),
    ('[[props]]\nkind = "person"\nplaces = [[2.0, -1.2, 90.0, 4.0]]', r"a place of a prop is \[x, y\] or"),
    ('[[props]]\nkind = "person"\nplaces = [[2.0, -1.2]]\nscale = 0.0', r"scale is 0; it takes 0.01 to 100"),
]


@pytest.mark.parametrize(("text", "message"), BREAKAGES)
def test_a_broken_table_gets_one_sentence(tmp_path, text, message):
    path = write_track(tmp_path, text + "\n")
    with pytest.raises(SceneError, match=message) as error:
        load_scene(SceneSpec(path))
    assert "place.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_things_are_scattered_under_a_ceiling_and_not_into_what_hangs_low(tmp_path):
    text = '[[blocks]]\nkind = "invisible"\nplaces = [[4.0, 0.0]]\nsize = [60.0, 60.0, 0.1]\nbase = {}\n\n'
    text += '[[props]]\nkind = "chair"\nscatter = 4\n'
    scene = load_scene(SceneSpec(write_track(tmp_path, text.format(3.3))))
    assert [scene.hit_names[index] for index in scene.colliders.name].count("chair") == 4
    with pytest.raises(SceneError, match="room for 0 of 4"):
        load_scene(SceneSpec(write_track(tmp_path, text.format(0.8))))
