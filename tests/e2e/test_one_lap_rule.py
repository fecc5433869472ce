"""One rule of laps: the same drive has the same laps and lap times, whoever counts them.

Cars reverse, cut across, drive the wrong way and miss checkpoints on a small track with two start lines. What drives
them is recorded once and done again in a server, in every kind of environment, in a race and in an evaluation.
"""

import functools
import math

import numpy as np
import pytest

from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.conf import read_conf
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.donkey_vector_env import DonkeyVectorEnv
from donkeysim.envs.sensor_frame import LapClock
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.learn import evaluate
from donkeysim.racing.env import parallel_env
from donkeysim.sim import place
from donkeysim.world.experiment import Experiment
from donkeysim.world.ledger import EVENT_CROSSING, EVENT_LAP, EVENT_MISSED_CHECKPOINT
from donkeysim.world.specs import SceneSpec
from serve.test_simulation import SimulationRig

TRACK = """format = 1
name = "ring"
path.points = [[0, 0], [1.3, 0], [1.3, 1.3], [0, 1.3]]
path.node_count = 60
road.width_left = 0.4
road.width_right = 0.4
ground.texture = "plain"
start.lines = [0.4, 2.7]
start.checkpoints = [1.1, 2.0, 3.9]
"""

OPEN = """format = 1
name = "alley"
path.points = [[0, 0], [1, 0], [2.5, 0.4]]
path.closed = false
road.width_left = 0.6
road.width_right = 0.6
ground.texture = "plain"
start.lines = [0.4]
"""

DRIVES, FRAMES = 24, 320
CONF = {"cam_resolution": (16, 16, 3), "throttle_min": -1.0, "max_cte": 1e6}
WILD = ("follow", "follow", "follow", "beside", "beside", "cut", "reverse", "circle", "against")
TAME = ("follow",) * 12 + WILD
SLOPPY = ("follow", "beside", "beside")


@pytest.fixture(scope="module", autouse=True)
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "share_scene", functools.cache(place.share_scene))
        yield


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    path = tmp_path_factory.mktemp("tracks") / "ring.toml"
    path.write_text(TRACK)
    return str(path)


@pytest.fixture(scope="module")
def starts():
    """Where each drive begins: (along, offset, yaw), most shortly before one of the lines, some the wrong way round."""
    rng = np.random.default_rng(12)
    begin = []
    for drive in range(DRIVES):
        along = (0.2, 2.5, 5.0 * rng.random())[drive % 3]
        yaw = math.pi if drive % 5 == 4 else rng.uniform(-0.3, 0.3)
        begin.append((along, rng.uniform(-0.2, 0.2), yaw))
    return begin


def begin_batch(batch, starts):
    batch.reset(seed=0)
    for car, (along, offset, yaw) in enumerate(starts):
        mask = np.arange(DRIVES) == car
        batch.reset(options={"reset_mask": mask, "s": along, "offset": offset, "yaw": yaw})


class Whim:
    """Drives now along the path, now anywhere else."""

    def __init__(self, simulator, follower, seed):
        self._rng, self._simulator, self._follower = np.random.default_rng(seed), simulator, follower
        self._frame, self._left, self._mode, self._side = simulator.scene.path.frame, 0, "", 0.0
        self._modes = (TAME, WILD, TAME, SLOPPY)[seed % 4]

    def choose(self, car):
        """Return steering (+ = right) and throttle, in steps that no rounding touches."""
        if self._left == 0:
            self._mode, self._left = str(self._rng.choice(self._modes)), int(self._rng.integers(8, 50))
            self._side = self._rng.uniform(-1.0, 1.0)
        self._left -= 1
        steer, throttle = getattr(self, "_" + self._mode)(car)
        return np.round(np.clip([-steer, throttle], -1.0, 1.0) * 64.0) / 64.0

    def _follow(self, car):
        steer, throttle, brake = self._follower.drive(self._simulator.ledger, car)
        return steer, throttle - brake

    def _aim(self, car, ahead, offset=0.0):
        ledger = self._simulator.ledger
        target, _ = self._frame.place(ledger.along[car] + ahead, offset)
        away = target[:2] - ledger.position[car, :2]
        return 2.0 * math.remainder(math.atan2(away[1], away[0]) - ledger.yaw[car], math.tau)

    def _cut(self, car):
        return self._aim(car, 2.2), 0.4

    def _against(self, car):
        return self._aim(car, -0.8), 0.4

    def _beside(self, car):
        along = self._simulator.ledger.along[car]
        if not 0.5 < along < self._frame.length - 1.2:
            return self._follow(car)  # across the start line, as if nothing had been
        return self._aim(car, 0.5, math.copysign(0.9, self._side - 0.5)), 0.3

    def _reverse(self, car):
        return 0.5 * self._side, -0.4

    def _circle(self, car):
        return self._side, 0.4


@pytest.fixture(scope="module")
def driven(track, starts):
    """All drives in one batch: what was asked for, shape [frames, drives, 2], lap times and events of each."""
    batch = TrackVectorEnv(
        DRIVES, track, observe="vector", ends=(), time_limit=None, throttle_range=(-1.0, 1.0), threads=1
    )
    begin_batch(batch, starts)
    simulator = batch.fleet.simulator
    follower = PathFollower(simulator.scene, simulator.car_spec, "fast")
    whims = [Whim(simulator, follower, seed) for seed in range(DRIVES)]
    actions, events = np.zeros((FRAMES, DRIVES, 2)), [[] for _ in range(DRIVES)]
    laps = Laps(DRIVES)
    for frame in range(FRAMES):
        actions[frame] = [whim.choose(car) for car, whim in enumerate(whims)]
        info = batch.step(actions[frame])[4]
        laps.note(info["laps"], info["lap_time"])
        for event in simulator.list_events():
            events[event.car].append(event)
    batch.close()
    return actions, laps.times, events


class Laps:
    """Lap times of cars of whom the number of laps and the last time are told."""

    def __init__(self, count):
        self.times = [[] for _ in range(count)]

    def note(self, counts, last):
        for times, count, time in zip(self.times, counts, last, strict=True):
            if count != len(times):
                times.append(float(time))
            assert count == len(times)


def assert_same_laps(own, driven):
    assert [len(times) for times in own] == [len(times) for times in driven]
    assert np.concatenate(own) == pytest.approx(np.concatenate(driven), abs=1e-9)


def test_the_drives_do_all_that_a_rule_must_judge(driven):
    _, times, events = driven
    assert sum(len(own) >= 2 for own in times) >= 3
    assert sum(not own for own in times) >= 3
    assert sum(event.kind == EVENT_MISSED_CHECKPOINT for own in events for event in own) >= 3
    crossings = [event.value for own in events for event in own if event.kind == EVENT_CROSSING]
    assert min(crossings.count(0.0), crossings.count(1.0)) > 20
    assert len({round(time * 480.0 % 1.0, 3) for own in times for time in own}) > 10, "times lie within steps"


def test_a_lap_is_told_when_the_start_line_is_crossed_again(driven):
    for own in driven[2]:
        crossed = [event.time for event in own if (event.kind, event.value) == (EVENT_CROSSING, 0.0)]
        assert [event.value for event in own if event.kind == EVENT_LAP] == pytest.approx(np.diff(crossed).tolist())


def test_single_environments_count_as_the_batch_does(track, starts, driven):
    actions, expected, _ = driven
    env, seen = DonkeyEnv(track, CONF), []
    for drive, (along, offset, yaw) in enumerate(starts):
        env.reset(seed=0, options={"s": along, "offset": offset, "yaw": yaw})
        laps = Laps(1)
        for action in actions[:, drive]:
            info = env.step(action)[4]
            laps.note([info["lap_count"]], [info["last_lap_time"]])
        seen += laps.times
    env.close()
    assert_same_laps(seen, expected)


def test_batches_of_the_original_s_ids_count_as_our_own_do(track, starts, driven):
    batch, laps = DonkeyVectorEnv(DRIVES, track, CONF, threads=1), Laps(DRIVES)
    begin_batch(batch, starts)
    for actions in driven[0]:
        info = batch.step(actions)[4]
        laps.note(info["lap_count"], info["last_lap_time"])
    batch.close()
    assert_same_laps(laps.times, driven[1])


def test_races_count_as_environments_do(track, starts, driven):
    settings = {"observe": "vector", "ends": (), "time_limit": None, "throttle_range": (-1.0, 1.0)}
    env, seen = parallel_env(track=track, cars=1, lap_count=99, **settings), []
    for drive, start in enumerate(starts):
        env.reset(seed=0)
        env.fleet.simulator.put_on_path(0, *start)
        for action in driven[0][:, drive]:
            info = env.step({"car_0": action})[4]["car_0"]
            assert info["laps"] == len(info["lap_times"])
        seen.append(info["lap_times"])
    env.close()
    assert_same_laps(seen, driven[1])


def drive_on_a_server(track, starts, actions):
    """Return the lap times that its own page shows, and those that its client makes out of its messages."""
    show = SimulationRig(experiment=Experiment((SceneSpec(track),)))
    show.join(1)
    show.load(track)
    show.say(1, "cam_config", img_w="16", img_h="16")
    shown, heard = [], []
    for drive, start in enumerate(starts):
        show.say(1, "reset_car")
        show.simulation.simulator.put_on_path(0, *start)
        show.take(1)
        for steering, throttle in actions[:, drive].tolist():
            show.say(1, "control", steering=str(steering), throttle=str(throttle), brake="0")
            show.beat()
        shown.append(show.simulation.list_cars()[0].lap_times)
        clock, messages = LapClock(), show.take(1)
        for message in messages:
            if message["msg_type"] == "collision_with_starting_line" and message["starting_line_index"] == 0:
                clock.note_crossing(message["timeStamp"])
        assert max(messages[-1]["lap"] - 1, 0) == len(clock.lap_times)
        heard.append(clock.lap_times)
    show.simulation.close()
    return shown, heard


def test_a_server_and_its_clients_count_as_environments_do(track, starts, driven):
    shown, heard = drive_on_a_server(track, starts, driven[0])
    assert_same_laps(shown, driven[1])
    assert_same_laps(heard, driven[1])


def test_an_open_road_is_one_lap_for_everybody(tmp_path):
    path = tmp_path / "alley.toml"
    path.write_text(OPEN)
    start, actions = (0.1, 0.0, 0.1), np.tile([0.0, 0.4], (80, 1, 1))
    env, laps = DonkeyEnv(str(path), CONF), Laps(1)
    env.reset(seed=0, options=dict(zip(("s", "offset", "yaw"), start, strict=True)))
    for (action,) in actions:
        info = env.step(action)[4]
        laps.note([info["lap_count"]], [info["last_lap_time"]])
    env.close()
    assert len(laps.times[0]) == 1
    for told in drive_on_a_server(str(path), [start], actions):
        assert_same_laps(told, laps.times)


class Player:
    """A pilot that does what was recorded."""

    kind = "linear"
    input_names = ()

    def __init__(self, actions):
        self._actions = actions

    def run(self, _image):
        return next(self._answers, (0.0, 0.0))  # the last picture is of the end

    def reset(self):
        self._answers = iter(self._actions.tolist())


def test_an_evaluation_counts_as_environments_do(track, starts, driven, monkeypatch):
    def start(drive, seed):
        drive.car.simulator.put_on_path(drive.car.row, *starts[seed - 1])

    monkeypatch.setattr(evaluate._Drive, "_start_elsewhere", start)
    for name, value in {"OFF_ROAD_PATIENCE": 1e6, "STANDING_PATIENCE": 1e6, "LEAST_SPEED": 1e9}.items():
        monkeypatch.setattr(evaluate, name, value)
    monkeypatch.setattr(evaluate, "EXTRA_TIME", (FRAMES + 0.5) / 20.0)
    conditions, seen = evaluate.Conditions(read_conf(CONF)), []
    for drive in range(DRIVES):
        (run,) = evaluate.evaluate(Player(driven[0][:, drive]), [track], 99, conditions, seed=drive + 1).runs
        seen.append(run.lap_times)
    assert_same_laps(seen, driven[1])
