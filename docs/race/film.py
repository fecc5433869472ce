"""Make the film of a tournament, `tournament.webp`: `python docs/race/film.py` from the root of a checkout.

Eight drivers meet in a double elimination on harbour_town; of some matches it shows the first seconds after green, from
behind the car on the second place of the grid, with the result below. The same bytes from the same seed. `--frames
FOLDER` also writes some of the frames as PNG files, to look at.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from donkeysim.racing.rules.course import survey_course
from donkeysim.racing.rules.director import RACE
from donkeysim.racing.rules.rule_book import load_rule_book
from donkeysim.racing.run.race_file import RacePlan, load_report
from donkeysim.racing.run.race_run import make_director
from donkeysim.racing.run.racer import DriverRacer
from donkeysim.racing.run.tournament import hold_tournament, open_tournament
from donkeysim.record.replay import Replay
from donkeysim.sim.viewpoint import draw_car

TARGET = Path(__file__).parent / "tournament.webp"
CARS = {
    "Anna": "fast",
    "Ben": "steady",
    "Cleo": "human",
    "Dai": "fast",
    "Eva": "steady",
    "Finn": "human",
    "Gao": "steady",
    "Hugo": "fast",
}
MATCHES = ("winners-1-1", "winners-1-3", "winners-2-1", "losers-4-1", "final")
WIDTH, HEIGHT, FRAME_RATE, SECONDS = 480, 270, 10, 3.0
QUALITY = 45


def main() -> None:
    """Make the film, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=Path, help="folder for some of the frames as PNG files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plan = RacePlan("harbour_town", "diyrobocars", load_rule_book("diyrobocars"), tuple(CARS), seed=5)
        tournament = open_tournament(Path(folder), plan, "double_elimination")
        hold_tournament(tournament, {name: DriverRacer(driver) for name, driver in CARS.items()}, Path(folder))
        frames = [frame for match in MATCHES for frame in shoot(Path(folder) / f"{match}.dlog")]
    frames[0].save(
        TARGET, save_all=True, append_images=frames[1:], duration=1000 // FRAME_RATE, loop=0, quality=QUALITY, method=6
    )
    print(f"{TARGET}: {len(frames)} frames, {TARGET.stat().st_size / 1e6:.2f} MB")
    if options.frames is not None:
        options.frames.mkdir(parents=True, exist_ok=True)
        for index in range(0, len(frames), 12):
            frames[index].save(options.frames / f"frame{index:03d}.png")


def shoot(path: Path) -> Iterator[Image.Image]:
    """Yield pictures of a match, from green on."""
    report, replay = load_report(path.with_suffix(".json")), Replay(path)
    director = make_director(report.race, survey_course(replay.simulator.scene))
    director.open()
    results = ", ".join(f"{item.place or '-'} {item.name}" for item in report.result.placings)
    shown = 0
    for _ in replay.play():
        director.advance(replay.simulator.ledger, replay.simulator.list_events())
        if director.session != RACE or shown >= SECONDS * FRAME_RATE:
            continue
        if replay.step_count % (20 // FRAME_RATE) == 0:
            picture = Image.fromarray(draw_car(replay.simulator, 1, "chase", WIDTH, HEIGHT))
            yield label(picture, f"{path.stem}: {' against '.join(report.race.names)}", results)
            shown += 1


def label(picture: Image.Image, title: str, results: str) -> Image.Image:
    """Return a picture with a line above and one below."""
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(15)
    draw.rectangle((0, 0, WIDTH, 24), fill=(20, 20, 24))
    draw.text((8, 3), title, fill=(240, 240, 240), font=font)
    draw.rectangle((0, HEIGHT - 24, WIDTH, HEIGHT), fill=(20, 20, 24))
    draw.text((8, HEIGHT - 21), results, fill=(240, 220, 120), font=font)
    return picture


if __name__ == "__main__":
    main()
