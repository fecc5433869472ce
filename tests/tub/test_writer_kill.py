"""A killed writer loses nothing that it had told of."""

from pathlib import Path

from donkeysim.tub.reader import TubReader
from tub.drives import write_tub
from tub.killed import kill_a_writer
from tub.strict import read_strictly

TESTS = Path(__file__).resolve().parents[1]


def test_a_tub_survives_its_writer_being_killed_again_and_again(tmp_path):
    for seed in range(4):
        told = kill_a_writer(tmp_path / "data", seed, TESTS)
        records = [record.index for record in TubReader(tmp_path / "data")]
        assert records == list(range(len(records)))
        assert len(records) in (told + 1, told + 2)
        assert [record["_index"] for record in read_strictly(tmp_path / "data")] in (records, records[:-1])
    write_tub(tmp_path / "data", 1)
    assert len(TubReader(tmp_path / "data")) == len(records) + 1
    assert len(TubReader(tmp_path / "data").sessions) == 5
