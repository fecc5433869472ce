"""Cameras by name, or as a file describes them."""

from dataclasses import dataclass, fields, replace
from pathlib import Path

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.frames import Vector
from donkeysim.world.lens import LensSpec
from donkeysim.world.specs import CameraSpec

FORMAT = 1

_CAMERAS = Path(__file__).parent / "cameras"


@dataclass(frozen=True)
class CameraFile:
    """What a file of a camera may say; what it does not is as on the car. The names are those of `CameraSpec`."""

    format: int = FORMAT
    width: int | None = None
    height: int | None = None
    fov: float | None = None
    position: Vector | None = None
    rotation: Vector | None = None
    fisheye: tuple[float, float] | None = None
    grey: bool | None = None
    encoding: str | None = None
    quality: str | None = None
    supersample: int | None = None
    crop_top: int | None = None
    crop_bottom: int | None = None
    lens: LensSpec | None = None


def list_cameras() -> tuple[str, ...]:
    """Return the names of the camera presets."""
    return tuple(sorted(path.stem for path in _CAMERAS.glob("*.toml")))


def load_camera(name: str, base: CameraSpec | None = None) -> CameraSpec:
    """Return a camera with the lens and all else that its preset or file says.

    Args:
        name: A preset's name, or a file's that ends with `.toml`.
        base: What the file leaves open; None: the original's camera. Its field of view is the lens's, if there is one
            and the file does not say another.

    Raises:
        SpecError: No such preset or file, or it is broken.
    """
    path = Path(name) if name.endswith(".toml") else _CAMERAS / f"{name}.toml"
    if not path.is_file():
        if name.endswith(".toml"):
            raise SpecError(f"there is no camera file {name}; give an existing one, or one of {list_cameras()}.")
        raise SpecError(describe_unknown("camera preset", name, list_cameras()))
    try:
        return _complete(read_dataclass(CameraFile, read_toml(path), path), base or CameraSpec(), path)
    except SpecError as error:
        raise error if str(path) in str(error) else SpecError(f"{path}: {error}") from error


def _complete(said: CameraFile, base: CameraSpec, path: Path) -> CameraSpec:
    """Return a camera as its file says, the rest as `base`."""
    if said.format != FORMAT:
        raise SpecError(f"{locate_key(path, 'format')}: format is {said.format}; this version reads {FORMAT}.")
    given = {part.name: getattr(said, part.name) for part in fields(said) if part.name != "format"}
    if said.lens is not None and said.fov is None:
        given["fov"] = said.lens.fov
    return replace(base, **{name: value for name, value in given.items() if value is not None})
