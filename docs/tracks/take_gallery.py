"""Make the gallery: for each scene of the menu the driver's view at four places, chase view, map.

Run it from anywhere: `python docs/tracks/take_gallery.py [SCENE ...]`. Writes JPEG files into `gallery/` and, for all
scenes, `gallery.md`. Everything is drawn and measured by the project itself.
"""

import math
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from take import Photographer

from donkeysim.core.types import ByteArray
from donkeysim.drivers.driving_line import refine_line
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CameraSpec, SceneSpec
from donkeysim.world.tracks import list_scenes, load_scene
from donkeysim.world.tracks.catalogue import find_track, group_scenes
from donkeysim.world.tracks.figures import measure_line
from donkeysim.world.tracks.track_check import read_line

HERE = Path(__file__).parent
FOLDER = HERE / "gallery"
JPEG_QUALITY = 80
DRIVER = CameraSpec(width=240, height=180, supersample=2)
CHASE = CameraSpec(width=600, height=338, fov=math.radians(70.0), supersample=2)
MAP = CameraSpec(width=360, height=338, fov=math.radians(50.0), supersample=2)
U = 8.0

HEADINGS = {"original": "The original's places", "ours": "Our own places", "yours": "Others"}
"""By whose design they are, see `group_scenes`."""

WORDS = {
    "generated_road": "A seeded random road through bare sand that meets its beginning; `regen_road` makes others.",
    "warehouse": "Two worn lanes on the beige floor of a steel hangar, under skylights, between people and cones.",
    "sparkfun_avc": "A figure of eight between rings of bales on a cracked lot: hoops, drums, ramps, an ice plate.",
    "generated_track": "The classic two-lane loop in warm sun, among a hundred trees whose leaves cast shadows on it.",
    "circuit_launch": "White lines on an event hall's carpet; the road forks and crosses itself by a show room.",
    "mini_monaco": "A park road between low walls with wire mesh on them, in the shade of the wood behind.",
    "mountain_track": "A wide banked road between low grey walls, among green hills and oaks, in a low sun.",
    "roboracingleague_1": "White lines on a meeting room's carpet, hooks around yellow cones, chairs before windows.",
    "thunderhill": "A long pale road over hills, between rails with wire mesh above them from start to end.",
    "warren": "Two lanes painted on the grass of a marquee, tall cones in the bends, arches onto a garden.",
    "waveshare": "Two orange ovals on a grey mat, under the one lamp of a dark storeroom; the smallest of all.",
    "canyon_road": "A wide road between walls of rock, over crests and through hollows, with guard rails and a bridge.",
    "carpet_hall": "Tape and boards on a club's red carpet, in a hall of brick.",
    "city_lot": "A big lot in a city: hay bales, railings, raised kerbs, hoops, tents, and a ramp.",
    "harbour_town": "A town by the sea: streets between rails and walls, along a quay, past houses, through a tunnel.",
    "hill_circuit": "A race track over rolling hills: kerbs, rails, walls of tyres, a bridge, stands and pits.",
    "kart_track": "A kart track: long straights and hairpins between barriers, with stands and tents beside them.",
    "maker_hall": "Tape on the concrete floor of a workshop: an S, an inner loop, a hoop, cones in the corners.",
    "mountain_pass": "2.2 m up through hairpins between cliffs, through a tunnel, along guard rails and down again.",
    "pallet_hall": "A taped lane through a hall with racks, work benches, pallets and people who stand about.",
    "reading_room": "The oval of a printed mat on a reading room's carpet, between shelves and tables.",
}
"""What one sees, a sentence each; a scene without one shows its pictures and figures."""


def save(picture: ByteArray, name: str) -> None:
    """Write a JPEG file into the gallery."""
    Image.fromarray(picture).save(FOLDER / name, quality=JPEG_QUALITY, optimize=True)


def take_scene(name: str) -> None:
    """Write the pictures of a scene: chase view and map side by side, the driver's view at four places below."""
    photographer = Photographer(name)
    count = len(photographer.node)
    for place, car in enumerate(photographer.cars[1:]):
        photographer.place(car, count * (2 * place + 3) // 10, 0.0)
    photographer.place(photographer.cars[0], count - 1, 0.0)
    chase = photographer.look(count - 1, 0.75, 0.36, 17.0, CHASE)
    save(np.hstack((chase, take_map(photographer))), f"{name}.jpg")
    photographer.simulator.remove_car(photographer.cars[0])
    places = (0, count // 4, count // 2, 3 * count // 4)
    save(np.hstack([photographer.look(place, -0.07, 0.156, 15.5, DRIVER) for place in places]), f"{name}_driver.jpg")


def take_map(photographer: Photographer) -> ByteArray:
    """Return the track from above, its longer side upright or along the picture, whichever shows it larger."""
    low, high = photographer.node[:, :2].min(axis=0), photographer.node[:, :2].max(axis=0)
    path = photographer.simulator.scene.path
    along, across = high - low + max(2.6, 2.0 * max(path.width_left.max(), path.width_right.max()) + 1.4)
    turned = along < across
    wide, tall = (across, along) if turned else (along, across)
    height = 0.5 * max(tall, wide * MAP.height / MAP.width) / math.tan(0.5 * MAP.fov)
    eye = (*(0.5 * (low + high)), height)
    yaw = 0.0 if turned else 0.5 * math.pi
    return photographer.simulator.view(0, eye, (0.0, 0.5 * math.pi, yaw), MAP).copy()


def describe(scene: Scene) -> str:
    """Return the row of a scene in the table of figures."""
    node = scene.path.position
    line = refine_line(node[:, :2], 8, closed=True)
    step = np.roll(line, -1, axis=0) - line
    length = float(np.hypot(step[:, 0], step[:, 1]).sum())
    x, y, climb = (*np.ptp(line, axis=0), np.ptp(node[:, 2]))
    width = scene.path.width_left + scene.path.width_right
    wide = f"{width.min():.2f}" if np.ptp(width) < 0.01 else f"{width.min():.2f} to {width.max():.2f}"
    figures = f"{len(node)} | {length * U:.1f} U, {length:.2f} m | {y * U:.1f} x {x * U:.1f} U | {climb:.1f} m"
    return f"| [{scene.name}](#{scene.name}) | {figures} | {wide} m | {find_direction(scene.name)} |"


def find_direction(name: str) -> str:
    """Return which way round a scene is driven, as `donkey tracks` says it."""
    return measure_line(*read_line(find_track(SceneSpec(name)))).direction


def write_page(names: tuple[str, ...]) -> None:
    """Write the page with the figures and pictures of all scenes."""
    parts = [
        "# Gallery",
        "Every scene of the menu: the chase view, the map, and what the driver sees at the start and after each "
        "quarter of a lap. U is the original's length unit, 1/8 m; boxes are along the original's x and z. "
        "Made by `python docs/tracks/take_gallery.py`.",
    ]
    for kind, group in group_scenes(names).items():
        rows = [describe(load_scene(SceneSpec(name))) for name in group]
        head = "| scene | nodes | length | box | climb | road | driven |\n|---|---|---|---|---|---|---|\n"
        parts += [f"## {HEADINGS[kind]}", head + "\n".join(rows)]
        for name in group:
            parts += show_scene(name)
    (HERE / "gallery.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def show_scene(name: str) -> list[str]:
    """Return the paragraphs of a scene."""
    words = [WORDS[name]] if name in WORDS else []
    pictures = (
        f"![chase view and map of {name}](gallery/{name}.jpg)\n"
        f"![{name} as the driver sees it at four places](gallery/{name}_driver.jpg)"
    )
    return [f"### {name}", *words, pictures]


def main() -> None:
    """Take the pictures of the scenes that the command line names, or of all, and then the page too."""
    FOLDER.mkdir(exist_ok=True)
    names = tuple(sys.argv[1:]) or list_scenes()
    for name in names:
        take_scene(name)
    if not sys.argv[1:]:
        write_page(names)


if __name__ == "__main__":
    main()
