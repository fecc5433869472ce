"""A hundred killed writers: every tub opens, nothing they had told of is lost."""

from pathlib import Path

import pytest

from donkeysim.tub.reader import TubReader
from tub.killed import kill_a_writer
from tub.strict import read_strictly

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_hundred_kills_lose_no_record_that_was_told_of(tmp_path):
    for seed in range(100):
        path = tmp_path / f"tub_{seed % 20}"
        told = kill_a_writer(path, seed, TESTS)
        records = [record.index for record in TubReader(path)]
        assert records == list(range(len(records)))
        assert len(records) in (told + 1, told + 2)
        assert [record["_index"] for record in read_strictly(path)] in (records, records[:-1])
        assert all(record.load_image().any() or record.index % 256 == 0 for record in TubReader(path))
