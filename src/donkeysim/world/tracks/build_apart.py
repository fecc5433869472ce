"""Builds a scene in a process of its own, which takes with it what building needs: SciPy, Shapely, pictures in work.

That is a hundred megabytes for a scene of thirty, and what a process has once taken it seldom gives back.
"""

import contextlib
import pickle
import signal
import subprocess
import sys

from donkeysim.core.errors import DonkeySimError
from donkeysim.world.scene import Scene
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import load_scene


def load_apart(spec: SceneSpec) -> Scene:
    """Return what `load_scene` does; where no other process can do it, this one does.

    Raises:
        SceneError: As `load_scene`.
    """
    found: object = None
    with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
        command = [sys.executable, "-m", "donkeysim.world.tracks.build_apart"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            pickle.dump(spec, process.stdin)
            process.stdin.close()
            found = pickle.load(process.stdout)
    if isinstance(found, DonkeySimError):
        raise found
    return found if isinstance(found, Scene) else load_scene(spec)


def main() -> None:
    """Read a spec from standard input, and write its scene, or why there is none, to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    spec = pickle.load(sys.stdin.buffer)
    found: Scene | DonkeySimError
    try:
        found = load_scene(spec)
    except DonkeySimError as error:
        found = error
    pickle.dump(found, sys.stdout.buffer, protocol=5)


if __name__ == "__main__":
    main()
