"""Small drives for tests: inputs, records and tubs."""

import numpy as np

from donkeysim.tub.writer import TubWriter

INPUTS = ("cam/image_array", "user/angle", "user/throttle", "user/mode")
TYPES = ("image_array", "float", "float", "str")


def make_picture(number, height=12, width=16):
    return np.full((height, width, 3), number * 7 % 256, np.uint8)


def make_record(number):
    return {
        "cam/image_array": make_picture(number),
        "user/angle": (number % 20 - 10) / 10,
        "user/throttle": 0.25,
        "user/mode": "user",
    }


def write_tub(path, count, max_catalog_len=1000, first=0):
    with TubWriter(path, INPUTS, TYPES, max_catalog_len=max_catalog_len) as writer:
        for number in range(first, first + count):
            writer.write_record(make_record(number))
    return path
