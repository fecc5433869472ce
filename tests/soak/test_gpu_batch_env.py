"""Five thousand random steps of a batch on a device, beside one without `device`: the same bytes of everything."""

import json

import numpy as np
import pytest

from batches import draw_actions
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.batch_env import BatchEnv
from donkeysim.envs.track_env import TrackVectorEnv

pytestmark = pytest.mark.soak

STEPS, CARS = 5_000, 8


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_five_thousand_steps_are_those_of_the_batch_on_threads(mode):
    options = {
        "track": ["generated_track", "canyon_road"],
        "observe": "vector",
        "autoreset_mode": mode,
        "randomization": {"car": {"mass": [0.8, 1.2], "friction": [0.6, 1.1], "steer_trim": [-0.1, 0.1]}},
        "ends": ["off_road", "wrong_way", "standstill", "tilted"],
        "throttle_range": (-0.3, 1.0),
        "time_limit": 4.0,
    }
    batch, threads = BatchEnv(CARS, **options), TrackVectorEnv(CARS, **options)
    batch.reset(seed=3)
    threads.reset(seed=3)
    ends = cuts = hits = 0
    for actions in draw_actions(STEPS, CARS, seed=1):
        ours, theirs = batch.step(actions), threads.step(actions)
        assert all(np.array_equal(own, other) for own, other in zip(ours[:4], theirs[:4], strict=True))
        for name, array in threads.fleet.simulator.state._asdict().items():
            assert np.array_equal(getattr(batch.simulator.state, name), array), name
        ends, cuts = ends + theirs[2].sum(), cuts + theirs[3].sum()
        hits += theirs[4]["hit"].sum()
    print(json.dumps({"steps": STEPS * CARS, "ends": int(ends), "cuts": int(cuts), "hits": int(hits)}))
    assert min(ends, cuts) > 100
    assert hits > 50
    batch.close()
    threads.close()
