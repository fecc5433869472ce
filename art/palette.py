"""The materials of a mesh that is being drawn."""

from dataclasses import dataclass, field

from donkeysim.world.scene import CLASS_CAR, CLASS_PROP, SHADE_PAINT, SHADE_TEXTURE
from donkeysim.world.tracks.art import Skin
from donkeysim.world.tracks.mesh import WHITE, Shade


@dataclass
class Palette:
    """Skins in the order of their first use; meshes refer to them by index."""

    skins: list[Skin] = field(default_factory=list)

    def ensure_plain(self, colour: Shade, segment: int = CLASS_PROP, flags: int = 0) -> int:
        """Return a skin of one colour."""
        return self._ensure(Skin(flags, colour, "", segment))

    def ensure_picture(self, name: str, segment: int = CLASS_PROP, flags: int = 0, tint: Shade = WHITE) -> int:
        """Return a skin that shows a picture, tinted."""
        return self._ensure(Skin(flags | SHADE_TEXTURE, tint, name, segment))

    def ensure_paint(self, shade: float = 1.0) -> int:
        """Return a skin in the car's own colour, darker for a shade below 1."""
        return self._ensure(Skin(SHADE_PAINT, (shade, shade, shade), "", CLASS_CAR))

    def _ensure(self, skin: Skin) -> int:
        if skin not in self.skins:
            self.skins.append(skin)
        return self.skins.index(skin)
