"""Track files: what a broken one says, and where scenes are found."""

import subprocess
import sys
from typing import get_args

import pytest

from donkeysim.core.errors import SceneError
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks import list_scenes, load_scene, specify_scene
from donkeysim.world.tracks.builder import build_scene
from donkeysim.world.tracks.catalogue import find_tracks
from donkeysim.world.tracks.props import PROP_KINDS
from donkeysim.world.tracks.tables.props import PropName
from donkeysim.world.tracks.track_file import list_looks, locate_errors, read_track

GOOD = """format = 1
name = "oval"

[path]
node_count = 40
segments = [
    { straight = 2.0 },
    { turn = 180.0, radius = 1.0 },
    { straight = 2.0 },
    { turn = 180.0, radius = 1.0 },
]

[road]
width_left = 0.4
width_right = 0.4

[ground]
texture = "plain"

[start]
lines = [0.3]
slots = 8
"""


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="oval.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def break_file(write, old, new):
    assert old in GOOD
    return write(GOOD.replace(old, new, 1))


def test_a_track_of_ones_own_loads_from_its_file(write):
    scene = load_scene(SceneSpec(str(write(GOOD))))
    assert scene.name == "oval"
    assert len(scene.path.position) == 40


def test_a_folder_of_tracks_is_listed_and_loads_by_name(write, tmp_path):
    write(GOOD)
    assert "oval" in list_scenes([str(tmp_path)])
    assert load_scene(SceneSpec("oval", (str(tmp_path),))).name == "oval"


def test_menu_shows_generated_track_but_not_flat():
    assert "generated_track" in list_scenes()
    assert "flat" not in list_scenes()
    assert load_scene(SceneSpec("flat")).name == "flat"


def test_unknown_scene_names_the_nearest_and_all_valid():
    with pytest.raises(SceneError, match=r"unknown scene 'generated_trak'; did you mean 'generated_track'\?.*flat"):
        load_scene(SceneSpec("generated_trak"))


@pytest.mark.parametrize("name", ["../generated_track", "/etc/passwd", "", "generated_track.tom", "tracks/flat"])
def test_a_name_is_not_a_path(name):
    with pytest.raises(SceneError, match="unknown scene"):
        load_scene(SceneSpec(name))


def test_missing_file_and_missing_folder_are_named(tmp_path):
    with pytest.raises(SceneError, match=r"no track file .*gone\.toml"):
        load_scene(SceneSpec(str(tmp_path / "gone.toml")))
    with pytest.raises(SceneError, match=r"no folder .*gone"):
        list_scenes([str(tmp_path / "gone")])


SLOTS, WIDTH = "slots = 8", "width_right = 0.4"
PROPS, MARKING = f"{SLOTS}\n\n[[props]]\nkind = ", f"{WIDTH}\nmarkings = "
TWO_PROPS = f'{PROPS}"cone"\nevery = 1.0\n\n[[props]]\nkind = '

BREAKAGES = [
    ("format = 1", "format = 2", r"oval\.toml, line 1: format says 2; .*format = 1"),
    ("format = 1\n", "", r"oval\.toml: format says nothing; .*format = 1"),
    ('name = "oval"', "name = 7", r"oval\.toml, line 2: name is 7, but must be a text"),
    ('name = "oval"\n', "", r"the key 'name' is missing"),
    ('name = "oval"', 'name = "owal"', r"line 2: name is 'owal', but clients find the track as 'oval'"),
    ("node_count = 40", 'node_count = "many"', r"line 5: path\.node_count is 'many', but must be a whole number"),
    ("node_count = 40", "node_count = 1", r"\[path\] node_count is 1; it takes 2 to 100000"),
    ("node_count", "node_cout", r"line 5: unknown key in \[path\] 'node_cout'; did you mean 'node_count'\?"),
    ("straight = 2.0", "straigt = 2.0", r"line 7: unknown key in \[path\.segments\[0\]\] 'straigt'.*'straight'"),
    ("straight = 2.0", "straight = -2.0", r"\[path\.segments\[0\]\] a segment is"),
    ("radius = 1.0", "radius = 0.0", r"a segment is .*turn = DEGREES, radius = RADIUS"),
    ("turn = 180.0", "turn = 90.0", r"segments of \[path\] end \d\.\d+ m from the start .* closed = false"),
    ("[road]", "[raod]", r"line 13: unknown key 'raod'; did you mean 'road'\?"),
    ("width_left = 0.4", "width_left = 0.0", r"\[road\] width_left and width_right are above 0"),
    ("width_left = 0.4", "width_left = nan", r"width_left"),
    ("width_left = 0.4\n", "", r"\[road\] width_left and width_right are above 0"),
    (WIDTH, f"{WIDTH}\nfriction = -1.0", r"\[road\] friction is -1; it takes 0 to 4"),
    (WIDTH, MARKING + "[{ offset = 0.0, width = 0.0, colour = [1, 2, 3] }]", r"a marking is wider"),
    (WIDTH, MARKING + "[{ offset = 0.0, width = 0.1, colour = [1, 2] }]", r"a list of 3"),
    ('"plain"', '"gras"', r"line 18: unknown ground\.texture 'gras'; did you mean 'grass'\?"),
    ('"plain"', '"grass"\nblend = 0.0', r"\[ground\] margin = 2 and blend = 0; .* blend above 0"),
    ('"plain"', '"plain"\nelevation = [{ at = 0.0, height = 0.1 }]', r"'plain' is a level, bare floor; give another"),
    (SLOTS, PROPS + '"cone"\nscatter = 2\nseed = -1', r"seed is -1; it is 0 or more"),
    (SLOTS, f"{SLOTS}\n[light]\nfog = [1, 2, 300]", r"\[light\] a colour is \[1, 2, 300\]; .* 0 to 255"),
    ("slots = 8", "slots = -1", r"line 20: \[start\] a grid has columns"),
    ("lines = [0.3]", f"lines = {[0.1] * 33}", r"line 21: \[start\] lines has 33 places; up to 32"),
    ("[path]", "[path]\nstart = [-9990.0, 0.0]", r"line 5: the path passes \(-999.*up to 9900 m"),
    ('texture = "plain"', "height = 2e4", r"line 18: the path passes .* ground up to 20000 m"),
    ("slots = 8", "slots = 8\nride_height = -1.0", r"line 23: \[start\] ride_height is -1; .* 0 m or more"),
    ("slots = 8", "slots = 8\n\n[light]\nsun_height = -3", r"\[light\] sun_height is -3"),
    (SLOTS, PROPS + '"cone"', r"exactly one of places, every above 0, and scatter"),
    (SLOTS, PROPS + '"kone"\nevery = 1.0', r"unknown props\[0\]\.kind 'kone'; did you mean 'cone'\?"),
    (SLOTS, PROPS + '"cone"\nplaces = [[1.0, 0.0]]', r"line 24: \[\[props\]\] 1 \(cone\) at .* stands on the road"),
    (SLOTS, PROPS + '"tree"\nscatter = 900\nfar = 1.0', r"line 24: there is room for \d+ of 900 of 'tree'"),
    (SLOTS, PROPS + '"cone"\nevery = 1e-9', r"line 26: \[props\[0\]\] every is 1e-09; .* 0\.02 m or more apart"),
    (SLOTS, PROPS + '"cone"\nevery = 1.0\nspans = [[0, 1], [2, 99]]', r"line 27: props\[0\]\.spans\[1\] is \[2\.0, 99"),
    (SLOTS, TWO_PROPS + '"kone"\nevery = 1.0', r"line 29: .*props\[1\]\.kind 'kone'"),
    (SLOTS, TWO_PROPS + '"tree"', r"line 28: \[props\[1\]\] a prop needs"),
    ("{ turn = 180.0, radius = 1.0 },\n]", "{ turn = 180.0, radius = nan },\n]", r"line 10: .*radius is nan"),
    ("[road]", "[road", r"oval\.toml is not a valid TOML file: .*line 13"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "text"), BREAKAGES, ids=[text[:40] for _, _, text in BREAKAGES])
def test_a_broken_file_gets_one_sentence_with_file_line_and_field(write, old, new, text):
    path = break_file(write, old, new)
    with pytest.raises(SceneError, match=text) as caught:
        load_scene(SceneSpec(str(path)))
    assert "oval.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cars_drive_as_far_from_the_origin_as_a_path_may_lie(write):
    path = break_file(write, "[path]", "[path]\nstart = [9890.0, 0.0]")
    simulator = Simulator(WorldSpec(SceneSpec(str(path))))
    simulator.drive_car(simulator.add_car(), throttle=0.3)
    for _ in range(20):
        simulator.step()
    assert simulator.ledger.position[0, 0] > 9890.2
    assert simulator.ledger.position[0, 2] == pytest.approx(0.0736, abs=0.01)


def test_a_grid_longer_than_the_loop_is_refused(write):
    with pytest.raises(SceneError, match=r"\[start\].*slots.*room for \d+"):
        load_scene(SceneSpec(str(break_file(write, "slots = 8", "slots = 64"))))


def test_a_start_column_beside_the_road_is_refused(write):
    with pytest.raises(SceneError, match=r"\[start\].*columns.*0\.9.*beside the road"):
        load_scene(SceneSpec(str(break_file(write, "slots = 8", "slots = 4\ncolumns = [0.0, 0.9]"))))


def test_a_menu_is_listed_without_loading_arrays_or_kernels():
    code = (
        "import sys; from donkeysim.world.tracks import list_scenes; print(*list_scenes()); "
        "sys.exit(sum(name in sys.modules for name in ('numpy', 'numba', 'scipy', 'PIL')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "generated_track" in done.stdout


def test_every_kind_of_prop_can_be_named_in_a_file():
    assert set(get_args(PropName)) == set(PROP_KINDS)


def test_every_shipped_file_reads():
    for name in ("generated_track", "flat"):
        assert read_track(find_tracks()[name]).name == name


LOOK = """
[looks.snow.ground]
texture = "concrete"

[looks.snow.road]
friction = 0.4
"""


def test_a_look_is_laid_over_the_file_table_by_table(write):
    path = write(GOOD + LOOK)
    plain, snow = read_track(path), read_track(path, "snow")
    assert (plain.ground.texture, plain.road.friction) == ("plain", 1.0)
    assert (snow.ground.texture, snow.road.friction) == ("concrete", 0.4)
    assert snow.road.width_left == plain.road.width_left
    assert list_looks(path) == ("snow",)


@pytest.mark.parametrize(
    ("text", "look", "sentence"),
    [
        (GOOD, "snow", "oval.toml: it has no looks, so no 'snow'"),
        (GOOD + LOOK, "snwo", "unknown look 'snwo'; did you mean 'snow'?"),
        (GOOD + "[looks.snow.path]\nyaw = 3\n", "", "line 23: a look changes what is seen of a track, not its path"),
        (GOOD + "[looks.snow.road]\nfricton = 0.4\n", "snow", "look 'snow': unknown key in [road] 'fricton'"),
        (GOOD + "[looks]\nsnow = 3\n", "", "line 23: looks are tables with names"),
    ],
)
def test_a_broken_look_gets_one_sentence(write, text, look, sentence):
    with pytest.raises(SceneError) as error:
        read_track(write(text), look)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_every_look_of_a_shipped_file_reads():
    looks = [(path, look) for path in find_tracks().values() for look in list_looks(path)]
    assert {path.stem for path, _ in looks} >= {"generated_track", "generated_road"}
    for path, look in looks:
        assert read_track(path, look).name == path.stem


def test_a_look_counts_where_it_is_offered():
    assert specify_scene(SceneSpec("generated_track", look="meadow")).look == "meadow"
    assert specify_scene(SceneSpec("warehouse", look="meadow")).look == ""
    with pytest.raises(SceneError, match="no looks"):
        load_scene(SceneSpec("flat", look="meadow"))


def test_the_colour_of_a_road_is_that_of_asphalt(write):
    text = GOOD.replace("width_right = 0.4\n", 'width_right = 0.4\ntexture = "wood"\ncolour = [1, 2, 3]\n')
    with pytest.raises(SceneError, match="colour and tones are of asphalt"):
        read_track(write(text))


def test_whoever_knows_the_file_adds_it_and_the_line_once(write):
    path = break_file(write, "width_left = 0.4", "width_left = 1.2")
    track = read_track(path)
    with pytest.raises(SceneError, match=r"^\[road\] is 1\.2 m wide on the left") as bare:
        build_scene(track)
    assert bare.value.key == "road"
    with pytest.raises(SceneError) as located, locate_errors(path), locate_errors(path):
        build_scene(track)
    assert str(located.value) == f"{path}, line 13: {bare.value}"
    assert located.value.key is None
