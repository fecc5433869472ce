"""Commands run as one types them."""

import subprocess
import sys
import time


def run_donkey(folder, *words):
    """Run `donkey` in a folder, which has to end well, and return its seconds."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "donkeysim", *words], cwd=folder, check=True)
    return time.monotonic() - began
