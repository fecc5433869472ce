# What notebooks/tour.ipynb is made of, by notebooks/write_tour.py. Each part between lines of "%%" is one cell.

# %% [markdown]
# # A tour of donkeysim
#
# Drive, record, train, learn, sweep: the whole way in a few minutes on two cores, without a display or a GPU. In the
# folder of the checkout:
#
# ```sh
# pip install ".[learn,cluster]" jupyterlab
# jupyter lab notebooks/tour.ipynb
# ```
#
# On Colab, or wherever else a notebook runs in the browser, bring the checkout there, then begin with a cell that says
# `%pip install "./donkeysim[learn,cluster]"`. The first drive on a machine takes half a minute longer, because the
# simulator's inner loops are compiled.

# %%
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from matplotlib_inline.backend_inline import set_matplotlib_formats
from PIL import Image

import donkeysim
from donkeysim.tub.reader import TubReader

CAR = Path("donkey-tour")
shutil.rmtree(CAR, ignore_errors=True)  # what an earlier run has left
set_matplotlib_formats("jpeg", pil_kwargs={"quality": 85})


def donkey(command, last=12):
    """Run what one would type in a terminal behind the word `donkey`, in the car folder; print its last lines."""
    words = [sys.executable, "-m", "donkeysim", *command.split()]
    variables = {**os.environ, "FORCE_COLOR": ""}  # no progress bars
    folder = CAR if CAR.exists() else None
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    done = subprocess.run(words, cwd=folder, env=variables, check=False, **pipes)
    print("\n".join(done.stdout.replace(f"{CAR.resolve()}", CAR.name).splitlines()[-last:]))


def show(pictures, titles=None, columns=4):
    """Show pictures side by side."""
    rows = -(-len(pictures) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(10, 2 * rows), dpi=80, squeeze=False)
    for axis, picture, title in zip(axes.flat, pictures, titles or [""] * len(pictures), strict=True):
        axis.imshow(picture)
        axis.set_title(title, size=9)
        axis.axis("off")
    figure.tight_layout()
    plt.show()


print("donkeysim", donkeysim.__version__)

# %% [markdown]
# ## Drive
#
# A simulator in this process: one car, alone on a track. It sees this:

# %%
env = gymnasium.make("donkeysim/GeneratedTrack-v0", render_mode="rgb_array", starts_at_random=False)
picture, info = env.reset(seed=1)
Image.fromarray(picture)

# %% [markdown]
# And looks like this from behind. An action is steering (+ = right) and throttle, both from -1 to 1; `info` tells where
# the car is. That is enough for a driver of two lines, which keeps to the middle of the road:

# %%
film, way = [], []
for step in range(300):  # 15 simulated seconds
    steering = 1.5 * info["offset"] + 1.5 * info["heading_error"]  # metres and radians to the left of the path
    throttle = 1.5 - info["speed"]
    picture, reward, terminated, truncated, info = env.step(np.clip([steering, throttle], -1.0, 1.0))
    way.append([*info["position"][:2], info["speed"]])
    if step % 75 == 30:
        film.append(env.render())
env.close()
print(f"{info['driven']:.1f} m driven, {info['laps']} laps, on the road: {info['on_road']}")
show(film)

# %%
x, y, speed = np.transpose(way)
plt.figure(figsize=(6, 4), dpi=80)
plt.scatter(x, y, c=speed, s=6)
plt.colorbar(label="speed [m/s]")
plt.axis("equal")
plt.title("15 seconds on generated_track, seen from above [m]")
plt.show()

# %% [markdown]
# [More about this environment](../docs/envs/track_env.md), and [the original's](../docs/envs/donkey_env.md), for
# programs written for gym-donkeycar. To drive with keys, mouse or gamepad: `make run`, or `python manage.py drive` in a
# car folder.
#
# ## Record
#
# A car folder has the settings, recorded drives and pilots of one car. What a person records on the control page,
# `donkey sample` records of an expert, many times faster than real time:

# %%
donkey("createcar --path donkey-tour", last=3)
donkey("sample --out data --laps 4", last=3)

# %% [markdown]
# A recorded drive is called a tub: pictures, and what the driver did at each of them.

# %%
records = list(TubReader(CAR / "data"))
some = records[100:900:100]
titles = [f"angle {one.values['user/angle']:+.2f}  throttle {one.values['user/throttle']:.2f}" for one in some]
show([one.load_image() for one in some], titles)

# %%
plt.figure(figsize=(6, 2.5), dpi=80)
plt.hist([record.values["user/angle"] for record in records], bins=41)
plt.xlabel("steering, from left (-1) to right (1)")
plt.ylabel("records")
plt.show()

# %% [markdown]
# [How to drive and record yourself](../docs/guide/drive.md), [what is in a tub](../docs/tubs.md),
# [tubs as datasets of other programs](../docs/guide/convert.md).
#
# ## Train
#
# A pilot learns to do what the driver did: a network from a picture to steering and throttle. Five epochs are enough to
# see it work; leave the setting out to train until it gets no better.

# %%
with (CAR / "myconfig.py").open("a") as file:
    file.write("\nMAX_EPOCHS = 5\n")
donkey("train --tub data --model models/pilot.h5")

# %% [markdown]
# Then it drives, faster than real time, and is judged:

# %%
donkey("evaluate --model models/pilot.h5 --laps 1", last=18)

# %% [markdown]
# `models/pilot.h5_report.html` has the map of this drive, and a film.
# [More about pilots](../docs/pilots.md), [training](../docs/guide/train.md), [judging](../docs/guide/evaluate.md).
#
# ## Learn
#
# Nobody has to show a car how to drive: it can find out by itself, from a reward. That takes many attempts, so many
# cars try at once, each alone in its world:

# %%
cars = gymnasium.make_vec("donkeysim/GeneratedTrack-v0", num_envs=64, observe="vector")
cars.reset(seed=1)
begun = time.perf_counter()
for _ in range(200):
    seen, reward, terminated, truncated, info = cars.step(cars.action_space.sample())
print(f"{200 * 64 / (time.perf_counter() - begun):,.0f} steps a second; the cars see numbers, {seen.shape}")
cars.close()

# %% [markdown]
# `donkey rl` learns from camera pictures alone, in half a minute. Here a teacher helps, the path follower, who tells
# the policy what it would have done. It ends when cars on fresh starts have driven three laps without leaving the road.

# %%
donkey("rl --track generated_track --teacher expert --speed 0.5 --laps 3 --minutes 2 --page 0 --out rl", last=26)

# %%
Image.open(CAR / "rl/curve.png").convert("L").reduce(2)

# %% [markdown]
# [More about learning from pictures](../docs/guide/rl.md), [with other libraries](../docs/envs/learning.md), such as
# Stable-Baselines3, TorchRL and RLlib, and [with a reward written for AWS DeepRacer](../docs/envs/deepracer.md).
#
# ## Sweep
#
# Which settings are best? A sweep trains with many, side by side on all cores, or on a cluster, and keeps the best
# pilot. Here the number of cars differs that learn from the same number of steps:

# %%
SWEEP = """
command = "rl"
method = "grid"
budget = 4_000
maximize = "reward"

[options]
teacher = "expert"

[search]
cars = [16, 32, 64]
"""
(CAR / "cars.toml").write_text(SWEEP)
donkey("sweep cars.toml --out sweep")

# %%
plt.figure(figsize=(6, 3), dpi=80)
for trial, count in enumerate([16, 32, 64]):
    lines = (CAR / f"sweep/trials/{trial:05}-0/curve.jsonl").read_text().splitlines()
    updates = [json.loads(line) for line in lines]
    plt.plot([one["steps"] for one in updates], [one["reward"] for one in updates], label=f"{count} cars")
plt.xlabel("steps of all cars")
plt.ylabel("reward")
plt.legend()
plt.show()

# %% [markdown]
# `sweep/report.html` compares them, `sweep/best` has the pilot: [more about sweeps](../docs/guide/sweep.md).
#
# ## Where to go from here
#
# * [The first hour](../docs/guide/first-hour.md) and [the guide](../docs/guide/README.md)
# * [Races](../docs/guide/race.md) of pilots, or of people in the same network
# * [Tracks of your own](../docs/guide/tracks.md)
# * [Cars that differ](../docs/envs/randomization.md), so that a pilot also drives a real one
