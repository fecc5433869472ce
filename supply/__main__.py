"""Look after dependencies and releases: `python -m supply` with one of the words of COMMANDS."""

import sys
from collections.abc import Callable

from supply.build import build_all
from supply.faults import report_faults
from supply.house import print_house
from supply.licences import report_licences
from supply.pins import write_pins
from supply.release import make_release
from supply.sizes import print_sizes
from supply.wheels import report_wheels

COMMANDS: dict[str, Callable[[], int]] = {
    "pins": write_pins,
    "licences": report_licences,
    "faults": report_faults,
    "sizes": print_sizes,
    "house": print_house,
    "build": build_all,
    "wheels": report_wheels,
    "release": make_release,
}


def main() -> int:
    """Run the command that was named and return its exit code."""
    words = sys.argv[1:]
    if not words or words[0] not in COMMANDS or len(words) != 1 + (words[0] == "release"):
        print(f"{' '.join(words) or 'Nothing'} was asked for; say one of {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    return COMMANDS[words[0]]()


if __name__ == "__main__":
    sys.exit(main())
