"""Places of older files by the names that they have now."""

import pytest

from donkeysim.world.specs import RoadSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks.catalogue import ORIGINAL_SCENES, group_scenes, list_scenes
from donkeysim.world.tracks.former_places import FORMER_PLACES, rename_place, rename_scene, rename_tracks, rename_world


def test_each_former_name_is_one_of_the_originals_and_each_new_one_is_ours():
    assert set(FORMER_PLACES) < set(ORIGINAL_SCENES)
    renamed = [changes["name"] for changes in FORMER_PLACES.values() if "name" in changes]
    assert set(renamed) < set(group_scenes(list_scenes())["ours"])
    assert len(set(renamed)) == len(renamed)


def test_a_scene_is_renamed_and_all_else_of_it_stays():
    assert rename_scene(SceneSpec("warren", look="x")) == SceneSpec("carpet_hall", look="x")
    road = SceneSpec("generated_road", road=RoadSpec(1, 2, 3.0))
    spec = WorldSpec(SceneSpec("warehouse"), more_scenes=(road, SceneSpec("thunderhill"), SceneSpec("my.toml")))
    renamed = rename_world(spec)
    assert [scene.name for scene in renamed.scenes] == ["pallet_hall", "generated_road_2020", "hill_circuit", "my.toml"]
    assert renamed.more_scenes[0].road == road.road


def test_a_look_changes_only_where_none_was_asked_for():
    table = {"generated_road": {"look": "older"}}
    assert rename_scene(SceneSpec("generated_road"), table).look == "older"
    assert rename_scene(SceneSpec("generated_road", look="meadow"), table).look == "meadow"
    assert rename_place("generated_road") == "generated_road"


def test_all_tracks_of_an_older_file_are_as_many_as_the_originals():
    assert rename_tracks(["warren", "oval"]) == ("carpet_hall", "oval")
    assert set(rename_tracks(["all"])) == set(map(rename_place, ORIGINAL_SCENES))


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_track_of_ones_own_keeps_its_name(tmp_path, monkeypatch, is_shared):
    (tmp_path / "warren.toml").write_text("", encoding="utf-8")
    folders = () if is_shared else (str(tmp_path),)
    if is_shared:
        monkeypatch.setenv("DONKEYSIM_TRACKS", str(tmp_path))
    assert rename_scene(SceneSpec("warren", folders)).name == "warren"
    assert rename_scene(SceneSpec("warehouse", folders)).name == "pallet_hall"
    assert rename_scene(SceneSpec("warehouse", (str(tmp_path / "gone"),))).name == "pallet_hall"
