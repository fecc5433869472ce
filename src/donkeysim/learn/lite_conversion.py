"""The `.tflite` files of a pilot that was trained before, perhaps by the original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from donkeysim.car.config import Config
from donkeysim.core.errors import PilotError
from donkeysim.core.types import Report
from donkeysim.learn.database import name_beside
from donkeysim.learn.files.model_file import FINISHED_ENDINGS, check_ending, read_network
from donkeysim.learn.files.tflite_metadata import is_ours
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.lite import ENDING, INTEGER_ENDING, write_lite
from donkeysim.learn.options import read_options
from donkeysim.learn.pilot import open_session
from donkeysim.learn.signature import detect_kind
from donkeysim.learn.train import load_examples


def convert_pilot(
    path: Path, config: Config, tubs: Sequence[Path] = (), report: Report = lambda _done, _total: None
) -> tuple[Path, ...]:
    """Write the `.tflite` files of a pilot that was trained before, and return them.

    Args:
        path: `.h5` or `.keras`, ours or the original's.
        tubs: Drives from which the file in integers is made; none: it is not written.
        report: Called as report(done, total) while pictures are read.

    Raises:
        DonkeySimError: The pilot or the tubs cannot be read, or the files not be written; one that lies there already
            and that somebody else wrote, the original for example, is kept.
    """
    if check_ending(path) in FINISHED_ENDINGS:
        raise PilotError(f"{path} no longer holds the layers of Keras; give the .h5 or .keras file of the pilot.")
    for ending in (ENDING, INTEGER_ENDING) if tubs else (ENDING,):
        target = name_beside(path, ending)
        if target.is_file() and not is_ours(target.read_bytes()):
            raise PilotError(f"{target} is there already and not of donkeysim, so it is kept; rename one of the two.")
    network, header = read_network(path)
    if not tubs:
        return write_lite(network, header, path, None)
    kind = KINDS[header.kind] if header else detect_kind(open_session(path), path)
    _, examples = load_examples(config, tubs, kind, read_options(config), report)
    return write_lite(network, header, path, examples)
