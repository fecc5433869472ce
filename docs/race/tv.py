"""Make `tv.jpg`: races as the cameras beside the track show them. `python docs/race/tv.py` from the root of a checkout.

On each of six tracks eight drivers race for half a minute; the picture is of one moment of the race file, by the camera
and of the car that the director of pictures chose then. `--all FOLDER` also writes a picture of each second.
"""

import argparse
import asyncio
import io
import tempfile
from dataclasses import replace
from pathlib import Path

from PIL import Image

from donkeysim.racing.rules.rule_book import Race, load_rule_book
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.race_run import PilotRace
from donkeysim.racing.run.racer import DRIVERS, DriverRacer
from donkeysim.racing.show.race_show import RaceShow
from donkeysim.watch.watchable import CHOSEN

TARGET = Path(__file__).parent / "tv.jpg"
NAMES = ("Anna", "Ben", "Cleo", "Dai", "Eva", "Finn", "Gao", "Hugo")
MOMENTS = {
    "generated_track": 14.0,
    "hill_circuit": 12.0,
    "harbour_town": 25.0,
    "pallet_hall": 14.0,
    "canyon_road": 13.0,
    "maker_hall": 15.0,
}
"""Tracks, and which moment of the time line is shown [s]."""

WIDTH, HEIGHT, COLUMNS, SECONDS, QUALITY = 480, 270, 2, 30.0, 82


def main() -> None:
    """Race, take the pictures, and put them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", type=Path, help="folder for a sheet of pictures of each race")
    options = parser.parse_args()
    pictures = []
    with tempfile.TemporaryDirectory() as folder:
        for track, moment in MOMENTS.items():
            show = drive(track, Path(folder) / f"{track}.dlog")
            pictures.append(take(show, moment))
            if options.all is not None:
                options.all.mkdir(parents=True, exist_ok=True)
                join([take(show, float(second)) for second in range(4, 28)], 4).save(options.all / f"{track}.png")
    join(pictures, COLUMNS).save(TARGET, quality=QUALITY)
    print(f"{TARGET}: {TARGET.stat().st_size / 1e3:.0f} kB")


def drive(track: str, path: Path) -> RaceShow:
    """Return a race of all drivers, ready to be watched."""
    book = load_rule_book("robo_racing_carnage")
    race = Race(laps=0, limit=SECONDS, order="distance")
    book = replace(book, cars=len(NAMES), qualifying=None, race=race, start=replace(book.start, grid="entry"))
    drivers = [DriverRacer(DRIVERS[row % len(DRIVERS)]) for row in range(len(NAMES))]
    PilotRace(RacePlan(track, "tv", book, NAMES, seed=3), drivers, path).run()
    show = RaceShow(path)
    show.play()
    return show


def take(show: RaceShow, moment: float) -> Image.Image:
    """Return the picture of a moment."""
    file = asyncio.run(show.take_picture("tv", CHOSEN, WIDTH, HEIGHT, moment))
    return Image.open(io.BytesIO(file))


def join(pictures: list[Image.Image], columns: int) -> Image.Image:
    """Return pictures of one size side by side."""
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * WIDTH, rows * HEIGHT))
    for index, picture in enumerate(pictures):
        sheet.paste(picture, (index % columns * WIDTH, index // columns * HEIGHT))
    return sheet


if __name__ == "__main__":
    main()
