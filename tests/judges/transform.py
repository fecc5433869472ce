"""The original transforms the same pictures as we do: how far are its bytes from ours?

Run with our Python, naming a Python that has donkeycar 5.3.0 installed:

    python tests/judges/transform.py PATH_OF_ITS_PYTHON

Ends with exit code 1 when a picture differs by more than a grey level.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COLOUR = ("RGB2BGR", "BGR2RGB", "RGB2HSV", "HSV2RGB", "BGR2HSV", "HSV2BGR", "RGB2GRAY", "BGR2GRAY", "HSV2GRAY")
CASES = [
    *(([name], {}) for name in COLOUR),
    (["RGB2GRAY", "GRAY2RGB"], {}),
    (["RGB2GRAY", "GRAY2BGR"], {}),
    (["CROP"], {}),
    (["CROP"], {"ROI_CROP_TOP": 0}),
    (["CROP"], {"ROI_CROP_TOP": 30, "ROI_CROP_BOTTOM": 11, "ROI_CROP_LEFT": 7, "ROI_CROP_RIGHT": 3}),
    (["CROP"], {"ROI_CROP_TOP": 49, "ROI_CROP_BOTTOM": 48, "ROI_CROP_LEFT": 65, "ROI_CROP_RIGHT": 66}),
    (["RGB2GRAY", "CROP", "GRAY2RGB"], {}),
    (["TRAPEZE"], {}),
    (["TRAPEZE"], {"ROI_TRAPEZE_UL": 60, "ROI_TRAPEZE_UR": 90, "ROI_TRAPEZE_MIN_Y": 33, "ROI_TRAPEZE_MAX_Y": 101}),
    (["RGB2GRAY", "TRAPEZE"], {}),
    (["TRAPEZE_EDGE"], {"ROI_TRAPEZE_LR": 9, "ROI_TRAPEZE_UR": 40, "ROI_TRAPEZE_MAX_Y": 5}),
    (["CANNY"], {}),
    (["CANNY"], {"CANNY_LOW_THRESHOLD": 20, "CANNY_HIGH_THRESHOLD": 300, "CANNY_APERTURE": 5}),
    (["BLUR", "RGB2GRAY", "CANNY", "GRAY2RGB"], {}),
    (["BLUR"], {}),
    (["BLUR"], {"BLUR_KERNEL": 3, "BLUR_KERNEL_Y": 9}),
    (["BLUR"], {"BLUR_GAUSSIAN": False}),
    (["BLUR"], {"BLUR_GAUSSIAN": False, "BLUR_KERNEL": 4, "BLUR_KERNEL_Y": 2}),
    (["RESIZE"], {"RESIZE_WIDTH": 80, "RESIZE_HEIGHT": 60}),
    (["RESIZE"], {"RESIZE_WIDTH": 201, "RESIZE_HEIGHT": 133}),
    (["RGB2GRAY", "RESIZE"], {"RESIZE_WIDTH": 80, "RESIZE_HEIGHT": 60}),
    (["SCALE"], {"SCALE_WIDTH": 0.5}),
    (["SCALE"], {"SCALE_WIDTH": 1.7, "SCALE_HEIGHT": 0.3}),
    (["CROP", "TRAPEZE", "RGB2HSV", "BLUR"], {}),
]


def make_pictures():
    """Return noise, a gradient with edges, and noise of another size, each uint8 [h, w, 3]."""
    rng = np.random.default_rng(1)
    rows, columns = np.mgrid[0:120, 0:160]
    smooth = np.stack([rows * 2, columns, (rows // 16 + columns // 16) % 2 * 200], axis=2).astype(np.uint8)
    noise = rng.integers(0, 256, (120, 160, 3), dtype=np.uint8)
    return [noise, smooth, rng.integers(0, 256, (97, 131, 3), dtype=np.uint8)]


def run_original(folder):
    """Transform with the original; writes N.npy per case and picture, or nothing where it gives nothing."""
    from types import SimpleNamespace

    import donkeycar
    from donkeycar.parts.image_transformations import ImageTransformations

    print("donkeycar", donkeycar.__version__)
    defaults = json.loads((folder / "defaults.json").read_text())
    pictures = np.load(folder / "pictures.npz")
    for index, (names, changes) in enumerate(CASES):
        for number in range(3):
            config = SimpleNamespace(**defaults | changes, NAMES=list(names))
            result = ImageTransformations(config, "NAMES").run(pictures[f"arr_{number}"])
            if result is not None:
                np.save(folder / f"{index}_{number}.npy", result)


def compare(judge):
    """Transform with ours, let the original do the same, and print the largest difference of each case."""
    from donkeysim.car.config import make_default_config
    from donkeysim.car.transform import make_steps

    pictures, worst = make_pictures(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "pictures.npz", *pictures)
        defaults = {key: value for key, value in make_default_config().to_dict().items() if is_plain(value)}
        (folder / "defaults.json").write_text(json.dumps(defaults))
        subprocess.run([judge, __file__, "--as-original", name], check=True)
        for index, (names, changes) in enumerate(CASES):
            step = make_steps(make_default_config(changes=changes), names)
            differences = [differ(step(picture), folder / f"{index}_{n}.npy") for n, picture in enumerate(pictures)]
            worst = max([worst, *(value for value in differences if value is not None)])
            print(f"{' '.join(names):28} {json.dumps(changes) if changes else '':80} {differences}")
    print(f"largest difference: {worst} grey levels")
    return 0 if worst <= 1 else 1


def is_plain(value):
    """Say whether JSON can hold a value."""
    return value is None or isinstance(value, int | float | str)


def differ(ours, path):
    """Return the largest difference in grey levels; 255 for another size, None where the original gave nothing."""
    if not path.exists():
        return None
    theirs = np.load(path)
    theirs = theirs if theirs.ndim == 3 else theirs[:, :, None]
    if ours.shape != theirs.shape or theirs.dtype != np.uint8:
        return 255
    return int(np.abs(ours.astype(int) - theirs.astype(int)).max())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-original"]:
        run_original(Path(sys.argv[2]))
    elif len(sys.argv) == 2:
        sys.exit(compare(sys.argv[1]))
    else:
        sys.exit(__doc__)
