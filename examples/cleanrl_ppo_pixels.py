"""Proximal policy optimisation on one page, in the style of CleanRL: a car learns to drive laps from its camera alone.

pip install ".[rl]"                                  # in the checkout
python examples/cleanrl_ppo_pixels.py --seed 0       # learns until it has driven ten laps, ten minutes at most

The whole algorithm (Schulman et al. 2017, https://arxiv.org/abs/1707.06347) stands in `main`, from top to bottom, on a
vector environment of Gymnasium; critic and actor see the same pictures. The task, the eye of the network and the exam
that ends learning are in pixel_task.py.
"""

import gymnasium
import numpy as np
import torch
from pixel_task import ENV_ID, TASK, Exam, Eye, make_parser, move_channels, prepare
from torch import nn
from torch.distributions import Normal


class Agent(nn.Module):
    """Actor and critic behind one eye."""

    def __init__(self, action_size: int) -> None:
        super().__init__()
        self.eye = Eye()
        self.mean = nn.Linear(Eye.size, action_size)
        self.critic = nn.Sequential(nn.Linear(Eye.size, 64), nn.Tanh(), nn.Linear(64, 1))
        self.log_spread = nn.Parameter(torch.full((action_size,), -1.0))
        nn.init.orthogonal_(self.mean.weight, 0.01)
        nn.init.zeros_(self.mean.bias)

    def forward(self, seen: torch.Tensor) -> tuple[Normal, torch.Tensor]:
        """Return the distribution of actions, shape [n, action_size], and the rewards to be expected, shape [n]."""
        features = self.eye(move_channels(seen))
        return Normal(self.mean(features), self.log_spread.exp()), self.critic(features).squeeze(-1)

    def drive(self, seen: np.ndarray) -> np.ndarray:
        """Return what to do, without chance."""
        self.eval()
        with torch.no_grad():
            return self(torch.as_tensor(seen))[0].mean.clamp(-1.0, 1.0).numpy()


def main() -> int:
    """Learn until the exam is passed; the exit code tells whether it was."""
    parser = make_parser(__doc__)
    parser.add_argument("--cars", type=int, default=128, help="that learn together")
    parser.add_argument("--rollout", type=int, default=32, help="steps of each car between two updates")
    parser.add_argument("--epochs", type=int, default=3, help="that each of them is learned from")
    parser.add_argument("--batch", type=int, default=1024, help="steps that one gradient is taken of")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate at first; it falls to 0 over --steps")
    parser.add_argument("--gamma", type=float, default=0.97, help="discount: seconds, not minutes, ahead")
    parser.add_argument("--gae-lambda", type=float, default=0.95, help="of generalised advantages")
    parser.add_argument("--clip", type=float, default=0.2, help="largest change of an action's probability")
    parser.add_argument("--value-weight", type=float, default=0.5, help="of the critic's loss")
    parser.add_argument("--largest-gradient", type=float, default=0.5, help="norm of all gradients")
    parser.add_argument("--steps", type=int, default=600_000, help="of all cars together, at most")
    options = parser.parse_args()
    prepare(options)

    # Gymnasium's own mode: the step after an episode's last one begins the next episode, and counts for nothing.
    envs = gymnasium.make_vec(ENV_ID, num_envs=options.cars, autoreset_mode="NextStep", **TASK)
    agent = Agent(envs.single_action_space.shape[0])
    optimizer = torch.optim.Adam(agent.parameters(), options.lr, eps=1e-5)
    exam = Exam(agent.drive, options)
    if options.drive:
        agent.load_state_dict(torch.load(options.drive))
        return 0 if exam.hold() else 1

    shape = (options.rollout, options.cars)
    seen = torch.zeros(options.rollout + 1, options.cars, *envs.single_observation_space.shape, dtype=torch.uint8)
    actions = torch.zeros(*shape, *envs.single_action_space.shape)
    chances, rewards, advantages = (torch.zeros(shape) for _ in range(3))
    values = torch.zeros(options.rollout + 1, options.cars)
    ended, over, begins = (torch.zeros(shape, dtype=torch.bool) for _ in range(3))
    is_over = torch.zeros(options.cars, dtype=torch.bool)
    seen[0] = torch.as_tensor(envs.reset(seed=options.seed)[0])

    steps = 0
    while steps < options.steps and not exam.is_over(steps):
        # Drive.
        agent.eval()
        with torch.no_grad():
            for step in range(options.rollout):
                distribution, values[step] = agent(seen[step])
                actions[step] = distribution.sample()
                chances[step] = distribution.log_prob(actions[step]).sum(-1)
                begins[step] = is_over
                after, reward, end, cut, _ = envs.step(actions[step].numpy())
                seen[step + 1], rewards[step] = torch.as_tensor(after), torch.as_tensor(reward)
                ended[step], is_over = torch.as_tensor(end), torch.as_tensor(end | cut)
                over[step] = is_over
                steps += options.cars
            _, values[-1] = agent(seen[-1])

            # How much better than expected was each action?
            following = torch.zeros(options.cars)
            for step in reversed(range(options.rollout)):
                error = rewards[step] + options.gamma * values[step + 1] * ~ended[step] - values[step]
                following = error + options.gamma * options.gae_lambda * following * ~(over[step] | begins[step])
                advantages[step] = following

        # Learn.
        agent.train()
        optimizer.param_groups[0]["lr"] = options.lr * (1.0 - steps / options.steps)
        pictures, done, before = seen[:-1].flatten(0, 1), actions.flatten(0, 1), chances.flatten()
        gains, targets = advantages.flatten(), (advantages + values[:-1]).flatten()
        counted = torch.nonzero(~begins.flatten()).squeeze(-1)
        for _ in range(options.epochs):
            order = counted[torch.randperm(len(counted))]
            for rows in order.chunk(max(1, len(order) // options.batch)):
                distribution, value = agent(pictures[rows])
                ratio = (distribution.log_prob(done[rows]).sum(-1) - before[rows]).exp()
                gain = (gains[rows] - gains[rows].mean()) / (gains[rows].std() + 1e-8)
                clipped = ratio.clamp(1.0 - options.clip, 1.0 + options.clip)
                loss = -torch.minimum(ratio * gain, clipped * gain).mean()
                loss = loss + options.value_weight * (value - targets[rows]).square().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), options.largest_gradient)
                optimizer.step()
        seen[0] = seen[-1]

    if options.out:
        torch.save(agent.state_dict(), options.out)
    return 0 if exam.is_passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
