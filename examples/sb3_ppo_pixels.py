"""Proximal policy optimisation with Stable-Baselines3: a car learns to drive laps from its camera alone.

pip install ".[rl]"                                  # in the checkout
python examples/sb3_ppo_pixels.py --seed 0           # learns until it has driven ten laps, ten minutes at most

The task and the exam that ends learning are in pixel_task.py.
"""

import argparse

import gymnasium
import torch
from pixel_task import ENV_ID, TASK, Exam, Eye, make_parser, prepare

from donkeysim.core.errors import describe_install

try:
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    from donkeysim.envs.sb3_vec_env import make_sb3_vec_env
except ImportError as error:
    raise SystemExit(f"{error}. This example needs Stable-Baselines3; install it {describe_install('rl')}") from None


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


def make_pilot(options: argparse.Namespace) -> PPO:
    """Return a pilot that has learned nothing yet, and its cars."""
    return PPO(
        "CnnPolicy",
        make_sb3_vec_env(ENV_ID, options.cars, **TASK),
        n_steps=options.rollout,
        batch_size=options.batch,
        n_epochs=options.epochs,
        gamma=0.97,  # seconds, not minutes, ahead: an accident is not older than that
        gae_lambda=0.95,
        learning_rate=lambda left: options.lr * left,
        policy_kwargs={
            "features_extractor_class": Features,
            "net_arch": {"pi": [], "vf": [64]},
            "log_std_init": -1.0,  # a standard deviation of 0.37: a pilot that learned with more drives worse without
        },
        seed=options.seed,
        device="cpu",
    )


def main() -> int:
    """Learn until the exam is passed; the exit code tells whether it was."""
    parser = make_parser(__doc__)
    parser.add_argument("--cars", type=int, default=128, help="that learn together")
    parser.add_argument("--rollout", type=int, default=32, help="steps of each car between two updates")
    parser.add_argument("--epochs", type=int, default=3, help="that each of them is learned from")
    parser.add_argument("--batch", type=int, default=1024, help="steps that one gradient is taken of")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate at first; it falls to 0 over --steps")
    parser.add_argument("--steps", type=int, default=600_000, help="of all cars together, at most")
    options = parser.parse_args()
    prepare(options)
    pilot = PPO.load(options.drive, device="cpu") if options.drive else make_pilot(options)
    exam = Exam(lambda seen: pilot.predict(seen, deterministic=True)[0], options)
    if options.drive:
        return 0 if exam.hold() else 1
    pilot.learn(options.steps, callback=Examine(exam))
    if options.out:
        pilot.save(options.out)
    return 0 if exam.is_passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
