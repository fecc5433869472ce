"""Textures, materials and models of one scene, gathered while it is built; equal ones are kept once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from donkeysim.core.types import ByteArray
from donkeysim.world.scene import (
    CLASS_CAR,
    CLASS_PROP,
    SHADE_PAINT,
    SHADE_TEXTURE,
    Material,
    Mesh,
)

Shade = tuple[float, float, float]


@dataclass
class Assets:
    """What meshes refer to by index. One per scene under construction."""

    textures: list[ByteArray] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    models: list[Mesh] = field(default_factory=list)
    hit_names: list[str] = field(default_factory=lambda: ["terrain"])
    class_maps: list[ByteArray] = field(default_factory=list)
    _texture_index: dict[str, int] = field(default_factory=dict)

    def ensure_texture(self, name: str, make: Callable[[], ByteArray]) -> int:
        """Return the index of a texture, making it at its first use."""
        if name not in self._texture_index:
            self._texture_index[name] = len(self.textures)
            self.textures.append(make())
        return self._texture_index[name]

    def ensure_material(self, material: Material) -> int:
        """Return the index of a material, adding it at its first use."""
        if material not in self.materials:
            self.materials.append(material)
        return self.materials.index(material)

    def add_class_map(self, class_map: ByteArray) -> int:
        """Add what places of a picture are, CLASS_*, shape [height, width]; return its index."""
        self.class_maps.append(class_map)
        return len(self.class_maps) - 1

    def ensure_hit_name(self, name: str) -> int:
        """Return the index of what `hit` says, adding it at its first use."""
        if name not in self.hit_names:
            self.hit_names.append(name)
        return self.hit_names.index(name)

    def add_model(self, mesh: Mesh) -> int:
        """Add a mesh with a frame of its own; return its index."""
        self.models.append(mesh)
        return len(self.models) - 1

    def ensure_plain(self, colour: Shade, segment: int = CLASS_PROP, flags: int = 0) -> int:
        """Return a material of one colour."""
        return self.ensure_material(Material(flags, colour, -1, segment))

    def ensure_textured(
        self,
        name: str,
        make: Callable[[], ByteArray],
        segment: int = CLASS_PROP,
        flags: int = 0,
        class_map: int = -1,
        tint: Shade = (1.0, 1.0, 1.0),
    ) -> int:
        """Return a material that shows a texture, tinted, and the classes of a map if one is given."""
        texture = self.ensure_texture(name, make)
        return self.ensure_material(Material(flags | SHADE_TEXTURE, tint, texture, segment, class_map))

    def ensure_paint(self, shade: float = 1.0) -> int:
        """Return a material in the car's own colour, darker for a shade below 1."""
        return self.ensure_material(Material(SHADE_PAINT, (shade, shade, shade), -1, CLASS_CAR))
