"""Picture transformations that a car's configuration lists: the same in training and in driving.

Each is a function of one picture [h, w, 3] or [h, w, 1], uint8. They give the original's bytes; where it gives nothing
but a line in the log, these fail with a sentence.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from donkeysim.car.config import Config, describe_failure
from donkeysim.car.keys import TRANSFORMATIONS
from donkeysim.core.errors import DonkeySimError, ShapeError, SpecError, describe_unknown, import_extra

if TYPE_CHECKING:
    from donkeysim.core.types import ByteArray

Transform = Callable[["ByteArray"], "ByteArray"]
MakeMask = Callable[[int, int], "ByteArray"]


def make_transform(config: Config) -> Transform:
    """Return the function that applies TRANSFORMATIONS, then POST_TRANSFORMATIONS.

    Raises:
        SpecError: One of them is not known, or its own keys make no sense.
        DonkeySimError: OpenCV is needed and not installed.
    """
    return make_steps(config, (*config.TRANSFORMATIONS, *config.POST_TRANSFORMATIONS))


def make_steps(config: Config, names: Sequence[str]) -> Transform:
    """Return the function that applies the named transformations in order.

    Args:
        config: Where their own keys stand, for example ROI_CROP_TOP.
        names: Of `keys.TRANSFORMATIONS`, or beginning with CUSTOM.

    Raises:
        SpecError: One of them is not known, or its own keys make no sense.
        DonkeySimError: OpenCV is needed and not installed.
    """
    steps = [(name, _make_step(config, name)) for name in names]

    def transform(image: ByteArray) -> ByteArray:
        for name, step in steps:
            made: object = step(image)
            if not isinstance(made, np.ndarray) or made.ndim not in (2, 3):
                what = type(made).__name__
                raise ShapeError(f"the transformation {name} gave {what} rather than a picture [h, w, depth].")
            image = made if made.ndim == 3 else made[:, :, None]
        if image.dtype != np.uint8:  # the original divides whatever numbers come by 255
            image = np.clip(np.rint(image), 0.0, 255.0).astype(np.uint8)
        return image

    return transform


def fit_picture(picture: ByteArray, shape: tuple[int, int, int]) -> ByteArray:
    """Return a picture, [h, w, 3] or [h, w, 1], in another size and depth; shape: [height, width, 3 or 1]."""
    from PIL import Image

    height, width, depth = shape
    if picture.shape == shape:
        return picture
    image = Image.fromarray(picture.squeeze(2) if picture.shape[2] == 1 else picture)
    image = image.convert("L" if depth == 1 else "RGB")
    if image.size != (width, height):
        image = image.resize((width, height))
    return np.asarray(image, dtype=np.uint8).reshape(height, width, depth)


def _make_step(config: Config, name: str) -> Transform:
    if name == "CROP":
        return _mask(_make_crop(config))
    if name in ("TRAPEZE", "TRAPEZE_EDGE"):
        return _mask(_make_trapeze(config, name))
    if name in ("RGB2BGR", "BGR2RGB"):
        return lambda image: np.ascontiguousarray(_require_depth(image, 3, name)[:, :, ::-1])
    if name in ("GRAY2RGB", "GRAY2BGR"):
        return lambda image: np.repeat(_require_depth(image, 1, name), 3, axis=2)
    if name in TRANSFORMATIONS:
        return _guard(name, _make_opencv_step(config, name, import_extra("cv2", f"{name} needs OpenCV")))
    if name.startswith("CUSTOM"):
        return _load_custom(config, name)
    raise SpecError(describe_unknown("transformation", name, TRANSFORMATIONS))


def _require_depth(image: ByteArray, depth: int, name: str) -> ByteArray:
    if image.shape[2] != depth:
        raise ShapeError(
            f"the transformation {name} takes pictures of depth {depth}, but was given {image.shape[2]}; "
            "look at the order of TRANSFORMATIONS and POST_TRANSFORMATIONS and at IMAGE_DEPTH."
        )
    return image


def _mask(make_mask: MakeMask) -> Transform:
    """Return a step that blacks out what is 0 in a mask [h, w, 1] of 0 and 1, made once for each size of picture."""
    masks: dict[tuple[int, int], ByteArray] = {}

    def blacken(image: ByteArray) -> ByteArray:
        size = (image.shape[0], image.shape[1])
        if size not in masks:
            masks[size] = make_mask(*size)
        return np.multiply(image, masks[size], dtype=np.uint8)

    return blacken


def _make_crop(config: Config) -> MakeMask:
    """Return the maker of a mask of a rectangle; as in the original, its lower and right borders are inside of it."""
    top, bottom = config.ROI_CROP_TOP, config.ROI_CROP_BOTTOM
    left, right = config.ROI_CROP_LEFT, config.ROI_CROP_RIGHT

    def make_mask(height: int, width: int) -> ByteArray:
        if top + bottom > height or left + right > width:
            raise SpecError(
                f"ROI_CROP_TOP, BOTTOM, LEFT and RIGHT are {top}, {bottom}, {left} and {right}: they leave nothing of "
                f"a picture {width} wide and {height} high."
            )
        mask = np.zeros((height, width, 1), np.uint8)
        mask[top : height - bottom + 1, left : width - right + 1] = 1
        return mask

    return make_mask


def _make_trapeze(config: Config, name: str) -> MakeMask:
    """Return the maker of a mask of a trapeze: by columns and rows, or with EDGE by distances from three edges."""
    upper, lower = config.ROI_TRAPEZE_MIN_Y, config.ROI_TRAPEZE_MAX_Y
    upper_left, upper_right = config.ROI_TRAPEZE_UL, config.ROI_TRAPEZE_UR
    lower_left, lower_right = config.ROI_TRAPEZE_LL, config.ROI_TRAPEZE_LR
    opencv = import_extra("cv2", f"{name} needs OpenCV")

    def make_mask(height: int, width: int) -> ByteArray:
        rights, bottom = (upper_right, lower_right), lower
        if name == "TRAPEZE_EDGE":
            rights, bottom = (width - upper_right, width - lower_right), height - lower
        corners = [(upper_left, upper), (rights[0], upper), (rights[1], bottom), (lower_left, bottom)]
        mask = np.zeros((height, width, 1), np.uint8)
        opencv.fillConvexPoly(mask, np.array(corners, np.int32), 1)
        return mask

    return make_mask


def _make_opencv_step(config: Config, name: str, opencv: Any) -> Transform:
    if name == "CANNY":
        low, high, aperture = config.CANNY_LOW_THRESHOLD, config.CANNY_HIGH_THRESHOLD, config.CANNY_APERTURE
        return lambda image: opencv.Canny(image, low, high, apertureSize=aperture)
    if name == "BLUR":
        return _make_blur(config, opencv)
    if name == "RESIZE":
        size = (config.RESIZE_WIDTH, config.RESIZE_HEIGHT)
        return lambda image: opencv.resize(image, size)
    if name == "SCALE":
        across = config.SCALE_WIDTH
        down = across if config.SCALE_HEIGHT is None else config.SCALE_HEIGHT
        return lambda image: opencv.resize(image, (0, 0), fx=across, fy=down)
    if name == "HSV2GRAY":  # OpenCV has no such step of its own
        to_rgb, to_grey = opencv.COLOR_HSV2RGB, opencv.COLOR_RGB2GRAY
        return lambda image: opencv.cvtColor(opencv.cvtColor(image, to_rgb), to_grey)
    code = getattr(opencv, f"COLOR_{name}")
    return lambda image: opencv.cvtColor(image, code)


def _make_blur(config: Config, opencv: Any) -> Transform:
    width = config.BLUR_KERNEL
    size = (width, width if config.BLUR_KERNEL_Y is None else config.BLUR_KERNEL_Y)
    if not config.BLUR_GAUSSIAN:
        return lambda image: opencv.blur(image, size)
    if size[0] % 2 == 0 or size[1] % 2 == 0:
        name = "BLUR_KERNEL" if width % 2 == 0 else "BLUR_KERNEL_Y"
        raise SpecError(f"{config.locate(name)} is even, but a Gaussian blur takes an odd one.")
    return lambda image: opencv.GaussianBlur(image, size, 0)


def _guard(name: str, step: Transform) -> Transform:
    """Return the step with OpenCV's complaints as a sentence."""
    import cv2

    def run(image: ByteArray) -> ByteArray:
        try:
            return step(image)
        except cv2.error as error:
            raise ShapeError(
                f"the transformation {name} cannot be applied to a picture {list(image.shape)}; look at the order of "
                f"TRANSFORMATIONS and POST_TRANSFORMATIONS and at IMAGE_DEPTH. ({error.err})"
            ) from error

    return run


def _load_custom(config: Config, name: str) -> Transform:
    """Return `run` of the user's own class, made with the configuration."""
    file_name, class_name = getattr(config, f"{name}_MODULE", None), getattr(config, f"{name}_CLASS", None)
    if not isinstance(file_name, str) or not isinstance(class_name, str):
        raise SpecError(
            f"{name} is your own transformation: set {name}_MODULE to its Python file and {name}_CLASS to its "
            "class in myconfig.py."
        )
    given = Path(file_name).expanduser()  # in the working folder, as in the original, or else in the car folder
    path = next((place.absolute() for place in (given, Path(config.CAR_PATH) / given) if place.is_file()), None)
    if path is None:
        raise SpecError(f"{config.locate(f'{name}_MODULE')} is {file_name!r}, but there is no such file.")
    if path.suffix != ".py":
        raise SpecError(f"{config.locate(f'{name}_MODULE')} is {file_name!r}, which is not a Python file.")
    spec = importlib.util.spec_from_file_location(f"custom.transformation.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with _name_failure(path):
        spec.loader.exec_module(module)
    if not hasattr(module, class_name):
        raise SpecError(f"{config.locate(f'{name}_CLASS')} is {class_name!r}, but {path} has no such class.")
    with _name_failure(path):
        run: Transform = getattr(module, class_name)(config).run

    def step(image: ByteArray) -> ByteArray:
        with _name_failure(path):
            return run(image)

    return step


@contextmanager
def _name_failure(path: Path) -> Iterator[None]:
    """Say in a sentence where the user's own file fails."""
    try:
        yield
    except DonkeySimError:
        raise
    except Exception as error:
        raise SpecError(describe_failure(path, error)) from error
