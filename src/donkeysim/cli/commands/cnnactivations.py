"""Draw what each convolution of a pilot sees in a picture: one PNG per layer, with all of its feature maps.

The pilot must be an .h5 or .keras file: .onnx and .tflite files no longer contain the layers.
"""

import argparse
from pathlib import Path

from donkeysim.cli.console import console, show_progress
from donkeysim.core.files import check_place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--image", required=True, metavar="FILE", help="the picture, for example one of a tub's images")
    parser.add_argument("--model", required=True, metavar="FILE", help="the pilot: .h5 or .keras")
    parser.add_argument("--config", default="./config.py", metavar="FILE", help="the car's (default: ./config.py)")
    parser.add_argument(
        "--out", default="activations", metavar="DIR", help="folder for the PNGs (default: activations)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Look through the pilot's layers and write the pictures."""
    from donkeysim.car.config import load_config
    from donkeysim.car.transform import make_transform
    from donkeysim.learn.activations import read_picture, write_activations
    from donkeysim.learn.files.model_file import load_model
    from donkeysim.learn.pilot import find_layers

    check_place(Path(arguments.out))
    config = load_config(arguments.config, driving=False)
    transform = make_transform(config)
    model = load_model(find_layers(arguments.model))
    picture_path = Path(arguments.image).expanduser()
    image = transform(read_picture(picture_path, (config.IMAGE_H, config.IMAGE_W, config.IMAGE_DEPTH)))
    with show_progress("drawing the layers") as report:
        paths = write_activations(model, image, Path(arguments.out).expanduser(), picture_path.stem, report)
    for path in paths:
        console.print(f"saved {path}", soft_wrap=True)
    return 0
