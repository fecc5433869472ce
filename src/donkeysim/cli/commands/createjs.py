"""Set up a joystick that is not in the list: move and press what you are asked to; this writes my_joystick.py.

The car uses it when myconfig.py says CONTROLLER_TYPE = "custom". Linux only.
"""

import argparse
import sys
from pathlib import Path

from donkeysim.cli.console import console
from donkeysim.core.errors import SpecError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("--device", default="/dev/input/js0", help="the joystick (default: /dev/input/js0)")
    parser.add_argument("--out", type=Path, default=Path("my_joystick.py"), help="the file (default: my_joystick.py)")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long to wait for each control (default: 8)")


def run(arguments: argparse.Namespace) -> int:
    """Ask, then write the file."""
    from donkeysim.drive.joystick.custom import UNTOLD_AXES, UNTOLD_BUTTONS, format_layout, survey_layout
    from donkeysim.drive.joystick.device import JoystickDevice

    if sys.platform != "linux":
        raise SpecError("joysticks are only supported on Linux; elsewhere choose Gamepad on the control page.")
    if arguments.out.exists():
        raise SpecError(f"{arguments.out} already exists; move it away first, or give another --out.")
    try:
        device = JoystickDevice(arguments.device, UNTOLD_AXES, UNTOLD_BUTTONS)
        text = format_layout(survey_layout(device, arguments.seconds, console.print), device.name)
        device.close()
        arguments.out.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or error
        raise SpecError(
            f"{error.filename or arguments.device}: {reason}; plug the joystick in, or give another --device or --out."
        ) from error
    console.print(f'Wrote {arguments.out}. Put CONTROLLER_TYPE = "custom" into myconfig.py and drive with --js.')
    return 0
