"""`donkeysim`: without words it starts what `make run` starts, with words it is `donkey`.

So one command shows everything to whoever has no clone: `uvx donkeysim`, `pipx run donkeysim`.
"""

import sys

START = ("--scene", "generated_track", "--pace-car", "--drive", "mycar")
"""The words of `make run`."""


def main() -> None:
    """Run the program; ends with an exit code."""
    if len(sys.argv) > 1:
        from donkeysim.cli import donkey

        donkey.main()
    from donkeysim.cli import donkey_sim

    print("Starting a track, a pace car and a car of yours in ./mycar (all commands: donkeysim --help)", flush=True)
    donkey_sim.main(START)
