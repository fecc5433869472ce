"""A track file is followed through every way of saving it, and the last good place is kept."""

import os
import threading

import pytest

from donkeysim.core.image import decode_picture
from donkeysim.watch.track_watch import TrackWatch
from world.gltf_models import make_block, write_model

TRACK = """format = 1
name = "yard"
path.points = [[0, 0], [4, 0], [4, 3], [0, 3]]
[road]
width_left = 0.3
width_right = 0.3
[ground]
texture = "plain"
"""
FROM_FILE = TRACK.replace("path.points = [[0, 0], [4, 0], [4, 3], [0, 3]]", 'path.file = "yard.csv"')


class Follower:
    """Waits for states of a watch."""

    def __init__(self, path):
        self.path, self.watch, self._news = path, TrackWatch(path), threading.Event()
        self.watch.bell.listeners.add(self._news.set)
        self.watch.start()

    def wait(self, wanted, seconds=240.0):
        """Return the first state from now on that is wanted."""
        while True:
            self._news.clear()
            if wanted(self.watch.state):
                return self.watch.state
            assert self._news.wait(seconds), f"still {self.watch.state}"

    def write(self, text):
        self.path.write_text(text, encoding="utf-8")


def is_good(state):
    return state.picture > 0 and not state.error and not state.is_building


@pytest.fixture
def follow(tmp_path):
    made = []

    def start(text=TRACK):
        path = tmp_path / "yard.toml"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        made.append(Follower(path))
        return made[-1]

    yield start
    for follower in made:
        follower.watch.stop()


def test_a_saved_change_gives_a_new_place_and_new_figures(follow):
    follower = follow()
    before = follower.wait(is_good)
    assert before.line.length == pytest.approx(14.0, abs=1.5)
    assert decode_picture(follower.watch.draw_map(200)).shape[1] == 200
    follower.write(TRACK.replace("[4, 3]", "[6, 5]"))
    after = follower.wait(lambda state: is_good(state) and state.picture > before.picture)
    assert after.line.length > before.line.length + 2.0
    assert after.box[2] > before.box[2] + 1.0


def test_a_mistake_keeps_the_last_good_place_until_it_is_mended(follow):
    follower = follow()
    good = follower.wait(is_good)
    for broken, sentence in [
        (TRACK.replace("width_left", "width_lef"), "line 5: unknown key in [road] 'width_lef'"),
        (TRACK[:40], "is not a valid TOML file"),
        ("", "format says nothing"),
        (TRACK.replace("0.3", "3.3"), "the path turns"),
    ]:
        follower.write(broken)
        bad = follower.wait(lambda state, sentence=sentence: sentence in state.error)
        assert bad.picture == good.picture
        assert bad.outline is good.outline
        assert follower.watch.draw_drivers_view(0.5, 64, 48)
    follower.write(TRACK)
    assert follower.wait(is_good).picture == good.picture + 1


def test_a_file_may_go_and_come_back_or_be_swapped(follow, tmp_path):
    follower = follow()
    good = follower.wait(is_good)
    follower.path.unlink()
    gone = follower.wait(lambda state: bool(state.error))
    assert "cannot read" in gone.error
    follower.write(TRACK)
    back = follower.wait(lambda state: is_good(state) and state.picture > good.picture)
    (tmp_path / "yard.toml~").write_text(TRACK.replace("[4, 3]", "[5, 4]"), encoding="utf-8")
    os.replace(tmp_path / "yard.toml~", follower.path)
    assert follower.wait(lambda state: is_good(state) and state.picture > back.picture)


def test_a_file_that_is_not_there_yet_is_waited_for(follow):
    follower = follow(None)
    assert follower.watch.draw_map(200) is None
    follower.wait(lambda state: "cannot read" in state.error)
    assert follower.watch.draw_drivers_view(0.0, 64, 48) is None
    follower.write(TRACK)
    assert follower.wait(is_good).picture == 1


def test_the_file_of_the_path_is_followed_too(follow, tmp_path):
    follower = follow(FROM_FILE)
    follower.wait(lambda state: "no file 'yard.csv'" in state.error)
    (tmp_path / "yard.csv").write_text("0,0\n4,0\n4,3\n0,3\n", encoding="utf-8")
    first = follower.wait(is_good)
    (tmp_path / "yard.csv").write_text("0,0\n4,0\n4,x\n", encoding="utf-8")
    assert "yard.csv, line 3" in follower.wait(lambda state: bool(state.error)).error
    (tmp_path / "yard.csv").write_text("0,0\n6,0\n6,3\n0,3\n", encoding="utf-8")
    assert follower.wait(is_good).line.length > first.line.length + 2.0


def test_the_models_of_props_are_followed_too(follow, tmp_path):
    follower = follow(TRACK + '[[props]]\nmodel = "box.glb"\nplaces = [[-1, -1]]\n')
    follower.wait(lambda state: "no file 'box.glb'" in state.error)
    write_model(tmp_path / "box.glb", meshes=[("box", make_block((0.2, 0.2, 0.2), (0.0, 0.0, 0.0)))])
    first = follower.wait(is_good)
    write_model(tmp_path / "box.glb", meshes=[("box", make_block((0.2, 900.0, 0.2), (0.0, 0.0, 0.0)))])
    assert "box.glb is 900 m long" in follower.wait(lambda state: bool(state.error)).error
    write_model(tmp_path / "box.glb", meshes=[("box", make_block((0.3, 0.3, 0.3), (0.0, 0.0, 0.0)))])
    assert follower.wait(is_good).picture == first.picture + 1
