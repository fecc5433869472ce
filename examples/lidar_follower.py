"""A car that finds its way between bushes with a lidar: no learning, no camera.

    python examples/lidar_follower.py            # three laps of alley.toml, a track of its own

It looks at the rays ahead, turns towards the middle of the widest opening, and slows where the way ahead is short.
"""

import argparse
import math
from pathlib import Path

import gymnasium
import numpy as np

import donkeysim  # noqa: F401  (registers the environments)
from donkeysim.world.specs import LidarSpec

FOLDER = Path(__file__).resolve().parent
LIDAR = LidarSpec(sweep_increment=math.radians(4.0), noise=0.02, max_range=4.0)

RAY_COUNT = 90
ANGLE = np.arange(RAY_COUNT) * LIDAR.sweep_increment  # of each ray [rad], clockwise, 0 = ahead
ANGLE = (ANGLE + math.pi) % (2.0 * math.pi) - math.pi  # -π to π, + = right
AHEAD = np.flatnonzero(np.abs(ANGLE) < math.radians(75.0))
AHEAD = AHEAD[np.argsort(ANGLE[AHEAD])]  # from left to right


def decide(distances: np.ndarray) -> tuple[float, float]:
    """Return steering (+ = right) and throttle, -1 to 1, for a scan.

    Args:
        distances: Shares of the lidar's range, shape [RAY_COUNT].
    """
    metres, angle = distances[AHEAD] * LIDAR.max_range, ANGLE[AHEAD]
    # A ray counts no farther than its neighbours: between two bushes one sees far, but cannot go.
    clear = np.minimum.reduce([metres, np.roll(metres, 1), np.roll(metres, -1)])[1:-1]
    weight = clear**3
    direction = float(np.sum(weight * angle[1:-1]) / np.sum(weight))
    way = float(clear[np.abs(angle[1:-1]) < math.radians(15.0)].min())
    return float(np.clip(2.5 * direction, -1.0, 1.0)), float(np.clip(0.4 * way - 1.0, -0.8, -0.2))


def main() -> int:
    """Drive, say how, and return 0 when all laps were driven."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--laps", type=int, default=3)
    options = parser.parse_args()
    env = gymnasium.make(
        "donkeysim/GeneratedTrack-v0",
        track="alley",
        folders=(str(FOLDER),),
        observe="lidar",
        lidar=LIDAR,
        lap_limit=options.laps,
        time_limit=60.0 * options.laps,
        starts_at_random=False,
    )
    seen, _ = env.reset(seed=1)
    ended = cut = False
    while not (ended or cut):
        seen, _, ended, cut, info = env.step(np.array(decide(seen)))
    env.close()
    fault = "it left the road or touched something" if ended else "no fault"
    laps = f"{info['laps']} of {options.laps} lap{'s' * (options.laps != 1)}"
    print(f"{laps}, the last one in {info['lap_time']:.1f} s; {fault}")
    return 0 if info["laps"] >= options.laps else 1


if __name__ == "__main__":
    raise SystemExit(main())
