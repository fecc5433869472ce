"""Logs and snapshots of the time when our own places had the original's names: they mean those places still.

`former_files` holds a log of format 4 and a snapshot of format 2. Their car is in them, so that they do not change with
the presets; only where they were written, the same bits are promised.
"""

from pathlib import Path

import numpy as np
import pytest

from donkeysim.record import action_log
from donkeysim.record.action_log import LogReader, LogWriter
from donkeysim.record.recorder import open_simulator
from donkeysim.record.replay import Replay
from donkeysim.record.snapshot_file import load_snapshot
from donkeysim.sim.commands import ChangeScene
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.state import ACTIVE_FIELDS
from donkeysim.world.tracks.former_places import FORMER_PLACES

FORMER = Path(__file__).parents[1] / "former_files"
LAST_POSITION = (0.85212418, 0.01744551, 0.07359471)
"""Of the car at the end of the log [m]."""
ELSEWHERE = ("Python", "NumPy", "Numba", "system", "processor", "kernels")
"""Where one of these is another one than it was, bits may differ."""


def play(path):
    replay = Replay(path)
    for _ in replay.play(to_the_end=True):
        pass
    return replay


def test_a_log_replays_in_the_places_that_it_knew():
    reader = LogReader(FORMER / "drive.dlog")
    moves = [event.scene.name for event in reader.read_events() if isinstance(event, ChangeScene)]
    assert reader.head.spec.scene.name == "hill_circuit"
    assert moves == ["harbour_town", "canyon_road", "generated_road_2020", "pallet_hall"]
    replay = play(FORMER / "drive.dlog")
    assert (replay.broken, replay.simulator.scene.name) == ("", "pallet_hall")
    assert replay.simulator.ledger.position[0] == pytest.approx(LAST_POSITION, abs=0.02)
    if not any(part.startswith(ELSEWHERE) for part in replay.differences):
        assert not any(part.startswith("track") for part in replay.differences)
        assert replay.deviation is None


def test_a_snapshot_is_driven_on_from_in_the_places_that_it_knew():
    stored = load_snapshot(FORMER / "moment.npz")
    assert [scene.name for scene in stored.spec.scenes] == ["hill_circuit", "generated_track_2020"]
    assert "track hill_circuit" in stored.origin
    simulator = Simulator(stored.spec)
    simulator.restore(stored.snapshot)
    assert np.array_equal(simulator.state.position, stored.snapshot.state.position)
    simulator.step(24)
    assert simulator.ledger.on_road[simulator.list_cars()].all()


def write_as_of_format_4(source, target, checksums):
    """Write a log again as it would have been written when our places had the original's names.

    Args:
        source: Log of today.
        target: Written.
        checksums: Of the state after each step, as they were then.
    """
    then = {changes["name"]: name for name, changes in FORMER_PLACES.items() if "name" in changes}
    reader = LogReader(source)
    head = action_log.Head(WorldSpec(SceneSpec(then[reader.head.spec.scene.name])), reader.head.origin)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(action_log, "FORMAT", 4)
        writer = LogWriter(target, head)
    for event in reader.read_events():
        if isinstance(event, ChangeScene):
            event.scene = SceneSpec(then[event.scene.name])
        if isinstance(event, action_log.Stepped):
            event.checksum = checksums.pop(0)
        if not isinstance(event, action_log.Closed):
            writer.append(event)
    writer.close()


def test_a_log_with_the_names_of_then_replays_bit_for_bit(tmp_path):
    driven = open_simulator(WorldSpec(SceneSpec("maker_hall")), log=tmp_path / "now.dlog")
    driven.add_car()
    checksums = []
    for place in ("city_lot", "kart_track", ""):
        driven.drive_car(0, 0.2, 0.4, 0.0)
        driven.step(48)
        checksums.append(driven.sum_up(ACTIVE_FIELDS))
        if place:
            driven.change_scene(SceneSpec(place))
    driven.close()
    write_as_of_format_4(tmp_path / "now.dlog", tmp_path / "then.dlog", checksums)
    replay = play(tmp_path / "then.dlog")
    assert (replay.deviation, replay.broken, replay.simulator.scene.name) == (None, "", "kart_track")
    assert hash_state(replay.simulator.state) == hash_state(driven.state)
