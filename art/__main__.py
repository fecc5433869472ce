"""Draw every picture and mesh anew and write the files that have changed: `python -m art`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from art.meshes import draw_meshes
from art.pictures import PICTURES
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.art import FOLDER, SKIN_ROW, MeshForm, find_mesh, find_picture, read_form, read_picture


def main() -> None:
    """Write what differs from its file, and remove what nobody draws."""
    meshes = draw_meshes()
    for name, make in PICTURES.items():
        picture = make()
        if not is_picture_kept(name, picture):
            write_picture(find_picture(name), picture)
    for name, forms in meshes.items():
        if not is_mesh_kept(name, forms):
            write_mesh(find_mesh(name), forms)
    for path in list_files().difference(map(find_picture, PICTURES), map(find_mesh, meshes)):
        path.unlink()
        print(f"removed {path.relative_to(FOLDER)}")


def list_files() -> set[Path]:
    """Return every file of a picture or a mesh."""
    return {*FOLDER.rglob("*.png"), *FOLDER.rglob("*.npz")}


def is_picture_kept(name: str, picture: ByteArray) -> bool:
    """Return whether a picture's file holds it, to the last bit."""
    return find_picture(name).exists() and np.array_equal(read_picture(name), picture)


def is_mesh_kept(name: str, forms: Sequence[MeshForm]) -> bool:
    """Return whether a mesh's file holds these forms and no others, to the last bit."""
    if not find_mesh(name).exists():
        return False
    with np.load(find_mesh(name)) as file:
        if len(file.files) != len(MeshForm._fields) * len(forms):
            return False
    return all(is_same(form, read_form(name, n)) for n, form in enumerate(forms))


def is_same(one: MeshForm, other: MeshForm) -> bool:
    """Return whether two forms are the same, to the last bit."""
    pairs = ((one.corner, other.corner), (one.triangle, other.triangle))
    return one.skins == other.skins and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def write_picture(path: Path, picture: ByteArray) -> None:
    """Write a picture without loss, without alpha where it has no holes."""
    image = Image.fromarray(picture)
    (image if picture[..., 3].min() < 255 else image.convert("RGB")).save(path, optimize=True)
    print(f"wrote {path.relative_to(FOLDER)}, {path.stat().st_size} bytes")


def write_mesh(path: Path, forms: Sequence[MeshForm]) -> None:
    """Write the forms of a mesh."""
    corners = {f"corner_{n}": form.corner for n, form in enumerate(forms)}
    triangles = {f"triangle_{n}": form.triangle for n, form in enumerate(forms)}
    rows = [[(skin.flags, *skin.colour, skin.picture, skin.segment) for skin in form.skins] for form in forms]
    skins = {f"skins_{n}": np.array(row, SKIN_ROW) for n, row in enumerate(rows)}
    arrays: dict[str, np.ndarray] = {**corners, **triangles, **skins}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]  # NumPy's own flag takes any name for itself
    print(f"wrote {path.relative_to(FOLDER)}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
