"""Draw the maps of the example circuits, and what a driver sees on each, for the guide.

Run it from anywhere: `python docs/tracks/take_circuits.py`. Writes circuits.jpg beside this file.
"""

from pathlib import Path

from PIL import Image

from donkeysim.sim.scene_view import SceneView
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene

HERE = Path(__file__).parent
CIRCUITS = sorted((HERE.parent.parent / "examples" / "tracks").glob("*.toml"))
WIDTH = 320
"""Of a column [pixel]."""

PLACES = {"cobblers_hill": 0.16, "larkmoor": 0.42, "pine_hollow": 0.36, "saltflats": 0.55, "twin_loops": 0.5}
"""Share of the path where the view is taken."""


def main() -> None:
    """Write the picture: a column for each circuit, the map above, the view below."""
    columns = []
    for path in CIRCUITS:
        view = SceneView(load_scene(SceneSpec(str(path))))
        chart = Image.fromarray(view.draw_map(WIDTH))
        sheet = Image.new("RGB", (WIDTH, WIDTH + WIDTH * 3 // 4 + 6), (255, 255, 255))
        sheet.paste(chart, ((WIDTH - chart.width) // 2, (WIDTH - chart.height) // 2))
        sheet.paste(Image.fromarray(view.look_along(PLACES[path.stem], WIDTH, WIDTH * 3 // 4)), (0, WIDTH + 6))
        columns.append(sheet)
    picture = Image.new("RGB", ((WIDTH + 6) * len(columns) - 6, columns[0].height), (255, 255, 255))
    for index, sheet in enumerate(columns):
        picture.paste(sheet, (index * (WIDTH + 6), 0))
    picture.save(HERE / "circuits.jpg", quality=86)


if __name__ == "__main__":
    main()
