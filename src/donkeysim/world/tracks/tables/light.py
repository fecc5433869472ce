"""The table [light]: sun, haze and sky."""

from dataclasses import dataclass

from donkeysim.core.errors import describe_unknown
from donkeysim.world.tracks.tables.checks import Colour, check_colours, is_picture_file

OPEN_SKIES = ("meadow", "mountains", "desert", "city", "coast", "hills", "clear")
"""Of places in the open."""

SKY_NAMES = (*OPEN_SKIES, "plain", "none")
"""What may be painted above and behind a place."""


@dataclass(frozen=True)
class LightTable:
    """Sun, haze and sky.

    Attributes:
        sun_azimuth: Direction of the sun [degree], counter-clockwise from +x.
        sun_height: Above the horizon [degree].
        sun: Linear RGB weight of direct light.
        ambient: Linear RGB weight of light from everywhere.
        lamp: x, y and height of a lamp [m] that the ground is brightest under and darker away from, as the fourth
            power of the cosine has it; none: light falls evenly.
        fog: Colour of the haze, sRGB 0 to 255.
        fog_density: [1/m]
        ground_fog_density: Of what lies on the ground, which pales towards the horizon where it is smooth [1/m]; none:
            as `fog_density`.
        sky: What is painted above and behind, one of `SKY_NAMES`; "clear": the original's; "none": the haze alone, for
            places with a roof. Or the file of a picture all around, azimuth from +x to the left, the zenith in the
            first row and the nadir in the last one.
        below: Colour under the horizon of a clear sky, sRGB 0 to 255.
    """

    sun_azimuth: float = 60.0
    sun_height: float = 50.0
    sun: tuple[float, float, float] = (0.75, 0.72, 0.66)
    ambient: tuple[float, float, float] = (0.42, 0.45, 0.5)
    lamp: tuple[float, ...] = ()
    fog: Colour = (190, 208, 224)
    fog_density: float = 0.02
    ground_fog_density: float | None = None
    sky: str = "meadow"
    below: Colour = (105, 99, 95)

    def __post_init__(self) -> None:
        if not 0.0 < self.sun_height <= 90.0:
            raise ValueError(f"sun_height is {self.sun_height:g}; the sun stands above 0 and up to 90 degrees.")
        if self.lamp and (len(self.lamp) != 3 or self.lamp[2] <= 0.0):
            raise ValueError("lamp is x, y and its height above 0.")
        for name, density in (("fog_density", self.fog_density), ("ground_fog_density", self.ground_fog_density)):
            if density is not None and not 0.0 <= density <= 1.0:
                raise ValueError(f"{name} is {density:g}; it takes 0 to 1.")
        if self.sky not in SKY_NAMES and not is_picture_file(self.sky):
            raise ValueError(describe_unknown("sky", self.sky, SKY_NAMES))
        check_colours(self.fog, self.below)
