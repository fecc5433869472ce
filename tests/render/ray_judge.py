"""Open3D, which judges where rays end: its wheel wants system libraries that a machine without a screen may lack."""

import os
from types import ModuleType

import pytest


def find_open3d() -> ModuleType:
    """Return Open3D, or skip the test with what to install; where changes are judged it may not be missing."""
    try:
        import open3d  # takes a second, which only who casts rays should pay
    except ImportError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"Open3D does not load ({error}). On Debian: apt-get install libgl1 libgomp1 libusb-1.0-0")
    return open3d
