"""Say as JSON what LeRobot finds in a dataset: load_lerobot.py FOLDER."""

import json
import sys

from lerobot.datasets.lerobot_dataset import LeRobotDataset

folder = sys.argv[1]
windows = {"action": [0.0, 0.05], "observation.image": [-0.05, 0.0]}
dataset = LeRobotDataset("local/drive", root=folder, video_backend="pyav")
windowed = LeRobotDataset("local/drive", root=folder, video_backend="pyav", delta_timestamps=windows)
frames = [dataset[number] for number in range(len(dataset))]
print(
    json.dumps(
        {
            "episodes": dataset.num_episodes,
            "frames": len(dataset),
            "rate": dataset.fps,
            "actions": [frame["action"].tolist() for frame in frames],
            "modes": [frame["tub.user.mode"] for frame in frames],
            "pictures": [(frame["observation.image"] * 255).round().int().tolist() for frame in frames],
            "tasks": sorted({frame["task"] for frame in frames}),
            "window": list(windowed[0]["observation.image"].shape),
            "padded": windowed[len(dataset) - 1]["action_is_pad"].tolist(),
            "mean": dataset.meta.stats["action"]["mean"].tolist(),
        }
    )
)
