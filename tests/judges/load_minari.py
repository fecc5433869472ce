"""Say as JSON what Minari finds in a dataset of its folder (MINARI_DATASETS_PATH): load_minari.py NAME."""

import json
import sys

import minari

dataset = minari.load_dataset(sys.argv[1])
episodes = list(dataset.iterate_episodes())
print(
    json.dumps(
        {
            "local": list(minari.list_local_datasets()),
            "episodes": int(dataset.total_episodes),
            "steps": int(dataset.total_steps),
            "shape": list(dataset.observation_space.shape),
            "fits": [bool(dataset.observation_space.contains(episode.observations[0])) for episode in episodes],
            "pictures": [picture.tolist() for episode in episodes for picture in episode.observations[:-1]],
            "angles": [angle for episode in episodes for angle in episode.infos["user.angle"][:-1].tolist()],
            "actions": [action for episode in episodes for action in episode.actions.tolist()],
        }
    )
)
