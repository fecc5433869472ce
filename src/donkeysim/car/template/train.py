#!/usr/bin/env python3
"""Train a pilot from recorded drives: `donkey train` with the options of this script's older versions.

For example: python train.py --tubs data --model models/mypilot.h5
"""

import argparse
import os
import sys

from donkeysim.cli.donkey import run

CAR_PATH = os.path.dirname(os.path.realpath(__file__))


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tubs", "--tub", help="comma-separated (default DATA_PATH of the configuration)")
    parser.add_argument("--model", required=True, help="file to write, for example models/mypilot.h5")
    parser.add_argument("--type", help="kind of pilot (default DEFAULT_MODEL_TYPE of the configuration)")
    parser.add_argument("--transfer", help="pilot whose weights to start from")
    parser.add_argument("--comment", help="stored in models/database.json")
    options, others = parser.parse_known_args()
    words = ["train", "--config", os.path.join(CAR_PATH, "config.py"), "--model", options.model]
    for name in ("tubs", "type", "transfer", "comment"):
        if getattr(options, name):
            words += [f"--{name}", getattr(options, name)]
    sys.exit(run(words + others))


if __name__ == "__main__":
    main()
