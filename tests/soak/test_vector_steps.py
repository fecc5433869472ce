"""Two million steps of a batch: memory flat, speed flat. Results are printed as JSON lines."""

import json
import statistics
import time

import gymnasium
import numpy as np
import psutil
import pytest

import donkeysim  # noqa: F401  (registers the ids)

pytestmark = pytest.mark.soak

STEPS = 2_000_000
CARS = 4
PARTS = 40


def test_two_million_vector_steps_keep_memory_and_speed():
    batch = gymnasium.make_vec("donkeysim/GeneratedTrack-v0", CARS, observe="vector", autoreset_mode="SameStep")
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (257, CARS, 2)).astype(np.float32)
    process = psutil.Process()
    batch.reset(seed=1)
    memory, speed, episodes, index = [], [], 0, 0
    for part in range(PARTS):
        begin, used = time.perf_counter(), sum(process.cpu_times()[:2])
        for _ in range(STEPS // PARTS):
            _, _, terminated, truncated, _ = batch.step(actions[index % 257])
            episodes += int(np.count_nonzero(terminated | truncated))
            index += 1
        used = sum(process.cpu_times()[:2]) - used
        memory.append(process.memory_info().rss / 2**20)
        speed.append(STEPS // PARTS / used)
        print(
            json.dumps(
                {
                    "case": "vector_steps",
                    "part": part,
                    "rss_mib": round(memory[-1], 1),
                    "steps_per_cpu_second": round(speed[-1]),
                    "steps_per_second": round(STEPS // PARTS / (time.perf_counter() - begin)),
                }
            ),
            flush=True,
        )
    batch.close()
    quarter = PARTS // 4
    early, late = statistics.median(speed[1:quarter]), statistics.median(speed[-quarter:])
    growth = memory[-1] - memory[quarter]
    print(
        json.dumps(
            {
                "case": "vector_steps",
                "steps": index,
                "cars": CARS,
                "episodes": episodes,
                "memory_growth_mib": round(growth, 2),
                "late_speed_over_early": round(late / early, 3),
            }
        )
    )
    assert episodes > STEPS * CARS / 2000
    assert growth < 4.0
    assert late > 0.9 * early
