"""The original reads our car folders, and we take over the original's.

Run with our Python, naming a Python that has donkeycar 5.3.0 installed:

    python tests/judges/read_config.py PATH_OF_ITS_PYTHON

1. The original's `load_config` reads config.py and myconfig.py of `donkey createcar`: every key has our value.
2. Folders of the original's `createcar`, templates complete and simulator, with typical myconfig.py: after
   `donkey update` the program is ours, myconfig.py has the same bytes, and each of its keys its value.
Ends with exit code 1 when something differs.
"""

import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

OWN = """
# appended by a person
DONKEY_GYM = True
DONKEY_SIM_PATH = "path to sim"
DONKEY_GYM_ENV_NAME = "donkey-warehouse-v0"
GYM_CONF = { "body_style" : "car01", "body_rgb" : (255, 205, 0), "car_name" : "Ada", "font_size" : 50}
SIM_ARTIFICIAL_LATENCY = 30
DRIVE_LOOP_HZ = 30
AI_THROTTLE_MULT = 1.2
TRANSFORMATIONS = ["CROP"]
"""


def read_as_original(folder):
    """Print every key of a car folder as the original reads it, as JSON of texts."""
    from donkeycar.config import load_config

    config = load_config(str(folder / "config.py"))
    print("KEYS" + json.dumps({name: repr(getattr(config, name)) for name in dir(config) if name.isupper()}))


def judge_ours(judge, folder):
    """Return how many keys the original reads otherwise from a folder that we made."""
    from donkeysim.car.config import load_config
    from donkeysim.car.folder import create_car

    create_car(folder, say=lambda _line: None)
    append(folder / "myconfig.py", OWN)
    command = [judge, __file__, "--as-original", folder]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    theirs = json.loads(output[output.index("KEYS") + 4 :])
    ours = {name: repr(value) for name, value in load_config(folder / "config.py").to_dict().items()}
    different = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    print(f"our folder, read by both: {len(ours)} keys, different: {different}")
    return len(different)


def judge_theirs(judge, folder, template):
    """Return how much is wrong with a folder of the original after our update."""
    from donkeysim.car.config import load_config
    from donkeysim.car.folder import update_car

    words = ["createcar", "--path", folder, "--template", template]
    script = "import sys; from donkeycar.management.base import execute_from_command_line as run; run()"
    subprocess.run([judge, "-c", script, *words], check=True, capture_output=True)
    append(folder / "myconfig.py", OWN)
    before = (folder / "myconfig.py").read_bytes()
    update_car(folder, say=lambda _line: None)
    config = load_config(folder / "config.py")
    typed: dict[str, object] = {}
    exec(OWN, typed)
    wrong = [name for name in typed if name.isupper() and getattr(config, name) != typed[name]]
    wrong += ["myconfig.py"] * ((folder / "myconfig.py").read_bytes() != before)
    wrong += ["manage.py"] * ("donkeycar" in (folder / "manage.py").read_text())
    wrong += ["USE_JOYSTICK_AS_DEFAULT"] * config.USE_JOYSTICK_AS_DEFAULT
    print(f"folder of the original, template {template}, after our update: wrong: {wrong}")
    return len(wrong)


def append(path, text):
    """Append lines to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def main(judge):
    """Judge all and return the exit code."""
    logging.basicConfig(level=logging.INFO, format="said: %(message)s")
    with tempfile.TemporaryDirectory() as name:
        wrong = judge_ours(judge, Path(name) / "ours")
        for template in ("complete", "simulator"):
            wrong += judge_theirs(judge, Path(name) / template, template)
    print("fine" if not wrong else f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-original"]:
        read_as_original(Path(sys.argv[2]))
    elif len(sys.argv) == 2:
        sys.exit(main(sys.argv[1]))
    else:
        sys.exit(__doc__)
