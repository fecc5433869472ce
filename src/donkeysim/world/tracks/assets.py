"""Textures, materials and models of one scene, gathered while it is built; equal ones are kept once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache

from donkeysim.core.types import ByteArray
from donkeysim.world.scene import CLASS_CAR, CLASS_PROP, SHADE_PAINT, SHADE_TEXTURE, Material, Mesh

Shade = tuple[float, float, float]

WHITE: Shade = (1.0, 1.0, 1.0)


@dataclass
class Assets:
    """What meshes refer to by index. One per scene under construction."""

    textures: list[ByteArray] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    models: list[Mesh] = field(default_factory=list)
    named: list[tuple[str, str]] = field(default_factory=lambda: [("terrain", "terrain")])
    """What can be hit: its label, and what `hit` says."""
    class_maps: list[ByteArray] = field(default_factory=list)
    _texture_index: dict[Hashable, int] = field(default_factory=dict)

    def copy(self) -> Assets:
        """Return assets that begin with these."""
        return Assets(**{name: copy(value) for name, value in vars(self).items()})

    def add_texture(self, texture: ByteArray) -> int:
        """Add a texture; return its index."""
        self.textures.append(texture)
        return len(self.textures) - 1

    def ensure_texture(self, key: Hashable, make: Callable[[], ByteArray]) -> int:
        """Return the index of a texture, making it at its first use."""
        if key not in self._texture_index:
            self._texture_index[key] = self.add_texture(make())
        return self._texture_index[key]

    def ensure_material(self, material: Material) -> int:
        """Return the index of a material, adding it at its first use."""
        if material not in self.materials:
            self.materials.append(material)
        return self.materials.index(material)

    def add_class_map(self, class_map: ByteArray) -> int:
        """Add what places of a picture are, CLASS_*, shape [height, width]; return its index."""
        self.class_maps.append(class_map)
        return len(self.class_maps) - 1

    def ensure_named(self, label: str, hit: str = "") -> int:
        """Return the index of what can be hit, adding it at its first use.

        Args:
            label: What it is called.
            hit: What `hit` says; empty: the same.
        """
        pair = (label, hit or label)
        if pair not in self.named:
            self.named.append(pair)
        return self.named.index(pair)

    def add_model(self, mesh: Mesh) -> int:
        """Add a mesh with a frame of its own; return its index."""
        self.models.append(mesh)
        return len(self.models) - 1

    def ensure_plain(self, colour: Shade, segment: int = CLASS_PROP, flags: int = 0) -> int:
        """Return a material of one colour."""
        return self.ensure_material(Material(flags, colour, -1, segment))

    def ensure_textured(
        self,
        make: Callable[..., ByteArray],
        *about: Hashable,
        segment: int = CLASS_PROP,
        flags: int = 0,
        tint: Shade = WHITE,
    ) -> int:
        """Return a material that shows the texture `make(*about)`, tinted; a process makes it once for all scenes."""
        texture = self.ensure_texture((make, about), lambda: _make_once(make, *about))
        return self.ensure_material(Material(flags | SHADE_TEXTURE, tint, texture, segment))

    def ensure_paint(self, shade: float = 1.0) -> int:
        """Return a material in the car's own colour, darker for a shade below 1."""
        return self.ensure_material(Material(SHADE_PAINT, (shade, shade, shade), -1, CLASS_CAR))


@lru_cache(maxsize=128)
def _make_once(make: Callable[..., ByteArray], *about: Hashable) -> ByteArray:
    return make(*about)
