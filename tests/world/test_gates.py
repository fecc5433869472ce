"""Start lines by their ends: where they are, what is measured from them, and what is refused."""

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.racing.rules.course import survey_course
from donkeysim.world.scene import CLASS_LINE
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from gates import GATE, write_track


def load(folder, start=GATE):
    return load_scene(SceneSpec(write_track(folder, start)))


def test_a_gate_is_the_very_start_line(tmp_path):
    scene = load(tmp_path)
    assert scene.start.line == pytest.approx(np.array([[[0.5, 0.7], [0.52, -0.8]]]))
    assert not scene.start.is_silent
    assert scene.path.shortest[0, 0] == pytest.approx(0.51, abs=0.01)
    assert survey_course(scene).gates[0] == pytest.approx(0.51, abs=0.01)


def test_nothing_is_painted_for_a_gate(tmp_path):
    painted, bare = load(tmp_path, "lines = [0.5]"), load(tmp_path)
    lines = [sum(int((part == CLASS_LINE).sum()) for part in scene.class_maps) for scene in (painted, bare)]
    assert lines[0] > 100 + lines[1]


def test_gates_may_carry_a_gantry_and_be_silent(tmp_path):
    scene = load(tmp_path, f'{GATE}\nsilent = true\ngantry = "START"')
    assert scene.start.is_silent
    assert "gantry" in scene.hit_names


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (f"{GATE}\nlines = [0.5]", r"lines and gates both"),
        ("gates = [[0.5, 0.7, 0.5]]", r"a gate is \[left x, left y, right x, right y\]"),
        ("gates = [[0.5, -0.8, 0.5, 0.7]]", r"line 16: .*the left end on its left\."),
        ("gates = [[0.5, 0.7, 0.5, 0.3]]", r"line 16: .*the path runs between them"),
    ],
)
def test_gates_that_nobody_can_cross_are_refused(tmp_path, start, sentence):
    with pytest.raises(SceneError, match=sentence):
        load(tmp_path, start)
