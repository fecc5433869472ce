"""`donkey demo --quick` as a newcomer runs it: the pilot that it trains drives."""

import pytest

from donkeysim.cli.donkey import run


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_quick_demos_pilot_drives_its_laps(tmp_path, capsys):
    assert run(["demo", "--quick", "--out", str(tmp_path / "demo")]) == 0
    assert "3 of 3 laps, on the road 100.0 %, 0 hits" in capsys.readouterr().out
