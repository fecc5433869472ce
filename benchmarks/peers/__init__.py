"""Gymnasium's CarRacing-v3: the camera driving environment that most people know, on one core in the same run."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Figure, measure_rate


def run() -> list[Figure]:
    """Count environment steps per second; each step draws one 96x96 picture."""
    import gymnasium

    env = gymnasium.make("CarRacing-v3", render_mode=None)
    env.reset(seed=0)
    action = np.array([0.0, 0.3, 0.0], dtype=np.float32)

    def step() -> int:
        for _ in range(20):
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return 20

    median, best = measure_rate(step, seconds=2.0, rounds=3)
    env.close()
    pixels = 96 * 96
    return [
        Figure("peers", "CarRacing-v3 steps", median, best, "steps/s"),
        Figure("peers", "CarRacing-v3 pixels", median * pixels, best * pixels, "pixels/s"),
    ]
