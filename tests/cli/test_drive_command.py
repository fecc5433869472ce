"""`donkey drive` as people call it."""

import pytest

from donkeysim.cli.donkey import run


@pytest.mark.parametrize("place", ["localhost:0", "localhost:65536", "localhost:x", "localhost:-1", ":9091"])
def test_a_simulator_at_no_port_is_refused(tmp_path, monkeypatch, capsys, place):
    monkeypatch.chdir(tmp_path)
    assert run(["drive", "--simulator", place]) == 1
    error = capsys.readouterr().err
    assert f"--simulator {place!r} is not valid; it takes HOST or HOST:PORT, a port from 1 to 65535." in error
    assert not list(tmp_path.iterdir())
