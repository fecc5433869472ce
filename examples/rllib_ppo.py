"""Proximal policy optimisation with RLlib's new API stack: a car learns to lap a track from numbers about the road.

    make rllib                                           # in the checkout: makes RLlib an environment, then learns
    make rllib ARGS="--steps 1000000 --seed 1 --out pilot"
    make rllib ARGS="--runners 4"                        # so many processes, of a cluster too, with 64 cars each

RLlib asks for one certain release of Gymnasium, older than the one that everything else here is tested with.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np

import donkeysim  # noqa: F401  (registers the environments)
from donkeysim.envs.step import Step
from donkeysim.envs.track_env import TrackVectorEnv

try:
    import ray
    import torch
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core import DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
except ImportError as error:
    raise SystemExit(f"{error}. This example needs RLlib, in an environment of its own; run: make rllib") from None

ENV_ID = "donkeysim/GeneratedTrack-v0"
STEP_SECONDS = 0.1
TOP_SPEED = 2.0
"""Driving faster than this earns nothing more [m/s]."""


def reward_smooth_driving(step: Step) -> np.ndarray:
    """Return at most a point for each car, less what jerks of the steering and accidents cost."""
    way = np.minimum(step.gain / (TOP_SPEED * STEP_SECONDS), 1.0)
    return way - 0.2 * np.abs(step.steer - step.previous_steer) - 5.0 * step.ended


TASK = {"observe": "vector", "throttle_range": (-0.2, 0.3), "frame_skip": 2, "reward": reward_smooth_driving}
CARS = 64
ROLLOUT = 32
"""Steps of every car between two updates."""


class Pilot(DefaultPPOTorchRLModule):
    """RLlib's own two networks, which begin with little noise: who learns with a lot of it drives worse without."""

    def setup(self) -> None:
        """Build the networks."""
        super().setup()
        torch.nn.init.constant_(self.pi.log_std, -1.2)


def require_batch(*, env: gymnasium.vector.VectorEnv, **others: Any) -> None:
    """Make sure that all cars of a process are one batch of ours, and not environments one by one."""
    del others
    if not isinstance(env, TrackVectorEnv):
        raise TypeError(f"RLlib made {env}, not a TrackVectorEnv.")
    print(f"RLlib steps {type(env).__name__}: {env.num_envs} cars at once", flush=True)


def make_config(steps: int, seed: int, runners: int) -> PPOConfig:
    """Return what RLlib shall do."""
    config = PPOConfig()
    config.environment(f"donkeysim:{ENV_ID}", env_config={**TASK, "time_limit": 30.0})
    config.env_runners(
        num_env_runners=runners,
        num_envs_per_env_runner=CARS,
        gym_env_vectorize_mode="vector_entry_point",
        rollout_fragment_length=ROLLOUT,
    )
    config.callbacks(on_environment_created=require_batch)
    config.rl_module(
        rl_module_spec=RLModuleSpec(
            Pilot, model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], free_log_std=True, vf_share_layers=False)
        )
    )
    config.training(
        train_batch_size_per_learner=CARS * ROLLOUT * max(1, runners),
        minibatch_size=512,
        num_epochs=4,
        lr=[[0, 1e-3], [steps, 0.0]],
        gamma=0.97,
        lambda_=0.95,
        clip_param=0.2,
        vf_clip_param=1e6,
        vf_loss_coeff=0.5,
        grad_clip=0.5,
        use_kl_loss=False,
    )
    return config.debugging(seed=seed, log_level="ERROR")


def learn(algorithm: Algorithm, step_limit: int) -> None:
    """Learn from so many steps and tell now and then how it goes."""
    begun, steps, updates = time.perf_counter(), 0, 0
    while steps < step_limit:
        result = algorithm.train()["env_runners"]
        steps, updates = int(result["num_env_steps_sampled_lifetime"]), updates + 1
        if updates % 20 == 0 or steps >= step_limit:
            seconds, points = time.perf_counter() - begun, result.get("episode_return_mean", float("nan"))
            print(f"{steps:>9,} steps in {seconds:4.0f} s: {points:6.1f} points an episode", flush=True)


def decide(module: RLModule, seen: np.ndarray) -> np.ndarray:
    """Return what a pilot does without chance, shape [n, 2]: the means of its distributions."""
    with torch.no_grad():
        outcome = module.forward_inference({Columns.OBS: torch.as_tensor(seen)})
    return outcome[Columns.ACTION_DIST_INPUTS][:, :2].numpy().clip(-1.0, 1.0)


def measure(module: RLModule, when: str, cars: int = 32) -> None:
    """Let cars begin all over the road and drive without chance, for 30 s each or until they fail; print how far."""
    envs = gymnasium.make_vec(ENV_ID, num_envs=cars, **TASK, time_limit=30.0)
    seen, _ = envs.reset(seed=1_000_000)
    points, metres, failed, drives = np.zeros(cars), np.zeros(cars), 0, np.ones(cars, bool)
    while drives.any():
        seen, reward, ended, cut, info = envs.step(decide(module, seen))
        points[drives] += reward[drives]
        metres[drives] = info["driven"][drives]
        failed += int((ended & drives).sum())
        drives &= ~(ended | cut)
    envs.close()
    print(f"{when}: {metres.mean():.1f} m and {points.mean():.1f} points a car, {failed} of {cars} failed", flush=True)


def show(module: RLModule, laps: int) -> bool:
    """Drive laps from the start without chance, print how it went, and return whether they were all driven."""
    env = gymnasium.make(ENV_ID, **TASK, lap_limit=laps, time_limit=60.0 * laps, starts_at_random=False)
    seen, _ = env.reset(seed=0)
    ended = cut = False
    while not (ended or cut):
        seen, _, ended, cut, info = env.step(decide(module, seen[None])[0])
    env.close()
    fault = "it left the road or hit something" if ended else "no fault"
    print(f"{info['laps']} of {laps} lap{'s' * (laps != 1)}, the last one in {info['lap_time']:.1f} s; {fault}")
    return bool(info["laps"] >= laps)


def train(options: argparse.Namespace) -> RLModule:
    """Return a pilot that has learned."""
    ray.init(address=options.address, include_dashboard=False)
    algorithm = make_config(options.steps, options.seed, options.runners).build_algo()
    module = algorithm.get_module()
    measure(module, "before")
    learn(algorithm, options.steps)
    module.set_state(algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID])
    algorithm.stop()
    ray.shutdown()
    measure(module, "after")
    return module


def main() -> int:
    """Learn or load, then show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400_000, help="of all cars together (default 400,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runners", type=int, default=0, help="processes that drive (default 0: this one)")
    parser.add_argument("--address", default="local", help="of a Ray cluster (default: one of its own, here)")
    parser.add_argument("--laps", type=int, default=3, help="to show at the end")
    parser.add_argument("--out", metavar="FOLDER", help="to keep the pilot in")
    parser.add_argument("--drive", metavar="FOLDER", help="show a kept pilot instead of learning")
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small are slower on more
    module = RLModule.from_checkpoint(options.drive) if options.drive else train(options)
    if options.out:
        module.save_to_path(options.out)
    return 0 if show(module, options.laps) else 1


if __name__ == "__main__":
    raise SystemExit(main())
