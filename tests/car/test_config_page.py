"""docs/config.md tells of every key what the code says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    ended = subprocess.run([sys.executable, ROOT / "docs" / "write_config.py", "--check"], check=False)
    assert ended.returncode == 0, "run: python docs/write_config.py"
