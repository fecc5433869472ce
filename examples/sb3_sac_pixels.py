"""Soft actor-critic with Stable-Baselines3, or TQC with sb3-contrib: a car learns to drive laps from its camera alone.

pip install ".[rl]"                                  # in the checkout
python examples/sb3_sac_pixels.py --seed 0           # learns until it has driven ten laps, ten minutes at most
python examples/sb3_sac_pixels.py --algorithm tqc --seed 0

Both learn from what they remember of all driving so far: from fewer steps than PPO (sb3_ppo_pixels.py), with more
gradients for each. How long they take depends much on the seed; docs/envs/learning.md has the times, failures too.
The task and the exam that ends learning are in pixel_task.py.
"""

import argparse

import gymnasium
import torch
from pixel_task import ENV_ID, TASK, Exam, Eye, make_parser, prepare

from donkeysim.core.errors import describe_install

try:
    from sb3_contrib import TQC
    from stable_baselines3 import SAC
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    from donkeysim.envs.sb3_vec_env import make_sb3_vec_env
except ImportError as error:
    raise SystemExit(f"{error}. This example needs Stable-Baselines3; install it {describe_install('rl')}") from None

ALGORITHMS = {"sac": SAC, "tqc": TQC}


class Features(BaseFeaturesExtractor):
    """The eye that all examples share, as Stable-Baselines3 wants it; it is given pictures with channels first."""

    def __init__(self, observation_space: gymnasium.Space) -> None:
        super().__init__(observation_space, Eye.size)
        self.eye = Eye(observation_space.shape[0])

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return 64 numbers for each car."""
        return self.eye(observations)


class Examine(BaseCallback):
    """Ends learning when the exam is passed or time is up."""

    def __init__(self, exam: Exam) -> None:
        super().__init__()
        self.exam = exam

    def _on_step(self) -> bool:
        return not self.exam.is_over(self.num_timesteps)


def make_pilot(options: argparse.Namespace) -> SAC:
    """Return a pilot that has learned nothing yet, and its cars."""
    return ALGORITHMS[options.algorithm](
        "CnnPolicy",
        make_sb3_vec_env(ENV_ID, options.cars, **TASK),
        learning_rate=options.lr,
        buffer_size=options.memory,
        learning_starts=options.warm_up,
        batch_size=options.batch,
        train_freq=1,
        gradient_steps=options.gradients,
        gamma=0.97,  # seconds, not minutes, ahead: an accident is not older than that
        tau=0.01,
        ent_coef="auto_0.1",
        policy_kwargs={"features_extractor_class": Features, "net_arch": [64, 64]},
        seed=options.seed,
        device="cpu",
    )


def main() -> int:
    """Learn until the exam is passed; the exit code tells whether it was."""
    parser = make_parser(__doc__)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="sac")
    parser.add_argument("--cars", type=int, default=16, help="that learn together")
    parser.add_argument("--gradients", type=int, default=4, help="after every step of all cars")
    parser.add_argument("--batch", type=int, default=128, help="remembered steps that one gradient is taken of")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--memory", type=int, default=50_000, help="steps to remember, 20 kB each")
    parser.add_argument("--warm-up", type=int, default=1_000, help="steps at random before learning begins")
    parser.add_argument("--steps", type=int, default=600_000, help="of all cars together, at most")
    options = parser.parse_args()
    prepare(options)
    pilot = ALGORITHMS[options.algorithm].load(options.drive, device="cpu") if options.drive else make_pilot(options)
    exam = Exam(lambda seen: pilot.predict(seen, deterministic=True)[0], options)
    if options.drive:
        return 0 if exam.hold() else 1
    pilot.learn(options.steps, callback=Examine(exam))
    if options.out:
        pilot.save(options.out)
    return 0 if exam.is_passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
