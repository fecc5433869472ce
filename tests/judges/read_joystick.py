"""Judge: the original knows the same controls, and drives with the my_joystick.py that `donkey createjs` writes.

    python tests/judges/read_joystick.py PYTHON_WITH_DONKEYCAR

Compares names of axes and buttons and what buttons do, for each CONTROLLER_TYPE, and writes a file whose controls the
original's classes must tell as ours do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from donkeysim.drive.joystick.custom import format_layout
from donkeysim.drive.joystick.layout import read_layouts

ORIGINALS = {
    "ps3": "PS3Joystick",
    "ps3sixad": "PS3JoystickSixAd",
    "ps4": "PS4Joystick",
    "xbox": "XboxOneJoystick",
    "xboxswapped": "XboxOneJoystick",
    "nimbus": "Nimbus",
    "wiiu": "WiiU",
    "F710": "LogitechJoystick",
    "rc3": "RC3ChanJoystick",
}

ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from types import SimpleNamespace
from donkeycar.parts import controller
from my_joystick import MyJoystick, MyJoystickController

def name(action):
    return action.__name__

def tell(js, car):
    return {
        "axes": js.axis_names,
        "buttons": js.button_names,
        "down": {key: name(value) for key, value in car.button_down_trigger_map.items()},
        "up": {key: name(value) for key, value in car.button_up_trigger_map.items()},
        "moved": {key: name(value) for key, value in car.axis_trigger_map.items()},
    }

settings = dict(JOYSTICK_THROTTLE_DIR=-1.0, JOYSTICK_MAX_THROTTLE=0.5, JOYSTICK_STEERING_SCALE=1.0,
                AUTO_RECORD_ON_THROTTLE=True, JOYSTICK_DEVICE_FILE="none", JOYSTICK_DEADZONE=0.01)
answer = {"custom": tell(MyJoystick("none"), MyJoystickController(throttle_dir=-1.0, dev_fn="none"))}
for kind, joystick in json.loads(sys.argv[2]).items():
    car = controller.get_js_controller(SimpleNamespace(CONTROLLER_TYPE=kind, **settings))
    answer[kind] = tell(getattr(controller, joystick)("none"), car)
print("ANSWER" + json.dumps(answer))
"""


def main() -> int:
    """Ask the original and print what differs."""
    own = replace(read_layouts()["ps3"], actions={**read_layouts()["ps3"].actions, "R2": "arm_launch"})
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "my_joystick.py").write_text(format_layout(own, "judged"), encoding="utf-8")
        command = [sys.argv[1], "-c", ASK, folder, json.dumps(ORIGINALS)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    answers = json.loads(printed.partition("ANSWER")[2])
    expected = read_layouts() | {"custom": read_layouts()["ps3"]}
    for kind, answer in answers.items():
        layout = expected[kind]
        ours = {
            "axes": {str(code): name for code, name in layout.axes.items()},
            "buttons": {str(code): name for code, name in layout.buttons.items()},
            "down": dict(layout.actions),
        }
        different = {
            f"{part} {key}": (ours[part].get(key), answer[part].get(key))
            for part in ours
            for key in {**ours[part], **answer[part]}
            if ours[part].get(key) != answer[part].get(key)
        }
        print(f"{kind}: {len(layout.axes)} axes, {len(layout.buttons)} buttons; different (ours, theirs): {different}")
    custom = answers["custom"]
    print(f"custom, let go: {custom['up']}; moved: {custom['moved']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
