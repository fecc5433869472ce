"""Proximal policy optimisation with TorchRL: a car learns to drive laps from its camera alone.

pip install ".[rl]"                                  # in the checkout
python examples/torchrl_ppo_pixels.py --seed 0       # learns until it has driven ten laps, ten minutes at most

TorchRL wraps the batch of cars as it is, collects, and brings loss and advantages. The task, the eye of the network and
the exam that ends learning are in pixel_task.py.
"""

import math
import warnings
from functools import partial

import gymnasium
import numpy as np
import torch
from pixel_task import ENV_ID, TASK, Exam, Eye, make_parser, move_channels, prepare
from torch import nn

from donkeysim.core.errors import describe_install

try:
    warnings.filterwarnings("ignore", category=DeprecationWarning, message="Creating .*WeightUpdater")
    from tensordict import TensorDict
    from tensordict.nn import AddStateIndependentNormalScale, TensorDictModule, TensorDictSequential
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
    from torchrl.envs import GymWrapper
    from torchrl.envs.utils import ExplorationType, set_exploration_type
    from torchrl.modules import ActorValueOperator, ProbabilisticActor, TanhNormal, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
except ImportError as error:
    raise SystemExit(f"{error}. This example needs TorchRL; install it {describe_install('rl')}") from None


class Features(nn.Module):
    """The eye that all examples share, on pictures as the environment gives them."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = Eye()

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return 64 numbers for each picture, whatever comes before its shape."""
        return self.eye(move_channels(pictures.flatten(0, -4))).unflatten(0, pictures.shape[:-3])


def make_agent(env: GymWrapper) -> ActorValueOperator:
    """Return actor and critic behind one eye."""
    action_size = env.action_spec.shape[-1]
    mean = nn.Linear(Eye.size, action_size)
    nn.init.orthogonal_(mean.weight, 0.01)
    nn.init.zeros_(mean.bias)
    # A standard deviation of 0.37 at first: a pilot that learned with more drives worse without.
    spread = AddStateIndependentNormalScale(action_size, scale_mapping="biased_softplus_0.37")
    return ActorValueOperator(
        TensorDictModule(Features(), in_keys=["observation"], out_keys=["features"]),
        ProbabilisticActor(
            TensorDictModule(nn.Sequential(mean, spread), in_keys=["features"], out_keys=["loc", "scale"]),
            spec=env.action_spec_unbatched,
            in_keys=["loc", "scale"],
            distribution_class=TanhNormal,
            return_log_prob=True,
        ),
        ValueOperator(nn.Sequential(nn.Linear(Eye.size, 64), nn.Tanh(), nn.Linear(64, 1)), in_keys=["features"]),
    )


def drive(policy: TensorDictSequential, seen: np.ndarray) -> np.ndarray:
    """Return what to do, without chance."""
    with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
        return policy(TensorDict({"observation": torch.as_tensor(seen)}, [len(seen)]))["action"].numpy()


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

    # With "Disabled" TorchRL begins itself the episodes that are over, as it does with all environments.
    env = GymWrapper(gymnasium.make_vec(ENV_ID, num_envs=options.cars, autoreset_mode="Disabled", **TASK))
    env.set_seed(options.seed)
    agent = make_agent(env)
    policy, critic = agent.get_policy_operator(), agent.get_value_operator()
    agent.eval()
    exam = Exam(partial(drive, policy), options)
    if options.drive:
        agent.load_state_dict(torch.load(options.drive))
        return 0 if exam.hold() else 1
    size = options.cars * options.rollout
    rounds = math.ceil(options.steps / size)
    collector = Collector(
        env, policy, frames_per_batch=size, total_frames=rounds * size, auto_register_policy_transforms=False
    )
    advantages = GAE(gamma=0.97, lmbda=0.95, value_network=critic, deactivate_vmap=True)
    loss = ClipPPOLoss(
        policy, critic, entropy_bonus=False, critic_coeff=0.5, loss_critic_type="l2", normalize_advantage=True
    )
    optimizer = torch.optim.Adam(loss.parameters(), options.lr, eps=1e-5)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=rounds)
    memory = ReplayBuffer(
        storage=LazyTensorStorage(size), sampler=SamplerWithoutReplacement(), batch_size=options.batch
    )
    for count, driven in enumerate(collector, start=1):
        with torch.no_grad():
            advantages(driven)
        memory.extend(driven.flatten(0, 1))
        agent.train()  # the loss uses the same eye
        for _ in range(options.epochs):
            for batch in memory:
                losses = loss(batch)
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        agent.eval()
        schedule.step()
        if exam.is_over(count * size):
            break
    collector.shutdown()
    if options.out:
        torch.save(agent.state_dict(), options.out)
    return 0 if exam.is_passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
