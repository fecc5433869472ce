"""docs/config.md tells of every key what the code says, docs/compatibility.md what the tests show."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", ["write_config.py", "write_compatibility.py"])
def test_the_page_is_up_to_date(script):
    ended = subprocess.run([sys.executable, ROOT / "docs" / script, "--check"], check=False)
    assert ended.returncode == 0, f"run: python docs/{script}"
