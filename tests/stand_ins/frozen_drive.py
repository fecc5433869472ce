"""Drives what a page drives, in this process: `python frozen_drive.py TRACK CONTROLS OUT` (JSON in, .npz out)."""

import json
import sys
from pathlib import Path

import numpy as np

from donkeysim.render.moment import Moment
from donkeysim.render.scratch import ScratchRoom
from donkeysim.render.tables import PoseTables
from donkeysim.site.freeze import freeze_simulator, pack_scene
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import share_scene

STEPS = 127
EVERY = 20
"""Frames between two pictures."""

AXES = (0, -1, 0, -0.28, 0, -0.96, 0.96, 0, -0.28)
"""Of the eye behind the car at the end: right, down and forward."""


def drive(name, controls):
    """Return poses, what the pilot's camera saw now and then, and what people see at the end."""
    spec = SceneSpec(name)
    frozen = freeze_simulator(spec, pack_scene(share_scene(spec)).scene)
    simulator, group = frozen.simulator, frozen.groups["pilot"]
    poses, pictures = [], []
    for frame, (angle, throttle) in enumerate(controls):
        simulator.drive_car(0, -angle / STEPS, throttle / STEPS, 0.0)
        simulator.step()
        poses.append([*simulator.ledger.position[0], *simulator.ledger.orientation[0]])
        if frame % EVERY == 0:
            pictures.append(simulator.renderer.render_group(group, simulator.state).colour[0].copy())
    return {"poses": np.array(poses), "pictures": np.array(pictures), "view": look_from_behind(frozen)}


def look_from_behind(frozen):
    state, view = frozen.simulator.state, frozen.groups["view"]
    x, y, z = state.position[0]
    view.cameras.eye[0], view.cameras.axes[0] = (x - 0.7, y, z + 0.3), AXES
    poses = PoseTables._make(getattr(state, name) for name in PoseTables._fields)
    moment = Moment(frozen.simulator.renderer.tables, poses)
    return frozen.simulator.renderer._draw_moment(view, moment, ScratchRoom())


if __name__ == "__main__":
    track, given, out = sys.argv[1:]
    np.savez(out, **drive(track, json.loads(Path(given).read_text())))
