"""Pictures of a meeting room in which a race league drives: its four walls, ceiling and screens; v = 0 is the top.

Walls are drawn in U (1/8 m) from their left end seen from inside and from the floor. What stands where, its size and
how bright it is follow measurements of the original's room; whatever is written or shown on anything is left out.
"""

import numpy as np
from PIL import Image, ImageFilter

from art.canvas import Canvas, Paint, Point, add_grain
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

HIGH = 24.8
"""Of the walls [U]."""

LONG, SHORT = 176.0, 64.0
"""Lengths of the walls [U]."""

PAINT = (236, 232, 216)
"""White paint in the room's light."""


class Wall:
    """A wall under way, in U."""

    def __init__(self, length: float, width: int, height: int, paint: Paint) -> None:
        self.canvas = Canvas(width, height, paint)
        self.length = length
        self._across, self._up, self._height = width / length, height / HIGH, height

    def place(self, x: float, y: float) -> Point:
        """Return where a point lies on the canvas."""
        return x * self._across, self._height - y * self._up

    def fill(self, paint: Paint, left: float, low: float, right: float, high: float) -> None:
        """Paint a box."""
        self.canvas.fill(paint, (*self.place(left, high), *self.place(right, low)))

    def fill_round(self, paint: Paint, left: float, low: float, right: float, high: float) -> None:
        """Paint an ellipse."""
        self.canvas.fill_round(paint, (*self.place(left, high), *self.place(right, low)))

    def shape(self, paint: Paint, *points: Point) -> None:
        """Paint what corners enclose."""
        self.canvas.fill_polygon(paint, *(self.place(x, y) for x, y in points))

    def draw(self, paint: Paint, width: float, *points: Point) -> None:
        """Draw a line."""
        self.canvas.draw_line(paint, width * self._up, *(self.place(x, y) for x, y in points))

    def finish(self, seed: int, soft: float = 1.1) -> ByteArray:
        """Return the texture as a photograph has it: a little soft, darker at floor and ceiling and in the corners."""
        picture = Image.fromarray(to_texture(self.canvas.shrink())[..., :3])
        colour = np.asarray(picture.filter(ImageFilter.GaussianBlur(soft)), np.float32)
        return to_texture(add_grain(colour * self._light(colour.shape, seed), seed + 1, 0.0, 0.008))

    def _light(self, shape: tuple[int, ...], seed: int) -> Float32Array:
        height, width = shape[:2]
        y = HIGH * (1.0 - (np.arange(height) + 0.5) / height)[:, None]
        x = self.length * ((np.arange(width) + 0.5) / width)[None, :]
        dark = 0.20 * np.exp(-y / 1.0) + 0.16 * np.exp((y - HIGH) / 1.6)
        dark = dark + 0.22 * np.exp(-np.minimum(x, self.length - x) / 2.5)
        lamps = 0.05 * np.cos(2.0 * np.pi * x / 22.0 + seed) * np.exp(-(((y - 17.0) / 8.0) ** 2))
        return np.asarray((1.0 - dark + lamps)[..., None], np.float32)


def make_windows() -> ByteArray:
    """Return the wall of windows: panes with blinds, dark mullions every 7 U, chairs, boards before it."""
    wall = Wall(LONG, 2048, 512, (178, 199, 205))
    random = np.random.default_rng(1301)
    for n in range(26):
        _glaze(wall, 7.0 * n - 1.0, random)
    wall.fill((52, 46, 42), 0.0, 0.0, LONG, 1.0)
    wall.fill((206, 204, 192), 0.0, 23.4, LONG, HIGH)
    for first, last in ((3.0, 38.0), (56.0, 63.0), (116.0, 168.0)):
        for x in np.arange(first, last, 6.1):
            draw_chair(wall, float(x), 5.4 + random.uniform(-0.2, 0.2))
    wall.fill((250, 251, 247), 36.6, 0.2, 40.2, HIGH)
    _set_board(wall, (40.5, 50.0), (234, 231, 222), 1)
    _set_board(wall, (65.0, 96.0), (206, 192, 176), 2)
    _set_lit_panel(wall, 97.0, 110.0)
    wall.fill((222, 218, 204), 171.0, 0.0, LONG, HIGH)
    return wall.finish(1302)


def _glaze(wall: Wall, left: float, random: np.random.Generator) -> None:
    """Draw a pane with its blind, what is dimly seen below it, and the mullion at its left."""
    tone = random.uniform(-10.0, 10.0)
    for step in range(32):
        y = 1.0 + 0.7 * step
        bright = tone + 22.0 * (y / HIGH) + (7.0 if step % 2 else -6.0)
        outside = max(0.0, 6.5 - y) * 12.0
        shade = tuple(int(np.clip(c + bright - outside, 20, 252)) for c in (172, 193, 198))
        wall.fill(shade, left, y, left + 7.0, y + 0.7)
    if random.random() < 0.45:
        glare = left + random.uniform(2.0, 5.0)
        wall.fill_round((250, 252, 250), glare - 0.5, 13.0, glare + 0.5, 18.5)
    wall.fill((86, 80, 74), left, 0.0, left + 0.75, HIGH)
    wall.fill((176, 160, 140), left + 0.75, 0.0, left + 1.15, HIGH)
    wall.fill((120, 122, 122), left, 11.4, left + 7.0, 11.8)


def draw_chair(wall: Wall, middle: float, width: float, paint: Paint = (30, 31, 34)) -> None:
    """Draw a black chair with arms, seen from before, about 7 U high."""
    half = 0.5 * width
    lit = tuple(c + 30 for c in paint)
    for side in (-1.0, 1.0):
        wall.draw((22, 22, 24), 0.3, (middle + side * 0.8 * half, 3.4), (middle + side * 0.86 * half, 0.0))
        wall.draw((14, 14, 16), 0.25, (middle + side * 0.5 * half, 3.0), (middle + side * 0.56 * half, 0.3))
        wall.draw(
            lit, 0.35, (middle + side * half, 2.6), (middle + side * half, 4.8), (middle + side * 0.7 * half, 4.9)
        )
    wall.shape(paint, (middle - 0.74 * half, 3.9), (middle + 0.74 * half, 3.9), (middle + 0.7 * half, 7.3),
               (middle + 0.5 * half, 7.7), (middle - 0.5 * half, 7.7), (middle - 0.7 * half, 7.3))  # fmt: skip
    wall.fill(lit, middle - 0.5 * half, 7.35, middle + 0.5 * half, 7.6)
    wall.fill((44, 45, 49), middle - 0.85 * half, 3.0, middle + 0.85 * half, 3.9)
    wall.fill((12, 12, 14), middle - 0.85 * half, 2.6, middle + 0.85 * half, 3.0)


def _set_board(wall: Wall, span: tuple[float, float], paint: Paint, seed: int) -> None:
    """Draw a board from the floor up, printed with scattered grey and yellow marks."""
    random = np.random.default_rng(1310 + seed)
    left, right = span
    wall.fill((196, 192, 186), left - 0.3, 0.0, right + 0.3, HIGH - 0.6)
    wall.fill(paint, left, 0.5, right, HIGH - 0.8)
    for row, y in enumerate(np.arange(3.6, 23.0, 2.1)):
        for x in np.arange(left + 0.7 + 1.3 * (row % 2), right - 1.6, 2.7):
            ink = ((112, 108, 108), (232, 198, 122), (156, 150, 148), (176, 170, 166))[int(random.integers(4))]
            wide, tall = random.uniform(0.9, 1.5), random.uniform(0.4, 0.75)
            wall.fill(ink, float(x), float(y), float(x) + wide, float(y) + tall)


def _set_lit_panel(wall: Wall, left: float, right: float) -> None:
    """Draw a white panel that shines, a yellow-orange field below."""
    wall.fill((255, 255, 252), left, 1.0, right, HIGH - 0.4)
    wall.shape((246, 206, 108), (left, 5.6), (right, 4.6), (right, 2.2), (left, 2.6))
    wall.shape((240, 184, 76), (left, 3.6), (right, 3.2), (right, 2.2), (left, 2.6))
    wall.fill((40, 36, 34), left, 0.0, right, 1.0)
    for x in (left + 0.3, right - 0.3):
        wall.fill((150, 162, 170), x - 0.3, 0.0, x + 0.3, HIGH)
    wall.fill((214, 226, 232), left + 6.0, 6.0, left + 6.3, HIGH - 0.4)


def make_wall() -> ByteArray:
    """Return the white wall: seams, a counter, a sitting person, a door, a notice, chairs, a plant."""
    wall = Wall(LONG, 2048, 512, PAINT)
    for x, light in ((8.0, 250), (42.0, 250), (60.0, 244), (108.0, 246), (134.0, 240)):
        wall.fill((light, light - 4, light - 22), x, 3.0, x + 14.0, 20.0)
    wall.fill((204, 198, 180), 0.0, 0.0, LONG, 1.3)
    for x in (5.0, 13.6, 41.0, 44.5):
        wall.draw((92, 90, 84), 0.3, (x, 0.0), (x, 20.5))
    wall.draw((150, 146, 136), 0.25, (5.0, 20.5), (44.5, 20.5))
    wall.fill((196, 196, 180), 14.0, 1.2, 40.6, 20.2)
    _set_counter(wall, 50.0, 78.0)
    _seat_person(wall, 98.5)
    _hang_door(wall, 112.0)
    wall.fill((120, 118, 114), 134.0, 12.2, 139.6, 16.8)
    wall.fill((236, 236, 232), 134.4, 12.6, 139.2, 16.4)
    for y in (13.4, 14.2, 15.0):
        wall.fill((178, 178, 176), 135.0, y, 138.4, y + 0.35)
    for x in (141.5, 148.0):
        draw_chair(wall, x, 5.6)
    _put_plant(wall, 156.0)
    return wall.finish(1303)


def _set_counter(wall: Wall, left: float, right: float) -> None:
    """Draw a white counter on legs over a dark space with boxes."""
    wall.fill((72, 79, 86), left, 0.0, right, 6.4)
    random = np.random.default_rng(1320)
    for x in np.arange(left, right - 2.0, 3.1):
        tone = int(random.integers(-10, 12))
        wall.fill((78 + tone, 86 + tone, 94 + tone), float(x) + 0.2, 0.3, float(x) + 2.9, 5.4)
    wall.fill((250, 248, 238), left - 1.0, 6.2, right + 1.0, 7.4)
    wall.fill((150, 148, 142), left - 1.0, 5.9, right + 1.0, 6.2)
    for x in np.arange(left + 0.4, right + 0.2, 9.1):
        for aside in (0.0, 1.5):
            wall.draw((196, 196, 192), 0.2, (float(x) + aside, 0.0), (float(x) + aside, 6.2))


def _seat_person(wall: Wall, x: float) -> None:
    """Draw somebody in dark clothes who sits on a black chair, seen from the side."""
    draw_chair(wall, x + 1.0, 6.0)
    cloth, skin, hair = (38, 40, 48), (196, 154, 128), (48, 36, 30)
    wall.shape(cloth, (x - 1.4, 4.2), (x + 1.4, 4.2), (x + 1.7, 9.2), (x + 0.9, 10.2), (x - 0.8, 10.1), (x - 1.6, 8.8))
    wall.shape((30, 32, 40), (x - 1.4, 4.6), (x + 3.6, 4.9), (x + 3.9, 3.7), (x - 1.2, 3.2))
    wall.shape((26, 27, 33), (x + 2.6, 4.6), (x + 3.9, 4.5), (x + 3.5, 0.5), (x + 2.4, 0.5))
    wall.fill((20, 20, 22), x + 2.3, 0.0, x + 4.6, 0.7)
    wall.draw((54, 56, 66), 0.8, (x + 1.2, 9.0), (x + 2.0, 6.2), (x + 3.4, 5.6))
    wall.fill_round(skin, x + 3.1, 5.2, x + 3.9, 6.0)
    wall.fill(skin, x - 0.3, 9.8, x + 0.5, 10.8)
    wall.fill_round(skin, x - 0.7, 10.3, x + 1.1, 13.0)
    wall.shape(
        hair, (x - 0.9, 11.4), (x - 0.7, 13.0), (x + 0.4, 13.4), (x + 1.1, 12.7), (x + 0.3, 12.4), (x - 0.1, 11.6)
    )


def _hang_door(wall: Wall, left: float) -> None:
    """Draw a brown wooden door in a pale frame, and the passage beside it."""
    wall.fill((216, 198, 172), left - 6.5, 0.0, left + 11.0, 21.0)
    wall.fill((232, 218, 194), left - 6.0, 0.0, left - 1.0, 20.4)
    wall.fill((146, 112, 82), left, 0.0, left + 9.0, 19.6)
    for x in np.arange(left + 0.4, left + 9.0, 0.7):
        wall.fill((156, 122, 92), float(x), 0.0, float(x) + 0.3, 19.6)
    wall.fill((110, 82, 60), left + 8.7, 0.0, left + 9.2, 19.8)
    wall.fill((206, 206, 204), left + 7.4, 8.6, left + 8.3, 9.0)
    wall.fill((186, 168, 142), left - 1.0, 0.0, left, 20.4)


def _put_plant(wall: Wall, x: float) -> None:
    """Draw a broad dark plant in a pot."""
    random = np.random.default_rng(1330)
    wall.shape((66, 58, 54), (x - 1.6, 2.4), (x + 1.6, 2.4), (x + 1.2, 0.0), (x - 1.2, 0.0))
    for _ in range(60):
        angle, reach = random.uniform(0.1, np.pi - 0.1), random.uniform(1.6, 3.6)
        green = int(random.integers(0, 60))
        tip = (x + reach * np.cos(angle), 2.2 + reach * np.sin(angle))
        wall.draw((30 + green // 2, 52 + green, 34 + green // 3), 0.35, (x, 2.2), tip)


def make_stage() -> ByteArray:
    """Return the wall at the end that the screens hang on: pale panels, poles, a lectern, a bright doorway."""
    wall = Wall(SHORT, 1024, 256, (234, 222, 198))
    wall.fill((84, 74, 66), 0.0, 0.0, 2.0, HIGH)
    wall.fill((206, 190, 164), 2.0, 0.0, 7.0, HIGH)
    for x in (7.0, 17.5, 28.0, 38.5, 49.0):
        wall.fill((198, 182, 156), x, 0.0, x + 0.5, 22.0)
        wall.fill((248, 240, 222), x + 2.0, 2.0, x + 9.0, 20.0)
    for x in (14.5, 22.0, 29.5, 36.0, 44.0):
        wall.draw((58, 50, 46), 0.5, (x, 0.0), (x - 0.4, 10.4))
        wall.fill((40, 36, 34), x - 1.1, 0.0, x + 0.9, 0.5)
    wall.fill((190, 176, 152), 0.0, 0.0, SHORT, 1.0)
    wall.shape((118, 92, 70), (46.0, 0.0), (50.0, 0.0), (49.4, 8.2), (46.6, 8.2))
    wall.shape((70, 56, 46), (45.4, 8.2), (50.6, 8.2), (50.2, 9.2), (45.8, 8.8))
    wall.fill((120, 108, 94), 54.0, 0.0, 62.6, 20.6)
    wall.fill((250, 250, 240), 54.8, 0.0, 61.8, 19.8)
    wall.shape(
        (176, 190, 168), (54.8, 0.0), (61.8, 0.0), (61.8, 5.0), (60.0, 8.0), (58.0, 5.6), (55.6, 6.4), (54.8, 4.6)
    )
    wall.fill((92, 84, 76), 54.8, 0.0, 61.8, 1.4)
    return wall.finish(1304)


def make_kitchen() -> ByteArray:
    """Return the wall of the kitchen: bright windows behind a dark bar full of things, door frames, brown panels."""
    wall = Wall(SHORT, 1024, 256, (150, 136, 120))
    random = np.random.default_rng(1340)
    wall.fill((248, 246, 240), 14.0, 7.0, 47.0, 20.5)
    for x in (22.0, 30.5, 39.0):
        wall.fill((188, 178, 164), x, 7.0, x + 1.0, 20.5)
    wall.fill((176, 160, 138), 14.0, 20.5, 47.0, 22.4)
    for left, right in ((0.5, 6.5), (8.0, 13.5)):
        wall.fill((232, 212, 184), left, 0.0, right, 21.5)
        wall.fill((206, 182, 150), left + 0.8, 0.0, right - 0.8, 20.6)
    wall.fill((98, 84, 72), 14.0, 0.0, 47.0, 8.0)
    for x in np.arange(14.5, 46.0, 1.1):
        tall = 1.0 + 5.0 * random.random() ** 2 + 2.0 * np.exp(-(((float(x) - 31.0) / 7.0) ** 2))
        tone = int(random.integers(-24, 22))
        wall.fill_round((84 + tone, 72 + tone, 64 + tone), float(x) - 0.6, 5.0, float(x) + 1.6, 8.0 + tall)
    wall.fill((72, 60, 52), 14.0, 5.0, 47.0, 6.2)
    for x in np.arange(14.5, 46.0, 3.3):
        wall.fill((86, 74, 64), float(x), 0.6, float(x) + 2.9, 4.6)
    _panel_kitchen(wall, random)
    return wall.finish(1305, 1.2)


def _panel_kitchen(wall: Wall, random: np.random.Generator) -> None:
    """Draw the dark panels at the right of the kitchen: cupboards, a pale beam, a shining floor's glow at the foot."""
    wall.fill((100, 92, 84), 47.0, 0.0, SHORT, HIGH)
    for x in np.arange(47.0, SHORT, 2.1):
        tone = int(random.integers(-24, 18))
        low, high = random.uniform(0.0, 4.0), random.uniform(14.0, HIGH)
        wall.fill((98 + tone, 89 + tone, 81 + tone), float(x), low, float(x) + 2.0, high)
    wall.shape((198, 190, 176), (50.0, HIGH), (55.0, HIGH), (SHORT, 18.0), (SHORT, 16.4), (54.0, 22.4))
    wall.shape((132, 120, 108), (47.0, 0.0), (SHORT, 0.0), (SHORT, 3.6), (47.0, 1.4))
    wall.fill((96, 86, 76), 0.0, 0.0, SHORT, 0.8)


def make_ceiling() -> ByteArray:
    """Return a dull grey hung ceiling with faint spots where the lamps' light is caught."""
    canvas = Canvas(256, 256, (116, 113, 101))
    for place in range(0, 256, 64):
        canvas.fill((108, 105, 94), (0, place, 256, place + 1), (place, 0, place + 1, 256))
    random = np.random.default_rng(1350)
    for _ in range(26):
        x, y, size = random.uniform(4.0, 250.0), random.uniform(4.0, 250.0), random.uniform(1.0, 2.6)
        canvas.fill_round((146, 143, 130), (x - 1.8 * size, y - 0.6 * size, x + 1.8 * size, y + 0.6 * size))
    return canvas.finish(1351, 0.012, 0.02)


def make_screen() -> ByteArray:
    """Return a black screen with a row of upright strokes, white on the left and yellow on the right."""
    canvas = Canvas(256, 128, (14, 15, 17))
    random = np.random.default_rng(1360)
    x = 24.0
    while x < 228.0:
        wide, high = random.uniform(5.0, 11.0), random.uniform(20.0, 26.0)
        ink = (238, 238, 234) if x < 132.0 else (238, 190, 52)
        canvas.fill_polygon(ink, (x + 4, 64 - high), (x + wide + 4, 64 - high), (x + wide, 64 + high), (x, 64 + high))
        if random.random() < 0.5:
            canvas.fill(ink, (x + 2, 60, x + wide + 5, 66))
        x += wide + random.uniform(3.0, 6.0)
    canvas.draw_frame((40, 41, 44), 3, (0, 0, 255, 127))
    return canvas.finish()


def make_notice() -> ByteArray:
    """Return a black screen with two rows of small pale strokes."""
    canvas = Canvas(256, 128, (12, 12, 14))
    random = np.random.default_rng(1361)
    for y in (48.0, 76.0):
        x = 26.0
        while x < 224.0:
            wide = random.uniform(3.0, 10.0)
            canvas.fill((214, 216, 218), (x, y, x + wide, y + 11))
            x += wide + random.uniform(2.0, 4.0)
    canvas.draw_frame((36, 37, 40), 3, (0, 0, 255, 127))
    return canvas.finish()


def make_film() -> ByteArray:
    """Return a bright screen: a low blue shape on a pale road before hills, blurred by its speed."""
    canvas = Canvas(256, 128, (196, 204, 212))
    canvas.fill_polygon((150, 164, 170), (0, 52), (60, 34), (130, 50), (200, 30), (256, 46), (256, 70), (0, 70))
    canvas.fill((166, 158, 150), (0, 70, 256, 128))
    canvas.fill_polygon((34, 84, 156), (44, 92), (70, 62), (122, 54), (176, 62), (218, 78), (222, 98), (44, 102))
    canvas.fill_polygon((28, 36, 52), (92, 66), (122, 58), (152, 64), (160, 76), (88, 76))
    for x in (78.0, 186.0):
        canvas.fill_round((24, 24, 28), (x - 15, 82, x + 15, 112))
    canvas.fill((236, 122, 48), (196, 84, 218, 90))
    blurred = Image.fromarray(to_texture(canvas.shrink())[..., :3]).filter(ImageFilter.GaussianBlur(1.6))
    return to_texture(np.asarray(blurred, np.float32))


def make_plate() -> ByteArray:
    """Return bars of blue and dark blue within an oval, nothing between them."""
    canvas = Canvas(256, 128, (236, 240, 238, 0))
    random = np.random.default_rng(1362)
    for row, y in enumerate(range(12, 118, 15)):
        half = 118.0 * np.sqrt(max(0.0, 1.0 - ((y + 4.0 - 64.0) / 62.0) ** 2))
        x = 128.0 - half + 6.0 * (row % 2)
        while x < 128.0 + half - 8.0:
            wide = random.uniform(9.0, 26.0)
            ink = ((62, 150, 196, 255), (34, 66, 108, 255), (24, 34, 56, 255))[int(random.integers(3))]
            canvas.fill(ink, (x, y, min(x + wide, 128.0 + half), y + 8.0))
            x += wide + random.uniform(5.0, 9.0)
    return canvas.finish()


def make_pillar() -> ByteArray:
    """Return a pillar of beige board, its edges a little paler."""
    height, width = 256, 64
    x = np.abs((np.arange(width) + 0.5) / width * 2.0 - 1.0)[None, :, None]
    cloud = make_noise(height, width, 1.4, 1370, finest=8.0)[..., None]
    tone = 1.0 - 0.05 * (1.0 - x**4) + 0.01 * cloud
    tone = tone * (1.0 - 0.14 * np.exp(-(np.arange(height)[::-1, None, None]) / 8.0))
    return to_texture((tone * as_colour((243, 221, 184))).astype(np.float32))


def make_dark_carpet() -> ByteArray:
    """Return the dark carpet along the white wall, its strokes across."""
    strokes = np.repeat(make_noise(256, 32, 0.2, 1380, finest=1.2), 8, axis=1)
    level = 78.0 + 7.0 * strokes + 3.0 * make_noise(256, 256, 0.4, 1381)
    return to_texture((level[..., None] * as_colour((1.0, 0.965, 0.90))).astype(np.float32))
