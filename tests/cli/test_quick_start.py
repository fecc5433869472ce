"""What `donkey_sim` loads before it reads its options and opens its socket: nothing that takes long."""

import subprocess
import sys

ASK = """
import sys
import donkeysim.cli.donkey_sim
heavy = {"numpy", "numba", "scipy", "PIL", "starlette", "uvicorn", "rich"}
print(sorted(heavy & set(sys.modules)))
"""


def test_the_server_program_begins_without_numbers_compiler_and_pages():
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
