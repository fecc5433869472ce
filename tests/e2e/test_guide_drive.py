"""What the guide of driving shows works as it stands there."""

import json
import re
from pathlib import Path

import pytest
from car_process import CarProcess, make_car, say, wait_for_news

from donkeysim.drive.options import HELP_FILE
from donkeysim.learn.pilot import BUILT_IN_PILOT
from donkeysim.tub.reader import TubReader

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "drive.md"


@pytest.mark.soak
def test_the_guides_part_slows_the_pilot_in_curves(tmp_path):
    text = GUIDE.read_text(encoding="utf-8")
    (part,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    tell = """
class Tell:
    def run(self, *values):
        print("SEEN", list(values))

car.add(Tell(), inputs=["steering", "throttle", "pilot/throttle"], run_condition="run_pilot")
"""
    folder = make_car(tmp_path / "car", "RECORD_DURING_AI = True\n", part + tell)
    with CarProcess(folder, "--model", str(BUILT_IN_PILOT)) as car, car.drive() as page:
        say(page, drive_mode="local", recording=True)
        wait_for_news(page, "num_records", 20)
        assert car.end() == 0
    seen = [json.loads(line.removeprefix("SEEN ")) for line in car.lines if line.startswith("SEEN")]
    driven = [values for values in seen if values[2]]
    assert len(driven) >= 19
    for steering, throttle, pilot_throttle in driven:
        assert abs(throttle - pilot_throttle * (1.0 - 0.5 * abs(steering))) < 1e-6
    assert len(TubReader(folder / "data")) >= 20


def test_the_guides_options_are_those_of_the_program():
    described = set(re.findall(r"`(--\w+)", GUIDE.read_text(encoding="utf-8")))
    text = HELP_FILE.read_text(encoding="utf-8")
    drive = text[text.index("Options of drive") : text.index("Options of train")]
    of_donkey_drive = {"--tracks", "--simulator"}
    assert described - of_donkey_drive == set(re.findall(r"(--\w+)", drive)) - {"--camera"}
