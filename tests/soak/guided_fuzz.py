"""Lets atheris look for bytes that break the reader or a session, guided by which lines of them it reaches.

`pip install atheris`, then from the repository's root:
`PYTHONPATH=src:tests python tests/soak/guided_fuzz.py -max_total_time=300 -seed=13 -max_len=600`.
Other options are libFuzzer's. It is no test of pytest's, because atheris is not made for every Python and system.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["donkeysim.wire", "donkeysim.serve.session"]):
    from wire.fuzzing import Interview, check_alike
    from wire.hostile import RAW, REAL


def tell(data: bytes) -> None:
    """Read some bytes both ways, and tell them to a session in two portions."""
    check_alike(data)
    interview = Interview()
    cut = len(data) // 3
    interview.tell(data[:cut], wants_answer=False)
    interview.tell(data[cut:], wants_answer=True)


def main() -> None:
    """Fuzz until the time is over or something breaks."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate([*RAW, *(json.dumps(message).encode() for message in REAL)]):
            (Path(folder) / str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, folder], tell)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
