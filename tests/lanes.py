"""Which test files share a worker of `make test`."""

import functools
from pathlib import Path

from budgets import find_folder

LEARNING = ("tests/cli/test_rl_command.py", "tests/examples/test_pixel_examples.py")
"""Files of other folders that train."""

CASTING = ("tests/laws/test_projection.py", "tests/render/test_lidar.py", "tests/render/test_quality.py")
"""Files that compare with rays of Open3D."""


@functools.cache
def find_lane(file: str) -> str:
    """Return what a test file shares a worker with: itself, or files that would take each other's time.

    Programs and browsers keep to clocks. Of those that drive a browser one runs at a time, and one of the others.
    Those that train share what takes seconds to import, and so do those that cast rays. Those that look through the
    package's sources share what they have read.
    """
    folder = find_folder(file)
    if folder in ("learn", "rl") or file in LEARNING:
        return "learn"
    if file in CASTING:
        return "rays"
    if folder == "conventions":
        return folder
    if folder != "e2e":
        return file
    source = Path(__file__).parents[1].joinpath(file).read_text(encoding="utf-8")
    return "browsers" if "chromium" in source else "programs"
