"""Reads or writes tubs with the original's own classes. Run by an interpreter that has donkeycar 5.3.0.

    PYTHON read_tub.py read TUB…            one JSON line per tub: living records, their digest, a picture's shape
    PYTHON read_tub.py follow               the same for each path on standard input, a line each, as they come
    PYTHON read_tub.py write TUB COUNT      appends COUNT records

Prints only JSON lines, so that what donkeycar prints when it is imported is easily told apart.
"""

import atexit
import hashlib
import json
import logging
import sys
from pathlib import Path

import numpy as np
from donkeycar.config import Config
from donkeycar.parts.tub_v2 import Tub, TubWriter
from donkeycar.pipeline.types import TubDataset

logging.disable(logging.CRITICAL)

INPUTS = ["cam/image_array", "user/angle", "user/throttle", "user/mode"]
TYPES = ["image_array", "float", "float", "str"]


def read(path):
    """Return what the original finds in a tub."""
    try:
        tub = Tub(path, read_only=True)
        digest, count = hashlib.sha256(), 0
        for record in tub:
            picture = (Path(path) / "images" / record["cam/image_array"]).read_bytes()
            digest.update(json.dumps(record, sort_keys=True).encode() + hashlib.sha256(picture).digest())
            count += 1
        config = Config()
        config.from_dict({"IMAGE_W": 16, "IMAGE_H": 12, "IMAGE_DEPTH": 3, "CACHE_POLICY": "NOCACHE"})
        records = TubDataset(config, [path]).get_records()
        shapes = {records[0].image().shape} if records else set()
        answer = {"count": count, "in_dataset": len(records), "length": len(tub), "digest": digest.hexdigest()}
        return {**answer, "shapes": sorted(shapes)}
    except Exception as error:  # noqa: BLE001 - whatever the original raises is the answer
        return {"error": f"{type(error).__name__}: {error}"}


def write(path, count):
    """Append records as a car of the original does."""
    writer = TubWriter(path, inputs=INPUTS, types=TYPES, metadata=["location:attic"], max_catalog_len=7)
    for number in range(count):
        writer.run(np.full((12, 16, 3), number % 256, np.uint8), number / 100, 0.5, "user")
    writer.close()


def main():
    """Do what the arguments say."""
    mode, *rest = sys.argv[1:]
    if mode == "write":
        write(rest[0], int(rest[1]))
    else:
        for path in map(str.rstrip, sys.stdin) if mode == "follow" else rest:
            print(json.dumps({"path": path, **read(path)}), flush=True)
    atexit._clear()  # the original closes even tubs that it only read, and fails at it


main()
