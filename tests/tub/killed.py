"""A process that writes records as fast as it can, killed at a random moment."""

import random
import subprocess
import sys
import threading

SCRIPT = """
import sys
from tub.drives import INPUTS, TYPES, make_record
from donkeysim.tub.writer import TubWriter
with TubWriter(sys.argv[1], INPUTS, TYPES, max_catalog_len=int(sys.argv[2])) as writer:
    while True:
        print(writer.write_record(make_record(writer.current_index)), flush=True)
"""


def kill_a_writer(path, seed, tests_folder, max_catalog_len=7):
    """Let a process write to `path`, kill it, and return the index of the last record it told of, None before any."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tests_folder)!r}){SCRIPT}"]
    process = subprocess.Popen([*command, str(path), str(max_catalog_len)], stdout=subprocess.PIPE)
    try:
        told = process.stdout.readline()
        killer = threading.Timer(random.Random(seed).uniform(0, 0.05), process.kill)
        killer.start()
        for line in process.stdout:
            told = line if line.endswith(b"\n") else told
        killer.join()
    finally:
        process.kill()
        process.communicate()
    return int(told) if told.strip() else None
