"""A tub of all kinds of inputs: two drives, deleted records, an input that only some records have."""

import json

import numpy as np

from donkeysim.tub.edit import change_deleted
from donkeysim.tub.writer import TubWriter

INPUTS = {
    "cam/image_array": "image_array",
    "user/angle": "float",
    "user/throttle": "float",
    "user/mode": "str",
    "gym/lap": "int",
    "sim/hit": "boolean",
    "lidar/dist_array": "nparray",
    "behavior/one_hot_state_array": "vector",
    "pilot/angle": "float",
}
HEIGHT, WIDTH = 32, 40
DELETED = {2, 3}


def delete_range(folder, first, last):
    """Mark the records at positions `first` to `last`, both included, as deleted; returns all that are."""
    return change_deleted(folder, lambda deleted, count: deleted | set(range(max(first, 0), min(last + 1, count))))


def make_record(number, size=(HEIGHT, WIDTH)):
    random = np.random.default_rng(number)
    record = {
        "cam/image_array": np.full((*size, 3), random.integers(0, 255, 3), np.uint8),
        "user/angle": float(random.normal()),
        "user/throttle": 1 / 3,
        "user/mode": "user" if number % 2 else "local_angle",
        "gym/lap": number - 2,
        "sim/hit": number % 3 == 0,
        "lidar/dist_array": random.random(5),
        "behavior/one_hot_state_array": [0.0, 1.0],
    }
    return record | ({"pilot/angle": float(random.normal())} if number % 2 else {})


def write_drive(path, counts=(5, 4), step=50):
    """Two drives in one tub, two records of it deleted; a record every so many milliseconds."""
    for session, count in enumerate(counts):
        with TubWriter(path, list(INPUTS), list(INPUTS.values()), [("car", "blü")], max_catalog_len=4) as writer:
            for number in range(count):
                writer.write_record(make_record(5 * session + number), place="generated_track")
    for catalog in path.glob("*.catalog"):
        lines = [json.loads(line) for line in catalog.read_text().splitlines()]
        timed = [{**line, "_timestamp_ms": 1_700_000_000_000 + step * line["_index"]} for line in lines]
        catalog.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in timed))
    if sum(counts) > max(DELETED):
        delete_range(path, min(DELETED), max(DELETED))
    return path
