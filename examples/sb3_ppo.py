"""Proximal policy optimisation with Stable-Baselines3: a car learns to lap a track from numbers about the road.

pip install ".[rl]"                                  # in the checkout
python examples/sb3_ppo.py                           # learns, then drives three laps and says how
python examples/sb3_ppo.py --steps 3000000 --out pilot.zip
python examples/sb3_ppo.py --drive pilot.zip
"""

import argparse
import time
from functools import partial

import gymnasium

import donkeysim  # noqa: F401  (registers the environments)
from donkeysim.core.errors import describe_install

try:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.base_class import BaseAlgorithm

    from donkeysim.envs.sb3_vec_env import make_sb3_vec_env
except ImportError as error:
    raise SystemExit(f"{error}. This example needs Stable-Baselines3; install it {describe_install('rl')}") from None

ENV_ID = "donkeysim/GeneratedTrack-v0"
TASK = {"observe": "vector", "throttle_range": (-0.2, 0.3)}


def learn(step_limit: int, seed: int, car_count: int) -> PPO:
    """Return a pilot that has driven so many steps."""
    cars = make_sb3_vec_env(ENV_ID, car_count, time_limit=30.0, **TASK)
    pilot = PPO(
        "MlpPolicy",
        cars,
        n_steps=64,
        batch_size=1024,
        n_epochs=4,
        gamma=0.99,
        learning_rate=lambda left: 1e-3 * left,
        policy_kwargs={"log_std_init": -1.2},
        seed=seed,
        device="cpu",
        verbose=1,
    )
    begun = time.perf_counter()
    pilot.learn(step_limit, log_interval=20)
    print(f"learned from {pilot.num_timesteps:,} steps in {time.perf_counter() - begun:.0f} s")
    cars.close()
    return pilot


def show(pilot: BaseAlgorithm, laps: int) -> bool:
    """Drive laps from the start without chance, print how it went, and return whether they were all driven."""
    env = gymnasium.make(ENV_ID, lap_limit=laps, time_limit=60.0 * laps, starts_at_random=False, **TASK)
    seen, _ = env.reset(seed=0)
    ended = cut = False
    while not (ended or cut):
        action, _ = pilot.predict(seen, deterministic=True)
        seen, _, ended, cut, info = env.step(action)
    env.close()
    fault = "it left the road or hit something" if ended else "no fault"
    print(f"{info['laps']} of {laps} lap{'s' * (laps != 1)}, the last one in {info['lap_time']:.1f} s; {fault}")
    return info["laps"] >= laps


def main() -> int:
    """Learn or load, then show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_500_000, help="of all cars together (default 1,500,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cars", type=int, default=64, help="that learn together (default 64)")
    parser.add_argument("--laps", type=int, default=3, help="to show at the end")
    parser.add_argument("--out", help="file to keep the pilot in")
    parser.add_argument("--drive", metavar="FILE", help="show a kept pilot instead of learning")
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small are slower on more
    load = partial(PPO.load, device="cpu")
    pilot = load(options.drive) if options.drive else learn(options.steps, options.seed, options.cars)
    if options.out:
        pilot.save(options.out)
    return 0 if show(pilot, options.laps) else 1


if __name__ == "__main__":
    raise SystemExit(main())
