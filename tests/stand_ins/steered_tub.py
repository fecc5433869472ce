"""Small tubs whose pictures tell the angle: a bright post stands where the driver steers to."""

import numpy as np

from donkeysim.car.config import make_default_config
from donkeysim.tub.writer import TubWriter

SIZE = 80
"""Width and height of the pictures [pixel]; about the smallest that the networks take."""

CHANNELS = (
    ("cam/image_array", "image_array"),
    ("user/angle", "float"),
    ("user/throttle", "float"),
    ("user/mode", "str"),
)
SENSORS = (
    *((f"imu/{name}", "float") for name in ("acl_x", "acl_y", "acl_z", "gyr_x", "gyr_y", "gyr_z")),
    ("behavior/one_hot_state_array", "vector"),
    ("localizer/location", "int"),
)


def draw_post(angle, rng, size=SIZE, height=None):
    """A grey noisy picture with a post at the left edge for angle -1, at the right edge for 1."""
    height = height or size
    picture = rng.integers(60, 100, (height, size, 3), dtype=np.uint8)
    left = round((angle + 1) / 2 * (size - 12))
    picture[height // 4 :, left : left + 12] = 240
    return picture


def write_steered_tub(path, count=200, seed=0, has_sensors=False, angles=None, size=SIZE, height=None):
    """Write a tub; returns the angles."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-1, 1, count) if angles is None else angles
    channels = (*CHANNELS, *(SENSORS if has_sensors else ()))
    with TubWriter(path, [name for name, _ in channels], [kind for _, kind in channels]) as tub:
        for index, angle in enumerate(angles):
            record = {
                "cam/image_array": draw_post(angle, rng, size, height),
                "user/angle": angle,
                "user/throttle": 0.3 + 0.1 * (index % 2),
                "user/mode": "user",
            }
            if has_sensors:
                record |= dict(zip((name for name, _ in SENSORS[:6]), rng.random(6), strict=True))
                record |= {"behavior/one_hot_state_array": [1.0, 0.0], "localizer/location": index % 3}
            tub.write_record(record)
    return np.asarray(angles)


def make_config(folder, **changes):
    """Return the configuration of a car with small pictures in a folder, which trains a little, as the original."""
    small = {
        "IMAGE_W": SIZE,
        "IMAGE_H": SIZE,
        "BATCH_SIZE": 32,
        "MAX_EPOCHS": 1,
        "TRAIN_RECIPE": "original",
        "PRINT_MODEL_SUMMARY": False,
        "SHOW_PLOT": False,
        "CREATE_TF_LITE": False,
    }
    return make_default_config(folder, small | changes)
